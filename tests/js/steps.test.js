// Step by step: what its buttons tell a screen reader, and what of it a pointer and the keyboard reach.

import assert from "node:assert/strict";
import { test } from "node:test";
import { viewOf } from "./page.js";

const draw = (await import("../../tfmviz/views/steps/view.ts")).default;

/** A head of two coordinates on so many tokens, each of which looks at itself. */
function steps(count) {
  const sites = {};
  const site = (name, columns, value = () => 1) => {
    const data = Float32Array.from({ length: count * columns }, (_, n) => value(Math.floor(n / columns), n % columns));
    sites[name] = { shape: [1, count, columns], data };
  };
  for (const name of ["q", "k", "v", "z"]) site(name, 2);
  for (const name of ["x", "concat"]) site(name, 2);
  site("mask", count);
  site("pattern", count, (row, column) => Number(row === column));
  for (const name of ["x", "concat"]) sites[name].shape.shift();
  const tokens = Array.from({ length: count }, (_, n) => `t${n}`);
  const facts = { title: "m", layer: "decoder.0.self_attn", head: 0, heads: 1, divisor: 2, divided: "√4" };
  const texts = { queries: tokens, keys: tokens, tokens };
  return viewOf(draw, { facts: { ...facts, cap: null, sink: null, ...texts }, sites }, "steps");
}

test("the open stage alone is current, and each has the number that is said once it is open", () => {
  const view = steps(3);
  const stages = [...view.list.querySelectorAll("button")];
  for (const name of ["vectors", "sentence", "masked"]) {
    const stage = stages.find(({ dataset }) => dataset.stage === name);
    stage.click();
    assert.deepEqual(
      stages.filter(({ ariaCurrent }) => ariaCurrent === "step"),
      [stage],
    );
    assert.ok(view.count.textContent.startsWith(`${stage.title} of ${stages.length}:`), stage.title);
  }
  view.leave();
});

test("of the tokens the query alone is pressed", () => {
  const view = steps(3);
  for (const query of [0, 2, 1]) {
    view.tokens.querySelectorAll("button")[query].click();
    const pressed = [...view.tokens.querySelectorAll("button")].map(({ ariaPressed }) => ariaPressed);
    assert.deepEqual(
      pressed,
      pressed.map((_, n) => String(n === query)),
    );
  }
  view.leave();
});

test("the picture of the sentence names every one of forty tokens", () => {
  const view = steps(40);
  const [{ beside, left }] = view.grids;
  assert.ok(left > 0);
  assert.equal(beside.step, 1);
  view.leave();
});

test("Tab reaches each matrix but those that are still empty", () => {
  const view = steps(3);
  view.width = 900; // a phone leaves out what is empty
  view.stage = "masked";
  view.draw();
  const sizes = new Set(view.grids.map(({ size }) => size));
  assert.deepEqual(sizes, new Set(["small", "large", "later"]));
  for (const { size, canvas } of view.grids) assert.equal(canvas.tabIndex, size === "later" ? -1 : 0);
  view.leave();
});

test("a mouse previews the cell it is on, a finger that scrolls none", () => {
  const view = steps(3);
  const [{ canvas, left, top, wide, high }] = view.grids;
  const previewed = (pointerType) => {
    const heard = [];
    view.hover = (_, cell) => heard.push(cell);
    const at = { clientX: left + 1.5 * wide, clientY: top + 2.5 * high };
    canvas.dispatchEvent(new PointerEvent("pointermove", { pointerType, ...at }));
    return heard;
  };
  assert.deepEqual([previewed("touch"), previewed("mouse")], [[], [{ row: 2, column: 1 }]]);
  view.leave();
});
