// A query and a key that turn: what is heard and written of them, and which pair and positions can be chosen.

import assert from "node:assert/strict";
import { test } from "node:test";
import { viewOf } from "./page.js";

const draw = (await import("../../tfmviz/views/turning/view.ts")).default;

/** Two pairs of coordinates of three tokens; token 2 looks at token 0. */
function turning() {
  const rows = { shape: [1, 3, 4], data: [1, 0, 0, 1, 0, 2, 1, 1, 3, 1, 0, 2] };
  const sites = { q: rows, k: rows, rot_q: rows, rot_k: rows };
  const facts = { layer: "decoder.0.self_attn", head: 0, tokens: ["a", "b", "c"], theta: [1, 0.1], last: 9 };
  const view = viewOf(draw, { facts, sites }, "turning");
  view.select({ sequence: 0, token: 2, turn: "0.1.2.0" });
  return view;
}

test("what moves with the hand is heard, the sentence's own product is not; a caption says what the picture shows", () => {
  const view = turning();
  view.menus.key.box.value = "1";
  view.menus.key.box.onchange();
  const told = (...left) =>
    view.says
      .filter(({ className }) => !left.includes(className))
      .map(({ textContent }) => textContent)
      .join(" ");
  assert.equal(view.live.textContent, told("aside"));
  assert.equal(view.figure().caption, told("kept", "aside"));
  assert.match(told(), /In the sentence, at 2 and 1: /);
});

test("the chosen pair alone is pressed, and Tab reaches it", () => {
  const view = turning();
  const dials = [...view.dials.children];
  for (const chosen of [0, 1]) {
    dials[chosen].click();
    for (const [n, { ariaPressed, tabIndex }] of dials.entries())
      assert.deepEqual([ariaPressed, tabIndex], n === chosen ? ["true", 0] : ["false", -1], `${n} of ${chosen}`);
  }
});

test("a slider stops at every position, from the first to the last", () => {
  const { i, j } = turning().sliders;
  for (const { range } of [i, j]) assert.deepEqual([range.min, range.max, range.step], ["0", "9", "1"]);
});
