// Signs between matrices, and a matrix as a table.

import { rowOf } from "../shared/arrays.ts";
import { make } from "../shared/elements.ts";
import type { Values } from "../shared/table.ts";
import type { Axis, Head, MatrixId } from "./head.ts";

/** A sign between two matrices, or a new line. */
export const sign = (text: string) =>
  text === "\n" ? make("div", { className: "break" }) : make("span", { className: "sign", textContent: text });

/** A matrix with the names of its rows and columns. */
export function valuesOf(head: Head, id: MatrixId): Values {
  const matrix = head.matrix(id);
  const { axes, rows, columns, name, title } = matrix;
  const named = (axis: Axis, n: number) =>
    axis === "query" || axis === "key" ? `${n} ${head.labels(axis)[n]}` : String(n);
  const lines = Array.from({ length: rows }, (_, row) => [named(axes.rows, row), ...rowOf(matrix, row)]);
  const heads = Array.from({ length: columns }, (_, column) => named(axes.columns, column));
  return { title: `${name} ${title}`.trim(), columns: ["row", ...heads], rows: lines };
}
