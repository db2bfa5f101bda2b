import assert from "node:assert/strict";
import { test } from "node:test";
import { DARKEST, drawn, fromText, toText } from "../../tfmviz/views/picture/view.ts";

test("a text is read cell by cell, and written back alike", () => {
  assert.deepEqual(fromText("09ag"), [0, 9, 10, 16]);
  assert.equal(toText([0, 9, 10, 16]), "09ag");
});

test("a gesture that begins on a pale cell draws, on a dark one rubs out", () => {
  assert.deepEqual([0, 8, 9, 16].map(drawn), [DARKEST, DARKEST, 0, 0]);
});
