// Position schemes: four places where a position can enter. By default each does nothing.

import { BASE, CLIP, MAX_DISTANCE, N_BUCKETS } from "../shared/constants.ts";
import type { Tap } from "./tap.ts";
import { added, type Tensor } from "./tensors.ts";
import type { Config } from "./transformer.ts";

/** Positions count from 0. Where there are more keys than queries, the queries stand at the last positions. */
export interface Scheme {
  theta: number[] | null; // radians per position by which each pair of queries and keys turns
  /** Adds something to token embeddings (len, d_model); the first stands at position `past`. */
  embed: (x: Tensor, tap: Tap, past: number) => Tensor;
  rotate: (q: Tensor, k: Tensor, tap: Tap) => Tensor[]; // turns queries and keys
  /** The product of each query (head, q_len, d_head) with its distance's vector, (head, q_len, k_len); joins q · k. */
  relate: (q: Tensor, kLen: number) => Tensor | null;
  bias: (qLen: number, kLen: number) => Float32Array | null; // added to the scaled scores (head, q_len, k_len)
}

const NOTHING_ADDED: Scheme = {
  theta: null,
  embed: (x) => x,
  rotate: (q, k) => [q, k],
  relate: () => null,
  bias: () => null,
};

/** x_i + P_i: trained vectors, or sines and cosines. */
const addedToWords = (vector: (position: number, n: number) => number): Scheme => ({
  ...NOTHING_ADDED,
  embed(x, tap, past) {
    const [length, width] = x.shape;
    const numbers = Float32Array.from({ length: length * width }, (_, n) =>
      vector(past + Math.floor(n / width), n % width),
    );
    return added(x, tap("pos_embed", x.memory.of(numbers, [length, width])));
  },
});

/** Pairs of neighbouring coordinates of queries and keys turn with their position, by `theta` radians per position. */
const turning = (theta: number[]): Scheme => ({
  ...NOTHING_ADDED,
  theta,
  rotate(q, k, tap) {
    const past = k.shape[1] - q.shape[1];
    return [tap("rot_q", turnedBy(theta, q, past)), tap("rot_k", turnedBy(theta, k, 0))];
  },
});

/** @param x (head, len, d_head) */
function turnedBy(thetas: number[], x: Tensor, past: number) {
  const [heads, length, width] = x.shape;
  const made = x.memory.tensor(...x.shape);
  const [to, from] = [made.data, x.data];
  for (let row = 0; row < length; row++) {
    for (const [pair, theta] of thetas.entries()) {
      const angle = Math.fround((past + row) * theta);
      const [cos, sin] = [Math.fround(Math.cos(angle)), Math.fround(Math.sin(angle))];
      for (let head = 0; head < heads; head++) {
        const n = (head * length + row) * width + 2 * pair;
        to[n] = from[n] * cos - from[n + 1] * sin;
        to[n + 1] = from[n] * sin + from[n + 1] * cos;
      }
    }
  }
  return made;
}

/** A number for each head and distance, query minus key, is added to the scores. */
const biased = (heads: number, of: (head: number, distance: number) => number): Scheme => ({
  ...NOTHING_ADDED,
  bias: (qLen, kLen) =>
    Float32Array.from({ length: heads * qLen * kLen }, (_, n) => {
      const query = (Math.floor(n / kLen) % qLen) + kLen - qLen;
      return of(Math.floor(n / (qLen * kLen)), query - (n % kLen));
    }),
});

/** Each distance, clipped, has a vector that joins the key: `table` is (2 CLIP + 1, width), keys on the left first. */
const related = (table: Float32Array, width: number): Scheme => ({
  ...NOTHING_ADDED,
  relate(q, kLen) {
    const [heads, qLen] = q.shape;
    const made = q.memory.tensor(heads, qLen, kLen);
    const [to, from] = [made.data, q.data];
    for (let n = 0; n < to.length; n++) {
      const row = Math.floor(n / kLen);
      const ahead = (n % kLen) - (row % qLen) - (kLen - qLen);
      const vector = (Math.min(Math.max(ahead, -CLIP), CLIP) + CLIP) * width;
      to[n] = 0;
      for (let at = 0; at < width; at++) to[n] += from[row * width + at] * table[vector + at];
    }
    return made;
  },
});

/** The bucket of T5 to which a distance belongs, computed in float32 as there. */
export function bucketOf(distance: number) {
  const apart = Math.max(distance, 0);
  const exact = N_BUCKETS / 2;
  if (apart < exact) return apart;
  const { fround } = Math;
  const ratio = fround(fround(Math.log(fround(apart / exact))) / fround(Math.log(MAX_DISTANCE / exact)));
  return Math.min(Math.trunc(exact + fround(ratio * exact)), N_BUCKETS - 1);
}

type Making = (config: Config, d_head: number, table: () => Float32Array) => Scheme;

/** The schemes by the names that configurations give them. */
export const SCHEMES: Record<string, Making> = {
  none: () => NOTHING_ADDED,
  learned: ({ d_model }, _, table) => {
    const P = table();
    return addedToWords((position, n) => P[position * d_model + n]);
  },
  sinusoidal: ({ d_model }) =>
    addedToWords((position, n) => {
      const angle = position / BASE ** ((n - (n % 2)) / d_model);
      return n % 2 ? Math.cos(angle) : Math.sin(angle);
    }),
  rope: (_, d_head) => turning(Array.from({ length: d_head / 2 }, (_, pair) => BASE ** ((-2 * pair) / d_head))),
  alibi: ({ n_heads }) => biased(n_heads, (head, distance) => -Math.abs(distance) * 2 ** ((-8 * (head + 1)) / n_heads)),
  shaw: (_, d_head, table) => related(table(), d_head),
  t5: ({ n_heads }, _, table) => {
    const b = table();
    return biased(n_heads, (head, distance) => b[bucketOf(distance) * n_heads + head]);
  },
};
