import assert from "node:assert/strict";
import { test } from "node:test";
import { viewOf } from "./page.js";

const draw = (await import("../../tfmviz/views/picture/view.ts")).default;

test("a cell is as dark as it is inked: not at all, half, all", () => {
  const view = viewOf(draw, { side: 2, patch: 1, title: "Digit" });
  view.select({ sequence: 0, cells: "08g4" });
  assert.deepEqual(
    view.canvas.filled.map(({ alpha }) => alpha),
    [0, 0.5, 1, 0.25],
  );
});
