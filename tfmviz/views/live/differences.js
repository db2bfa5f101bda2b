// What differs between two passes over one text, as in tfmviz/analysis/side_by_side.py and mask_effect.py. Nothing here
// draws.

/** @import { Site, Sites } from "../shared/record.js" */
import { SiteRecord } from "../shared/record.js";

/**
 * One head of a site; where all heads share one matrix, that.
 * @param {Sites} sites
 * @param {string} site
 * @param {number} head
 */
export const headOf = (sites, site, head) => new SiteRecord({ facts: {}, sites }).head(site, head);

/**
 * The total variation of each row, ½ Σ |p − q|: from 0, equal, to 1, nothing in common.
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 * @param {number} rows
 */
export function distancesOf(a, b, rows) {
  const width = a.length / rows;
  return Array.from({ length: rows }, (_, row) => {
    let sum = 0;
    for (let n = row * width; n < (row + 1) * width; n++) sum += Math.abs(a[n] - b[n]);
    return sum / 2;
  });
}

/**
 * B − A, NaN where both masks forbid the look; one that only one of them forbids is a share of 0 there.
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 */
export const differenceOf = (a, b) =>
  Float32Array.from(a, (share, n) => (Number.isNaN(share) && Number.isNaN(b[n]) ? share : (b[n] || 0) - (share || 0)));

/**
 * How far each vector has moved, ‖x' − x‖ / ‖x‖.
 * @param {Site} before (len, d_model)
 * @param {Site} after
 */
export function movedOf({ shape: [rows, width], data: x }, { data: y }) {
  return Array.from({ length: rows }, (_, row) => {
    let [moved, length] = [0, 0];
    for (let n = row * width; n < (row + 1) * width; n++) {
      moved += (y[n] - x[n]) ** 2;
      length += x[n] ** 2;
    }
    return Math.sqrt(moved) / Math.max(Math.sqrt(length), 1e-12);
  });
}
