import assert from "node:assert/strict";
import { test } from "node:test";
import { attentionOf } from "../../tfmviz/views/explorer/payload.ts";
import { unpack } from "../../tfmviz/views/shared/arrays.ts";
import { unframed } from "../../tfmviz/views/shared/record.ts";
import { framed } from "./page.js";

/** Weights of a head as tfmviz/views/payload.py describes them: scales, upper bits, lower bits of 10-bit codes. */
function head(scales, codes) {
  const lower = new Uint8Array(Math.ceil(codes.length / 4));
  for (const [n, code] of codes.entries()) lower[n >> 2] |= (code & 3) << (2 * (n & 3));
  return [...scales, ...codes.map((code) => code >> 2), ...lower];
}

const SCALES = [255, 51, 255];
const CODES = [1023, 341, 682, 1, 2, 1022]; // of the six cells of a causal mask of 3 tokens
const MASK = [0b10011011, 0b10000000]; // 100 110 111
const WEIGHTS = [1, 0, 0, 341 / 1023 / 5, 682 / 1023 / 5, 0, 1 / 1023, 2 / 1023, 1022 / 1023];

const HEADER = {
  title: "m",
  id: 7,
  words: {},
  texts: { target: { labels: ["a", "b", "c"], tokens: ["a", "b", "c"] } },
  masks: [{ shape: [3, 3], at: 0 }],
};
const kind = (layers) => ({ name: "decoder.self_attn", queries: "target", keys: "target", heads: 2, layers });

function whole() {
  const [first, second] = [head(SCALES, CODES), head([255, 255, 255], [1023, 0, 1023, 0, 0, 1023])];
  const at = MASK.length;
  const layer = { name: "decoder.0.self_attn", mask: 0, heads: [at, at + first.length] };
  return attentionOf(framed({ ...HEADER, kinds: [kind([layer])] }, [...MASK, ...first, ...second]));
}

const close = (found, expected) => {
  assert.equal(found.length, expected.length);
  for (const [n, value] of expected.entries())
    assert.ok(Math.abs(found[n] - value) < 1e-6, `${n}: ${found[n]}, ${value}`);
};

test("header and data are taken apart, wherever the bytes lie", () => {
  const bytes = framed({ name: "é" }, [1, 2, 3]);
  const shifted = new Uint8Array(bytes.length + 5);
  shifted.set(bytes, 5);
  const { header, data } = unframed(shifted.subarray(5));
  assert.deepEqual([header, [...data]], [{ name: "é" }, [1, 2, 3]]);
});

test("matrices are unpacked, and a vector is one row", () => {
  const data = new Uint8Array(Float32Array.of(1, 2, 3, 4, 5, 6, 0.5, 0.25).buffer);
  const { header, arrays } = unpack(
    framed({ title: "m", arrays: { x: { shape: [2, 3], at: 0 }, b: { shape: [2], at: 24 } } }, data),
  );
  assert.equal(header.title, "m");
  assert.deepEqual([arrays.x.rows, arrays.x.columns, ...arrays.x.values], [2, 3, 1, 2, 3, 4, 5, 6]);
  assert.deepEqual([arrays.b.rows, arrays.b.columns, ...arrays.b.values], [1, 2, 0.5, 0.25]);
});

test("every weight is read: scale by row, ten bits by allowed cell", () => {
  const { mask, weights } = whole().matrix(0, 0, 0);
  assert.deepEqual([...mask.allowed], [1, 0, 0, 1, 1, 0, 1, 1, 1]);
  close(weights, WEIGHTS);
});

test("means and rollout are made of the heads", () => {
  const attention = whole();
  const other = [1, 0, 0, 0, 1, 0, 0, 0, 1];
  const mean = WEIGHTS.map((weight, n) => (weight + other[n]) / 2);
  close(attention.matrix(0, 0, "mean").weights, mean);
  close(attention.matrix(0, 0, "all").weights, mean);
  close(
    attention.matrix(0, 0, "rollout").weights,
    mean.map((weight, n) => (weight + other[n]) / 2),
  );
});

test("a tile shows the largest weight that each of its cells stands for", () => {
  const { rows, columns, values } = whole().tile(0, 0, 0, 2); // tokens 0 and 1 share a cell, token 2 has its own
  assert.deepEqual([rows, columns], [2, 2]);
  assert.equal(values[0], 254); // weight 1
  assert.equal(values[1], 255); // masked
  assert.equal(values[2], Math.round(254 * Math.sqrt(2 / 1023))); // the larger of codes 1 and 2
  assert.ok(Math.abs(values[3] - 254) <= 1);
});

test("of a long text weights come later, and those of another sentence are refused", () => {
  const layer = { name: "decoder.0.self_attn", mask: 0, thumbnails: MASK.length };
  const attention = attentionOf(framed({ ...HEADER, kinds: [kind([layer])] }, [...MASK, ...new Array(18).fill(9)]));
  assert.equal(attention.isWhole, false);
  assert.equal(attention.matrix(0, 0, 1), null);
  const heads = [{ key: attention.keyOf(0, 0, 1), mask: { shape: [3, 3], at: 0 }, at: MASK.length }];
  const details = [...MASK, ...head(SCALES, CODES)];
  assert.equal(attention.take(framed({ id: 8, heads }, details)), false);
  assert.equal(attention.matrix(0, 0, 1), null);
  assert.equal(attention.take(framed({ id: 7, heads }, details)), true);
  close(attention.matrix(0, 0, 1).weights, WEIGHTS);
  assert.equal(attention.take(framed({ id: 7, heads }, details)), false); // nothing new
  assert.deepEqual([...attention.tile(0, 0, 1, 3).values], new Array(9).fill(9));
});
