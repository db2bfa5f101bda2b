// One head at work: point at a word, and arcs lead to the words it looks at; the box below takes another sentence.

import { inWords } from "../shared/bytes.js";
import { listen, make, put, roving, tokenButtons } from "../shared/elements.js";
import { go } from "../shared/going.js";
import { perCent } from "../shared/numbers.js";

/**
 * @typedef {object} Data
 * @property {string[]} labels of the tokens
 * @property {number[][]} weights of attention: a row for each query
 * @property {number} word the query that is shown at first
 * @property {string} text
 * @property {string} explorer its address
 */

/** @typedef {{ data: Data, words: HTMLElement, arcs: SVGSVGElement, said: HTMLElement, buttons: HTMLButtonElement[],
 *   from: number }} Look */

const LEAST = 0.02; // no arc for less: a second word with a fiftieth of the attention says nothing
const SVG = "http://www.w3.org/2000/svg";

/** @param {{ data: Data, parentElement: ShadowRoot & { look_?: Look } }} component */
export default function ({ data, parentElement }) {
  parentElement.look_ ??= build(parentElement, data);
  const look = parentElement.look_;
  look.data = data;
  look.buttons = tokenButtons(look.words, { labels: data.labels, tokens: data.labels }, data.word);
  show(look, data.word);
}

/**
 * @param {ShadowRoot} parent
 * @param {Data} data
 * @returns {Look}
 */
function build(parent, data) {
  const words = make("div", { className: "words", role: "group", ariaLabel: "Words of the sentence" });
  const arcs = document.createElementNS(SVG, "svg");
  arcs.setAttribute("aria-hidden", "true");
  const said = make("p", { role: "status" });
  const box = make("input", {
    type: "text",
    ariaLabel: "Your own sentence",
    placeholder: "Your own sentence …",
    autocomplete: "off",
    maxLength: 5000,
  });
  const own = make("form", {}, box, make("button", { type: "submit", textContent: "Explore it" }));
  parent.append(make("div", { className: "view" }, make("div", { className: "picture" }, arcs, words), said, own));
  const look = { data, words, arcs, said, buttons: [], from: data.word };
  let pinned = data.word;
  roving(words, () => 1);
  listen(words, {
    hover: (position) => show(look, position ?? pinned),
    pick: (position) => {
      pinned = position;
      show(look, position);
    },
  });
  own.onkeydown = (event) => event.stopPropagation(); // letters typed here are no keys of the page
  own.onsubmit = (event) => {
    event.preventDefault();
    go(`${look.data.explorer}?${new URLSearchParams({ text: box.value.trim() || look.data.text })}`);
  };
  new ResizeObserver(() => draw(look)).observe(words);
  return look;
}

/**
 * @param {Look} look
 * @param {number} from position of the query
 */
function show(look, from) {
  const row = look.data.weights[from];
  const to = row.indexOf(Math.max(...row));
  const name = (/** @type {number} */ n) => `“${inWords(look.data.labels[n])}”`;
  look.from = from;
  for (const [n, node] of look.buttons.entries()) {
    node.ariaPressed = String(n === from);
    node.style.setProperty("--weight", String(row[n]));
  }
  const target = to === from ? "itself" : name(to);
  put(look.said, { textContent: `${name(from)} gives ${perCent(row[to])} of its attention to ${target}.` });
  draw(look);
}

/** @param {Look} look */
function draw({ data, words, arcs, buttons, from }) {
  const ground = words.getBoundingClientRect();
  const top = (/** @type {number} */ n) => {
    const box = buttons[n].getBoundingClientRect();
    return [box.left - ground.left + box.width / 2, box.top - ground.top];
  };
  const found = data.weights[from].flatMap((weight, to) => {
    if (weight < LEAST || to === from) return [];
    const [[x, y], [u, v]] = [top(from), top(to)];
    const up = Math.min(y, v) - Math.min(70, 20 + Math.abs(x - u) / 4);
    const arc = document.createElementNS(SVG, "path");
    arc.setAttribute("d", `M${x} ${y} C${x} ${up} ${u} ${up} ${u} ${v}`);
    arc.setAttribute("stroke-width", String(1 + 9 * weight));
    arc.setAttribute("opacity", String(0.35 + 0.65 * weight));
    return [arc];
  });
  arcs.replaceChildren(...found);
}
