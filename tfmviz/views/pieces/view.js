// Texts cut into pieces: a table with a row for each way to cut. All of it becomes text, never HTML.

import { make } from "../shared/elements.js";

/**
 * A piece: its text, its kind, and the lines below it.
 * @typedef {[text: string, kind: string, ...below: string[]]} Piece
 * @typedef {{name: string, note: string, pieces: Piece[], left_out: number}} Row
 * @typedef {{caption: string, titles: string[], rows: Row[]}} Pieces
 */

const SAID = {
  part: "part of a character",
  mark: "a mark, not text",
  next: "merged next",
  new: "new",
  only: "only here",
};

/**
 * @param {object} component
 * @param {Pieces} component.data
 * @param {any} component.parentElement
 */
export default function ({ data, parentElement }) {
  parentElement.node_ ??= parentElement.appendChild(make("div", { className: "view pieces" }));
  const head = data.titles.map((title) => make("th", { scope: "col", textContent: title }));
  parentElement.node_.replaceChildren(
    make("p", { textContent: data.caption, hidden: !data.caption }),
    make(
      "table",
      { ariaLabel: data.caption },
      make("thead", {}, make("tr", {}, ...head)),
      make("tbody", {}, ...data.rows.map(row)),
    ),
  );
}

/** @param {Row} data */
function row({ name, note, pieces, left_out }) {
  const boxes = pieces.map(box);
  if (left_out)
    boxes.push(make("li", { className: "rest", textContent: `… and ${left_out.toLocaleString("en")} more` }));
  return make(
    "tr",
    {},
    make("th", { scope: "row", textContent: name, dir: "auto" }),
    make("td", { className: "note", textContent: note }),
    make("td", {}, make("ol", {}, ...boxes)),
  );
}

/** @param {Piece} piece */
function box([text, kind, ...below]) {
  const said = SAID[/** @type {keyof typeof SAID} */ (kind)];
  const node = make("li", { className: kind, title: said ? `${text}: ${said}` : text });
  node.append(make("span", { textContent: text, dir: "auto" }));
  if (said) node.append(make("span", { className: "unseen", textContent: `(${said})` }));
  for (const line of below) node.append(make("span", { className: "below", textContent: line }));
  return node;
}
