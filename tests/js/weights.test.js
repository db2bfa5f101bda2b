import assert from "node:assert/strict";
import { test } from "node:test";
import { maskOf, without } from "../../tfmviz/views/explorer/payload.ts";
import {
  filtered,
  meanOf,
  rollout,
  rowMaxima,
  rowSums,
  SCALES_OF_SHADE,
  strongest,
} from "../../tfmviz/views/explorer/weights.ts";
import { cellSentence } from "../../tfmviz/views/explorer/words.ts";

/** Rows of weights as a pattern; 0 above the diagonal is masked. */
function causal(rows) {
  const mask = {
    rows: rows.length,
    columns: rows.length,
    allowed: rows.flatMap((_, i) => rows.map((_, j) => +(j <= i))),
  };
  return { mask, weights: Float32Array.from(rows.flat()) };
}

const close = (found, expected) => {
  assert.equal(found.length, expected.length);
  for (const [n, value] of expected.entries())
    assert.ok(Math.abs(found[n] - value) < 1e-6, `${n}: ${found[n]}, ${value}`);
};

const PATTERN = causal([
  [1, 0, 0],
  [0.25, 0.75, 0],
  [0.5, 0.125, 0.375],
]);
const ALL = { withoutFirst: false, top: 100, least: 0 };

test("the mean of patterns", () => {
  close(meanOf([Float32Array.of(1, 0.5), Float32Array.of(0, 1)]), [0.5, 0.75]);
});

test("rows sum to 1, and each has its own largest weight", () => {
  close(rowSums(PATTERN), [1, 1, 1]);
  close(rowMaxima(PATTERN), [1, 0.75, 0.5]);
});

test("rollout of one layer is half itself and half the identity; rows of any number of layers sum to 1", () => {
  const { weights, reached } = rollout([PATTERN], 3);
  close(weights, [1, 0, 0, 0.125, 0.875, 0, 0.25, 0.0625, 0.6875]);
  assert.deepEqual([...reached], [1, 0, 0, 1, 1, 0, 1, 1, 1]);
  const deep = rollout([PATTERN, PATTERN, PATTERN], 3);
  close(rowSums({ mask: PATTERN.mask, weights: deep.weights }), [1, 1, 1]);
});

test("the lowest layer comes first: what a layer cannot see, the one above cannot find", () => {
  const toFirst = causal([
    [1, 0],
    [1, 0],
  ]);
  const toItself = causal([
    [1, 0],
    [0, 1],
  ]);
  const { weights } = rollout([toFirst, toItself], 2);
  close(weights.slice(2), [0.5, 0.5]);
});

test("without filters nothing is copied", () => {
  assert.equal(filtered(PATTERN, ALL), PATTERN.weights);
});

test("without the first token rows sum to 1 again, and one that has nothing left is empty", () => {
  close(filtered(PATTERN, { ...ALL, withoutFirst: true }), [0, 0, 0, 0, 1, 0, 0, 0.25, 0.75]);
});

test("the largest weights that make a share of a row are kept", () => {
  close(filtered(PATTERN, { ...ALL, top: 60 }), [1, 0, 0, 0, 0.75, 0, 0.5, 0, 0.375]);
});

test("weights below the least are left out, the least itself stays", () => {
  close(filtered(PATTERN, { ...ALL, least: 0.375 }), [1, 0, 0, 0, 0.75, 0, 0.5, 0, 0.375]);
});

test("the strongest lines, and how many are left out", () => {
  const { found, left } = strongest([PATTERN, PATTERN], 4);
  assert.deepEqual(
    found.map(({ n, row, column, weight }) => [n, row, column, weight]),
    [
      [0, 0, 0, 1],
      [0, 1, 1, 0.75],
      [1, 0, 0, 1],
      [1, 1, 1, 0.75],
    ],
  );
  assert.equal(left, 8);
});

test("of equally strong lines no more are found than were asked for", () => {
  const even = causal([
    [1, 0],
    [0.5, 0.5],
  ]);
  const { found, left } = strongest([even], 2);
  assert.equal(found.length, 2);
  assert.equal(left, 1);
});

test("shades grow with the weight, on every scale", () => {
  assert.equal(SCALES_OF_SHADE.root(0.01, 1), 0.1);
  assert.equal(SCALES_OF_SHADE.plain(0.01, 1), 0.01);
  assert.equal(SCALES_OF_SHADE.row(0.01, 0.04), 0.25);
  assert.equal(SCALES_OF_SHADE.row(0, 0), 0);
});

test("what filters leave out is no cell of the mask, and is said to be left out", () => {
  const mask = maskOf({ rows: 2, columns: 2 }, Uint8Array.from([1, 0, 1, 1]));
  const before = Float32Array.from([1, 0, 0.25, 0.75]);
  assert.equal(without(mask, before, before), mask);
  const kept = filtered({ mask, weights: before }, { withoutFirst: false, top: 100, least: 0.5 });
  const left = without(mask, before, kept);
  assert.deepEqual([...left.allowed], [1, 0, 0, 1]);
  assert.deepEqual([...left.cells], [0, 3]);
  const texts = { labels: ["a", "b"], tokens: ["a", "b"] };
  const said = (row, column) =>
    cellSentence({ mask: left, weights: kept }, { row, column }, { queries: texts, keys: texts });
  assert.match(said(1, 0), /left out by the filters$/);
  assert.match(said(0, 1), /masked$/);
  assert.match(said(1, 1), /0\.750?$/);
});
