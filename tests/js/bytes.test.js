import assert from "node:assert/strict";
import { test } from "node:test";
import { bracketed, inWords, paintBrackets, partOf, runsOf } from "../../tfmviz/views/shared/bytes.ts";

// The tokens of a text whose characters are all cut into single bytes, as tfmviz/text/tokenizer.py names them.
const cut = (text) =>
  [...text].flatMap((character) => {
    const size = new TextEncoder().encode(character).length;
    return size === 1 ? [character] : Array.from({ length: size }, (_, n) => `${character} ${n + 1}/${size}`);
  });

test("every cut character is one run, as long as its UTF-8", () => {
  const text = "a老王 老老🙂éb";
  const runs = runsOf(cut(text));
  assert.equal(runs.map(({ character }) => character).join(""), "老王老老🙂é");
  for (const { start, end, character } of runs)
    assert.equal(end - start, new TextEncoder().encode(character).length, character);
  const inside = runs.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, n) => start + n));
  const labels = bracketed({ labels: cut(text), tokens: [] }).labels;
  for (const [n, label] of labels.entries()) assert.equal(/^\d\/\d$/.test(label), inside.includes(n));
});

test("a text may end or begin within a character, and a token may hold two of its bytes", () => {
  const labels = ["王 3/3", "老 1/3", "老 2/3"];
  assert.deepEqual(runsOf(labels), [
    { start: 0, end: 1, character: "王" },
    { start: 1, end: 3, character: "老" },
  ]);
  assert.deepEqual(runsOf(["🙂 1–2/4", "🙂 3–4/4"]), [{ start: 0, end: 2, character: "🙂" }]);
  assert.equal(partOf("🙂 1–2/4"), "1–2/4");
});

test("words name the character and the byte; no other label changes", () => {
  assert.equal(inWords("token 4 “老 1/3”"), "token 4 “老, byte 1 of 3”");
  assert.equal(inWords("🙂 1–2/4"), "🙂, bytes 1–2 of 4");
  for (const label of ["老王", "[byte 1/3]", "老 1/3 → 王", "byte", "", "<b>"]) {
    assert.equal(partOf(label), label);
    assert.deepEqual(runsOf([label]), []);
  }
});

test("a bracket passes over the cells of its run, and characters never overlap", () => {
  for (const [cell, size] of [
    [20, 13],
    [2, 13],
  ]) {
    const [ends, texts] = [[], []];
    const pen = { beginPath() {}, stroke() {}, moveTo: (x) => ends.push(x), lineTo: (x) => ends.push(x) };
    pen.fillText = (_, x) => texts.push(x);
    const runs = runsOf(cut("老王批"));
    paintBrackets(pen, runs, "below", { from: 100, cell, edge: 0, size, colour: "black" });
    for (const [n, { start, end }] of runs.entries()) {
      const own = ends.slice(4 * n, 4 * n + 4);
      assert.ok(Math.min(...own) >= 100 + start * cell && Math.max(...own) <= 100 + end * cell);
    }
    assert.equal(texts.length, cell === 20 ? 3 : 1);
  }
});
