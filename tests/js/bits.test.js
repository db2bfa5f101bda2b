import assert from "node:assert/strict";
import { test } from "node:test";
import {
  changedBy,
  copyOf,
  countOf,
  fromBits,
  gestureOf,
  gestureWords,
  ranges,
  rowCount,
  toBits,
  touched,
} from "../../tfmviz/views/masks/bits.ts";

// Two rows of five: 11010 and 00111. In bytes, highest bit first: 11010001 11000000.
const ENTRY = { rows: 2, columns: 5, bits: btoa(String.fromCharCode(0b11010001, 0b11000000)) };
const OPEN = [1, 1, 0, 1, 0, 0, 0, 1, 1, 1];

test("bits are read row by row, the highest first, and written back alike", () => {
  const mask = fromBits(ENTRY);
  assert.deepEqual([...mask.open], OPEN);
  assert.equal(toBits(mask), ENTRY.bits);
});

test("a copy is another mask", () => {
  const mask = fromBits(ENTRY);
  copyOf(mask).open[0] = 0;
  assert.equal(mask.open[0], 1);
});

test("what is open is counted, in all and by row", () => {
  const mask = fromBits(ENTRY);
  assert.deepEqual([countOf(mask), rowCount(mask, 0), rowCount(mask, 1)], [6, 3, 3]);
});

test("brushes touch a cell, a row, a column, a diagonal", () => {
  const at = (brush) => touched({ rows: 3, columns: 4 }, brush, { row: 1, column: 2 });
  assert.deepEqual(at("cell"), [6]);
  assert.deepEqual(at("row"), [4, 5, 6, 7]);
  assert.deepEqual(at("column"), [2, 6, 10]);
  assert.deepEqual(at("diagonal"), [1, 6, 11]);
});

test("a diagonal ends at the edge", () => {
  assert.deepEqual(touched({ rows: 3, columns: 3 }, "diagonal", { row: 2, column: 0 }), [6]);
});

test("a gesture closes what is open, and opens what is not all open", () => {
  const mask = fromBits(ENTRY);
  assert.equal(gestureWords("cell", gestureOf(mask, "cell", [0])), "cell closed");
  assert.equal(gestureWords("cell", gestureOf(mask, "cell", [2])), "cell opened");
  const row = touched(mask, "row", { row: 0, column: 0 });
  assert.equal(gestureWords("row", gestureOf(mask, "row", row)), "row opened");
  assert.equal(gestureOf(mask, "cell", [2]), 1);
  assert.equal(gestureOf(mask, "cell", [0]), 0);
});

test("a word that anyone sees is hidden, and shown again to those that saw it at the start", () => {
  const start = fromBits(ENTRY);
  const column = touched(start, "column", { row: 1, column: 0 });
  assert.equal(gestureOf(start, "column", column), 0);
  assert.equal(gestureWords("column", 0), "word hidden");
  const hidden = copyOf(start);
  for (const cell of changedBy(start, "column", 0, column)) hidden.open[cell] = 0;
  assert.deepEqual([...hidden.open], [0, 1, 0, 1, 0, 0, 0, 1, 1, 1]);
  assert.equal(gestureOf(hidden, "column", column), 1);
  assert.deepEqual(changedBy(start, "column", 1, column), [0]);
  const unseen = { ...start, open: new Uint8Array(10) };
  assert.deepEqual(changedBy(unseen, "column", 1, column), [0, 5]);
  assert.deepEqual(changedBy(start, "cell", 1, [2]), [2]);
});

test("the keys that a query sees are named in ranges", () => {
  const mask = fromBits(ENTRY);
  assert.equal(ranges(mask, 0), "0–1, 3");
  assert.equal(ranges(mask, 1), "2–4");
  assert.equal(ranges({ rows: 1, columns: 2, open: Uint8Array.of(0, 0) }, 0), "nothing");
});
