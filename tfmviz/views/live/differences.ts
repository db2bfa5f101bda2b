// Which tokens two texts share, and what differs between two passes, as in tfmviz/analysis/side_by_side.py.

import type { Pair } from "../cells/head_pair.ts";
import type { Matrix } from "../shared/arrays.ts";
import { recordOf, type Site, type Sites } from "../shared/record.ts";

/** One head of a site; where all heads share one matrix, that. */
export const headOf = (sites: Sites, site: string, head: number) => recordOf({ facts: {}, sites }).head(site, head);

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

export type Shared = [a: number, b: number];

/** Every token of A and of B once, in the order of both texts; equal ones are paired by their letters. */
export function pairsOf(a: string[], b: string[]): Pair[] {
  const [one, other] = [a, b].map((tokens) => tokens.map((token) => token.trim() || token));
  const common = commonOf(one, other);
  const ofA = new Set(common.map(([n]) => n));
  const left = new Set(other.keys());
  for (const [, m] of common) left.delete(m);
  const moved = new Map();
  for (const [n, token] of one.entries()) {
    const m = ofA.has(n) ? undefined : [...left].find((place) => other[place] === token);
    if (m !== undefined) moved.set(n, m);
    if (m !== undefined) left.delete(m);
  }
  const order: Pair[] = [];
  let [fromA, fromB] = [0, 0];
  for (const [n, m] of [...common, [one.length, other.length]]) {
    for (let at = fromA; at < n; at++) order.push([at, moved.get(at) ?? null]);
    for (let at = fromB; at < m; at++) if (left.has(at)) order.push([null, at]);
    if (n < one.length) order.push([n, m]);
    [fromA, fromB] = [n + 1, m + 1];
  }
  return order;
}

/** A longest common subsequence: what both begin and end with, and between them the earliest tokens. */
function commonOf(a: string[], b: string[]): Shared[] {
  let [endA, endB, first] = [a.length, b.length, 0];
  while (first < Math.min(endA, endB) && a[first] === b[first]) first++;
  for (; Math.min(endA, endB) > first && a[endA - 1] === b[endB - 1]; endA--) endB--;
  const longest = Array.from({ length: endA + 1 }, () => new Uint16Array(endB + 1)); // of what is left between
  for (let n = endA - 1; n >= first; n--) {
    for (let m = endB - 1; m >= first; m--) {
      longest[n][m] = a[n] === b[m] ? longest[n + 1][m + 1] + 1 : Math.max(longest[n + 1][m], longest[n][m + 1]);
    }
  }
  const found: Shared[] = [];
  for (let n = 0, m = 0; n < endA && m < endB; ) {
    if (a[n] === b[m]) found.push([n++, m++]);
    else if (longest[n + 1][m] >= longest[n][m + 1]) n++;
    else m++;
  }
  for (let n = endA; n < a.length; n++) found.push([n, n - endA + endB]);
  return found;
}

/** The pairs of tokens that both texts have. */
export const sharedOf = (order: Pair[]): Shared[] => order.filter(([a, b]) => a !== null && b !== null) as Shared[];
