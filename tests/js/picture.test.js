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

test("the pointer inks the cell it is on, from edge to edge, and none outside", () => {
  const view = viewOf(draw, { side: 3, patch: 1, title: "Digit" }, "board");
  view.select({ sequence: 0, cells: "0".repeat(9) });
  view.canvas.getBoundingClientRect = () => ({ left: 70, top: 90 });
  const [size, edge] = [view.cell, view.corner(0)[0]];
  const cellAt = (column, row) => view.cellAt({ clientX: 70 + edge + column * size, clientY: 90 + edge + row * size });
  for (let n = 0; n < 9; n++)
    for (const part of [0.01, 0.99])
      assert.equal(cellAt((n % 3) + part, Math.floor(n / 3) + part), n, `cell ${n}, ${part} of it`);
  for (const outside of [
    [-0.01, 1],
    [1, -0.01],
    [3.01, 1],
    [1, 3.01],
  ])
    assert.equal(cellAt(...outside), null);
});

test("a stroke inks every cell it passes and is told when it ends; one that is taken away leaves nothing", () => {
  const told = [];
  const view = viewOf(draw, { side: 2, patch: 1, title: "Digit" }, "stroke");
  view.select({ sequence: 0, cells: "0000" });
  view.notify = () => told.push(view.chosen().cells);
  view.canvas.setPointerCapture = () => {};
  const at = (n) => {
    const [x, y] = view.corner(n);
    return { pointerId: 1, clientX: x + 1, clientY: y + 1 };
  };
  view.canvas.onpointermove(at(3));
  view.canvas.onpointerup();
  assert.deepEqual(told, []);
  view.canvas.onpointerdown(at(0));
  view.canvas.onpointermove(at(1));
  view.canvas.onpointermove({ pointerId: 1, clientX: -9, clientY: -9 });
  view.canvas.onpointerup();
  assert.deepEqual(told, ["gg00"]);
  view.canvas.onpointerdown(at(2));
  view.canvas.onpointercancel();
  assert.deepEqual(told, ["gg00", "gg00"]);
});

test("the keyboard says which cell it is on, stops at the edges, and draws", () => {
  const view = viewOf(draw, { side: 2, patch: 1, title: "Digit" }, "keys");
  view.select({ sequence: 0, cells: "0000" });
  const heard = [];
  view.say = (text) => heard.push(text.match(/\d+/g).map(Number));
  for (const key of ["ArrowUp", "ArrowRight", "ArrowRight", "ArrowDown", " ", "ArrowLeft"])
    view.canvas.onkeydown(new KeyboardEvent("keydown", { key }));
  assert.deepEqual(heard, [
    [0, 0, 0, 16],
    [0, 1, 0, 16],
    [0, 1, 0, 16],
    [1, 1, 0, 16],
    [1, 1, 16, 16],
    [1, 0, 0, 16],
  ]);
});
