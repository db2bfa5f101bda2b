// The whole model as it is seen: which amounts stand there, what pointing shows, and what its buttons do.

import assert from "node:assert/strict";
import { test } from "node:test";
import { viewOf } from "./page.js";

const draw = (await import("../../tfmviz/views/whole_model/view.ts")).default;
const { saysOf } = await import("../../tfmviz/views/whole_model/from_record.ts");

const column = (id, more) => ({
  ...{ id, kind: "norm", title: id, lines: [], words: "", links: [], shape: [2, 4], matrix: "m", image: "strips" },
  ...more,
});

const SCENE = {
  ...{ title: "small", zoom: "model", layer: "decoder.0.self_attn", head: 0, total: 10, numbers: 4, width: 4 },
  lanes: ["encoder", "decoder"].map((stack) => ({
    ...{ stack, title: `The ${stack}`, note: "", tokens: ["a", "b"] },
    columns: [
      column(`${stack} block`, { bars: [{ kind: "mlp", label: "MLP adds", values: "adds" }], says: true }),
      column(`${stack} end`, { image: "words", matrix: "p", logits: "logits", labels: ["c", "d"] }),
    ],
  })),
};
const SITES = {
  m: { shape: [2, 4], data: [1, 0, 0, 0, 0, 2, 0, 0] },
  "m.length": { shape: [2], data: [1, 2] },
  adds: { shape: [2], data: [3, 4] },
  p: { shape: [2], data: [0.5, 0.75] },
  logits: { shape: [2], data: [5, 6] },
};
const SAYS = { "decoder block": ["early", 0.25, 7] };

function whole() {
  const view = viewOf(draw, { facts: SCENE, sites: SITES }, "whole_model");
  view.select({ sequence: 0, layer: "decoder.0.self_attn", head: 0, token: 1, says: SAYS });
  return view;
}

/** What is written in the picture from the first of some words on. */
function written(view, first) {
  const texts = [];
  const known = { fillText: (text) => texts.push(text), measureText: (text) => ({ width: 6 * text.length }) };
  view.figure().paint(new Proxy(known, { get: (pen, name) => pen[name] ?? (() => {}) }));
  return texts.slice(texts.indexOf(first));
}

const ROWS = ["MLP adds", "length", "top prediction", "probability"];

test("of the followed token the norm, what is added, the best word and its probability are written", () => {
  const view = whole();
  assert.deepEqual(written(view, ROWS[0]), [...ROWS, "4.00", "2.00", "early", "25%", "d", "75%"]);
  view.node.clientWidth = 400; // a phone
  view.redraw();
  const named = ["MLP adds 4.00", "length 2.00", "top prediction early 25%"];
  assert.deepEqual(written(view, named[0]), named);
});

test("what a model would say before its end is that of the followed token, not of one that is pointed at", () => {
  const view = whole();
  const [other, lane] = SCENE.lanes;
  for (const [hovered, says] of [
    [null, SAYS],
    [{ stack: "decoder", row: 0, lane }, {}],
    [{ stack: "encoder", row: 1, lane: other }, {}],
    [{ stack: "decoder", row: 1, lane }, SAYS],
  ]) {
    view.hover(hovered);
    assert.deepEqual(view.followed().says, says, JSON.stringify(hovered));
  }
});

test("a mouse points at the vector it is on, a finger that scrolls at none; a box stays until a vector is pointed at", () => {
  const view = whole();
  const heard = [];
  const hover = view.hover;
  view.hover = function (found) {
    heard.push(found ? found.row : null);
    hover.call(this, found);
  };
  const [box] = view.hits.querySelectorAll("button");
  box.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
  assert.equal(view.hoveredBox, "encoder block");
  const { x, y, height } = view.placed.lanes[1].columns[0].body;
  const move = (node, pointerType) =>
    node.dispatchEvent(
      new PointerEvent("pointermove", { pointerType, clientX: x + 1, clientY: y + 0.75 * height, bubbles: true }),
    );
  move(view.base, "touch");
  move(box, "mouse");
  view.picture.dispatchEvent(new PointerEvent("pointerleave"));
  assert.deepEqual([heard, view.hoveredBox], [[null], "encoder block"]);
  move(view.base, "mouse");
  assert.deepEqual([heard, view.hoveredBox], [[null, 1], null]);
});

test("Back goes one column back, Next one on; what is zoomed to is pressed; Tab enters at the first box", () => {
  const view = whole();
  const stepped = [];
  view.step = (by) => stepped.push(by);
  const [back, next] = view.controls.querySelectorAll(".steps button");
  for (const node of [back, next]) node.click();
  assert.deepEqual([back.textContent, next.textContent, stepped], ["← Back", "Next →", [-1, 1]]);
  const pressed = [...view.zooms.children].map(({ textContent, ariaPressed }) => [textContent, ariaPressed]);
  assert.deepEqual(pressed, [
    ["Whole model", "true"],
    ["Layer 0", "false"],
    ["Head 0", "false"],
  ]);
  const stops = [...view.hits.children].map(({ tabIndex }) => tabIndex);
  assert.deepEqual(stops, [0, -1, -1, -1]);
});

test("the table is of the followed token and its text", () => {
  const { title, rows } = whole().values();
  assert.equal(title, "The decoder, token 1 b");
  assert.deepEqual(
    rows.map(([part]) => part),
    ["decoder block", "decoder end"],
  );
});

test("each column says what the model would make of its own vector, the last what it does say", () => {
  const tensor = (rows, width) => {
    const data = new Float32Array(rows * width);
    return { data, part: (n) => ({ data: data.subarray(n * width, (n + 1) * width) }) };
  };
  const engine = {
    words: ["w0", "w1", "w2"],
    next: () => ({ logits: [0, 0, 5] }),
    transformer: { memory: { tensor }, norm: null, logits: (vectors) => vectors }, // as they are
  };
  const sites = { embed: { shape: [1, 3], data: [9, 0, 0] }, block: { shape: [1, 3], data: [0, 9, 4] } };
  const says = saysOf({ said: { embed: "embed", block: "block", end: "end" } }, { facts: {}, sites }, engine, 0);
  const words = Object.entries(says).map(([at, [word, , rank]]) => [at, word, rank]);
  assert.deepEqual(words, [
    ["embed", "w0", 2],
    ["block", "w1", 2],
    ["end", "w2", 1],
  ]);
});
