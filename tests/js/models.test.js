import assert from "node:assert/strict";
import { test } from "node:test";
import { parentOf } from "./page.js";

const { default: draw, moved } = await import("../../tfmviz/views/models/view.ts");

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

for (const [chosen, at] of [
  ["fill-in", "Fill in"],
  ["tiny-english", "Tiny English"],
  ["gone", "Tiny English"],
])
  test(`with ${chosen} as the model the list opens at ${at}`, () => {
    const models = NAMES.slice(0, 3).map((name) => {
      const model = name.toLowerCase().replaceAll(" ", "-");
      return { model, group: "All", name, line: "", size: "" };
    });
    const parentElement = parentOf("models");
    draw({ data: { models: JSON.stringify(models), chosen, command: "", folder: "" }, parentElement });
    parentElement.part_.open();
    const [marked, ...more] = parentElement.querySelectorAll(".at");
    assert.equal(marked.querySelector(".name").textContent, at);
    assert.deepEqual(more, []);
  });
