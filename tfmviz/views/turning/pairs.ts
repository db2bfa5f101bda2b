// Pairs of coordinates as points of a plane: turning them, and their products, in double precision.

import type { Engine } from "../engine/engine.ts";
import type { Matrix } from "../shared/arrays.ts";
import { FEWEST_TURNS, MOST_TURNS } from "../shared/constants.ts";
import type { Plain } from "../shared/record.ts";

export type Pair = { x: number; y: number };

/** The pairs of one row of a matrix: neighbours belong together. */
export function pairsOf({ columns, values }: Matrix, row: number): Pair[] {
  const at = row * columns;
  return Array.from({ length: columns / 2 }, (_, m) => ({ x: values[at + 2 * m], y: values[at + 2 * m + 1] }));
}

/** @param angle radians, from x towards y */
export function turned({ x, y }: Pair, angle: number): Pair {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return { x: x * cos - y * sin, y: x * sin + y * cos };
}

export const dot = (q: Pair, k: Pair) => q.x * k.x + q.y * k.y;

export const lengthOf = ({ x, y }: Pair) => Math.hypot(x, y);

export const headingOf = ({ x, y }: Pair) => Math.atan2(y, x);

/** The angle from k to q, between −π and π. */
export const angleBetween = (q: Pair, k: Pair) => Math.atan2(k.x * q.y - k.y * q.x, dot(q, k));

/** What each pair adds to q · k with the query at position i and the key at j; theta is in radians per position. */
export const products = (q: Pair[], k: Pair[], theta: number[], i: number, j: number) =>
  theta.map((rate, m) => dot(turned(q[m], i * rate), turned(k[m], j * rate)));

export const total = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0);

/** The view's data of what the engine computed (`payload` in __init__.py); null for a model that turns nothing. */
export function turningOf({ facts, sites }: Plain, { transformer }: Engine, head: { layer: string; head: number }) {
  const { theta } = transformer.positions;
  const tokens = facts.texts.target.labels;
  const last = Math.max(FEWEST_TURNS, tokens.length, Math.min(transformer.config.max_len, MOST_TURNS)) - 1;
  return theta && { facts: { ...head, tokens, theta, last }, sites };
}
