// Where the numbers of a feed-forward layer stand, and how arrow keys lead from one to the next.

import assert from "node:assert/strict";
import { test } from "node:test";
import { account } from "../../tfmviz/views/feed_forward/explain.ts";
import { boxOf, cornerOf, layoutOf, moved, placeAt } from "../../tfmviz/views/feed_forward/paint.ts";
import { viewOf } from "./page.js";

const draw = (await import("../../tfmviz/views/feed_forward/view.ts")).default;

/** @param {number} columns */
const vector = (columns) => ({ rows: 1, columns, values: Float32Array.from({ length: columns }, (_, n) => n - 3) });

/** @type {(d: number, wide: number, gated?: boolean) => any} */
const arraysOf = (d, wide, gated = false) => {
  const [narrow, broad] = [vector(d), vector(wide)];
  const all = { x: narrow, pre: broad, post: broad, out: narrow, before: narrow, after: narrow };
  return gated ? { ...all, gate: broad } : all;
};

for (const [d, wide, width] of [
  [256, 1024, 870],
  [256, 1024, 320],
  [30, 37, 870],
  [24, 7, 320],
  [768, 3072, 870],
]) {
  test(`every number of a layer ${d} to ${wide} has a cell of its own within ${width} pixels`, () => {
    const layout = layoutOf(arraysOf(d, wide, true), width);
    const seen = new Set();
    for (const { part, length, x, width: across } of layout.boxes) {
      assert.ok(x >= 0 && x + across <= width);
      for (let index = 0; index < length; index++) {
        const { x: left, y } = cornerOf(layout, { part, index });
        assert.deepEqual(placeAt(layout, left + layout.cell / 2, y + layout.cell / 2), { part, index });
        seen.add(`${left.toFixed(2)} ${y.toFixed(2)}`);
      }
    }
    assert.equal(seen.size, 4 * d + 3 * wide);
  });
}

test("widths are in proportion: d_ff = 4 d is drawn four times as wide", () => {
  const layout = layoutOf(arraysOf(256, 1024), 870);
  const ratio = boxOf(layout, "pre").width / boxOf(layout, "x").width;
  assert.ok(Math.abs(ratio - 4) < 0.1, String(ratio));
});

test("beside the vectors there is no number", () => {
  const layout = layoutOf(arraysOf(256, 1024), 870);
  assert.equal(placeAt(layout, 1, boxOf(layout, "x").y + 1), null);
  assert.equal(placeAt(layout, 400, 1), null);
});

test("arrow keys reach every vector, and stop at the edges", () => {
  const layout = layoutOf(arraysOf(256, 1024, true), 870);
  /** @type {{part: any, index: number}} */
  let place = { part: "x", index: 100 };
  const met = [];
  for (let n = 0; n < 60; n++) {
    if (met.at(-1) !== place.part) met.push(place.part);
    place = moved(layout, place, [1, 0]);
  }
  assert.deepEqual(met, ["x", "gate", "pre", "post", "out"]);
  assert.equal(moved(layout, place, [1, 0]), place);
  for (let n = 0; n < 60; n++) place = moved(layout, place, [0, -1]);
  assert.equal(place.part, "before");
  for (let n = 0; n < 200; n++) place = moved(layout, place, [0, 1]);
  assert.equal(place.part, "after");
});

const HEADER = { title: "m", of: "", layer: "decoder.0.mlp", f: "GELU", gated: false, preNorm: true, token: "cat" };

/** @param {{blocks: any[]}} said */
const textOf = ({ blocks }) =>
  blocks
    .flatMap(({ parts }) => parts ?? [])
    .map((part) => (Array.isArray(part) ? part[1] : part))
    .join("");

test("a sum is written out with its bias, and with what is left out", () => {
  const arrays = arraysOf(8, 9);
  arrays.pre = { rows: 1, columns: 9, values: Float32Array.from({ length: 9 }, () => 3.5) };
  const sum = { of: "", indices: [2, 0], a: [2, -1], b: [1.5, 0.5], others: 6, rest: 0.75, total: 3.25, bias: 0.25 };
  const said = account({ header: HEADER, arrays, place: { part: "pre", index: 4 }, sum });
  assert.equal(said.title, "h = x W_in + b, neuron 4: 3.500");
  assert.match(textOf(said), /8 products.*sum 3\.250 \+ 0\.250 \(bias\) = 3\.500/);
  assert.deepEqual(said.blocks[1], {
    terms: [
      {
        head: "2",
        numbers: [
          ["x", "2.000"],
          ["score", "× 1.500"],
          ["", "= 3.000"],
        ],
        value: 3,
      },
      {
        head: "0",
        numbers: [
          ["x", "−1.000"],
          ["score", "× 0.500"],
          ["", "= −0.500"],
        ],
        value: -0.5,
      },
    ],
    rest: "and 6 smaller terms, together + 0.750",
  });
  assert.doesNotMatch(textOf(said), /norm/);
  arrays.pre.values[4] = 1;
  assert.match(
    textOf(account({ header: HEADER, arrays, place: { part: "pre", index: 4 }, sum })),
    /After the norm: 1\.000/,
  );
});

test("functions and gates are said in numbers", () => {
  const arrays = arraysOf(3, 4, true);
  for (const [name, value] of [
    ["gate", 2],
    ["pre", 4],
    ["post", 7],
  ])
    arrays[name] = { rows: 1, columns: 1, values: [value] };
  const gated = { ...HEADER, f: "SiLU", gated: true };
  assert.match(
    textOf(account({ header: gated, arrays, place: { part: "post", index: 0 }, sum: null })),
    /SiLU\(2\.000\) = 1\.750.*1\.750 × 4\.000 = 7\.000/,
  );
  arrays.post = { rows: 1, columns: 1, values: [3] };
  assert.match(
    textOf(account({ header: HEADER, arrays, place: { part: "post", index: 0 }, sum: null })),
    /GELU\(4\.000\) = 4\.000 × 0\.750 = 3\.000/,
  );
  const relu = { ...HEADER, f: "ReLU" };
  assert.match(
    textOf(account({ header: relu, arrays, place: { part: "post", index: 0 }, sum: null })),
    /passes unchanged/,
  );
  arrays.pre = { rows: 1, columns: 1, values: [-4] };
  assert.match(textOf(account({ header: relu, arrays, place: { part: "post", index: 0 }, sum: null })), /becomes 0/);
});

test("a mouse tells the number it is on, a finger that scrolls none; what was chosen is heard with its answer", () => {
  const sites = Object.fromEntries(
    Object.entries(arraysOf(8, 9)).map(([name, { columns, values }]) => [name, { shape: [columns], data: values }]),
  );
  const view = viewOf(draw, { facts: HEADER, sites }, "layer");
  const pointed = (pointerType) => {
    const { x, y } = cornerOf(view.layout, { part: "out", index: 2 });
    view.canvas.onpointermove({ pointerType, clientX: x + 1, clientY: y + 1 });
    return view.tip.textContent;
  };
  const idle = view.tip.textContent;
  assert.equal(pointed("touch"), idle);
  assert.match(pointed("mouse"), /^\+ out, coordinate 2: /);
  view.canvas.onpointerleave();
  assert.equal(view.tip.textContent, idle);
  for (const [sequence, at, heard] of [
    [0, "pre.4", ""],
    [1, "pre.5", "h = x W_in + b, neuron 5: 2.000"],
  ]) {
    view.select({ sequence, at, sum: null });
    assert.equal(view.live.textContent, heard);
  }
});
