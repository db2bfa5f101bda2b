// What a picture of cells says. Nothing here draws.

import type { Matrix } from "../shared/arrays.ts";
import { inWords } from "../shared/bytes.ts";
import { decimal } from "../shared/numbers.ts";
import type { Scale } from "./scales.ts";

export type Axis = {
  title: string;
  names: string[] | null;
  spoken: string[] | null;
  count: number;
  boxed: number[];
  places: number[] | null;
};
type Form = {
  name: string;
  digits: number;
  sign: boolean;
  percent: boolean;
  unit: string;
  words: [string, string] | null;
  absent: [string, string];
};
type Frame = { top: number; left: number; bottom: number; right: number; colour: string };
export type Cell = { matrix: number; row: number; column: number };
/** what tfmviz/views/cells sends, see tfmviz/plots/cells.py */
export type Picture = {
  name: string;
  alt: string;
  click: string;
  linked: string[];
  matrices: number;
  titles: string[];
  rows: Axis;
  columns: Axis;
  scale: Scale;
  form: Form;
  texts: string[][] | null;
  notes: string[][] | null;
  frames: Frame[];
  crosses: [number, number][];
  square: boolean;
  rowHeight: number;
  across: number;
  values: Matrix["values"];
};

export function sentence(picture: Picture, { matrix, row, column }: Cell) {
  const { rows, columns, titles, notes, matrices } = picture;
  const title = matrices > 1 ? `${titles[matrix]}: ` : "";
  const note = notes?.[row][column];
  const value = said(picture.form, valueAt(picture, { matrix, row, column }));
  return `${title}${spokenOf(rows, row)}, ${spokenOf(columns, column)}: ${value}${note ? `; ${note}` : ""}`;
}

export const valueAt = ({ rows, columns, values }: Picture, { matrix, row, column }: Cell) =>
  values[(matrix * rows.count + row) * columns.count + column];

export function said({ name, digits, sign, percent, unit, words, absent }: Form, value: number) {
  if (words) return words[Number.isFinite(value) ? 0 : 1];
  if (!Number.isFinite(value)) return absent[value === -Infinity ? 1 : 0];
  return `${name}${decimal(percent ? 100 * value : value, digits, { sign })}${percent ? "%" : ""}${unit}`;
}

export const nameOf = (axis: Axis, index: number) => (axis.names ? (axis.names[index] ?? "") : String(index));

export const spokenOf = (axis: Axis, index: number) => inWords(axis.spoken?.[index] ?? `${axis.title} ${index}`);
