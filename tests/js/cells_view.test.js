// A picture of cells in its reader's hands: what pointer and keyboard are told, and what a class that guesses is not.

import assert from "node:assert/strict";
import { test } from "node:test";
import { framed, viewOf } from "./page.js";

const draw = (await import("../../tfmviz/views/cells/view.ts")).default;
const { setStageOfGuess } = await import("../../tfmviz/views/shared/guessing.ts");

const axis = (title, places = null) => ({ title, names: null, spoken: null, count: 2, boxed: [], places });
const VALUES = [0.5, 0, 0.25, 0.75];
const PICTURE = {
  ...{ name: "p", alt: "", click: "", linked: [], matrices: 1, titles: ["own"], texts: null, notes: null, frames: [] },
  ...{ crosses: [], square: true, rowHeight: 30, across: 1, lengths: [2, 2] },
  arrays: { values: { shape: [VALUES.length], at: 0 } },
  rows: axis("query", [3, 7]),
  columns: axis("key", [3, 7]),
  form: { name: "", digits: 2, sign: false, percent: false, unit: "", words: null, absent: ["–", "–"] },
  scale: { colours: "cividis", low: 0, high: 1, title: "share", root: false, ticks: "decimal" },
};
const CORNER = { matrix: 0, row: 1, column: 0 };

const cellsOf = (changes = {}, key = "cells") =>
  viewOf(draw, framed({ ...PICTURE, ...changes }, new Uint8Array(Float32Array.from(VALUES).buffer)), key);

test("a picture is told in the words it comes with, else by the largest value of each row", () => {
  assert.equal(cellsOf({ alt: "Two rows." }).figure().caption, "Two rows.");
  assert.match(cellsOf().figure().caption, /^query 0: key 0, 0\.50; query 1: key 1, 0\.75$/);
});

test("while no cell is pointed at, a click is offered, or the pointer's values, once for pictures side by side", () => {
  const { scale } = PICTURE;
  const idle = (changes) => cellsOf(changes).tip.textContent;
  assert.match(idle({}), /^Hover/);
  assert.equal(idle({ linked: ["other"] }), "");
  assert.equal(idle({ scale: { ...scale, title: "" } }), "");
  assert.equal(idle({ click: "see why" }), "Click a cell to see why.");
});

test("a picture beside another one shows the same pair of tokens, and says where it lacks them", () => {
  const view = cellsOf({ linked: ["other"] });
  assert.ok(view.mirror([7, 3]));
  assert.equal(view.tip.textContent, "query 1, key 0: 0.25");
  assert.equal(view.mirror([7, 9]), false);
  assert.match(view.tip.textContent, /does not occur here/);
  view.mirror(null);
  assert.equal(view.tip.textContent, "");
});

test("the keyboard hears the cell it comes to, a pointer's press waits for its click", () => {
  const view = cellsOf();
  for (const [isVisible, said] of [
    [false, /^Hover/],
    [true, /^query 0, key 0: 0\.50$/],
  ]) {
    view.canvas.matches = () => isVisible;
    view.canvas.onfocus();
    assert.match(view.tip.textContent, said);
  }
});

test("what the keyboard has heard stays while the pointer moves on", () => {
  const view = cellsOf();
  view.canvas.onkeydown(new KeyboardEvent("keydown", { key: "ArrowDown" }));
  const heard = view.live.textContent;
  assert.equal(heard, "query 0, key 0: 0.50");
  view.point(CORNER);
  view.point(null);
  assert.equal(view.live.textContent, heard);
});

test("while a class guesses, the cells that it guesses at tell no value, and others do", () => {
  const [asked, other] = [cellsOf({}, "hidden-cells"), cellsOf()];
  const told = () =>
    [asked, other].map((view) => {
      view.point(CORNER);
      return [view.tip, view.canvas.getAttribute("aria-label"), view.live].map((part) =>
        /0\.\d\d/.test(part.textContent ?? part),
      );
    });
  const key = new KeyboardEvent("keydown", { key: "ArrowDown" });
  for (const view of [asked, other]) view.canvas.onkeydown(key);
  assert.deepEqual(told(), Array(2).fill([true, true, true]));
  setStageOfGuess("hidden");
  assert.deepEqual(told(), [Array(3).fill(false), Array(3).fill(true)]);
  setStageOfGuess("shown");
  assert.deepEqual(told(), [
    [true, true, false],
    [true, true, true],
  ]);
  setStageOfGuess("");
});

test("a file of a picture cuts nothing off", () => {
  const wide = { rows: { ...axis("query"), count: 1 }, columns: { ...axis("key"), count: 4 }, lengths: [4] };
  const view = cellsOf({ ...wide, square: false });
  assert.equal(view.figure().width, view.place.width);
});
