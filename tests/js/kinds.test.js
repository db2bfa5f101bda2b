// Which tokens look special, and which are pieces of one word.

import assert from "node:assert/strict";
import { test } from "node:test";
import { joinsOf, partsOf } from "../../tfmviz/views/shared/kinds.ts";

test("special tokens are chips, whoever's they are; what a reader types in brackets is none", () => {
  const chips = (label) => partsOf(label).map(({ isChip }) => isChip);
  for (const name of ["<|endoftext|>", "<s>", "</s>", "<BOS>", "<START>", "<END>", "[CLS]", "[SEP]"])
    assert.deepEqual(chips(name), [true], name);
  for (const name of ["<", "a<b>", "[0A]", "end"]) assert.deepEqual(chips(name), [false], name);
  assert.deepEqual(chips("a → <END>"), [false, false, false, false, true]);
});

test("pieces of a word are joined, words, signs and Chinese characters are not", () => {
  assert.deepEqual(joinsOf(["The", " anim", "al", " didn", "'t", "."]), ["", "on", "joined", "on", "joined", ""]);
  assert.deepEqual(joinsOf(["The", "anim", "##al"]), ["", "on", "joined"]);
  assert.deepEqual(joinsOf(["老", "王", " x"]), ["", "", ""]);
  assert.deepEqual(joinsOf(["names", "without", "spaces"]), ["", "", ""]);
});
