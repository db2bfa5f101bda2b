// The boxes of a sentence on the stage: they cover its letters once, in their order.

import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.js";

const { boxAt, boxesOf } = await import("../../tfmviz/views/home/view.ts");

const cut = (text, ...offsets) => boxesOf({ text, offsets, labels: offsets.map((_, n) => `label ${n}`) });

test("a box is a token without the space before it", () => {
  const text = "The animal's";
  const boxes = cut(text, [0, 3], [3, 10], [10, 12]);
  assert.deepEqual(
    boxes.map(({ start, end }) => text.slice(start, end)),
    ["The", "animal", "'s"],
  );
  assert.deepEqual(
    boxAt(boxes, (box) => box.reach < 4 && 4 <= box.end),
    boxes[1],
  );
  assert.deepEqual(
    boxAt(boxes, () => false),
    boxes[2],
  );
});

test("tokens that share a character share a box, and characters outside of the first plane count once", () => {
  const text = "🙂 🙂x";
  const boxes = cut(text, [0, 1], [0, 1], [1, 3], [2, 3], [3, 4]);
  assert.deepEqual(
    boxes.map(({ tokens, label, start, end }) => [tokens, label, text.slice(start, end)]),
    [
      [[0, 1], "🙂", "🙂"],
      [[2, 3], "🙂", "🙂"],
      [[4], "label 4", "x"],
    ],
  );
  assert.deepEqual(cut("", ...[]), []);
});
