// What a picture of cells says. Nothing here draws.

import { inWords } from "../shared/bytes.js";
import { decimal } from "../shared/numbers.js";

/**
 * @typedef {{title: string, names: string[] | null, spoken: string[] | null, count: number,
 *   boxed: number[], places: number[] | null}} Axis rows or columns
 * @typedef {{name: string, digits: number, sign: boolean, percent: boolean, unit: string,
 *   words: [string, string] | null, absent: [string, string]}} Form how a value is said
 * @typedef {{top: number, left: number, bottom: number, right: number, colour: string}} Frame
 * @typedef {{matrix: number, row: number, column: number}} Cell
 * @typedef {{
 *   name: string, alt: string, click: string, linked: string[], matrices: number, titles: string[],
 *   rows: Axis, columns: Axis, scale: import("./scales.js").Scale, form: Form,
 *   texts: string[][] | null, notes: string[][] | null, frames: Frame[], crosses: [number, number][],
 *   square: boolean, rowHeight: number, across: number, values: Float32Array,
 * }} Picture what tfmviz/views/cells sends, see tfmviz/plots/cells.py
 */

/**
 * All about one cell in a sentence.
 * @param {Picture} picture
 * @param {Cell} cell
 */
export function sentence(picture, { matrix, row, column }) {
  const { rows, columns, titles, notes, matrices } = picture;
  const title = matrices > 1 ? `${titles[matrix]}: ` : "";
  const note = notes?.[row][column];
  const value = said(picture.form, valueAt(picture, { matrix, row, column }));
  return `${title}${spokenOf(rows, row)}, ${spokenOf(columns, column)}: ${value}${note ? `; ${note}` : ""}`;
}

/**
 * @param {Picture} picture
 * @param {Cell} cell
 */
export const valueAt = ({ rows, columns, values }, { matrix, row, column }) =>
  values[(matrix * rows.count + row) * columns.count + column];

/**
 * The value of a cell in words.
 * @param {Form} form
 * @param {number} value
 */
export function said({ name, digits, sign, percent, unit, words, absent }, value) {
  if (words) return words[Number.isFinite(value) ? 0 : 1];
  if (!Number.isFinite(value)) return absent[value === -Infinity ? 1 : 0];
  return `${name}${decimal(percent ? 100 * value : value, digits, { sign })}${percent ? "%" : ""}${unit}`;
}

/**
 * What is drawn beside row or column `index`.
 * @param {Axis} axis
 * @param {number} index
 */
export const nameOf = (axis, index) => (axis.names ? (axis.names[index] ?? "") : String(index));

/**
 * What is said of row or column `index`.
 * @param {Axis} axis
 * @param {number} index
 */
export const spokenOf = (axis, index) => inWords(axis.spoken?.[index] ?? `${axis.title} ${index}`);
