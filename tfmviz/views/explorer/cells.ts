// The cells of a heat map.

import { type Pen, strokes } from "../shared/canvas.ts";
import { type Colours, packedShade, pixels } from "../shared/colours.ts";
import { hatch } from "../shared/hatch.ts";
import { type Pattern, rowMaxima, SCALES_OF_SHADE, type Scale } from "./weights.ts";

/** of a map, from and to */
export type Part = { rows: [number, number]; columns: [number, number] };

/** null where masked */
type Shaded = { row: number; column: number; weight: number; shade: number | null };

export function eachCell(pattern: Pattern, { rows, columns }: Part, scale: Scale, visit: (cell: Shaded) => void) {
  const { mask, weights } = pattern;
  const maxima = rowMaxima(pattern);
  for (let row = rows[0]; row < rows[1]; row++)
    for (let column = columns[0]; column < columns[1]; column++) {
      const weight = weights[row * mask.columns + column];
      const isAllowed = mask.allowed[row * mask.columns + column];
      visit({ row, column, weight, shade: isAllowed ? SCALES_OF_SHADE[scale](weight, maxima[row]) : null });
    }
}

export function imageOf(pattern: Pattern, scale: Scale, masked: number) {
  const { rows, columns, allowed } = pattern.mask;
  const [shade, maxima] = [SCALES_OF_SHADE[scale], rowMaxima(pattern)];
  const shown = (n: number) => packedShade(shade(pattern.weights[n], maxima[Math.floor(n / columns)]));
  return pixels(columns, rows, (n) => (allowed[n] ? shown(n) : masked));
}

export function paintGrid(pen: Pen, { rows, columns }: Part, cell: number, colour: string) {
  const [top, bottom, left, right] = [...rows, ...columns].map((edge) => edge * cell);
  const edges = ([from, to]: [number, number]) => Array.from({ length: to - from + 1 }, (_, n) => (from + n) * cell);
  const lines = [...edges(rows).map((y) => [left, y, right, y]), ...edges(columns).map((x) => [x, top, x, bottom])];
  strokes(pen, { strokeStyle: colour, lineWidth: 1 }, ...lines);
}

export function paintVeiled(pen: Pen, pattern: Pattern, part: Part, cell: number, colours: Colours) {
  eachCell(pattern, part, "root", ({ row, column, shade }) => {
    pen.fillStyle = shade === null ? colours.masked : colours.soft;
    pen.fillRect(column * cell, row * cell, cell, cell);
  });
  const { allowed, columns } = pattern.mask;
  hatch(pen, { ...part, wide: cell, high: cell }, colours, (i, j) => !allowed[i * columns + j]);
  if (cell >= 9) paintGrid(pen, part, cell, colours.grid);
}

/** Which cells can be seen along one axis, from and to, where the map is scrolled by `offset`. */
export const span = (offset: number, room: number, cell: number, count: number): [number, number] => [
  Math.max(0, Math.floor(offset / cell)),
  Math.min(count, Math.ceil((offset + room) / cell)),
];

/** How far the map is scrolled once a row or column is in sight; `offset` before. */
export const revealed = (offset: number, at: number, room: number, cell: number) =>
  Math.min(Math.max(offset, (at + 1) * cell - room), at * cell);
