import assert from "node:assert/strict";
import { test } from "node:test";
import { neighbour, parentOf, wayTo } from "../../tfmviz/views/beams/view.tsx";
import { viewOf } from "./page.js";

const draw = (await import("../../tfmviz/views/beams/view.tsx")).default;

// Steps 4 to 6 of a search: what step 4 continues is not drawn.
const NODES = [
  [4, 0, 3],
  [4, 1, 0],
  [5, 0, 1],
  [5, 1, 0],
  [5, 2, 0],
  [6, 0, 2],
  [6, 1, 0],
].map(([step, rank, parent]) => ({ step, rank, parent, word: "", kind: /** @type {const} */ ("goes on"), spoken: "" }));

test("a way begins at the first step that is drawn and follows the parents", () => {
  assert.deepEqual(wayTo(NODES, 5), [0, 4, 5]);
  assert.deepEqual(wayTo(NODES, 6), [1, 2, 6]);
  assert.deepEqual(wayTo(NODES, 0), [0]);
  assert.equal(parentOf(NODES, 1), -1);
});

test("arrow keys go to the parent, to the best continuation and to the next rank", () => {
  const [up, down, left, right] = /** @type {[number, number][]} */ ([
    [-1, 0],
    [1, 0],
    [0, -1],
    [0, 1],
  ]);
  assert.equal(neighbour(NODES, 5, left), 4);
  assert.equal(neighbour(NODES, 0, left), -1);
  assert.equal(neighbour(NODES, 0, right), 3);
  assert.equal(neighbour(NODES.toReversed(), 6, right), 3, "the best, in whatever order they come");
  assert.equal(neighbour(NODES, 3, right), -1);
  assert.equal(neighbour(NODES, 3, up), 2);
  assert.equal(neighbour(NODES, 3, down), 4);
  assert.equal(neighbour(NODES, 4, down), -1);
});

test("Tab reaches the continuation looked at, arrows the next one; a click picks it, another lets it go", () => {
  const view = viewOf(draw, { alt: "a tree", picks: false, picked: null, nodes: NODES });
  const words = [...view.grid.querySelectorAll("button")];
  const states = () =>
    ['tabindex="0"', 'aria-pressed="true"'].map((is) => words.findIndex((node) => node.matches(`[${is}]`)));
  assert.deepEqual(states(), [0, -1]);
  words[0].focus();
  words[0].dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
  assert.deepEqual(states(), [3, -1]);
  words[3].click();
  words[3].blur();
  assert.deepEqual(states(), [3, 3]);
  assert.deepEqual(
    words.filter((node) => node.matches(".way")).map((node) => words.indexOf(node)),
    [0, 3],
  );
  words[3].click();
  assert.deepEqual(states(), [0, -1]);
});

test("the number of a step stands over all its continuations, above the best of them", () => {
  const { grid } = viewOf(draw, { alt: "", picks: false, picked: null, nodes: NODES });
  const placed = (selector) =>
    [...grid.querySelectorAll(selector)].map(({ textContent, style: { gridColumn, gridRow } }) => ({
      ...{ textContent, column: Number(gridColumn), row: Number(gridRow) },
    }));
  const numbers = placed("span");
  assert.deepEqual(
    numbers.map(({ textContent, column, row }) => [textContent, column, row]),
    [
      ["4", 1, 1],
      ["5", 2, 1],
      ["6", 3, 1],
    ],
  );
  for (const [n, { column, row }] of placed("button").entries()) {
    assert.equal(numbers[column - 1].textContent, String(NODES[n].step));
    assert.equal(row, 2 + NODES[n].rank);
  }
});
