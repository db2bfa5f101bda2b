// The menu ⋯ of a figure, the table of its values, and what a file of it shows.

import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.js";

const { figureBar } = await import("../../tfmviz/views/shared/bar.ts");
const { figureOf } = await import("../../tfmviz/views/shared/drawn.ts");

const VALUES = { title: "Shares", columns: ["token", "share"], rows: [["it", 0.5]] };

function figure() {
  const node = document.body.appendChild(document.createElement("div"));
  const bar = figureBar({ whole: () => node, file() {}, values: () => VALUES });
  node.append(bar);
  const [opener, tools] = bar.children;
  const isOpen = () => [!tools.hidden, opener.ariaExpanded === "true"];
  return { node, bar, opener, tools, isOpen };
}

const pressed = (node, key) => {
  const heard = [];
  const hear = (event) => heard.push(event.key);
  document.addEventListener("keydown", hear);
  node.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  document.removeEventListener("keydown", hear);
  return heard;
};

test("the menu opens and closes with its button, and says which it is", () => {
  const { opener, isOpen } = figure();
  const seen = [isOpen()];
  for (let n = 0; n < 3; n++) {
    opener.click();
    seen.push(isOpen());
  }
  assert.deepEqual(seen, [
    [false, false],
    [true, true],
    [false, false],
    [true, true],
  ]);
});

test("Escape closes the open menu and nothing else on the page, any other key is the page's", () => {
  const { opener, tools, isOpen } = figure();
  opener.click();
  tools.children[0].focus();
  assert.deepEqual([pressed(tools, "f"), isOpen()], [["f"], [true, true]]);
  assert.deepEqual([pressed(tools, "Escape"), isOpen()], [[], [false, false]]);
  assert.equal(document.activeElement, opener);
  assert.deepEqual(pressed(opener, "Escape"), ["Escape"]);
});

test("a click beside the table of values closes it, a click on it does not", () => {
  const { node, opener, tools } = figure();
  opener.click();
  tools.children[0].click();
  const dialog = node.querySelector("dialog");
  dialog.querySelector("td").click();
  assert.deepEqual([dialog.open, dialog.isConnected], [true, true]);
  dialog.click();
  assert.deepEqual([dialog.open, dialog.isConnected], [false, false]);
});

test("a file of a figure shows nothing that the style hides", () => {
  const root = document.createElement("div");
  for (const [textContent, style] of [
    ["seen", ""],
    ["gone", "display: none"],
    ["veiled", "visibility: hidden"],
    ["too", "color: red"],
  ])
    root.append(Object.assign(document.createElement("p"), { textContent, style }));
  const texts = [];
  const pen = new Proxy({ fillText: (text) => texts.push(text) }, { get: (known, name) => known[name] ?? (() => {}) });
  figureOf(root).paint(pen);
  assert.deepEqual(texts, ["seen", "too"]);
});
