// One head of A and of B: the picture of either, and of B − A. Whether Python has computed the two or the browser, the
// picture is made here.

import { endOf, type Matrix } from "../shared/arrays.ts";
import { LEAST_SHARE, MOST_WRITTEN } from "../shared/constants.ts";
import { decimal, shortShare } from "../shared/numbers.ts";
import { quoted } from "../shared/quoted.ts";

/** the positions of a token in A and in B; null where it is not */
export type Pair = [a: number | null, b: number | null];

/** One side: shares of attention, NaN where masked, and the names of rows and columns. */
type HeadSide = { pattern: Matrix; queries: string[]; keys: string[]; lengths?: number[] };

/** See `HeadPair` in tfmviz/plots/side_by_side.py. */
export type HeadPair = {
  shows: 0 | 1 | null;
  sides: { 0: HeadSide; 1: HeadSide }; // one alone does not know the other
  queries: Pair[];
  keys: Pair[];
  cell: [query: number, key: number];
  blind: number[];
};

/** The pattern of which Python sends each row up to the last key that is not masked. */
export function patternIn(sent: Matrix["values"], { keys, lengths = [] }: HeadSide): Matrix {
  const values = new Float32Array(lengths.length * keys.length).fill(Number.NaN);
  let at = 0;
  for (const [row, length] of lengths.entries()) {
    values.set(sent.subarray(at, at + length), row * keys.length);
    at += length;
  }
  return { rows: lengths.length, columns: keys.length, values };
}

/** What a picture of cells does not know of itself: matrix, rows, columns, texts, frames, the ends of its scale. */
export const pictureOf = (pair: HeadPair) => (pair.shows === null ? differenceIn(pair) : oneSide(pair, pair.shows));

function oneSide({ sides, queries, keys, cell, blind }: HeadPair, n: 0 | 1) {
  const { pattern, ...names } = sides[n];
  const [row, column] = [queries, keys].map((order, axis) => order.find(([a]) => a === cell[axis])?.[n] ?? null);
  const shown = n ? without(blind, pattern) : pattern;
  const texts = written(shown, shortShare);
  for (const row of n ? blind : []) texts?.[row].fill("0/0");
  return {
    values: shown.values,
    texts,
    frames: row === null || column === null ? [] : [frameOf(row, column)],
    rows: sideAxis("query", names.queries, queries, n),
    columns: sideAxis("key", names.keys, keys, n),
  };
}

function differenceIn({ sides: { 0: a, 1: b }, queries, keys, cell, blind }: HeadPair) {
  const values = differenceOf(a.pattern, without(blind, b.pattern), queries, keys);
  const end = endOf(values, LEAST_SHARE);
  const [row, column] = [queries, keys].map((order, axis) => order.findIndex(([n]) => n === cell[axis]));
  return {
    values,
    texts: written({ values, rows: queries.length, columns: keys.length }, shortDifference),
    scale: { low: -end, high: end },
    frames: [frameOf(row, column)],
    rows: mergedAxis("query", a.queries, b.queries, queries),
    columns: mergedAxis("key", a.keys, b.keys, keys),
  };
}

/** B − A over the tokens of both: NaN where one lacks the token or both masks forbid the look; one alone means 0. */
export function differenceOf(a: Matrix, b: Matrix, queries: Pair[], keys: Pair[]) {
  const at = ({ values, columns }: Matrix, row: number | null, n: number | null) =>
    row === null || n === null ? null : values[row * columns + n];
  const cells = queries.flatMap(([row, other]) =>
    keys.map(([n, m]) => {
      const [before, after] = [at(a, row, n), at(b, other, m)];
      if (before === null || after === null || (Number.isNaN(before) && Number.isNaN(after))) return Number.NaN;
      return (after || 0) - (before || 0);
    }),
  );
  return Float32Array.from(cells);
}

function without(rows: number[], pattern: Matrix): Matrix {
  const values = pattern.values.slice();
  for (const row of rows) values.fill(Number.NaN, row * pattern.columns, (row + 1) * pattern.columns);
  return { ...pattern, values };
}

/** The tokens of A or B; those that the other text lacks are boxed. */
function sideAxis(title: string, names: string[], order: Pair[], n: 0 | 1) {
  const places = [...names.keys()].map((place) => order.findIndex((pair) => pair[n] === place));
  const boxed = [...names.keys()].filter((place) => order[places[place]].includes(null));
  const spoken = names.map((name, place) => `${title} ${place} “${name}”`);
  return { title, names, spoken, boxed, places, count: names.length };
}

/** The tokens of both texts; what only one has has a box around it. */
function mergedAxis(title: string, one: string[], other: string[], order: Pair[]) {
  const names = order.map(([a, b]) => (a === null ? other[b ?? 0] : one[a]));
  const only = order.map(([a, b]) => (a === null ? " (only in B)" : b === null ? " (only in A)" : ""));
  const boxed = [...only.keys()].filter((n) => only[n]);
  const spoken = order.map(([a, b], n) => `${title} ${a === null ? quoted(other, b ?? 0) : quoted(one, a)}${only[n]}`);
  return { title, names, spoken, boxed, places: [...names.keys()], count: names.length };
}

/** The numbers of cells, nothing where there is none; null where there are too many. */
function written({ values, rows, columns }: Matrix, write: (value: number) => string) {
  if (Math.max(rows, columns) > MOST_WRITTEN) return null;
  const texts = Array.from(values, (value) => (Number.isFinite(value) ? write(value) : ""));
  return Array.from({ length: rows }, (_, row) => texts.slice(row * columns, (row + 1) * columns));
}

/** As `plots.cells.differences` writes it. */
function shortDifference(value: number) {
  const text = decimal(value, 2, { sign: true });
  return /^.0.00$/.test(text) ? "·" : text.replace("0.", ".");
}

const frameOf = (top: number, left: number) => ({ top, left, bottom: top + 1, right: left + 1, colour: "accent" });
