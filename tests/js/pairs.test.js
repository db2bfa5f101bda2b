import assert from "node:assert/strict";
import { test } from "node:test";
import {
  angleBetween,
  dot,
  headingOf,
  lengthOf,
  pairsOf,
  products,
  total,
  turned,
} from "../../tfmviz/views/turning/pairs.ts";
import { onCanvas } from "../../tfmviz/views/turning/pictures.ts";

const close = (found, expected) => assert.ok(Math.abs(found - expected) < 1e-12, `${found}, not ${expected}`);
const Q = { x: 3, y: 4 };
const K = { x: 5, y: -2 };

test("neighbouring numbers of a row are a pair", () => {
  const matrix = { rows: 2, columns: 4, values: Float32Array.of(0, 1, 2, 3, 4, 5, 6, 7) };
  assert.deepEqual(pairsOf(matrix, 1), [
    { x: 4, y: 5 },
    { x: 6, y: 7 },
  ]);
});

test("a quarter turn takes the x axis to the y axis", () => {
  const { x, y } = turned({ x: 1, y: 0 }, Math.PI / 2);
  close(x, 0);
  close(y, 1);
});

test("turning keeps the length and adds to the heading", () => {
  const moved = turned(Q, 0.3);
  close(lengthOf(moved), 5);
  close(headingOf(moved), headingOf(Q) + 0.3);
});

test("the angle runs from k to q and has its sign", () => {
  close(angleBetween({ x: 0, y: 2 }, { x: 3, y: 0 }), Math.PI / 2);
  close(angleBetween({ x: 3, y: 0 }, { x: 0, y: 2 }), -Math.PI / 2);
  close(lengthOf(Q) * lengthOf(K) * Math.cos(angleBetween(Q, K)), dot(Q, K));
});

test("on a canvas y points down, so that a positive angle is drawn upwards", () => {
  close(onCanvas(0.3), -0.3);
  close(onCanvas(-0.3), 0.3);
});

test("products depend on the distance only, and with the sign of RoPE", () => {
  const [q, k, theta] = [
    [Q, K],
    [K, Q],
    [1, 0.01],
  ];
  for (const [n, value] of products(q, k, theta, 17, 12).entries()) {
    close(value, products(q, k, theta, 105, 100)[n]);
    close(value, products(q, k, theta, 5, 0)[n]);
    assert.notEqual(value.toFixed(3), products(q, k, theta, 0, 5)[n].toFixed(3));
  }
  const [first] = products([{ x: 1, y: 0 }], [{ x: 0, y: 1 }], [0.5], 1, 0);
  close(first, Math.sin(0.5)); // q turned by 0.5 leans towards k
  close(total([1, 2, 4]), 7);
});
