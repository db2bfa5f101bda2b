// The header of every page: where one is, where one can go, this page's address to share, and what else a page has.

import { render } from "preact";
import { hear, make, put } from "../shared/elements.ts";
import { follow } from "../shared/going.ts";

type Entry = [title: string, address: string, answers: string];
export type Group = { name: string; short: string; pages: Entry[] }; // a group without a name is a page alone

type Tool = [name: string, does: string, act: () => void];

/** What a header does for the pages around it: those of the app, or those of a site without a server. */
export interface Places {
  kept: (address: string) => string; // the address with what the reader has chosen for all pages
  go: (address: string) => void; // goes there
  shared: (() => string) | null; // gives the address that opens what is seen, if there is one
  says: string; // of a shared address: what it holds
  tools?: Tool[]; // other buttons
}

export class Header {
  title = ""; // of the open page
  groups: Group[] = [];
  shared = ""; // what came of sharing
  open = ""; // the name of the group whose list is seen, or "all" on a phone
  body = make("header", { className: "view frame" });
  places: Places;
  ends: (() => void)[];

  constructor(parent: ShadowRoot, places: Places) {
    this.places = places;
    parent.append(this.body);
    const close = (event: Event) => this.open && !event.composedPath().includes(this.body) && this.unfold("");
    const foldUp = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || !this.open) return;
      const opener = this.body.querySelector<HTMLElement>("[aria-expanded=true]");
      this.unfold("");
      opener?.focus();
    };
    this.ends = [hear(document, ["click"], close), hear(document, ["keydown"], foldUp, true)];
  }

  show(title: string, groups: Group[]) {
    Object.assign(this, { title, groups });
    this.unfold("");
  }

  unfold(open: string) {
    this.open = open;
    this.draw();
  }

  /** Another text may stand in place of the page's title. */
  link([title, address, answers]: Entry, text = <span class="title">{title}</span>) {
    const here = title === this.title;
    // Before a click, so that another tab, too, opens with what is chosen by then.
    const aim = ({ currentTarget }: Event) =>
      put(currentTarget as HTMLAnchorElement, { href: this.places.kept(address) });
    const visit = () => {
      this.unfold("");
      if (!here) this.places.go(address);
    };
    return (
      <a
        href={address}
        aria-current={here ? "page" : undefined}
        onPointerDown={aim}
        onFocus={aim}
        onClick={(event) => follow(event, visit)}
      >
        {text}
        {answers && <span class="answers">{answers}</span>}
      </a>
    );
  }

  alone([title, address]: Entry) {
    const isHere = title === this.title;
    return (
      <li key={title} class={isHere ? "here" : ""}>
        {this.link([title, address, ""], isHere ? <h1>{title}</h1> : <span>{title}</span>)}
      </li>
    );
  }

  group({ name, short, pages }: Group) {
    const isOpen = this.open === name;
    const here = pages.find(([title]) => title === this.title);
    return (
      <li key={name} class={here ? "here" : ""}>
        <button type="button" aria-expanded={isOpen} onClick={() => this.unfold(isOpen ? "" : name)}>
          <span class="long">{name}</span>
          <span class="short">{short}</span>
        </button>
        {here && <h1>{here[0]}</h1>}
        <ul class="pages" hidden={!isOpen}>
          {pages.map((page) => (
            <li key={page[0]}>{this.link(page)}</li>
          ))}
        </ul>
      </li>
    );
  }

  async share(address: string) {
    try {
      await navigator.clipboard.writeText(address);
      this.shared = `Copied: ${this.places.says}`;
    } catch {
      window.prompt("Copy this address:", address); // without a secure connection there is no clipboard
    }
    this.draw();
    setTimeout(() => {
      this.shared = "";
      this.draw();
    }, 3000);
  }

  draw() {
    const { title, groups } = this;
    const { shared, tools = [] } = this.places;
    const isAll = this.open === "all";
    const share: Tool[] = shared ? [["Share", "Copies a link to this view", () => this.share(shared())]] : [];
    render(
      <>
        <nav aria-label="Pages" class={isAll ? "all" : ""}>
          <button type="button" class="menu" aria-expanded={isAll} onClick={() => this.unfold(isAll ? "" : "all")}>
            <span aria-hidden="true">☰</span>
            <span class="unseen">Menu</span>
          </button>
          <span class="where" role="heading" aria-level={1}>
            {title}
          </span>
          <ul class="groups">{groups.map((group) => (group.name ? this.group(group) : this.alone(group.pages[0])))}</ul>
        </nav>
        {[...share, ...tools].map(([name, does, act]) => (
          <button key={name} type="button" class="tool" title={does} onClick={act}>
            {name}
          </button>
        ))}
        <p class="away" role="status">
          {this.shared}
        </p>
      </>,
      this.body,
    );
  }
}
