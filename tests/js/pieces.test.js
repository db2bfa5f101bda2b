import assert from "node:assert/strict";
import { test } from "node:test";
import { viewOf } from "./page.js";

const draw = (await import("../../tfmviz/views/pieces/view.ts")).default;

test("a row says how many pieces it leaves out, and nothing where it has them all", () => {
  const row = (left_out) => ({ name: "words", note: "", pieces: [["the", ""]], left_out });
  const view = viewOf(draw, { caption: "", titles: ["what", "how many", "the pieces"], rows: [row(0), row(1234)] });
  const boxes = [...view.node.querySelectorAll("ol")].map((list) => [...list.children].map((box) => box.textContent));
  assert.deepEqual(boxes, [["the"], ["the", "… and 1,234 more"]]);
});

test("what is saved has the caption as its title, and one of its own where there is no caption", () => {
  const titles = ["What splits", ""].map((caption) => {
    const view = viewOf(draw, { caption, titles: ["", "", ""], rows: [] });
    return [view.figure().title, view.values().title];
  });
  assert.deepEqual(titles[0], ["What splits", "What splits"]);
  assert.ok(titles[1].every(Boolean), String(titles[1]));
});
