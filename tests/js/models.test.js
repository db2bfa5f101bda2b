import assert from "node:assert/strict";
import { test } from "node:test";
import { moved } from "../../tfmviz/views/models/moves.js";

const NAMES = ["Tiny English", "Fill in", "French to English", "Your own model…"];

test("arrows stop at the ends, Home and End lead there", () => {
  const led = (/** @type {string} */ key, /** @type {number} */ at) => moved(key, at, NAMES);
  assert.deepEqual([led("ArrowDown", 0), led("ArrowDown", 3), led("ArrowUp", 0), led("ArrowUp", 3)], [1, 3, 0, 2]);
  assert.deepEqual([led("Home", 2), led("End", 0)], [0, 3]);
});

test("a letter leads to the next name that begins with it, and round", () => {
  assert.equal(moved("f", 0, NAMES), 1);
  assert.equal(moved("F", 1, NAMES), 2);
  assert.equal(moved("f", 2, NAMES), 1);
  assert.equal(moved("t", 0, NAMES), 0);
});

test("other keys lead nowhere", () => {
  for (const key of ["x", "Tab", "Escape", "F5", "Shift"]) assert.equal(moved(key, 0, NAMES), null);
});
