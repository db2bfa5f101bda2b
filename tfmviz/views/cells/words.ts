// What a picture of cells says, and what colours and numbers its values get. Nothing here draws.

import { type Matrix, unpack } from "../shared/arrays.ts";
import { inWords } from "../shared/bytes.ts";
import { between, bytesOf, RAMP, type Rgb, shadeIndex } from "../shared/colours.ts";
import { MOST_SAID } from "../shared/constants.ts";
import { decimal, tiny } from "../shared/numbers.ts";
import { type Head, type HeadPair, pictureOf } from "./head_pair.ts";

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
  pair?: HeadPair; // of which the rest is made
};

/** How a picture differs from the last one. */
export type Change = Partial<Omit<Picture, "pair" | "scale">> & { pair?: Partial<HeadPair>; scale?: Partial<Scale> };

type Lengths = { lengths: number[] }; // of rows
type Sent = Picture & Lengths & { pair?: { other: (Head & Lengths) | null } };

export function pictureIn(data: Uint8Array): Picture {
  const { header, arrays } = unpack<Sent>(data);
  const { rows, columns, lengths, pair } = header;
  const values = matrixIn(arrays.values.values, lengths, columns.count);
  const picture = { ...header, values };
  if (!pair) return picture;
  const { other } = pair;
  if (other) other.values = matrixIn(arrays.other.values, other.lengths, other.keys.length);
  return changed(picture, { pair: { head: { queries: rows.names ?? [], keys: columns.names ?? [], values } } });
}

/** Rows of which only the numbers up to the last were sent. */
function matrixIn(sent: Matrix["values"], lengths: number[], columns: number) {
  const values = new Float32Array(lengths.length * columns).fill(Number.NaN);
  let at = 0;
  for (const [row, length] of lengths.entries()) {
    values.set(sent.subarray(at, at + length), row * columns);
    at += length;
  }
  return values;
}

export function changed(picture: Picture, { pair, ...change }: Change): Picture {
  const known = picture.pair && { ...picture.pair, ...pair };
  const { scale, ...more }: Change = known ? pictureOf(known) : change;
  return { ...picture, ...more, pair: known, scale: { ...picture.scale, ...scale } };
}

export function sentence(picture: Picture, { matrix, row, column }: Cell) {
  const { rows, columns, titles, notes, matrices } = picture;
  const title = matrices > 1 ? `${titles[matrix]}: ` : "";
  const note = notes?.[row][column];
  const value = said(picture.form, valueAt(picture, { matrix, row, column }));
  return `${title}${spokenOf(rows, row)}, ${spokenOf(columns, column)}: ${value}${note ? `; ${note}` : ""}`;
}

/** For those who cannot see it: the largest value of every row of the only matrix, or of each of several. */
export function altOf({ matrices, titles, rows, columns, values, form }: Picture) {
  const isOne = matrices === 1;
  const size = (isOne ? 1 : rows.count) * columns.count;
  const names = isOne ? Array.from({ length: rows.count }, (_, n) => named(rows, n)) : titles.slice(0, matrices);
  const words = [...new Map(names.map((name, n) => [name, n]))].flatMap(([name, n]) => {
    const part = values.subarray(n * size, (n + 1) * size);
    let most = -1;
    for (const [at, value] of part.entries())
      if (Number.isFinite(value) && (most < 0 || Math.abs(value) > Math.abs(part[most]))) most = at;
    if (most < 0) return [];
    const number = form.percent ? `${decimal(100 * part[most], 0)}%` : decimal(part[most], form.digits, form);
    const row = isOne ? "" : `${named(rows, Math.floor(most / columns.count))}, `;
    return `${name}: ${row}${named(columns, most % columns.count)}, ${form.name}${number}${form.unit}`;
  });
  const more = words.length > MOST_SAID ? [`${words.length - MOST_SAID} more rows`] : [];
  return [...words.slice(0, MOST_SAID), ...more].join("; ") || "no numbers yet";
}

const named = ({ spoken, names, title }: Axis, n: number) => spoken?.[n] ?? names?.[n] ?? `${title} ${n}`.trim();

export const valueAt = ({ rows, columns, values }: Picture, { matrix, row, column }: Cell) =>
  values[(matrix * rows.count + row) * columns.count + column];

export function said({ name, digits, sign, percent, unit, words, absent }: Form, value: number) {
  if (words) return words[Number.isFinite(value) ? 0 : 1];
  if (!Number.isFinite(value)) return absent[value === -Infinity ? 1 : 0];
  return `${name}${decimal(percent ? 100 * value : value, digits, { sign })}${percent ? "%" : ""}${unit}`;
}

export const nameOf = (axis: Axis, index: number) => (axis.names ? (axis.names[index] ?? "") : String(index));

export const spokenOf = (axis: Axis, index: number) => inWords(axis.spoken?.[index] ?? `${axis.title} ${index}`);

export type Scale = {
  colours: "cividis" | "probability" | "norms" | "signed" | "open";
  low: number;
  high: number;
  title: string;
  root: boolean;
  ticks: "decimal" | "whole" | "per cent";
  stops: { light: string[]; dark: string[] };
};

export function painter(scale: Scale, dark: boolean): (value: number) => Rgb {
  if (scale.colours === "cividis") return (value) => RAMP[shadeIndex(along(scale, value))];
  const stops = scale.stops[dark ? "dark" : "light"].map(bytesOf);
  return (value) => between(stops, along(scale, value));
}

/** How far along the colours a value lies: from 0, the first, to 1, the last. */
export function along({ low, high, root, colours }: Scale, value: number) {
  if (colours === "signed") {
    const middle = (low + high) / 2;
    const part = Math.min(1, Math.max(-1, (value - middle) / (high - middle)));
    return (1 + (root ? Math.sign(part) * Math.sqrt(Math.abs(part)) : part)) / 2;
  }
  const part = Math.min(1, Math.max(0, (value - low) / (high - low)));
  return root ? Math.sqrt(part) : part;
}

export function ticks({ low, high, ticks: kind }: Pick<Scale, "low" | "high" | "ticks">, most: number) {
  const step = roundStep((high - low) / most, kind === "whole");
  const digits = decimals(kind === "per cent" ? 100 * step : step);
  const write = (value: number) => {
    if (kind === "per cent") return `${decimal(100 * value, digits)}%`;
    return step < 1e-4 ? tiny(value) : decimal(value, digits);
  };
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  const values = Array.from({ length: last - first + 1 }, (_, n) => (first + n) * step);
  return values.map((value) => ({ value, text: write(value) }));
}

/** The least step of at least `least` that is 1, 2, 2.5 or 5 times a power of ten. */
function roundStep(least: number, whole: boolean) {
  const power = 10 ** Math.floor(Math.log10(least));
  const factors = whole ? [1, 2, 5, 10] : [1, 2, 2.5, 5, 10];
  const step = factors.map((factor) => factor * power).find((one) => one >= least * (1 - 1e-9)) ?? 10 * power;
  return whole ? Math.max(1, step) : step;
}

function decimals(step: number) {
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const left = step * 10 ** digits;
  return Math.abs(left - Math.round(left)) > 1e-6 ? digits + 1 : digits;
}
