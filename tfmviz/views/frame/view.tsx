// The header of every page: where one is, where one can go, and this page's address to share. And on every page the
// word that the server is away.
//
// A link keeps what the reader has chosen for all pages. It goes as the browser's back button would, so the app is not
// loaded anew.

import { render } from "preact";
import { make, put } from "../shared/elements.ts";
import { go, isElsewhere, kept } from "../shared/going.ts";
import { part } from "../shared/meet.ts";
import { watchConnection } from "./away.ts";

type Entry = [title: string, address: string, answers: string];
type Group = { name: string; short: string; pages: Entry[] }; // a group without a name is a page alone

interface Data {
  title: string; // of the open page
  groups: string; // as JSON
}

class Header {
  title = ""; // of the open page
  groups: Group[] = [];
  shared = ""; // what came of sharing
  open = ""; // the name of the group whose list is seen, or "all" on a phone
  body = make("header", { className: "view frame" });
  away = make("p", { className: "away", role: "status" });
  endWatch = watchConnection((sentence) => put(this.away, { textContent: sentence }));

  constructor(parent: ShadowRoot) {
    parent.append(this.body, this.away);
    document.addEventListener("click", this.close);
    document.addEventListener("keydown", this.escape, true);
  }

  close = (event: Event) => {
    if (this.open && !event.composedPath().includes(this.body)) this.unfold("");
  };

  escape = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !this.open) return;
    const opener = this.body.querySelector<HTMLElement>("[aria-expanded=true]");
    this.unfold("");
    opener?.focus();
  };

  leave() {
    this.endWatch();
    document.removeEventListener("click", this.close);
    document.removeEventListener("keydown", this.escape, true);
  }

  show({ title, groups }: Data) {
    this.title = title;
    this.groups = JSON.parse(groups);
    this.unfold("");
  }

  unfold(open: string) {
    this.open = open;
    this.draw();
  }

  /** @param text what stands in place of the page's title */
  link([title, address, answers]: Entry, text = <span class="title">{title}</span>) {
    const here = title === this.title;
    // Before a click, so that another tab, too, opens with what is chosen by then.
    const aim = ({ currentTarget }: Event) => put(currentTarget as HTMLAnchorElement, { href: kept(address) });
    const follow = (event: MouseEvent) => {
      if (isElsewhere(event)) return;
      event.preventDefault();
      this.unfold("");
      if (!here) go(kept(address));
    };
    return (
      <a href={address} aria-current={here ? "page" : undefined} onPointerDown={aim} onFocus={aim} onClick={follow}>
        {text}
        {answers && <span class="answers">{answers}</span>}
      </a>
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

  async share() {
    try {
      await navigator.clipboard.writeText(location.href);
      this.shared = "Copied: the link opens what you see.";
    } catch {
      window.prompt("Copy this address:", location.href); // without a secure connection there is no clipboard
    }
    this.draw();
    setTimeout(() => {
      this.shared = "";
      this.draw();
    }, 3000);
  }

  draw() {
    const { title, groups } = this;
    const isAll = this.open === "all";
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
          <ul class="groups">
            {groups.map((group) =>
              group.name ? (
                this.group(group)
              ) : (
                <li key={group.pages[0][0]} class={group.pages[0][0] === title ? "here" : ""}>
                  {this.link(
                    [group.pages[0][0], group.pages[0][1], ""],
                    group.pages[0][0] === title ? <h1>{title}</h1> : <span>{group.pages[0][0]}</span>,
                  )}
                </li>
              ),
            )}
          </ul>
        </nav>
        <button type="button" class="share" title="Copies a link to what you see" onClick={() => this.share()}>
          Share
        </button>
        <p class="away" role="status">
          {this.shared}
        </p>
      </>,
      this.body,
    );
  }
}

export default part<Data>((parent) => {
  const header = new Header(parent);
  return { take: (data) => header.show(data), leave: () => header.leave() };
});
