// What differs between two passes over one text, as in tfmviz/analysis/side_by_side.py and mask_effect.py. Nothing here
// draws.

import type { Matrix } from "../shared/arrays.ts";
import { type Site, SiteRecord, type Sites } from "../shared/record.ts";
import type { Pair, Shared } from "./pairing.ts";

/** One head of a site; where all heads share one matrix, that. */
export const headOf = (sites: Sites, site: string, head: number) =>
  new SiteRecord({ facts: {}, sites }).head(site, head);

/** Total variation of each shared row, ½ Σ |p − q|, from 0 to 1. What goes to keys that only one has is one share. */
export function distancesOf(a: Matrix, b: Matrix, shared: Shared[]) {
  return shared.map(([row, other]) => {
    let [sum, elsewhere] = [0, 0];
    for (const [n, m] of shared) {
      const change = b.values[other * b.columns + m] - a.values[row * a.columns + n];
      sum += Math.abs(change);
      elsewhere += change;
    }
    return (sum + Math.abs(elsewhere)) / 2;
  });
}

/** B − A over the tokens of both: NaN where one lacks the token or both masks forbid the look; one alone means 0. */
export function differenceOf(a: Matrix, b: Matrix, order: Pair[]) {
  const at = ({ values, columns }: Matrix, row: number | null, n: number | null) =>
    row === null || n === null ? null : values[row * columns + n];
  const cells = order.flatMap(([row, other]) =>
    order.map(([n, m]) => {
      const [before, after] = [at(a, row, n), at(b, other, m)];
      if (before === null || after === null || (Number.isNaN(before) && Number.isNaN(after))) return Number.NaN;
      return (after || 0) - (before || 0);
    }),
  );
  return Float32Array.from(cells);
}

/** How far each vector of (len, d_model) has moved, ‖x' − x‖ / ‖x‖. */
export function movedOf({ shape: [rows, width], data: x }: Site, { data: y }: Site) {
  return Array.from({ length: rows }, (_, row) => {
    let [moved, length] = [0, 0];
    for (let n = row * width; n < (row + 1) * width; n++) {
      moved += (y[n] - x[n]) ** 2;
      length += x[n] ** 2;
    }
    return Math.sqrt(moved) / Math.max(Math.sqrt(length), 1e-12);
  });
}
