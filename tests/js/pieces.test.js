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
