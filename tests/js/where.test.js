// Which part of a figure says some words: a step of a lecture frames it.

import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.js";

const { saying } = await import("../../tfmviz/views/shared/where.ts");

/** The number of the part that says these words, null where none does; a part with the number 0 has no size. */
function found(html, ...words) {
  const root = Object.assign(document.createElement("div"), { innerHTML: html });
  for (const node of root.querySelectorAll("*"))
    node.getBoundingClientRect = () => ({ left: 0, top: 0, width: Number(node.dataset.n), height: 9 });
  return saying(root, words)?.width ?? null;
}

test("the smallest part that says all words is found, of several such the first", () => {
  assert.equal(found("<div data-n=1><p data-n=2>it</p><p data-n=3>cat</p></div>", "it"), 2);
  assert.equal(found("<div data-n=1><p data-n=2>it</p><p data-n=3>cat</p></div>", "it", "cat"), 1);
  assert.equal(found("<p data-n=1>it</p><p data-n=2>it</p>", "it"), 1);
  assert.equal(found("<p data-n=1>it was tired</p><p data-n=2>it ran</p>", "it"), 1);
});

test("a line that says another one and more is the larger of the two", () => {
  assert.equal(found("<p data-n=1>layer 1: it</p><p data-n=2>it</p>", "it"), 2);
});

test("a label counts, what is hidden or has no size does not, and what nobody says is not found", () => {
  assert.equal(found('<button data-n=1 aria-label="head 3">·</button>', "head 3"), 1);
  assert.equal(found("<p data-n=1 hidden>it</p><p data-n=0>it</p><p data-n=2 class=unseen>it</p>", "it"), null);
  assert.equal(found("<p data-n=1>cat</p>", "it"), null);
});
