// What is computed from attention weights in the browser.

import type { Focus } from "./state.ts";

/** `allowed` is 1 where a query (row) may look at a key (column), `left` where filters leave out what a mask allows. */
type Allowed = { rows: number; columns: number; allowed: ArrayLike<number>; left?: ArrayLike<number> | null };

/** Weights row by row; rows are queries. `unused`: what each row gives to no token, if known and not nothing. */
export type Pattern<M = Allowed> = { mask: M; weights: Float32Array; unused?: number[] | null };

export type Line = { n: number; row: number; column: number; weight: number };

export type Scale = "root" | "plain" | "row";

export type Filters = { withoutFirst: boolean; top: number; least: number };

export function meanOf(list: Float32Array[]) {
  const mean = new Float32Array(list[0].length);
  for (const weights of list) for (let i = 0; i < mean.length; i++) mean[i] += weights[i];
  return mean.map((sum) => sum / list.length);
}

/** Attention rollout as in tfmviz/analysis/rollout.py; `reached` tells which keys some path leads to. */
export function rollout(layers: Pattern[], length: number): { weights: Float32Array; reached: Uint8Array } {
  let mixed = new Float64Array(length * length);
  let reached = new Uint8Array(length * length);
  for (let i = 0; i < length; i++) mixed[i * length + i] = reached[i * length + i] = 1;
  for (const { mask, weights } of layers) {
    const next = mixed.map((value) => value / 2);
    const reachedNext = reached.slice();
    for (let i = 0; i < length; i++) {
      for (let via = 0; via < length; via++) {
        if (!mask.allowed[i * length + via]) continue;
        const weight = weights[i * length + via] / 2;
        for (let j = 0; j < length; j++) {
          next[i * length + j] += weight * mixed[via * length + j];
          reachedNext[i * length + j] |= reached[via * length + j];
        }
      }
    }
    mixed = next;
    reached = reachedNext;
  }
  return { weights: Float32Array.from(mixed), reached };
}

/** Without the first key (rows sum to 1 again), with the largest that make `top` per cent of a row, from `least` on. */
export function filtered({ mask, weights }: Pattern, { withoutFirst, top, least }: Filters) {
  if (!withoutFirst && top >= 100 && least <= 0) return weights;
  const kept = weights.slice();
  for (let i = 0; i < mask.rows; i++) {
    const row = kept.subarray(i * mask.columns, (i + 1) * mask.columns);
    if (withoutFirst) row[0] = 0;
    const sum = withoutFirst ? row.reduce((total, weight) => total + weight, 0) : 0;
    if (sum > 0) for (let j = 0; j < row.length; j++) row[j] /= sum;
    if (top < 100) keepTop(row, top / 100);
    if (least > 0) for (let j = 0; j < row.length; j++) if (row[j] < least) row[j] = 0;
  }
  return kept;
}

function keepTop(row: Float32Array, share: number) {
  const order = [...row.keys()].sort((a, b) => row[b] - row[a]);
  const enough = share * row.reduce((total, weight) => total + weight, 0);
  let kept = 0;
  for (const j of order) {
    if (kept >= enough) row[j] = 0;
    else kept += row[j];
  }
}

const byRow = ({ mask: { rows, columns }, weights }: Pattern, of: (row: Float32Array) => number) =>
  Array.from({ length: rows }, (_, i) => of(weights.subarray(i * columns, (i + 1) * columns)));

export const rowSums = (pattern: Pattern) => byRow(pattern, (row) => row.reduce((sum, weight) => sum + weight, 0));

export const rowMaxima = (pattern: Pattern) => byRow(pattern, (row) => Math.max(...row));

/** The cells of a query's row, or of a key's column. */
export function cellsBeside({ rows, columns }: Omit<Allowed, "allowed">, { side, at }: Focus) {
  return Array.from({ length: side === "query" ? columns : rows }, (_, other) => {
    const [row, column] = side === "query" ? [at, other] : [other, at];
    return { other, row, column, cell: row * columns + column };
  });
}

/** How strongly a weight is drawn, 0 to 1. On the square-root scale 0.01 is a tenth, not a hundredth. */
export const SCALES_OF_SHADE: Record<Scale, (weight: number, largestOfRow: number) => number> = {
  root: (weight) => Math.sqrt(weight),
  plain: (weight) => weight,
  row: (weight, largestOfRow) => (largestOfRow > 0 ? weight / largestOfRow : 0),
};

/** The `count` strongest lines, told apart to 1/1024, so that a picture stays quick, and how many are left out. */
export function strongest(patterns: Pattern[], count: number): { found: Line[]; left: number } {
  const level = (weight: number) => Math.ceil(weight * 1024);
  const bins = new Uint32Array(1026);
  for (const { weights } of patterns) for (const weight of weights) if (weight > 0) bins[level(weight)]++;
  let last = 1025; // the level of which only some lines can be drawn
  let room = count;
  while (last > 0 && bins[last] <= room) room -= bins[last--];
  const found: Line[] = [];
  let left = 0;
  for (const [n, { mask, weights }] of patterns.entries()) {
    for (let i = 0; i < weights.length; i++) {
      const weight = weights[i];
      if (weight <= 0) continue;
      const here = level(weight);
      if (here > last || (here === last && room-- > 0))
        found.push({ n, row: Math.floor(i / mask.columns), column: i % mask.columns, weight });
      else left++;
    }
  }
  return { found, left };
}
