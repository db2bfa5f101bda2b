// One head of A and of B: the picture of either, and of B − A. Whether Python has computed the two or the browser, the
// picture is made here.

import { endOf, type Matrix } from "../shared/arrays.ts";
import { LEAST_SHARE, MOST_WRITTEN } from "../shared/constants.ts";
import { decimal, shortShare } from "../shared/numbers.ts";
import { quoted } from "../shared/quoted.ts";

/** the positions of a token in A and in B; null where it is not */
export type Pair = [a: number | null, b: number | null];

/** Shares of attention, NaN where masked, with the names of rows and columns. */
export type Head = { queries: string[]; keys: string[]; values: Matrix["values"] };

/** See `HeadPair` in tfmviz/plots/cells.py. */
export type HeadPair = {
  head: Head;
  other: Head | null;
  side: 0 | 1;
  queries: Pair[];
  keys: Pair[];
  cell: [query: number, key: number];
  blind: number[];
};

/** The parts of a picture that are made of heads; B − A where there is another. */
export const pictureOf = (pair: HeadPair) => (pair.other ? differenceIn(pair, pair.other) : sideIn(pair));

function sideIn({ head, side, queries, keys, cell, blind }: HeadPair) {
  const [row, column] = [queries, keys].map((order, axis) => order.find(([a]) => a === cell[axis])?.[side] ?? null);
  const ownBlind = side ? blind : [];
  const shown = matrixOf(head, ownBlind);
  const texts = written(shown, shortShare);
  for (const row of ownBlind) texts?.[row].fill("0/0");
  return {
    values: shown.values,
    texts,
    frames: row === null || column === null ? [] : [frameOf(row, column)],
    rows: sideAxis("query", head.queries, queries, side),
    columns: sideAxis("key", head.keys, keys, side),
  };
}

function differenceIn({ head, queries, keys, cell, blind }: HeadPair, other: Head) {
  const values = differenceOf(matrixOf(head), matrixOf(other, blind), queries, keys);
  const end = endOf(values, LEAST_SHARE);
  const [row, column] = [queries, keys].map((order, axis) => order.findIndex(([n]) => n === cell[axis]));
  return {
    values,
    texts: written({ values, rows: queries.length, columns: keys.length }, shortDifference),
    scale: { low: -end, high: end },
    frames: [frameOf(row, column)],
    rows: mergedAxis("query", head.queries, other.queries, queries),
    columns: mergedAxis("key", head.keys, other.keys, keys),
  };
}

function matrixOf({ queries, keys, values }: Head, blind: number[] = []): Matrix {
  const empty = new Set(blind);
  const seen = values.map((value, n) => (empty.has(Math.floor(n / keys.length)) ? Number.NaN : value));
  return { rows: queries.length, columns: keys.length, values: seen };
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

/** The tokens of A or B; those that the other text lacks are boxed. */
function sideAxis(title: string, names: string[], order: Pair[], side: HeadPair["side"]) {
  const places = [...names.keys()].map((place) => order.findIndex((pair) => pair[side] === place));
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
