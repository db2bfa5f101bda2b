import assert from "node:assert/strict";
import { test } from "node:test";
import { offers, parted } from "../../tfmviz/views/live/writing_sources.ts";
import { parentOf } from "./page.js";

const draw = (await import("../../tfmviz/views/offers/view.ts")).default;

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

test("a tap goes into the box and is entered there; only where there is none, Python is told", async () => {
  const [picked, entered] = [[], []];
  const taps = () => {
    const parentElement = parentOf("offers");
    const data = { before: "a big ", words: ["dog", "door"] };
    draw({ data, parentElement, setTriggerValue: (_, text) => picked.push(text) });
    parentElement.querySelectorAll("button")[1].click();
  };
  taps();
  assert.deepEqual(picked.splice(0), ["a big door "]);
  const place = Object.assign(document.createElement("div"), { className: "st-key-text" });
  const box = place.appendChild(document.createElement("textarea"));
  box.addEventListener("keydown", ({ key, ctrlKey }) => entered.push([key, ctrlKey, box.value]));
  document.body.append(place);
  taps();
  await new Promise((resolve) => setTimeout(resolve));
  assert.deepEqual([picked, entered], [[], [["Enter", true, "a big door "]]]);
});
