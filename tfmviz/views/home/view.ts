// The stage: arcs lead from the word at the cursor to the words that a head looks at. The sentence is a box of text
// without a frame; a copy of it below, letter by letter at the same place, has the boxes of the words.

import type { ModelBundle } from "../engine/view.ts";
import { BrowserSource } from "../live/browser_source.ts";
import { inOneLine } from "../live/updater.ts";
import { rowOf } from "../shared/arrays.ts";
import { MOST_TYPED } from "../shared/constants.ts";
import { button, hear, hearTyping, make, put, reused } from "../shared/elements.ts";
import { go } from "../shared/going.ts";
import { joinsOf } from "../shared/kinds.ts";
import { perCent } from "../shared/numbers.ts";
import { svgElement } from "../shared/picture.ts";
import { quoted } from "../shared/quoted.ts";
import { recordOf } from "../shared/record.ts";
import { isOn, TYPING } from "../shared/switches.ts";
import { component, type Page, ViewBase } from "../shared/view_base.ts";

/** What a tokenizer made of a text; offsets are in characters, not the units of JavaScript's strings. */
type Cut = { text: string; labels: string[]; offsets: [number, number][] };

/** From `start` to `end` in the units of strings, without the space before a word, which begins at `reach`. */
type Box = { tokens: number[]; label: string; reach: number; start: number; end: number };

/** `weights` has a row for each token that looks, in ten-thousandths; zeros at its end are left out */
type Head = { layer: string; head: number; name: string; does: string; weights: number[][] };

type Data = Omit<Cut, "text"> & {
  text: string;
  word: number; // the token that looks at first
  heads: string; // as JSON
  parcel: ModelBundle | null;
};

const INTRO = "For every word, a transformer asks which other words matter. Click a word, or type your own.";
const HINT = "Enter keeps your sentence, Escape restores the last one.";

const LEAST = 0.02; // no arc for less: a second word with a fiftieth of the attention says nothing
const TURN = 5000; // milliseconds for each head, as long as nobody touches anything
const LONG = 110; // letters of a sentence that takes several lines

const hasMoved = ({ movementX, movementY }: PointerEvent) => movementX || movementY;

const sharesOf = ({ weights }: Head) => weights.map((row) => row.map((share) => share / 10_000));

class Stage extends ViewBase {
  data!: Data; // from the first `show` on
  heads: Head[] = [];
  own = new BrowserSource();
  boxes: Box[] = [];
  spans: HTMLElement[] = [];
  weights: number[][][] = []; // of each head, for what stands in the box
  shown = 0; // the head
  pinned = 0; // the box that looks
  from = 0; // the same, or that under the pointer
  words = make("div", { className: "words", ariaHidden: "true" });
  arcs = svgElement("svg", { "aria-hidden": "true" });
  said = make("p", { className: "said" });
  choice = make("div", { className: "heads", role: "group", ariaLabel: "Heads" });
  area = make("textarea", {
    ariaLabel: "Your sentence: the word at the cursor attends",
    maxLength: MOST_TYPED,
    spellcheck: false,
    autocomplete: "off",
    rows: 1,
    onclick: () => this.#look(),
    onkeyup: () => this.#look(),
    onkeydown: (event) => {
      event.stopPropagation(); // letters typed here are no keys of the page
      if (event.isComposing) return;
      if (event.key === "Enter") this.#enter(event);
      if (event.key === "Escape") this.#giveBack();
    },
    onpointermove: (event) => {
      if (event.pointerType !== "touch" && hasMoved(event)) this.#see(this.#under(event));
    },
    onpointerleave: () => this.#see(this.pinned),
  });

  paper = make("div", { className: "paper" }, this.arcs, this.words, this.area);
  node = this.mount(
    { className: "stage", ariaLabel: "Heads at work" },
    make("p", { textContent: INTRO }),
    this.choice,
    make("div", { className: "scroller" }, this.paper),
    make("div", { className: "below" }, this.said, make("p", { className: "hint", textContent: HINT })),
  );

  constructor(parent: HTMLElement, page: Page) {
    super(parent, page);
    this.own.onChange = () => this.follow();
    hearTyping(this.area, () => this.follow());
    this.#takeTurns();
  }

  #takeTurns() {
    const isStill = () => document.hidden || matchMedia("(prefers-reduced-motion: reduce)").matches;
    const turning = setInterval(() => isStill() || this.#choose(this.shown + 1), TURN);
    const end = () => {
      clearInterval(turning);
      endTouch();
      endMove();
      this.said.ariaLive = "polite"; // nobody wants to hear of every turn
    };
    const endTouch = hear(document, ["pointerdown", "keydown"], end, true);
    const endMove = hear(document, ["pointermove"], (event) => hasMoved(event) && end());
    this.atEnd(end);
  }

  read(data: Data) {
    const before = this.data?.text;
    this.data = data;
    this.heads = JSON.parse(data.heads);
    const typed = this.area.value;
    if (before === undefined || typed === before || inOneLine(typed).trim() === data.text) this.#set(data.text);
    this.follow();
  }

  #set(text: string) {
    this.area.value = text;
    const { labels, offsets, word } = this.data;
    const { end } = boxAt(boxesOf({ text, labels, offsets }), (box) => box.tokens.includes(word));
    this.area.setSelectionRange(end, end);
  }

  follow() {
    const text = inOneLine(this.area.value);
    const isOwn = text === this.data.text;
    this.page.beside?.(["doors"], { text: text.trim() || this.data.text });
    const cut = isOwn ? { ...this.data, weights: this.heads.map(sharesOf) } : this.#cut(text);
    this.boxes = cut.labels.length ? boxesOf({ ...cut, text }) : [];
    this.weights = cut.weights;
    this.redraw();
  }

  /** What the browser makes of another text: nothing until it has the model, and of no text. */
  #cut(text: string): Omit<Cut, "text"> & { weights: number[][][] } {
    const { parcel } = this.data;
    const none = { labels: [], offsets: [], weights: [] };
    try {
      const engine = parcel && isOn(TYPING) && text.trim() ? this.own.engine(parcel) : null;
      if (!engine?.tokenizer.knows(text)) return none;
      const record = recordOf(engine.trace(text, { sites: this.heads.map(({ layer }) => `${layer}.pattern`) }));
      const weights = this.heads.map(({ layer, head }) => {
        const pattern = record.head(`${layer}.pattern`, head);
        return Array.from({ length: pattern.rows }, (_, row) => Array.from(rowOf(pattern, row)));
      });
      const { offsets, texts } = record.facts;
      return { labels: texts.target.labels, offsets, weights };
    } catch {
      return none; // whatever it is, the server says it
    }
  }

  draw() {
    const text = this.area.value;
    put(this.paper, { className: `paper${text.length > LONG ? " long" : ""}` });
    this.paper.style.setProperty("--letters", String(Math.max(text.length, 1)));
    let done = 0;
    const nodes: (Node | string)[] = [];
    const pieces = this.boxes.map(({ reach, end }) => text.slice(reach, end));
    const joins = joinsOf(pieces);
    this.spans = this.boxes.map(({ start, end }, n) => {
      const span = make("span", { className: joins[n], textContent: text.slice(start, end) });
      nodes.push(text.slice(done, start), span);
      done = end;
      return span;
    });
    this.words.replaceChildren(...nodes, `${text.slice(done)}\u200b`);
    const isOwn = inOneLine(text) === this.data.text;
    const buttons = this.heads.map(({ layer, head, name, does }, n) => {
      const title = `Layer ${layer.split(".")[1]}, head ${head}`;
      return button(`head ${name}${isOwn ? ` ${does}` : ""}`, { title, onclick: () => this.#choose(n) });
    });
    this.choice.replaceChildren(...buttons);
    this.#look();
  }

  #choose(head: number) {
    this.shown = head % this.heads.length;
    this.#see(this.from);
  }

  #look() {
    const { boxes, area } = this;
    const at = area.selectionEnd;
    this.pinned = Math.max(0, boxes.indexOf(boxAt(boxes, ({ reach, end }) => reach < at && at <= end)));
    this.#see(this.pinned);
  }

  #under({ clientX: x, clientY: y }: PointerEvent) {
    const at = this.spans.findIndex((span) =>
      Array.from(span.getClientRects()).some(
        ({ left, right, top, bottom }) => left - 4 < x && x < right + 4 && top - 8 < y && y < bottom + 8,
      ),
    );
    return at < 0 ? this.pinned : at;
  }

  #see(from: number) {
    this.from = from;
    for (const [n, node] of [...this.choice.children].entries()) node.ariaPressed = String(n === this.shown);
    const shares = this.#shares(from);
    for (const [n, span] of this.spans.entries()) {
      span.classList.toggle("looks", n === from);
      span.style.setProperty("--share", String(shares[n]));
    }
    put(this.said, { textContent: shares.length ? this.#says(shares) : this.#waits() });
    this.#drawArcs(shares);
  }

  /** What a box gives to every box: the attention of its last token to all tokens of each. */
  #shares(from: number) {
    const row = this.weights[this.shown]?.[this.boxes[from]?.tokens.at(-1) ?? -1];
    return row ? this.boxes.map(({ tokens }) => tokens.reduce((sum, token) => sum + (row[token] ?? 0), 0)) : [];
  }

  #says(shares: number[]) {
    const labels = this.boxes.map(({ label }) => label);
    const to = shares.indexOf(Math.max(...shares));
    const target = to === this.from ? "itself" : quoted(labels, to);
    return `${quoted(labels, this.from)} gives ${perCent(shares[to])} of its attention to ${target}.`;
  }

  #waits() {
    if (!this.area.value.trim()) return "Type at least one character.";
    const isComing = this.data.parcel && this.own.engines.get(this.data.parcel.at) === null && !this.own.trouble;
    return isComing ? "The model is loading in your browser …" : "Press Enter to see this sentence's attention.";
  }

  #drawArcs(shares: number[]) {
    const ground = this.paper.getBoundingClientRect();
    const tops = this.spans.map((span) => {
      const box = span.getClientRects()[0] ?? ground;
      return [box.left - ground.left + box.width / 2, box.top - ground.top - 6];
    });
    const paths = reused([...this.arcs.children], shares.length, () => this.arcs.appendChild(svgElement("path", {})));
    for (const [to, path] of paths.entries()) {
      const [[x, y], [u, v]] = [tops[this.from], tops[to]];
      const up = Math.min(y, v) - Math.min(y, 30 + Math.abs(x - u) / 5, 130);
      const share = to === this.from || shares[to] < LEAST ? 0 : shares[to];
      path.setAttribute("d", `M${x} ${y} C${x} ${up} ${u} ${up} ${u} ${v}`);
      path.setAttribute("style", `stroke-width: ${1 + 9 * share}px; opacity: ${share && 0.35 + 0.65 * share}`);
    }
  }

  #enter(event: KeyboardEvent) {
    event.preventDefault();
    const text = inOneLine(this.area.value).trim();
    if (!text || text === this.data.text) return this.#giveBack();
    const query = new URLSearchParams(location.search);
    query.delete("model"); // another one, if there is one
    query.set("text", text);
    go(`./?${query}`);
  }

  #giveBack() {
    if (this.area.value === this.data.text) return this.area.blur();
    this.#set(this.data.text);
    this.follow();
  }
}

/** @returns none where there are no tokens */
export function boxesOf({ text, labels, offsets }: Cut): Box[] {
  const places = [0]; // of each character
  for (const character of text) places.push(places[places.length - 1] + character.length);
  const boxes: Box[] = [];
  for (const [token, [from, to]] of offsets.entries()) {
    const [reach, end] = [places[from], places[to]];
    const last = boxes[boxes.length - 1];
    if (last && reach < last.end) {
      last.tokens.push(token);
      last.end = Math.max(last.end, end);
      last.label = text.slice(last.start, last.end);
    } else {
      const piece = text.slice(reach, end);
      const start = piece.trim() ? end - piece.trimStart().length : reach;
      boxes.push({ tokens: [token], label: labels[token], reach, start, end });
    }
  }
  return boxes;
}

export const boxAt = (boxes: Box[], fits: (box: Box) => boolean) => boxes.find(fits) ?? boxes[boxes.length - 1];

export default component((parent, page) => new Stage(parent, page));
