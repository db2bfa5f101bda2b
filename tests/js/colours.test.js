import assert from "node:assert/strict";
import { test } from "node:test";
import { amountColour } from "../../tfmviz/views/lens/view.tsx";
import { bytesOf, css, inkOn, packedShade, RAMP } from "../../tfmviz/views/shared/colours.ts";
import { shader } from "../../tfmviz/views/shared/shades.ts";

const SCALES = {
  light: { little: "#ffffff", middling: "#9e8ac8", much: "#3f007d" },
  dark: { little: "#14171f", middling: "#7a5fb0", much: "#efe6ff" },
};

const brightness = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;

test("cividis runs from dark blue to bright yellow, ever brighter", () => {
  assert.deepEqual(RAMP[0], [0x00, 0x22, 0x4e]);
  assert.deepEqual(RAMP[255], [0xfe, 0xe8, 0x38]);
  for (let n = 1; n < RAMP.length; n++) assert.ok(brightness(RAMP[n]) >= brightness(RAMP[n - 1]) - 1, `at ${n}`);
});

test("a shade has one colour however it is written", () => {
  assert.equal(css(0), "rgb(0 34 78)");
  assert.equal(css(1), "rgb(254 232 56)");
  assert.equal(packedShade(1).toString(16), "ff38e8fe"); // alpha, blue, green, red
});

test("ink is light on dark and dark on light", () => {
  assert.deepEqual([inkOn(0), inkOn(1)], ["white", "black"]);
});

test("amounts grow away from the ground: darker on white, lighter on black", () => {
  const shades = [0, 0.25, 0.5, 0.75, 1];
  const light = shades.map((shade) => brightness(amountColour(shade, SCALES.light)));
  const dark = shades.map((shade) => brightness(amountColour(shade, SCALES.dark)));
  assert.deepEqual(amountColour(0, SCALES.light), [255, 255, 255]);
  for (let n = 1; n < shades.length; n++) {
    assert.ok(light[n] < light[n - 1]);
    assert.ok(dark[n] > dark[n - 1]);
  }
});

const roles = { score: "#c2650a", below: "#6a3d9a", zero: "#ffffff" };
const colours = { roles, masked: "#010203" };

test("positive numbers have the first colour of a tone, negative ones the second, 0 the ground", () => {
  const shade = shader({ tone: "score", values: Float64Array.of(2, -2, 0, 0.5, -Infinity) }, colours);
  assert.deepEqual(shade(0), bytesOf("#c2650a")); // orange
  assert.deepEqual(shade(1), bytesOf("#6a3d9a")); // purple
  assert.deepEqual(shade(2), [255, 255, 255]);
  const half = bytesOf("#c2650a").map((value) => Math.round((255 + value) / 2)); // √(0.5 / 2) = ½
  assert.deepEqual(shade(3), half);
  assert.deepEqual(shade(4), [1, 2, 3]);
});

test("shares are drawn in cividis, masked ones in grey", () => {
  const shade = shader({ tone: "share", values: Float64Array.of(0, 1, 0), allowed: [1, 1, 0] }, colours);
  assert.deepEqual([shade(0), shade(1), shade(2)], [RAMP[0], RAMP[255], [1, 2, 3]]);
});

test("an amount half way between two colours has the mean of both", () => {
  for (const scale of Object.values(SCALES))
    for (const [low, high] of [
      [0, 0.5],
      [0.5, 1],
    ]) {
      const [one, two] = [low, high].map((shade) => amountColour(shade, scale));
      const between = amountColour((low + high) / 2, scale);
      for (const n of [0, 1, 2]) assert.ok(Math.abs(between[n] - (one[n] + two[n]) / 2) <= 0.5);
    }
});
