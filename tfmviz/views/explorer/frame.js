// How the parts of the explorer stand on the page.

/** @import { Colours } from "../shared/colours.js" */
/** @import { Figure, Saved } from "../shared/picture.js" */
/** @import { Values } from "../shared/table.js" */
/** @import { Controls } from "./controls.js" */
/** @import { Legend } from "./legend.js" */
/** @import { Lines } from "./lines.js" */
/** @import { Matrix } from "./matrix.js" */
/** @import { Kind } from "./payload.js" */
/** @import { State } from "./state.js" */
/** @import { Overview } from "./overview.js" */
/** @import { Pair } from "./pair.js" */
/** @import { Strip } from "./strip.js" */
import { figureBar } from "../shared/bar.js";
import { make } from "../shared/elements.js";
import { save } from "../shared/picture.js";
import { shownName, verdictWords } from "./words.js";

/** @typedef {"overview" | "lines" | "matrix"} PanelName */

/** @typedef {{node: HTMLElement, figure: (colours: Colours) => Figure}} Drawn */

/** @typedef {{saved: (name: PanelName, view: Drawn) => Saved, values: (name: PanelName) => Values}} Listener */

/**
 * @typedef {object} Parts
 * @property {Controls} controls
 * @property {Legend} legend
 * @property {Strip[]} strips
 * @property {Pair} pair
 * @property {Overview} overview
 * @property {Lines} lines
 * @property {Matrix} matrix
 */

/** What stands below a saved figure. */
export const CAPTIONS = {
  overview: "A tile is a head; rows are queries, columns keys. Brighter is more attention, grey is masked.",
  lines: "Left looks at right; stronger lines are more attention.",
  matrix: "Rows are queries, columns keys; brighter is more attention, grey is masked.",
};

export class Frame {
  /**
   * @param {Parts} parts
   * @param {Listener & {writeOut: () => void}} listener
   */
  constructor({ controls, legend, strips, pair, overview, lines, matrix }, { writeOut, ...listener }) {
    this.shown = make("strong");
    this.spoken = make("span", { className: "spoken" });
    this.headline = make("p", { className: "headline" }, this.shown, ": ", this.spoken);
    this.verdict = make("p", { className: "verdict" });
    const ask = make("summary", { textContent: "What kind of head is this?" });
    this.kind = make("details", { className: "kind" }, ask, this.verdict);
    this.tip = make("div", { className: "tip", hidden: true });
    this.rows = make("ol");
    const summary = make("summary", { textContent: "Every row in words" });
    this.inWords = make("details", { className: "in-words", ontoggle: writeOut }, summary, this.rows);
    this.panels = make("div", { className: "panels" });
    this.panels.append(
      make("div", { className: "sentence" }, this.headline, ...strips.map(({ node }) => node), pair.node),
      panel(overview, listener, {
        name: "overview",
        title: "Every head",
        hint: "Point at a head to see it; click to keep it.",
        foot: controls.node,
      }),
      panel(lines, listener, {
        name: "lines",
        title: "Who looks at whom",
        hint: "Left looks at right. Click a token to pin it.",
      }),
      panel(matrix, listener, {
        name: "matrix",
        title: "As a matrix",
        hint: "A row is one token's attention; unfiltered it sums to 1, or to less with a sink.",
        foot: zoomOf(matrix),
      }),
      make(
        "div",
        { className: "about" },
        this.kind,
        make("div", { className: "bar colours" }, controls.filters, legend.node, controls.link),
      ),
    );
  }

  /**
   * Says which head is shown, and of a single one what it does.
   * @param {State} view
   * @param {Kind} kind
   * @param {Record<string, string>} words what each kind of verdict means
   * @param {string} [address] of what is chosen, where there are other pages
   */
  say(view, kind, words, address) {
    const place = view.heads[view.heads.length - 1];
    const isSingle = view.aggregate === "heads" && view.heads.length === 1;
    const [verdict, aside] = isSingle ? verdictWords(kind, place, words) : ["", ""];
    this.shown.textContent = shownName(kind, view);
    this.kind.hidden = !verdict;
    const more = address && kind.said?.length ? [" ", biographyAt(address)] : [];
    this.verdict.replaceChildren(`It${verdict}`, make("span", { className: "aside", textContent: aside }), ...more);
  }

  /** @param {string[]} rows in words */
  writeOut(rows) {
    this.rows.replaceChildren(...rows.map((textContent) => make("li", { textContent })));
  }

  /**
   * Shows a text beside the pointer.
   * @param {string} text
   * @param {{x: number, y: number}} pointer in the window
   * @param {HTMLElement} node the view
   */
  placeTip(text, { x, y }, node) {
    const box = node.getBoundingClientRect();
    this.tip.textContent = text;
    this.tip.style.top = `${y - box.top + 18}px`;
    this.tip.style.left = `${Math.max(0, Math.min(x - box.left + 12, box.width - this.tip.offsetWidth - 4))}px`;
  }
}

/**
 * A picture with its title, a hint, and its bar.
 * @param {Drawn} view
 * @param {Listener} listener
 * @param {{name: PanelName, title: string, hint: string, foot?: Node}} options
 */
function panel(view, { saved, values }, { name, title, hint, foot }) {
  const heading = make("h2", { textContent: title });
  const node = make("section", { className: `panel ${name}` });
  /** @param {"svg" | "png"} format */
  const file = (format) => save(saved(name, view), format);
  const bar = figureBar({ whole: () => node, file, values: () => values(name), about: title });
  const aside = make("p", { className: "hint", textContent: hint });
  node.append(make("div", { className: "head" }, heading, bar), view.node, make("div", { className: "foot" }, aside));
  if (foot) node.lastElementChild?.append(foot);
  return node;
}

/** @param {Matrix} matrix */
function zoomOf(matrix) {
  const range = make("input", { type: "range", min: 0, max: 4, step: 0.1, value: 0, ariaLabel: "Zoom of the matrix" });
  range.oninput = () => matrix.zoomTo(2 ** Number(range.value));
  matrix.onzoom = (zoom) => {
    range.value = String(Math.log2(zoom));
  };
  return make("label", { className: "zoom" }, "zoom ", range);
}

/**
 * A link to the map of all heads, with the chosen one.
 * @param {string} address of the explorer
 */
function biographyAt(address) {
  const there = new URL("step_by_step", address);
  there.search = new URL(address).search;
  there.searchParams.set("part", "Find a head");
  return make("a", { href: there.href, textContent: "Among all heads" });
}
