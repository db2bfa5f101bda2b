import assert from "node:assert/strict";
import { test } from "node:test";
import { offers, parted } from "../../tfmviz/views/live/writing_sources.ts";

const VOCABULARY = [" the", " then", " dog", " door", "dog", " doll", "."];
const asked = [];
const engine = {
  tokenizer: { knows: (text) => !text.includes("odd"), vocabulary: VOCABULARY },
  encode: (text) => ({ ids: text.split(" ") }),
  trace: (text) => asked.push(text),
  next: () => ({ logits: [5, 1, 2, 3, 9, 4, 0] }),
};
const known = (changes) => ({
  page: { model: "m" },
  parcel: { at: "m" },
  views: ["writing", "offers"],
  entered: "before",
  ...changes,
});
const source = offers({ engine: () => engine }, () => ({ model: "m", ids: [0, 1, 2, 3, 5] }));
const offered = async (text, changes) => (await source.trace(text, known(changes)))?.views.offers;

test("the likeliest words that begin with what is typed, after what stands before", async () => {
  assert.deepEqual(await offered("a big d"), { before: "a big ", words: ["doll", "door", "dog"] });
  assert.equal(asked.at(-1), "a big");
  assert.deepEqual(await offered("a big "), { before: "a big ", words: ["the", "doll", "door"] });
  assert.deepEqual(await offered("a the"), { before: "a ", words: ["the", "then"] });
  assert.deepEqual(await offered("a zebra"), { before: "a ", words: [] });
});

test("what it cannot tell is left to the next source", async () => {
  for (const text of ["", "   ", "an odd d", `${"x ".repeat(300)}d`])
    assert.equal(await offered(text), undefined, text);
  assert.equal(await offered("before", { entered: "before" }), undefined);
  assert.equal(await offered("a d", { parcel: null }), undefined);
  assert.equal(await offered("a d", { views: ["writing"] }), undefined);
  assert.equal(await offered("a d", { page: { model: "other" } }), undefined, "the words are another model's");
});

test("where a word begins, as Python has it", () => {
  for (const [text, before, begun] of [
    ["The d", "The", "d"],
    ["The ", "The", ""],
    ["The", "The", ""],
    ["The do,", "The do,", ""],
    ["1 2", "1 2", ""],
    ["Il ét", "Il", "ét"],
  ])
    assert.deepEqual(parted(text), [before, begun]);
});
