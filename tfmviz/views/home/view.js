// One head at work: point at a word, and arcs lead to the words it looks at; the box below takes another sentence.

/** @import { Page } from "../shared/shell.js" */
import { inWords } from "../shared/bytes.js";
import { figureOf } from "../shared/drawn.js";
import { listen, make, put, roving, tokenButtons } from "../shared/elements.js";
import { go } from "../shared/going.js";
import { component } from "../shared/meet.js";
import { perCent } from "../shared/numbers.js";
import { svgElement } from "../shared/picture.js";
import { quoted } from "../shared/quoted.js";
import { Shell } from "../shared/shell.js";

/**
 * @typedef {object} Data
 * @property {string[]} labels of the tokens
 * @property {number[][]} weights of attention: a row for each query
 * @property {number} word the query that is shown at first
 * @property {string} text
 * @property {string} explorer its address
 */

const LEAST = 0.02; // no arc for less: a second word with a fiftieth of the attention says nothing

class Home extends Shell {
  /** @type {Data} */
  data;
  /** @type {HTMLButtonElement[]} */
  buttons = [];
  pinned = 0;
  from = 0;
  words = make("div", { className: "words", role: "group", ariaLabel: "Words of the sentence" });
  arcs = svgElement("svg", { "aria-hidden": "true" });
  said = make("p", { className: "said", ariaLive: "polite" });

  /**
   * @param {HTMLElement} parent
   * @param {Page} page
   */
  constructor(parent, page) {
    super(page);
    this.picture = make("div", { className: "picture" }, this.arcs, this.words);
    this.mount(parent, { className: "home" }, this.picture, this.said, this.bar(), this.#own());
    roving(this.words, () => 1);
    listen(this.words, {
      hover: (position) => this.#show(position ?? this.pinned),
      pick: (position) => {
        this.pinned = position;
        this.#show(position);
      },
    });
  }

  /** The box for another sentence. */
  #own() {
    const box = make("input", {
      type: "text",
      ariaLabel: "Your own sentence",
      placeholder: "Your own sentence …",
      autocomplete: "off",
      maxLength: 5000,
    });
    const form = make("form", {}, box, make("button", { type: "submit", textContent: "Explore it" }));
    form.onkeydown = (event) => event.stopPropagation(); // letters typed here are no keys of the page
    form.onsubmit = (event) => {
      event.preventDefault();
      go(`${this.data.explorer}?${new URLSearchParams({ text: box.value.trim() || this.data.text })}`);
    };
    return form;
  }

  /** @param {Data} data */
  read(data) {
    this.data = data;
    this.pinned = this.from = data.word;
    this.buttons = tokenButtons(this.words, { labels: data.labels, tokens: data.labels }, data.word);
  }

  draw() {
    this.#show(this.from);
  }

  /** @param {number} from position of the query */
  #show(from) {
    const { labels, weights } = this.data;
    const row = weights[from];
    const to = row.indexOf(Math.max(...row));
    const name = (/** @type {number} */ n) => inWords(quoted(labels, n));
    this.from = from;
    for (const [n, node] of this.buttons.entries()) {
      node.ariaPressed = String(n === from);
      node.style.setProperty("--weight", String(row[n]));
    }
    const target = to === from ? "itself" : name(to);
    put(this.said, { textContent: `${name(from)} gives ${perCent(row[to])} of its attention to ${target}.` });
    this.#drawArcs(row);
  }

  /** @param {number[]} row the weights of the word that looks */
  #drawArcs(row) {
    const ground = this.words.getBoundingClientRect();
    const top = (/** @type {number} */ n) => {
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
    return figureOf(this.picture);
  }

  titles() {
    return { name: "attention", title: this.said.textContent ?? "", caption: "" };
  }

  values() {
    const { labels, weights } = this.data;
    const names = labels.map(inWords);
    const rows = weights.map((row, n) => [names[n], ...row.map((weight, to) => (to > n ? null : weight))]);
    return { title: "Attention weights: a row for each word that looks", columns: ["", ...names], rows };
  }
}

export default component((parent, page) => new Home(parent, page));
