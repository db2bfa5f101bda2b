import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.js";

const { Lens } = await import("../../tfmviz/views/lens/view.tsx");

const COLUMNS = ["embedding", "after layer 0"];
const grid = (rows, name) => rows.map((row) => COLUMNS.map((column) => `${name} of ${row}, ${column}`));
const dataOf = (...rows) => ({
  columns: COLUMNS,
  rows,
  tokens: rows,
  texts: grid(rows, "word"),
  notes: grid(rows, "note"),
  shades: rows.map(() => [0, 1]),
  scale: "share",
  legend: ["probability", "0", "1"],
});

function lens(...rows) {
  const view = new Lens(document.createElement("div"), {});
  view.show(dataOf(...rows));
  return view;
}

test("the cell under the pointer is told, else the chosen one", () => {
  const view = lens("the", "cat");
  view.select({ sequence: 0, row: 1, column: 0 });
  const chosen = "“cat”, embedding: note of cat, embedding";
  assert.equal(view.tip.textContent, chosen);
  view.point({ row: 0, column: 1 });
  assert.equal(view.tip.textContent, "“the”, after layer 0: note of the, after layer 0");
  view.point(null);
  assert.equal(view.tip.textContent, chosen);
});

test("where a shorter text has no such cell, nothing is told until one is pointed at", () => {
  const view = lens("the", "cat", "sat");
  view.select({ sequence: 0, row: 2, column: 1 });
  view.show(dataOf("a"));
  view.point(null);
  view.point({ row: 0, column: 0 });
  assert.equal(view.tip.textContent, "“a”, embedding: note of a, embedding");
  view.select({ sequence: 0, row: 0, column: 7 });
  view.point(null);
  assert.equal(view.node.querySelectorAll(".chosen").length, 0);
});
