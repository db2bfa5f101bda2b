// Reads what tfmviz/views/shared packs as named matrices. A vector is a matrix of one row.

/** @import { Plain } from "./record.js" */
import { recordOf } from "./record.js";

/**
 * Numbers row by row.
 * @typedef {{rows: number, columns: number, values: Float32Array | Float64Array}} Matrix
 */

/**
 * @param {Uint8Array | Plain} source
 * @returns {{header: any, arrays: Record<string, Matrix>}}
 */
export function unpack(source) {
  const record = recordOf(source);
  const arrays = Object.fromEntries(Object.keys(record.sites).map((name) => [name, record.matrix(name)]));
  return { header: record.facts, arrays };
}

/**
 * Places of the largest numbers, the largest first.
 * @param {ArrayLike<number>} p
 * @param {number} n
 */
export function largest(p, n) {
  /** @type {number[]} */
  const best = [];
  for (let id = 0; id < p.length; id++) {
    if (best.length === n && p[id] <= p[best[n - 1]]) continue;
    const before = best.findIndex((other) => p[other] < p[id]);
    best.splice(before < 0 ? best.length : before, 0, id);
    if (best.length > n) best.pop();
  }
  return best;
}
