// Probabilities as bars, the largest first; a bar as long as its ground would be certainty. Labels become text, never
// HTML.

/** @import { Page } from "../shared/shell.js" */
import { figureOf } from "../shared/drawn.js";
import { make } from "../shared/elements.js";
import { component } from "../shared/meet.js";
import { barLength } from "../shared/numbers.js";
import { Shell } from "../shared/shell.js";

/** @typedef {[label: string, probability: number, written: string]} Row how it is written stands at the end */

class Bars extends Shell {
  /** @type {Row[]} */
  rows = [];
  list = make("ol");

  /**
   * @param {HTMLElement} parent
   * @param {Page} page
   */
  constructor(parent, page) {
    super(page);
    this.mount(parent, { className: "bars" }, this.list, this.bar());
  }

  /** @param {Row[]} rows */
  read(rows) {
    this.rows = rows;
  }

  draw() {
    this.list.replaceChildren(...this.rows.map(row));
  }

  figure() {
    return figureOf(this.list);
  }

  titles() {
    return { name: "shares", title: "Shares", caption: "" };
  }

  values() {
    return { title: "Shares", columns: ["name", "share"], rows: this.rows.map(([label, share]) => [label, share]) };
  }
}

/** @param {Row} row */
function row([label, probability, written]) {
  const bar = make("span", { className: "length", style: { width: barLength(probability) } });
  const number = make("span", { className: "number", textContent: written });
  return make(
    "li",
    {},
    make("span", { className: "label", dir: "auto", title: label, textContent: label }),
    make("span", { className: "track" }, bar, number),
  );
}

export default component((parent, page) => new Bars(parent, page));
