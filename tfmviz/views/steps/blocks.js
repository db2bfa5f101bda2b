// Signs between matrices, and a matrix as a table.

/** @import { Axis, Head, MatrixId } from "./head.js" */
/** @import { Values } from "../shared/table.js" */
import { make } from "../shared/elements.js";

/**
 * A sign between two matrices, or a new line.
 * @param {string} text
 */
export const sign = (text) =>
  text === "\n" ? make("div", { className: "break" }) : make("span", { className: "sign", textContent: text });

/**
 * A matrix with the names of its rows and columns.
 * @param {Head} head
 * @param {MatrixId} id
 * @returns {Values}
 */
export function valuesOf(head, id) {
  const { axes, rows, columns, values, name, title } = head.matrix(id);
  /** @type {(axis: Axis, n: number) => string} */
  const named = (axis, n) => (axis === "query" || axis === "key" ? `${n} ${head.labels(axis)[n]}` : String(n));
  const lines = Array.from({ length: rows }, (_, row) => [
    named(axes.rows, row),
    ...values.subarray(row * columns, (row + 1) * columns),
  ]);
  const heads = Array.from({ length: columns }, (_, column) => named(axes.columns, column));
  return { title: `${name} ${title}`.trim(), columns: ["row", ...heads], rows: lines };
}
