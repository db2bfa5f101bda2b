// Reads what tfmviz/views/shared packs as named matrices. A vector is a matrix of one row.

import { LEFT_BY_ROUNDING } from "./constants.ts";
import { type Plain, recordOf } from "./record.ts";

/** Numbers row by row. */
export type Matrix = { rows: number; columns: number; values: Float32Array | Float64Array };

export type Arrays = Record<string, Matrix>;

export const rowOf = ({ columns, values }: Matrix, row: number) => values.subarray(row * columns, (row + 1) * columns);

export function unpack<Header>(source: Uint8Array | Plain<Header>): { header: Header; arrays: Arrays } {
  const record = recordOf(source);
  const arrays = Object.fromEntries(Object.keys(record.sites).map((name) => [name, record.matrix(name)]));
  return { header: record.facts, arrays };
}

/** Places of the largest numbers, the largest first. */
export function largest(p: ArrayLike<number>, n: number) {
  const best: number[] = [];
  for (let id = 0; id < p.length; id++) {
    if (best.length === n && p[id] <= p[best[n - 1]]) continue;
    const before = best.findIndex((other) => p[other] < p[id]);
    best.splice(before < 0 ? best.length : before, 0, id);
    if (best.length > n) best.pop();
  }
  return best;
}

/** Where the colours of differences end, as in plots/cells.py: at the largest, or 1 where only rounding has left it. */
export function endOf(values: ArrayLike<number>, nothing = LEFT_BY_ROUNDING) {
  const end = largestSize(values);
  return end > nothing ? end : 1;
}

/** The largest of the finite numbers, whatever their signs. */
export function largestSize(values: ArrayLike<number>) {
  let size = 0;
  for (let n = 0; n < values.length; n++) if (Number.isFinite(values[n])) size = Math.max(size, Math.abs(values[n]));
  return size;
}

/** Scores as shares: powers of e, divided by their sum. */
export function softmaxOf(scores: Float64Array<ArrayBuffer>) {
  const most = scores.reduce((most, score) => Math.max(most, score), -Infinity);
  const powers = scores.map((score) => Math.exp(score - most));
  const sum = powers.reduce((whole, part) => whole + part, 0);
  return powers.map((power) => power / sum);
}
