// The doors of the stage: each picture in its frame and its colours, and of which sentence it says it is.

import assert from "node:assert/strict";
import { test } from "node:test";
import { css } from "../../tfmviz/views/shared/colours.ts";
import { viewOf } from "./page.js";

const draw = (await import("../../tfmviz/views/doors/view.tsx")).default;

const door = (title, more) => ({ title, asks: "", says: title, address: "./page?token=1", ...more });
const doors = (...all) => viewOf(draw, { text: "a b", doors: JSON.stringify(all) }, "doors");

test("once another sentence is typed, only a picture of the sentence before says so", () => {
  const view = doors(door("heads"), door("training", { own: true }));
  const told = () =>
    [...view.node.querySelectorAll("a")].map((link) => [link.className, link.querySelector(".says").textContent]);
  const before = [
    ["", "heads"],
    ["", "training"],
  ];
  assert.deepEqual(told(), before);
  view.mirror({ text: "a c" });
  const [ofText, own] = told();
  assert.equal(ofText[0], "other");
  assert.match(ofText[1], /the sentence before/);
  assert.deepEqual(own, before[1]);
  view.mirror({ text: "a b" });
  assert.deepEqual(told(), before);
});

test("a share has its colour from none to all, and what is masked or hidden by hand one of its own", () => {
  const [masked, hidden] = [12, 11];
  const grids = { cells: btoa(String.fromCharCode(5, 10, masked, hidden)), size: 2, across: 1, masked, hidden };
  const view = doors(door("mask", { grids }));
  view.colours.accent = "orange";
  const canvas = view.node.querySelector("canvas");
  view.paint(canvas, grids);
  const { masked: grey, accent } = view.colours;
  assert.deepEqual(
    canvas.filled.map(({ box: [x, y], ink }) => [x, y, ink]),
    [
      [0, 0, css(0.5)],
      [1, 0, css(1)],
      [0, 1, grey],
      [1, 1, accent],
    ],
  );
});

test("clocks and bars fill their frames and stay inside", () => {
  const view = doors(
    door("turns", { clocks: Array(5).fill([0, 1]) }),
    door("stream", {
      river: [
        ["mlp", 3],
        ["attention", -1],
        ["mlp", 2],
      ],
    }),
  );
  const [clocks, river] = [...view.node.querySelectorAll("svg")].map((node) => ({
    frame: node.getAttribute("viewBox").split(" ").map(Number),
    numbers: (selector, ...names) =>
      [...node.querySelectorAll(selector)].map((one) => names.map((name) => one.getAttribute(name))),
  }));
  const middles = clocks.numbers("g", "transform").map(([move]) => move.match(/[\d.]+/g).map(Number));
  const ends = [0, 1].map((axis) => Math.max(...middles.map((middle) => middle[axis] + 0.5)));
  assert.deepEqual(clocks.frame, [0, 0, ...ends]);
  assert.ok(middles.every((middle) => middle.every((at) => at >= 0.5)));
  const bars = river.numbers("rect", "x", "y", "width", "height").map((bar) => bar.map(Number));
  const right = Math.max(...bars.map(([x, , width]) => x + width));
  assert.deepEqual(river.frame.slice(0, 3), [0, 0, right]);
  assert.equal(Math.min(...bars.map(([x]) => x)), 0);
  assert.ok(bars.every(([, y, , height]) => y >= 0 && y + height <= river.frame[3]));
  assert.ok(river.frame[3] < 10 * bars.length);
});
