// Masks as bits.

import { bytesIn } from "../shared/record.ts";

/** `open` is 1 where the query (row) may look at the key (column), row by row. */
export type Mask = { rows: number; columns: number; open: Uint8Array };

export type Bits = { rows: number; columns: number; bits: string };

export type Place = { row: number; column: number };

export type Brush = "cell" | "row" | "column" | "diagonal";

/** Reads what `to_bits` of tfmviz/views/masks writes: row by row, highest bit first, in base64. */
export function fromBits({ rows, columns, bits }: Bits): Mask {
  const bytes = bytesIn(bits);
  const open = Uint8Array.from({ length: rows * columns }, (_, n) => (bytes[n >> 3] >> (7 - (n & 7))) & 1);
  return { rows, columns, open };
}

/** Writes what `from_bits` of tfmviz/views/masks reads. */
export function toBits({ open }: Mask) {
  const bytes = new Uint8Array(Math.ceil(open.length / 8));
  for (const [n, cell] of open.entries()) bytes[n >> 3] |= cell << (7 - (n & 7));
  return btoa(String.fromCharCode(...bytes));
}

export const copyOf = ({ rows, columns, open }: Mask): Mask => ({ rows, columns, open: open.slice() });

export const countOf = ({ open }: Mask) => open.reduce((sum, cell) => sum + cell, 0);

export const rowCount = ({ columns, open }: Mask, row: number) =>
  open.subarray(row * columns, (row + 1) * columns).reduce((sum, cell) => sum + cell, 0);

export function touched({ rows, columns }: { rows: number; columns: number }, brush: Brush, { row, column }: Place) {
  if (brush === "row") return Array.from({ length: columns }, (_, j) => row * columns + j);
  if (brush === "column") return Array.from({ length: rows }, (_, i) => i * columns + column);
  if (brush === "diagonal") {
    const cells = Array.from({ length: rows }, (_, i) => [i, i + column - row]);
    return cells.filter(([, j]) => j >= 0 && j < columns).map(([i, j]) => i * columns + j);
  }
  return [row * columns + column];
}

/** A gesture that begins with open cells closes; a column is a word, which is hidden as long as anybody sees it. */
export function gestureOf({ open }: Mask, brush: Brush, cells: number[]) {
  const closes = brush === "column" ? cells.some((cell) => open[cell]) : cells.every((cell) => open[cell]);
  return closes ? CLOSED : OPEN;
}

/** The cells that a gesture changes: a word is shown again to those that saw it in the mask one started from. */
export function changedBy({ open }: Mask, brush: Brush, value: number, cells: number[]) {
  const before = cells.filter((cell) => open[cell]);
  return brush === "column" && value === OPEN && before.length ? before : cells;
}

export const OPEN = 1;
const CLOSED = 0;

export function gestureWords(brush: Brush, value: number) {
  if (brush === "column") return `word ${value === OPEN ? "shown" : "hidden"}`;
  return `${brush} ${value === OPEN ? "opened" : "closed"}`;
}

/** Which keys a query sees: "0–3, 7". */
export function ranges({ columns, open }: Mask, row: number) {
  const parts = [];
  for (let j = 0; j < columns; j++) {
    if (!open[row * columns + j]) continue;
    const from = j;
    while (j + 1 < columns && open[row * columns + j + 1]) j += 1;
    parts.push(from === j ? `${from}` : `${from}–${j}`);
  }
  return parts.join(", ") || "nothing";
}
