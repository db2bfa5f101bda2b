// Multi-head scaled dot-product attention, head by head.

import type { Scheme } from "./positions.ts";
import type { Tap } from "./tap.ts";
import { type Affine, linear, type Memory, type Tensor, type Value } from "./tensors.ts";

export type AttentionWeights = { W_Q: Affine; W_K: Affine; W_V: Affine; W_O: Affine; d_head: number };

export type AttentionInputs = { mask: Value; positions: Scheme; bias: Float32Array | null; tap: Tap };

/** softmax(Q Kᵀ / √d_head + bias, over the allowed keys) V, for every head, merged by W_O; x is (len, d_model). */
export function attend(
  x: Tensor,
  { W_Q, W_K, W_V, W_O, d_head }: AttentionWeights,
  { mask, positions, bias, tap }: AttentionInputs,
) {
  const q = tap("q", splitHeads(linear(x, W_Q), d_head)); // (head, q_len, d_head)
  const k = tap("k", splitHeads(linear(x, W_K), d_head)); // (kv head, k_len, d_head)
  const v = tap("v", splitHeads(linear(x, W_V), d_head)); // (kv head, k_len, d_head)
  const [rotQ, rotK] = positions.rotate(q, k, tap);
  const allowed = tap("mask", mask);
  const divisor = Math.sqrt(d_head);
  const relative = positions.relate(q, k.shape[1]); // (head, q_len, k_len)
  const joined = relative ? tap("bias", divided(relative, divisor, allowed)) : bias && { data: bias };
  const scores = tap("scores", score(rotQ, rotK, divisor, joined, allowed)); // (head, q_len, k_len)
  const pattern = tap("pattern", softmaxRows(scores)); // rows sum to 1
  const z = tap("z", mix(pattern, v)); // (head, q_len, d_head)
  return tap("out", linear(mergeHeads(z), W_O)); // (q_len, d_model)
}

/** (len, heads × d_head) to (heads, len, d_head). */
export function splitHeads(x: Tensor, width: number) {
  const [length, all] = x.shape;
  return exchanged(x, [length, all / width, width], [all / width, length, width]);
}

/** (head, len, d_head) to (len, heads × d_head). */
function mergeHeads(x: Tensor) {
  const [heads, length, width] = x.shape;
  return exchanged(x, [heads, length, width], [length, heads * width]);
}

function exchanged(x: Tensor, [outer, inner, width]: number[], shape: number[]) {
  const made = x.memory.tensor(...shape);
  const [to, from] = [made.data, x.data];
  for (let n = 0, i = 0; i < inner; i++) {
    for (let o = 0; o < outer; o++) {
      for (let at = (o * inner + i) * width, end = at + width; at < end; at++) to[n++] = from[at];
    }
  }
  return made;
}

function divided(products: Tensor, divisor: number, mask: Value) {
  const [to, allowed] = [products.data, mask.data];
  for (let n = 0; n < to.length; n++) to[n] = allowed[n % allowed.length] ? to[n] / divisor : 0;
  return products;
}

/** q · k / divisor + bias, and −∞ where the mask allows nothing: (head, q_len, k_len). */
function score(q: Tensor, k: Tensor, divisor: number, bias: { data: Value["data"] } | null, mask: Value) {
  const [, columns, inner] = k.shape;
  const made = headwise(q, k, { inner, columns, down: 1, across: inner });
  const [scores, allowed, added] = [made.data, mask.data, bias?.data]; // only now: the memory may have grown
  for (let n = 0, m = 0; n < scores.length; n++, m++) {
    if (m === allowed.length) m = 0; // one mask for all heads
    scores[n] = allowed[m] ? scores[n] / divisor + (added ? added[n] : 0) : Number.NEGATIVE_INFINITY;
  }
  return made;
}

function softmaxRows(scores: Tensor) {
  const made = scores.memory.tensor(...scores.shape);
  const [to, from, width] = [made.data, scores.data, scores.shape[scores.shape.length - 1]];
  for (let row = 0; row < from.length; row += width) softmaxInto(to, from.subarray(row, row + width), row);
  return made;
}

export function softmaxInto(to: Float32Array, scores: Float32Array, at = 0) {
  let largest = Number.NEGATIVE_INFINITY;
  for (const value of scores) if (value > largest) largest = value;
  let total = 0;
  for (let n = 0; n < scores.length; n++) {
    to[at + n] = scores[n] === Number.NEGATIVE_INFINITY ? 0 : Math.exp(scores[n] - largest);
    total += to[at + n];
  }
  for (let n = 0; n < scores.length; n++) to[at + n] /= total;
}

function mix(pattern: Tensor, v: Tensor) {
  const [, inner, columns] = v.shape;
  return headwise(pattern, v, { inner, columns, down: columns, across: 1 });
}

/** The product of a (head, rows, inner) and b (kv head, …), which neighbouring heads may share, for every head. */
function headwise(a: Tensor, b: Tensor, layout: Parameters<Memory["panels"]>[1]) {
  const [heads, rows] = a.shape;
  const made = a.memory.tensor(heads, rows, layout.columns);
  for (let head = 0; head < heads; head++) {
    const shared = b.part(Math.floor((head * b.shape[0]) / heads));
    a.memory.product(a.part(head), a.memory.panels(shared, layout), { to: made.part(head) });
  }
  return made;
}
