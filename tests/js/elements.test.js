// What all views make their parts of: menus, buttons of tokens, what hears pointers; and old pictures that fade.

import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.js";

const { listen, make, mark, select, tokenButtons } = await import("../../tfmviz/views/shared/elements.ts");
const { fading } = await import("../../tfmviz/views/shared/motion.ts");

const LABELS = ["王 1/3", "a"];

test("a menu has the name of its label, and none where that is empty", () => {
  const names = ["Shade", ""].map((label) => select(label, { a: "A" }, () => {}).box.ariaLabel);
  assert.deepEqual(names, ["Shade", null]);
});

test("a button of one byte is named by its character, any other by what stands on it", () => {
  const buttons = tokenButtons(make("div"), { labels: LABELS, tokens: LABELS }, 1);
  assert.deepEqual(
    buttons.map(({ ariaLabel, tabIndex }) => [ariaLabel, tabIndex]),
    [
      ["王, byte 1 of 3", -1],
      [null, 0],
    ],
  );
});

test("the pinned token is pressed, and no other", () => {
  const buttons = tokenButtons(make("div"), { labels: LABELS, tokens: LABELS }, 0);
  for (const pin of [1, 0, null]) {
    mark(buttons, null, pin);
    assert.deepEqual(
      buttons.map(({ ariaPressed }) => ariaPressed === "true"),
      [pin === 0, pin === 1],
    );
  }
});

test("a mouse that moves onto a button previews it once, a finger only presses", () => {
  const [group, heard] = [make("div"), []];
  const [first, second] = tokenButtons(group, { labels: LABELS, tokens: LABELS }, 0);
  const hear = (name) => (at) => heard.push([name, at]);
  listen(group, hear("pick"), hear("hover"));
  const move = (node, pointerType) =>
    node.dispatchEvent(new PointerEvent("pointermove", { pointerType, bubbles: true }));
  move(first, "touch");
  move(second, "mouse");
  move(second, "mouse");
  first.click();
  assert.deepEqual(heard, [
    ["hover", 1],
    ["pick", 0],
  ]);
});

test("an old picture fades where it may move and is seen, and nowhere else", () => {
  HTMLCanvasElement.prototype.animate = () => ({});
  const found = [];
  for (const reduced of [false, true])
    for (const hidden of [false, true]) {
      globalThis.matchMedia = () => ({ matches: reduced });
      Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
      const canvas = make("canvas");
      const place = document.body.appendChild(make("div", {}, canvas));
      fading(canvas, true, () => {});
      if (place.children.length > 1) found.push({ reduced, hidden });
    }
  assert.deepEqual(found, [{ reduced: false, hidden: false }]);
});
