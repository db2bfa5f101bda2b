// The stage of the home page: which head is shown, which word looks, and when the heads take turns.

import assert from "node:assert/strict";
import { test } from "node:test";
import { viewOf } from "./page.js";

const draw = (await import("../../tfmviz/views/home/view.ts")).default;

const head = (layer, number, weights) => ({
  ...{ layer: `decoder.${layer}.self_attn`, head: number, name: `${layer}.${number}`, does: "copies" },
  weights: [[10_000], weights],
});
const HEADS = [head(3, 2, [9_000, 1_000]), head(4, 1, [2_000, 8_000])];
const [FIRST, SECOND] = ["“cat” gives 90% of its attention to “the”.", "“cat” gives 80% of its attention to itself."];
const OF_THE = "“the” gives 100% of its attention to itself.";

let stages = 0;

const turns = new Map(); // what would happen every five seconds
globalThis.setInterval = (act) => {
  turns.set(turns.size, act);
  return turns.size - 1;
};
globalThis.clearInterval = (n) => turns.set(n, () => {});
function turn() {
  for (const act of turns.values()) act();
}

/** The stage with two words side by side, 100 pixels each. */
function stageOf() {
  const offsets = [
    [0, 3],
    [3, 7],
  ];
  const data = {
    text: "the cat",
    labels: ["the", "cat"],
    offsets,
    word: 1,
    heads: JSON.stringify(HEADS),
    parcel: null,
  };
  const view = viewOf(draw, data, `stage-${stages++}`);
  for (const [n, span] of view.spans.entries())
    span.getClientRects = () => [{ left: 100 * n, right: 100 * n + 100, top: 0, bottom: 20, width: 100 }];
  return view;
}

/** The pointer moves to a place, by so many pixels, as the browser tells it. */
function move(node, clientX, [movementX, movementY], pointerType = "mouse") {
  const event = new PointerEvent("pointermove", { pointerType, bubbles: true, composed: true });
  node.dispatchEvent(Object.assign(event, { clientX, clientY: 9, movementX, movementY }));
}

test("of the heads the one that is shown is pressed, and each says where it is", () => {
  const view = stageOf();
  const buttons = () => [...view.choice.children];
  assert.deepEqual(
    buttons().map(({ title }) => title),
    ["Layer 3, head 2", "Layer 4, head 1"],
  );
  for (const [n, said] of [FIRST, SECOND].entries()) {
    buttons()[n].click();
    assert.equal(view.said.textContent, said);
    assert.deepEqual(
      buttons().map(({ ariaPressed }) => ariaPressed),
      [String(n === 0), String(n === 1)],
    );
  }
});

test("a mouse that moves, in whatever direction, shows the word under it; one that rests, and a finger, do not", () => {
  for (const [by, kind, said] of [
    [[0, 0], "mouse", FIRST],
    [[3, 0], "touch", FIRST],
    [[3, 0], "mouse", OF_THE],
    [[0, 3], "mouse", OF_THE],
  ]) {
    const view = stageOf();
    move(view.area, 20, by, kind);
    assert.equal(view.said.textContent, said);
    view.area.onpointerleave();
    assert.equal(view.said.textContent, FIRST);
  }
});

test("the heads take turns where things may move and are seen", () => {
  const found = [];
  for (const reduced of [false, true])
    for (const hidden of [false, true]) {
      globalThis.matchMedia = () => ({ matches: reduced });
      Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
      const view = stageOf();
      turn();
      if (view.said.textContent === SECOND) found.push({ reduced, hidden });
    }
  assert.deepEqual(found, [{ reduced: false, hidden: false }]);
  Object.defineProperty(document, "hidden", { value: false, configurable: true });
});

test("the heads take turns until a pointer moves or presses, or a key is pressed, in the sentence too", () => {
  globalThis.matchMedia = () => ({ matches: false });
  for (const [act, said] of [
    [({ area }) => move(area, 20, [0, 0]), SECOND],
    [({ node }) => move(node, 20, [1, 0]), FIRST],
    [({ node }) => node.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true, composed: true })), FIRST],
    [
      ({ area }) => area.dispatchEvent(new KeyboardEvent("keydown", { key: "a", bubbles: true, composed: true })),
      FIRST,
    ],
  ]) {
    const view = stageOf();
    act(view);
    turn();
    assert.equal(view.said.textContent, said, String(act));
  }
});
