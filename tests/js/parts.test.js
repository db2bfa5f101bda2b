// The parts of a text in the strip, and what goes between them.

import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.js";

const { Strip } = await import("../../tfmviz/views/explorer/strip.ts");
const { Links } = await import("../../tfmviz/views/explorer/links.ts");

test("each part stands apart under its name, and a text without parts as before", () => {
  const strip = new Strip("query", { point() {}, pin() {} });
  const texts = (labels, segments) => ({ labels, tokens: labels, segments });
  strip.label(texts(["[CLS]", "a", "[SEP]", "b", "c", "[SEP]"], ["", "A", "", "B", "B", ""]), "", "");
  const written = (node) => [...node.querySelectorAll(".part-name, .label")].map(({ textContent }) => textContent);
  assert.deepEqual([...strip.group.children].map(written), [
    ["A", "[CLS]", "a", "[SEP]"],
    ["B", "b", "c", "[SEP]"],
  ]);
  strip.label(texts(["x", "y"]), "", "");
  assert.deepEqual([...strip.group.children], strip.buttons);
});

test("both ways between two parts name the head in view and the strongest, which a click chooses", () => {
  const chosen = [];
  const links = new Links((place) => chosen.push(place));
  const shares = [
    [0.1, 0.4].map((there) => [
      [0, there],
      [0.2, 0],
    ]),
    [0.9, 0.3].map((there) => [
      [0, there],
      [0, 0],
    ]),
  ];
  const state = { layer: 0, heads: [{ layer: 0, head: 1 }], aggregate: "heads" };
  links.showParts({ parts: ["A", "B"], shares }, state);
  const buttons = [...links.parts.querySelectorAll("button")].map(({ textContent }) => textContent);
  assert.deepEqual(buttons, ["1.0 0.90", "0.1 0.40", "1.1 0.30", "0.0 0.20", "0.1 0.20", "1.0 0"]);
  links.parts.querySelector("button").click();
  assert.deepEqual(chosen, [{ layer: 1, head: 0 }]);
  const causal = shares.map((layer) => layer.map(([there]) => [there, [0, 0]]));
  links.showParts({ parts: ["A", "B"], shares: causal }, state);
  assert.equal(links.parts.querySelectorAll(".ranked").length, 1);
});
