// One head at work: point at a word, and arcs lead to the words it looks at; the box below takes another sentence.

import { inWords } from "../shared/bytes.ts";
import { MOST_TYPED } from "../shared/constants.ts";
import { figureOf } from "../shared/drawn.ts";
import { listen, make, put, tokenButtons } from "../shared/elements.ts";
import { go } from "../shared/going.ts";
import { component } from "../shared/meet.ts";
import { perCent } from "../shared/numbers.ts";
import { svgElement } from "../shared/picture.ts";
import { quoted } from "../shared/quoted.ts";
import { type Page, Shell } from "../shared/shell.ts";

interface Data {
  labels: string[]; // of the tokens
  weights: number[][]; // of attention: a row for each query
  word: number; // the query that is shown at first
  text: string;
  explorer: string; // its address
}

const LEAST = 0.02; // no arc for less: a second word with a fiftieth of the attention says nothing

class Home extends Shell {
  data!: Data; // from the first `show` on
  buttons: HTMLButtonElement[] = [];
  pinned = 0;
  from = 0;
  words = make("div", { className: "words", role: "group", ariaLabel: "Words of the sentence" });
  arcs = svgElement("svg", { "aria-hidden": "true" });
  said = make("p", { className: "said", ariaLive: "polite" });

  picture = make("div", { className: "picture" }, this.arcs, this.words);

  constructor(parent: HTMLElement, page: Page) {
    super(page);
    this.mount(parent, { className: "home" }, this.picture, this.said, this.bar(), this.#own());
    const show = (position: number | null) => this.#show(position ?? this.pinned);
    listen(this.words, show, (position) => {
      this.pinned = position;
      this.#show(position);
    });
  }

  /** The box for another sentence. */
  #own() {
    const box = make("input", {
      type: "text",
      ariaLabel: "Your own sentence",
      placeholder: "Your own sentence …",
      autocomplete: "off",
      maxLength: MOST_TYPED,
    });
    const form = make("form", {}, box, make("button", { type: "submit", textContent: "Explore it" }));
    form.onkeydown = (event) => event.stopPropagation(); // letters typed here are no keys of the page
    form.onsubmit = (event) => {
      event.preventDefault();
      go(`${this.data.explorer}?${new URLSearchParams({ text: box.value.trim() || this.data.text })}`);
    };
    return form;
  }

  read(data: Data) {
    this.data = data;
    this.pinned = this.from = data.word;
    this.buttons = tokenButtons(this.words, { labels: data.labels, tokens: data.labels }, data.word);
  }

  draw() {
    this.#show(this.from);
  }

  /** @param from position of the query */
  #show(from: number) {
    const { labels, weights } = this.data;
    const row = weights[from];
    const to = row.indexOf(Math.max(...row));
    const name = (n: number) => inWords(quoted(labels, n));
    this.from = from;
    for (const [n, node] of this.buttons.entries()) {
      node.ariaPressed = String(n === from);
      node.style.setProperty("--weight", String(row[n]));
    }
    const target = to === from ? "itself" : name(to);
    put(this.said, { textContent: `${name(from)} gives ${perCent(row[to])} of its attention to ${target}.` });
    this.#drawArcs(row);
  }

  /** @param row the weights of the word that looks */
  #drawArcs(row: number[]) {
    const ground = this.words.getBoundingClientRect();
    const top = (n: number) => {
      const box = this.buttons[n].getBoundingClientRect();
      return [box.left - ground.left + box.width / 2, box.top - ground.top];
    };
    const found = row.flatMap((weight, to) => {
      if (weight < LEAST || to === this.from) return [];
      const [[x, y], [u, v]] = [top(this.from), top(to)];
      const up = Math.min(y, v) - Math.min(70, 20 + Math.abs(x - u) / 4);
      const d = `M${x} ${y} C${x} ${up} ${u} ${up} ${u} ${v}`;
      return [svgElement("path", { d, "stroke-width": 1 + 9 * weight, opacity: 0.35 + 0.65 * weight })];
    });
    this.arcs.replaceChildren(...found);
  }

  figure() {
    return { ...figureOf(this.picture), name: "attention", title: this.said.textContent ?? "", caption: "" };
  }

  values() {
    const { labels, weights } = this.data;
    const names = labels.map(inWords);
    const rows = weights.map((row, n) => [names[n], ...row.map((weight, to) => (to > n ? null : weight))]);
    return { title: "Attention weights: a row for each word that looks", columns: ["", ...names], rows };
  }
}

export default component((parent, page) => new Home(parent, page));
