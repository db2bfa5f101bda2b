// The cells of a heat map.

import { contextOf, type Pen } from "../shared/canvas.ts";
import { type Colours, packed } from "../shared/colours.ts";
import { hatch } from "../shared/hatch.ts";
import { type Pattern, rowMaxima, SCALES_OF_SHADE, type Scale } from "./weights.ts";

/** of a map, from and to */
export type Part = { rows: [number, number]; columns: [number, number] };

/** null where masked */
type Shaded = { row: number; column: number; weight: number; shade: number | null };

/** Visits the cells of a part row by row. */
export function eachCell(pattern: Pattern, { rows, columns }: Part, scale: Scale, visit: (cell: Shaded) => void) {
  const { mask, weights } = pattern;
  const maxima = rowMaxima(pattern);
  for (let row = rows[0]; row < rows[1]; row++) {
    for (let column = columns[0]; column < columns[1]; column++) {
      const cell = row * mask.columns + column;
      const weight = weights[cell];
      const shade = mask.allowed[cell] ? SCALES_OF_SHADE[scale](weight, maxima[row]) : null;
      visit({ row, column, weight, shade });
    }
  }
}

/** Draws a pattern as an image, one pixel a cell; `masked` is a colour. */
export function paintImage(canvas: HTMLCanvasElement, pattern: Pattern, scale: Scale, masked: number) {
  const { mask, weights } = pattern;
  const { rows, columns, allowed } = mask;
  if (canvas.width !== columns || canvas.height !== rows) Object.assign(canvas, { width: columns, height: rows });
  const context = contextOf(canvas);
  const image = context.createImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  const shade = SCALES_OF_SHADE[scale];
  const maxima = rowMaxima(pattern);
  for (let row = 0, cell = 0; row < rows; row++) {
    for (const end = cell + columns; cell < end; cell++) {
      pixels[cell] = allowed[cell] ? packed(shade(weights[cell], maxima[row])) : masked;
    }
  }
  context.putImageData(image, 0, 0);
}

export function paintGrid(pen: Pen, { rows, columns }: Part, cell: number, colour: string) {
  pen.strokeStyle = colour;
  pen.lineWidth = 1;
  pen.beginPath();
  for (let row = rows[0]; row <= rows[1]; row++) {
    pen.moveTo(columns[0] * cell, row * cell);
    pen.lineTo(columns[1] * cell, row * cell);
  }
  for (let column = columns[0]; column <= columns[1]; column++) {
    pen.moveTo(column * cell, rows[0] * cell);
    pen.lineTo(column * cell, rows[1] * cell);
  }
  pen.stroke();
}

/** Which cells may look, and nothing more. */
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
