import assert from "node:assert/strict";
import { test } from "node:test";
import { eachCell, Matrix } from "../../tfmviz/views/explorer/matrix.ts";

const PART = { rows: [1, 3], columns: [0, 2] };
const MASK = { rows: 3, columns: 3, allowed: Uint8Array.of(1, 0, 0, 1, 1, 0, 1, 1, 1) };
const PATTERN = { mask: MASK, weights: Float64Array.of(1, 0, 0, 0.25, 0.75, 0, 0.5, 0, 0.5) };
const COLOURS = { masked: "grey", soft: "orange", grid: "black", areVeiled: true };

function veiled(cell, pattern = PATTERN, part = PART) {
  const [boxes, lines] = [[], []];
  const pen = { beginPath() {}, stroke: () => lines.push(pen.strokeStyle) };
  pen.moveTo = (x, y) => lines.push([x, y]);
  pen.lineTo = (x, y) => lines.at(-1).push(x, y);
  pen.fillRect = (...box) => boxes.push([pen.fillStyle, ...box]);
  Matrix.prototype.paintCells.call({ cell, scale: "root", partOf: () => part }, pen, pattern, {}, COLOURS);
  return { boxes, lines };
}

test("under a veil a cell says whether it may look, even where it does not", () => {
  const { boxes } = veiled(5, PATTERN, { rows: [0, 3], columns: [0, 3] });
  const expected = [...MASK.allowed].map((may, n) => [
    may ? "orange" : "grey",
    5 * (n % 3),
    5 * Math.floor(n / 3),
    5,
    5,
  ]);
  assert.deepEqual(boxes, expected);
});

test("large cells have lines between them, small ones have none", () => {
  assert.deepEqual(veiled(8).lines, []);
  assert.deepEqual(veiled(9).lines, [
    ...[
      [0, 9, 18, 9],
      [0, 18, 18, 18],
      [0, 27, 18, 27],
    ],
    ...[
      [0, 9, 0, 27],
      [9, 9, 9, 27],
      [18, 9, 18, 27],
    ],
    "black",
  ]);
});

test("of a part every cell is visited with its weight, row by row", () => {
  const visited = [];
  eachCell(PATTERN, PART, "plain", ({ row, column, weight, shade }) => visited.push([row, column, weight, shade]));
  assert.deepEqual(visited, [
    [1, 0, 0.25, 0.25],
    [1, 1, 0.75, 0.75],
    [2, 0, 0.5, 0.5],
    [2, 1, 0, 0],
  ]);
});
