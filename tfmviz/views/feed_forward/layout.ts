// Where the vectors of a layer stand: one below the other, all cells of one size, so that widths can be compared.

import type { Arrays } from "../shared/arrays.ts";
import { within } from "../shared/elements.ts";

export type Part = "x" | "gate" | "pre" | "post" | "out" | "before" | "after";

export type Place = { part: Part; index: number };

export type Box = { part: Part; length: number; x: number; y: number; width: number; height: number };

/** Every vector fills its box column by column, `rows` numbers in each. */
export type Layout = { width: number; height: number; cell: number; rows: number; boxes: Box[] };

export const NAME = 23; // pixels for the name above a vector
const WEIGHTS = 40; // pixels for a matrix of weights between two vectors
const SMALLEST_CELL = 6; // pixels of a cell, as long as there are not too many rows
const LARGEST_CELL = 14;
const MOST_ROWS = 48;
const BETWEEN = 4; // cells between two vectors on one line

export function layoutOf(arrays: Arrays, width: number): Layout {
  const [narrow, wide] = [arrays.x.columns, arrays.pre.columns];
  const across = (rows: number) => Math.max(Math.ceil(wide / rows), 3 * Math.ceil(narrow / rows) + 2 * BETWEEN);
  let rows = 1;
  while (width / across(rows) < SMALLEST_CELL && rows < MOST_ROWS) rows += 1;
  const cell = Math.min(LARGEST_CELL, (width - 2) / across(rows));
  const high = rows * cell;
  const boxes: Box[] = [];
  let y = NAME;
  const put = (line: Part[]) => {
    const widths = line.map((part) => Math.ceil(arrays[part].columns / rows) * cell);
    let x = (width - widths.reduce((a, b) => a + b) - (line.length - 1) * BETWEEN * cell) / 2;
    for (const [n, part] of line.entries()) {
      boxes.push({ part, length: arrays[part].columns, x, y, width: widths[n], height: high });
      x += widths[n] + BETWEEN * cell;
    }
    y += high + NAME;
  };
  put(["x"]);
  y += WEIGHTS - NAME / 2;
  if (arrays.gate) put(["gate"]);
  put(["pre"]);
  put(["post"]);
  y += WEIGHTS - NAME / 2;
  put(["before", "out", "after"]);
  return { width, height: y - NAME + 4, cell, rows, boxes };
}

export const boxOf = ({ boxes }: Layout, part: Part) => boxes.find((box) => box.part === part) ?? boxes[0];

export function cornerOf(layout: Layout, { part, index }: Place) {
  const { x, y } = boxOf(layout, part);
  const { rows, cell } = layout;
  return { x: x + Math.floor(index / rows) * cell, y: y + (index % rows) * cell };
}

export function placeAt({ boxes, rows, cell }: Layout, x: number, y: number): Place | null {
  for (const box of boxes) {
    const [column, row] = [Math.floor((x - box.x) / cell), Math.floor((y - box.y) / cell)];
    const index = column * rows + row;
    if (column >= 0 && row >= 0 && row < rows && x < box.x + box.width && index < box.length)
      return { part: box.part, index };
  }
  return null;
}

/** The number that an arrow key leads to: the next cell, at an edge the nearest one of the next vector. */
export function moved(layout: Layout, from: Place, [down, right]: [rows: number, columns: number]): Place {
  const { cell } = layout;
  const corner = cornerOf(layout, from);
  const [x, y] = [corner.x + (right + 0.5) * cell, corner.y + (down + 0.5) * cell];
  const inside = placeAt(layout, x, y);
  if (inside) return inside;
  const own = boxOf(layout, from.part);
  const isAhead = (box: Box) => (down ? (box.y - own.y) * down > 0 : box.y === own.y && (box.x - own.x) * right > 0);
  const away = (box: Box) => Math.abs(box.y - y) + Math.abs(Math.min(Math.max(x, box.x), box.x + box.width) - x) / 1e4;
  const [next] = layout.boxes.filter(isAhead).sort((a, b) => away(a) - away(b));
  if (!next) return from;
  const column = within(Math.floor((x - next.x) / cell), Math.ceil(next.length / layout.rows));
  const row = within(Math.floor((y - next.y) / cell), layout.rows);
  return { part: next.part, index: Math.min(next.length - 1, column * layout.rows + row) };
}
