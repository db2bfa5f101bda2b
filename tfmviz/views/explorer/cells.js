// The cells of a heat map.

/** @import { Pen } from "../shared/canvas.js" */
/** @import { Colours } from "../shared/colours.js" */
/** @import { Pattern, Scale } from "./weights.js" */
import { contextOf } from "../shared/canvas.js";
import { packed } from "../shared/colours.js";
import { rowMaxima, SCALES_OF_SHADE } from "./weights.js";

/** @typedef {{rows: [number, number], columns: [number, number]}} Part of a map, from and to */

/** @typedef {{row: number, column: number, weight: number, shade: number | null}} Shaded null where masked */

/**
 * Visits the cells of a part row by row.
 * @param {Pattern} pattern
 * @param {Part} part
 * @param {Scale} scale
 * @param {(cell: Shaded) => void} visit
 */
export function eachCell(pattern, { rows, columns }, scale, visit) {
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

/**
 * Draws a pattern as an image, one pixel a cell.
 * @param {HTMLCanvasElement} canvas
 * @param {Pattern} pattern
 * @param {Scale} scale
 * @param {number} masked colour
 */
export function paintImage(canvas, pattern, scale, masked) {
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

/**
 * Lines between the cells of a part.
 * @param {Pen} pen
 * @param {Part} part
 * @param {number} cell
 * @param {string} colour
 */
export function paintGrid(pen, { rows, columns }, cell, colour) {
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

/**
 * Which cells may look, and nothing more.
 * @param {Pen} pen
 * @param {Pattern} pattern
 * @param {Part} part
 * @param {{cell: number, colours: Colours}} options
 */
export function paintVeiled(pen, pattern, part, { cell, colours }) {
  eachCell(pattern, part, "root", ({ row, column, shade }) => {
    pen.fillStyle = shade === null ? colours.masked : colours.soft;
    pen.fillRect(column * cell, row * cell, cell, cell);
  });
  if (cell >= 9) paintGrid(pen, part, cell, colours.grid);
}

/**
 * Which cells can be seen along one axis: from, to.
 * @param {number} offset how far the map is scrolled
 * @param {number} room
 * @param {number} cell
 * @param {number} count
 * @returns {[number, number]}
 */
export const span = (offset, room, cell, count) => [
  Math.max(0, Math.floor(offset / cell)),
  Math.min(count, Math.ceil((offset + room) / cell)),
];

/**
 * How far the map is scrolled once a row or column is in sight.
 * @param {number} offset before
 * @param {number} at
 * @param {number} room
 * @param {number} cell
 */
export const revealed = (offset, at, room, cell) => Math.min(Math.max(offset, (at + 1) * cell - room), at * cell);
