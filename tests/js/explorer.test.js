// The explorer in its reader's hands: what is there to press, what is pressed, what is said.

import assert from "node:assert/strict";
import { test } from "node:test";
import { parentOf } from "./page.js";

const { Explorer } = await import("../../tfmviz/views/explorer/explorer.ts");

const [target, source] = [
  ["the", " cat", " sat"],
  ["le", " chat"],
].map((tokens) => ({ labels: tokens, tokens }));
const CAUSAL = { mask: [1, 0, 0, 1, 1, 0, 1, 1, 1], pattern: [1, 0, 0, 0.25, 0.75, 0, 0.5, 0.25, 0.25] };
const CROSS = { mask: [1, 1, 1, 1, 1, 1], pattern: [0.5, 0.5, 0.25, 0.75, 1, 0] };

/** An explorer of so many layers with two heads each, whose tokens may look at a source too. */
function explorerOf(layers = 3, { page = {}, crosses = false } = {}) {
  const parts = crosses ? { self_attn: CAUSAL, cross_attn: CROSS } : { self_attn: CAUSAL };
  const sites = {};
  for (const [part, { mask, pattern }] of Object.entries(parts))
    for (let layer = 0; layer < layers; layer++) {
      const columns = pattern.length / 3;
      sites[`decoder.${layer}.${part}.mask`] = { shape: [1, 3, columns], data: mask };
      sites[`decoder.${layer}.${part}.pattern`] = { shape: [2, 3, columns], data: [...pattern, ...pattern] };
    }
  const view = new Explorer(parentOf("explorer"), page);
  view.show({ facts: { title: "m", texts: { target, source } }, sites });
  return view;
}

const labelled = (view, name) => view.node.querySelector(`[aria-label="${name}"]`);
const isThere = (node) => !node.closest("[hidden]");
const press = (node, key) => node.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));

test("Next goes one layer on, and Previous one back", () => {
  const view = explorerOf();
  const steps = ["Next layer", "Next layer", "Previous layer"].map((name) => {
    labelled(view, name).click();
    return view.state.layer;
  });
  assert.deepEqual(steps, [1, 2, 1]);
});

test("layers are stepped through where no head says which, played where they differ, and neither where there is one", () => {
  const found = [3, 1].map((layers) => {
    const view = explorerOf(layers);
    return ["heads", "mean", "all", "rollout"].map((aggregate) => {
      view.change({ aggregate });
      const { next, play } = view.controls;
      return [isThere(next) && "step", isThere(play) && "play"].filter(Boolean).join();
    });
  });
  assert.deepEqual(found, [
    ["play", "step,play", "", "step,play"],
    ["", "", "", ""],
  ]);
});

test("a choice of attention is there where there are two kinds", () => {
  const menus = [false, true].map((crosses) => labelled(explorerOf(3, { crosses }), "Attention"));
  assert.deepEqual(menus.map(isThere), [false, true]);
});

test("of the heads the chosen ones are pressed, Tab reaches the last, and where a mean is shown none is pressed", () => {
  const view = explorerOf();
  const tiles = view.overview.buttons;
  const pressed = () => [...tiles.keys()].filter((n) => tiles[n].ariaPressed === "true");
  tiles[0].click();
  tiles[3].dispatchEvent(new MouseEvent("click", { shiftKey: true, bubbles: true }));
  assert.deepEqual(pressed(), [0, 3]);
  assert.deepEqual(
    tiles.map(({ tabIndex }) => tabIndex),
    [-1, -1, -1, 0, -1, -1],
  );
  view.change({ aggregate: "mean" });
  assert.deepEqual(pressed(), []);
});

test("a click on a query pins it as one that looks, on a key as one that is looked at", () => {
  for (const [name, side] of [
    ["Queries", "query"],
    ["Keys", "key"],
  ]) {
    const view = explorerOf();
    labelled(view, name).querySelectorAll("button")[1].click();
    assert.deepEqual(view.state.pin, { side, at: 1 });
  }
});

test("the first word that is clicked is told with what it looks at, the second with what links the two", ({ mock }) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const view = explorerOf();
  const [first, , last] = labelled(view, "Queries").children;
  const heard = () => {
    mock.timers.tick(1000); // the hand is still
    return view.live.textContent;
  };
  last.click();
  assert.equal(heard(), "“ sat” (token 2) looks at “the” 0.50, “ cat” 0.25, “ sat” 0.25.");
  first.click();
  assert.match(heard(), /^“ sat” → “the”.*: layer 0, head 0 0\.50, layer 0, head 1 0\.50,/);
  labelled(view, "Next layer").click();
  assert.equal(heard(), view.frame.headline.textContent);
});

test("a word that the mask hides from another cannot be attended to", () => {
  for (const [query, key, said] of [
    [0, 2, "“the” cannot attend to “ sat”."],
    [2, 0, "“ sat” → “the”. Several heads link them:"],
  ]) {
    const view = explorerOf();
    labelled(view, "Queries").children[query].click();
    labelled(view, "Keys").children[key].click();
    assert.equal(view.ranking.said.textContent, said);
  }
});

test("a cell under the pointer is written beside it, one at the keyboard is spoken, and stays so when all is still", () => {
  const view = explorerOf();
  const { tip, headline } = view.frame;
  assert.ok(tip.hidden);
  view.pointAtCell({ row: 1, column: 0, x: 9, y: 9 });
  assert.deepEqual([tip.hidden, view.live.textContent], [false, ""]);
  assert.match(tip.textContent, /: 0\.25$/);
  view.still();
  assert.equal(view.live.textContent, headline.textContent);
  press(view.matrix.node, "ArrowUp");
  assert.ok(tip.hidden);
  assert.match(view.live.textContent, /^query “ cat”.*: 0\.25$/);
  const spoken = view.live.textContent;
  view.still();
  assert.equal(view.live.textContent, spoken);
  view.pointAtCell(null);
  assert.ok(tip.hidden);
  assert.equal(view.live.textContent, spoken);
  view.still();
  assert.equal(view.live.textContent, headline.textContent);
});

test("the matrix's slider stays where it is put, and its low end is the whole matrix", () => {
  const { matrix } = explorerOf();
  const { range } = matrix;
  assert.deepEqual([range.value, range.min], ["0", "0"]);
  for (const value of [range.min, "1", range.max]) {
    range.value = value;
    range.oninput();
    assert.equal(range.value, value);
  }
  assert.ok(matrix.zoom > 1);
});

test("Ctrl and the wheel zoom the matrix, not the page", () => {
  const { matrix } = explorerOf();
  const turned = [true, false].map((ctrlKey) => {
    const event = Object.assign(new WheelEvent("wheel", { deltaY: -300, cancelable: true }), { ctrlKey });
    matrix.node.dispatchEvent(event);
    return [event.defaultPrevented, matrix.zoom];
  });
  assert.deepEqual(turned, [
    [true, Math.E],
    [false, Math.E],
  ]);
});

test("what the page has chosen is pinned: a token of its own, else that of the link", () => {
  const view = explorerOf();
  const answer = { sequence: 0, kind: "decoder.self_attn", layer: 0, head: 0, to: null, first: null, look: "pin:k0" };
  for (const [token, pin] of [
    [1, { side: "query", at: 1 }],
    [null, { side: "key", at: 0 }],
  ]) {
    view.select({ ...answer, token });
    assert.deepEqual(view.state.pin, pin);
  }
});

test("a head leads to all heads where the app has measured them, and has pages", () => {
  const found = [true, false].flatMap((hasPages) =>
    [true, false].map((isMeasured) => {
      const view = explorerOf(1, { page: hasPages ? { report() {} } : {} });
      Object.assign(view.attention.kinds[0], { said: isMeasured ? [["copies."], ["copies."]] : undefined });
      view.draw();
      return view.frame.verdict.querySelector("a")?.textContent ?? "";
    }),
  );
  assert.deepEqual(found, ["Compare it with all heads", "", "", ""]);
});
