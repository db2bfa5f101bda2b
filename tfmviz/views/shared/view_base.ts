// What every interactive view shares: reports to the page around, numbers that tell an answer from an old one, the
// hand that must be still, light and dark, sizes, frames, and words for screen readers. A view draws its data (`draw`),
// as they come or as it reads them (`read`), says what is chosen (`chosen`) and takes what the page around has chosen
// (`take`). For a figure's `bar` it gives `values`, and what is painted under which name (`figure`).

import { figureBar } from "./bar.ts";
import { type Colours, coloursOf, isDark } from "./colours.ts";
import { make } from "./elements.ts";
import { type Saved, save } from "./picture.ts";
import type { Values } from "./table.ts";
import { type Seen, saying } from "./where.ts";

export { component } from "./streamlit_bridge.ts";

export const DEBOUNCE_MS = 400; // milliseconds without a touch after which the hand counts as still

/** Whom a view tells what the reader does; nobody, where it stands alone. */
export type Page = {
  report?(selection: unknown): void; // a choice that lasts
  pick?(value: unknown): void; // one click
  beside?(views: string[], seen: unknown): boolean; // what views beside it are to show
  onChange?(): boolean | undefined; // it would change a pass of the model otherwise now; whether pictures follow
};

/** the token to look at, and what a model would say there */
export type Typed = { first: number; says?: unknown };

/** What the page around has chosen, with the number of the report that it answers; each view reads more of it. */
type Numbered = { sequence: number; link?: Link };
export type Answer = Numbered | (Numbered & Record<string, unknown>);

/**
 * Views that stand side by side, as A and B: what is pointed at or chosen in one shows in the other in the same frame.
 * Tokens go by their places, which are the same on both sides; see tfmviz/analysis/side_by_side.py.
 */
export interface Link {
  views: string[]; // their keys
  places: Record<string, number[]>; // of the tokens of each text that the view draws
  follows?: boolean; // another one leads, and alone reports what is chosen
}

export const placeOfToken = ({ places }: Link, text: string, position: number = -1): number | undefined =>
  places[text]?.[position];

/** The token that has a place, in any of the texts or in one; null if it is missing here. */
export function tokenAtPlace({ places }: Link, place: number | undefined = -1, texts: string[] = Object.keys(places)) {
  const text = texts.find((name) => places[name]?.includes(place));
  return text === undefined ? null : { text, position: places[text].indexOf(place) };
}

const ALONE: Link = { views: [], places: {} };

export class ViewBase {
  node!: HTMLElement; // from `mount` on, which every view calls as it is made
  colours!: Colours; // from the first drawing on
  width = 0; // 0 while nothing is drawn: there are no data yet, or another tab is open
  live = make("p", { className: "unseen", role: "status" });
  typed: Typed | null = null; // while the data are those of a text that is being typed
  sequence = 0; // the number that an answer must have; from a touch on, that of the report to come
  link: Link = ALONE;
  #reported = 0;
  #said = ""; // the last report, if the page around has chosen nothing else since
  #look = "";
  #hasData = false;
  #telling: ReturnType<typeof setTimeout> | undefined;
  #frame: number | null = null;
  #ends: (() => void)[] = [];

  parent: HTMLElement;
  page: Page;

  constructor(parent: HTMLElement, page: Page) {
    this.parent = parent;
    this.page = page;
  }

  mount({ className, ariaLabel }: { className: string; ariaLabel?: string }, ...children: (Node | string)[]) {
    const group = ariaLabel ? { role: "group", ariaLabel } : {};
    this.node = make("div", { className: `view ${className}`, ...group }, ...children, this.live);
    this.node.addEventListener("fullscreenchange", () => this.redraw());
    this.parent.append(this.node);
    return this.watch(this.node, () => this.node.clientWidth !== this.width && this.redraw());
  }

  /** Calls back whenever an element has another size. */
  watch<Kind extends Element>(node: Kind, resized: () => void) {
    const watcher = new ResizeObserver(resized);
    watcher.observe(node);
    this.atEnd(() => watcher.disconnect());
    return node;
  }

  atEnd(end: () => void) {
    this.#ends.push(end);
  }

  leave() {
    clearTimeout(this.#telling);
    for (const end of this.#ends) end();
  }

  /** Takes other data; `typed` are those of a text that somebody is still typing. */
  show(data: unknown, typed: Typed | null = null) {
    this.typed = typed;
    this.read(data);
    this.#hasData = true;
    this.redraw();
  }

  read(data: unknown) {
    Object.assign(this, { data }); // each view says of what type
  }

  redraw() {
    this.width = this.#hasData ? this.node.clientWidth : 0;
    if (!this.width) return;
    this.node.dataset.dark = String(isDark(this.node));
    this.#look = this.#lookNow();
    this.colours = this.palette();
    this.draw();
  }

  draw() {}

  palette(): Colours {
    return coloursOf(this.node);
  }

  /** Draws again if the page has turned dark or light, or its letters have grown for a projector. */
  followLook() {
    if (this.width && this.#lookNow() !== this.#look) this.redraw();
  }

  #lookNow() {
    const style = getComputedStyle(this.node);
    return ["--ground", "--least-letters"].map((name) => style.getPropertyValue(name)).join();
  }

  /** Does something once before the next frame, however many touches ask for it until then. */
  later(act: () => void = () => this.draw()) {
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = null;
      if (this.width) act();
    });
  }

  chosen(): Record<string, unknown> {
    return {};
  }

  take(_answer: unknown) {}

  /** Takes what the page around has chosen, unless that answers an older report. */
  select(answer: Answer) {
    this.link = answer.link ?? ALONE;
    if (answer.sequence < this.sequence) return;
    this.trust(answer.sequence);
    this.take(answer);
    if (JSON.stringify(this.chosen()) !== this.#said) this.#said = "";
  }

  /** From now on an answer with this number counts. */
  trust(sequence: number) {
    this.sequence = this.#reported = sequence;
    clearTimeout(this.#telling);
  }

  /** Says what the views beside this one are to show, if they have it. */
  notifyLinked(seen: unknown) {
    return this.page.beside?.(this.link.views, seen) ?? false;
  }

  /** Shows what a view beside this one shows. Returns whether there is such a thing here. */
  mirror(seen: unknown): boolean {
    const { sequence } = (seen ?? {}) as { sequence?: number };
    if (sequence !== undefined && this.link.follows) this.sequence = sequence;
    return false;
  }

  /** The reader has touched something: from now on an answer to an older report is out of date. */
  touch() {
    this.sequence = this.#reported + 1;
    this.notifyLinked({ sequence: this.sequence });
  }

  /** Whether the view goes on by itself; it reports what is chosen when that ends. */
  get isPlaying() {
    return false;
  }

  /** Reports what is chosen, if it is not known, and asks for more, once the hand is still for so many milliseconds. */
  notify(delay: number = DEBOUNCE_MS, asks?: Record<string, unknown>) {
    if (this.link.follows) return; // the other one does
    this.touch();
    clearTimeout(this.#telling);
    this.#telling = setTimeout(() => this.isPlaying || this.#report(asks), delay);
  }

  /** Reports how a pass is to be changed; where pictures follow, once the hand is still: a run holds up touches. */
  notifyChange() {
    this.notify(this.page.onChange?.() ? DEBOUNCE_MS : 0);
  }

  still() {}

  #report(asks?: Record<string, unknown>) {
    this.still();
    const chosen = this.chosen();
    const said = JSON.stringify(chosen);
    const isNew = asks || said !== this.#said;
    if (isNew) this.#reported += 1;
    this.sequence = this.#reported;
    this.notifyLinked({ sequence: this.sequence });
    this.#said = said;
    if (isNew) this.page.report?.({ ...chosen, ...asks, sequence: this.sequence });
  }

  bar(this: this & { figure(): Omit<Saved, "colours">; values(): Values }) {
    const file = (format: "svg" | "png") => this.width > 0 && save({ ...this.figure(), colours: this.colours }, format);
    return figureBar({ whole: () => this.node, file, values: () => this.values() });
  }

  /** Where something of the figure stands in the window; pictures on canvas know better than their elements. */
  locate(...names: string[]): Seen | null {
    return saying(this.node, names);
  }

  say(text: string | null) {
    this.live.textContent = text;
  }
}
