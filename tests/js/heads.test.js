// The map of heads: names touch neither points nor other names, and the chosen point alone is pressed and reached by Tab.

import assert from "node:assert/strict";
import { test } from "node:test";
import { viewOf } from "./page.js";

const draw = (await import("../../tfmviz/views/heads/view.ts")).default;

const SCALE = { title: "t", low: 0, high: 600 };

/** The name beside each point and whether it stands on the left; every point is named, and the plot is 600 pixels wide. */
function named(...places) {
  const points = places.map(([x, y], n) => {
    return { name: `head 1.${n}`, about: "", x, y, kind: "", word: `1.${n}`, rows: 0, cells: "" };
  });
  const view = viewOf(draw, { caption: "", axes: [SCALE, { ...SCALE, high: 1 }], points, chosen: 0 });
  Object.defineProperty(view.plot, "clientHeight", { value: 600 });
  view.draw();
  assert.deepEqual(
    view.buttons.map(({ ariaPressed, tabIndex }) => [ariaPressed, tabIndex]),
    points.map((_, n) => (n === 0 ? ["true", 0] : ["false", -1])),
  );
  return view.buttons.map((button) => [button.textContent, button.classList.contains("left")]);
}

test("a name stands right of its point, else left, and is left out where both touch something", () => {
  assert.deepEqual(named([100, 0.5], [300, 0.5]), [
    ["1.0", false],
    ["1.1", false],
  ]);
  const [first, second] = named([100, 0.5], [115, 0.5]);
  assert.deepEqual(
    [first, second],
    [
      ["1.0", true],
      ["1.1", false],
    ],
  );
  assert.deepEqual(named([100, 0.5], [115, 0.5], [130, 0.5])[1], ["", false], "between two points");
  assert.deepEqual(named([100, 0.5], [115, 0.9])[0], ["1.0", false], "points above do not count");
});
