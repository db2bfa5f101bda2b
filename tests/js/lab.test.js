// The mask laboratory: what Python says and what is typed come in any order.

import assert from "node:assert/strict";
import { test } from "node:test";
import { toBits } from "../../tfmviz/views/masks/bits.ts";
import "./page.js";

const { Lab } = await import("../../tfmviz/views/masks/view.tsx");

const words = (n) => Array.from({ length: n }, (_, i) => `word ${i}`);
const names = (n) => ({ queries: words(n), keys: words(n), tokens: words(n) });
const full = (rows, columns = rows) => ({ rows, columns, open: new Uint8Array(rows * columns).fill(1) });
const entry = (id, mask) => ({ id, title: id, words: "", usable: true, ...mask, bits: toBits(mask) });

function said(view, n, sequence) {
  view.show({ ...names(n), gallery: [entry("full", full(n)), entry("other", full(n))] });
  view.select({ start: "full", bits: toBits(full(n)), sequence });
}

for (const columns of [3, 9])
  test(`a sentence still being typed keeps its mask of ${columns} keys, though Python's of another comes late`, () => {
    const view = new Lab(document.createElement("div"), {});
    said(view, 3, 0);
    const longer = full(8);
    view.show({ ...names(8), gallery: [entry("full", longer), entry("other", longer)] });
    const typed = full(columns === 3 ? 3 : 8, columns);
    view.show({ ...names(columns), queries: words(typed.rows), mask: typed }, { first: 0 });
    view.select({ start: "other", bits: toBits(longer), sequence: 0 });
    assert.deepEqual(view.mask, typed);
    assert.match(view.counted, new RegExp(`of ${typed.rows} × ${columns} =`));
    said(view, 8, 0);
    assert.deepEqual(view.mask, longer);
  });

test("Python's mask for the sentence that has just been typed is taken, also if it comes before the sentence", () => {
  const view = new Lab(document.createElement("div"), {});
  said(view, 3, 0);
  view.show({ ...names(4), mask: full(4) }, { first: 0 });
  const changed = full(4);
  changed.open[5] = 0;
  view.select({ start: "full", bits: toBits(changed), sequence: 0 });
  view.show({ ...names(4), gallery: [entry("full", full(4)), entry("other", full(4))] });
  assert.deepEqual(view.mask, changed);
  assert.match(view.counted, /15 of 4 × 4/);
  const pressed = [...view.gallery.querySelectorAll("button")].map((node) => node.getAttribute("aria-pressed"));
  assert.deepEqual(pressed, ["true", "false"]);
});

const pressed = (group) =>
  [...group.querySelectorAll("button")].flatMap((node) => (node.ariaPressed === "true" ? [node.textContent] : []));

test("a mask is not drawn on while its sentence is still being typed", () => {
  const view = new Lab(document.createElement("div"), {});
  said(view, 3, 0);
  const draw = () => {
    view.press({ row: 1, column: 1 });
    view.finish();
    return view.mask.open[4];
  };
  view.show({ ...names(3), mask: full(3) }, { first: 0 });
  assert.equal(draw(), 1);
  said(view, 3, 0);
  assert.equal(draw(), 0);
  view.leave();
});

test("of the words those are pressed that a hand has hidden, of the brushes the one in the hand", () => {
  const view = new Lab(document.createElement("div"), {});
  const mask = full(2, 3);
  for (const hiddenBefore of [0, 3]) mask.open[hiddenBefore] = 0;
  view.show({ ...names(3), queries: words(2), gallery: [entry("start", mask)] });
  view.select({ start: "start", bits: toBits(mask), sequence: 0 });
  assert.match(view.board.canvas.ariaLabel, /2 queries and 3 keys/);
  const seen = [pressed(view.sentence)];
  for (const column of [1, 2, 1]) {
    view.toggle(column);
    view.drawMask();
    seen.push(pressed(view.sentence));
  }
  assert.deepEqual(seen, [[], ["word 1"], ["word 1", "word 2"], ["word 2"]]);
  assert.deepEqual(pressed(view.tools), ["cell"]);
  view.hold("row");
  assert.deepEqual(pressed(view.tools), ["row"]);
  view.leave();
});

test("the table says which of its numbers is a visible cell", () => {
  const view = new Lab(document.createElement("div"), {});
  const mask = full(2);
  mask.open[1] = 0;
  view.show({ ...names(2), gallery: [entry("start", mask)] });
  view.select({ start: "start", bits: toBits(mask), sequence: 0 });
  const { title, rows } = view.values();
  const [[, visible, masked]] = rows;
  assert.match(title, new RegExp(`${visible} visible, ${masked} masked`));
});

test("every query and every key of a short sentence is named beside its row and above its column", () => {
  const view = new Lab(document.createElement("div"), {});
  said(view, 3, 0);
  const written = [];
  const known = { fillText: (text) => written.push(text), measureText: (text) => ({ width: 6 * text.length }) };
  const pen = new Proxy(known, { get: (own, name) => own[name] ?? (() => {}) });
  view.board.paintTexts(pen, { font: "a", text: "#000", accent: "#f00" });
  for (const word of words(3)) assert.equal(written.filter((text) => text === word).length, 2, word);
});
