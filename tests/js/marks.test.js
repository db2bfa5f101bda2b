import assert from "node:assert/strict";
import { test } from "node:test";
import { Lines } from "../../tfmviz/views/explorer/lines.ts";
import { Matrix } from "../../tfmviz/views/explorer/matrix.ts";
import { marksOf } from "../../tfmviz/views/steps/grid.ts";

/** What is framed with which colour. */
function framed(draw) {
  const found = [];
  const pen = { strokeStyle: "", lineWidth: 0, strokeRect: (...place) => found.push([pen.strokeStyle, ...place]) };
  draw(pen);
  return found;
}

const COLOURS = { looks: "blue", looked: "red", accent: "orange" };
const TEXTS = { queries: { labels: ["a", "b", "c"] }, keys: { labels: ["d", "e", "f", "g", "h"] } };
const marks = (focus, at) =>
  framed((pen) => Matrix.prototype.paintMarks.call({ cell: 10, focus, at, texts: TEXTS }, pen, COLOURS));

test("a query's mark is a row across all keys, a key's a column across all queries", () => {
  assert.deepEqual(marks({ side: "query", at: 2 }, null), [["blue", 0, 20, 50, 10]]);
  assert.deepEqual(marks({ side: "key", at: 2 }, null), [["red", 20, 0, 10, 30]]);
});

test("the cell that is pointed at is framed where it is", () => {
  assert.deepEqual(marks(null, { row: 1, column: 4 }), [["orange", 40, 10, 10, 10]]);
});

test("of a product the row on the left meets the column on the right", () => {
  assert.deepEqual(marksOf({ rows: "query", columns: "dim" }), { row: true, column: false });
  assert.deepEqual(marksOf({ rows: "dim", columns: "key" }), { row: false, column: true });
  assert.deepEqual(marksOf({ rows: "wide", columns: "dim" }), { row: false, column: true });
  assert.deepEqual(marksOf({ rows: "query", columns: "key" }), { row: true, column: true });
});

test("each of several heads has its own colour, one alone says by its colour which side is meant", () => {
  const view = { patterns: [{}, {}], colours: { ...COLOURS, heads: ["blue", "green"] } };
  const colourOf = (n, focus) => Lines.prototype.colourOf.call(view, n, focus);
  const key = { side: "key", at: 0 };
  assert.deepEqual([colourOf(0, null), colourOf(1, null), colourOf(1, key)], ["blue", "green", "green"]);
  view.patterns.pop();
  assert.deepEqual([colourOf(0, null), colourOf(0, key)], ["blue", "red"]);
});

test("the faintest line can still be seen", () => {
  const view = Object.assign(Object.create(Lines.prototype), { scale: "plain", maxima: [[1]] });
  assert.ok(view.opacityOf({ n: 0, row: 0, column: 0, weight: 0.001 }) >= 0.05);
});
