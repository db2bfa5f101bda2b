// A table whose rows can be chosen, and sentences with marked words. All of it becomes text, never HTML.

import { button, make } from "../shared/elements.js";
import { barLength } from "../shared/numbers.js";

/**
 * @typedef {object} Table
 * @property {string} caption
 * @property {string[]} columns
 * @property {string[][]} rows
 * @property {number[]} shares
 * @property {boolean} has_ground
 * @property {number[]} spared
 * @property {number | null} picked
 * @property {string} about
 * @property {boolean} low
 * @property {boolean} texts
 * @property {[before: string, marked: string, after: string][]} sentences
 */

/**
 * @param {object} component
 * @param {Table} component.data
 * @param {any} component.parentElement
 * @param {(name: string, value: any) => void} component.setTriggerValue
 */
export default function ({ data, parentElement, setTriggerValue }) {
  parentElement.pick_ = (/** @type {number} */ row) => setTriggerValue("picked", row);
  parentElement.node_ ??= parentElement.appendChild(make("div", { className: "view counts" }));
  const node = parentElement.node_;
  const focused = Number(parentElement.activeElement?.dataset.row ?? -1);
  node.replaceChildren(
    make("p", { textContent: data.caption }),
    make(
      "div",
      { className: data.low ? "low scroller" : "scroller", ...region(data) },
      table(data, (row) => parentElement.pick_(row)),
    ),
    make("p", { className: "about", role: "status", textContent: data.about }),
    make("ol", { hidden: !data.sentences.length }, ...data.sentences.map(sentence)),
  );
  node.querySelector(`button[data-row="${focused}"]`)?.focus();
}

/**
 * On a phone a table may be wider than the screen. If it has no buttons, the keyboard scrolls the table itself.
 * @param {Table} data
 */
const region = ({ caption, picked }) => (picked === null ? { tabIndex: 0, role: "region", ariaLabel: caption } : {});

/**
 * @param {Table} data
 * @param {(row: number) => void} pick
 */
function table(data, pick) {
  const { caption, columns, rows, shares, spared, picked, texts } = data;
  const kind = (/** @type {number} */ column) => (spared.includes(column) ? "spared" : "");
  const head = columns.map((title, n) => make("th", { scope: "col", textContent: title, className: kind(n) }));
  const body = rows.map(([name, ...numbers], row) => {
    const chosen = row === picked;
    const label = make("span", { textContent: name, dir: "auto" });
    const choice = button("", { ariaPressed: String(chosen), dataset: { row }, onclick: () => pick(row) });
    choice.append(label);
    const cells = numbers.map((text, n) => make("td", { textContent: text, className: kind(n + 1) }));
    const last = cells.at(-1);
    if (shares.length && last) last.style.setProperty("--share", barLength(shares[row]));
    const first = make("th", { scope: "row" }, picked === null ? label : choice);
    return make("tr", { className: chosen ? "picked" : "" }, first, ...cells);
  });
  const bars = data.has_ground ? "shares grounded" : "shares";
  const className = texts ? "texts" : shares.length ? bars : "";
  return make(
    "table",
    { ariaLabel: caption, className },
    make("thead", {}, make("tr", {}, ...head)),
    make("tbody", {}, ...body),
  );
}

/** @param {[before: string, marked: string, after: string]} parts */
function sentence([before, marked, after]) {
  return make("li", { dir: "auto" }, before, make("mark", { textContent: marked }), after);
}
