import assert from "node:assert/strict";
import { test } from "node:test";
import { BrowserSource, NO_MEMORY } from "../../tfmviz/views/live/browser_source.ts";
import { firstOf } from "../../tfmviz/views/shared/first.ts";

const PARCEL = { at: "weights/m-1", parts: 1, bytes: 1, digest: "", script: "" };
const known = (changes) => ({
  page: { model: "m", layer: "decoder.0.self_attn", head: 0, zoom: "", token: null },
  text: "",
  views: ["explorer"],
  parcel: PARCEL,
  opening: {},
  ...changes,
});
const engine = {
  tokenizer: { knows: (text) => !text.includes("odd") },
  encode: (text) => ({ ids: text.split(" ") }),
  trace: (text) => {
    if (text === "fails") throw new Error("no");
    const tokens = text.split(" ");
    return { facts: { texts: { target: { tokens, labels: tokens } } }, sites: {} };
  },
  likeliest: (position, n) => Array.from({ length: n }, (_, k) => [`word ${k} at ${position}`, 0.5 / (k + 1)]),
};
const makers = {
  stepsOf: (record, _, { layer, head, title }) => [record.facts.texts.target.tokens, layer, head, title],
  sceneOf: ({ zoom }, record) => [zoom, record.facts.texts.target.tokens],
  saysOf: (_, __, ___, token) => ({ readout: token }),
};
const computing = { engine, makers };
const SCENE = { made: {}, said: {}, zoom: "block", layer: "decoder.1.self_attn", head: 0 };

test("step by step and the part of the whole model that the page shows are drawn of the same record", async () => {
  const own = new BrowserSource(
    async () => computing,
    () => ({ facts: SCENE, sites: {} }),
  );
  await own.trace("a", known());
  await new Promise(setImmediate);
  const page = { ...known().page, layer: "decoder.1.self_attn", head: 3, zoom: "block" };
  const steps = await own.trace("a b", known({ page, views: ["steps"] }));
  assert.deepEqual(steps.views, { steps: [["a", "b"], "decoder.1.self_attn", 3, "m"] });
  const whole = await own.trace("a b c", known({ page, views: ["whole_model"] }));
  assert.deepEqual(whole, {
    typed: { first: 2, says: { readout: 2 } },
    views: { whole_model: ["block", ["a", "b", "c"]] },
  });
  for (const other of [{ zoom: "" }, { zoom: "head" }, { layer: "decoder.0.self_attn" }]) {
    const elsewhere = known({ page: { ...page, ...other }, views: ["whole_model"] });
    assert.equal(await own.trace("a", elsewhere), null, "the server has not yet sent this part");
  }
});

test("a model is asked for once, and until it is here the next source answers", async () => {
  let asked = 0;
  const own = new BrowserSource(async () => {
    asked += 1;
    return computing;
  });
  assert.equal(await own.trace("a b", known()), null);
  await new Promise(setImmediate);
  const { typed, views } = await own.trace("a b", known({ views: ["explorer", "predictions"] }));
  assert.equal(asked, 1);
  assert.deepEqual(typed, { first: 1 });
  assert.ok(views.explorer.facts.id < 0, "no number of Python's");
  assert.deepEqual(views.predictions[0], ["word 0 at 1", 0.5, "50%"]);
  assert.equal("predictions" in (await own.trace("a b", known())).views, false);
});

test("what the engine does not know is left to the server", async () => {
  const own = new BrowserSource(
    async () => computing,
    () => ({ facts: SCENE, sites: {} }),
  );
  await own.trace("a", known());
  await new Promise(setImmediate);
  for (const text of ["odd", Array(200).fill("x").join(" ")]) assert.equal(await own.trace(text, known()), null);
  await assert.rejects(own.trace("fails", known()));
  assert.equal(await own.trace("a", known({ views: ["other"] })), null);
  assert.equal(await own.trace("a", known({ parcel: null })), null);
  assert.notEqual(await own.trace("a", known()), null);
});

test("a model that cannot come is not asked for again", async () => {
  let asked = 0;
  const own = new BrowserSource(async () => {
    asked += 1;
    throw new Error("gone");
  });
  for (let n = 0; n < 3; n++) {
    assert.equal(await own.trace("a", known()), null);
    await new Promise(setImmediate);
  }
  assert.equal(asked, 1);
});

test("the first token to look at is the chosen one, a gap, an example's own word, the last word", () => {
  const tokens = ["The", " cat", " sat", " cat", "."];
  assert.equal(firstOf(tokens, 9), 4);
  assert.equal(firstOf(tokens, 0, "cat"), 0);
  assert.equal(firstOf(tokens, null), 3);
  assert.equal(firstOf(tokens, null, "sat"), 2);
  assert.equal(firstOf(tokens, null, "dog"), 3);
  assert.equal(firstOf(["a", " ___", "b"], null, "a", true), 1);
  assert.equal(firstOf(["a", " ___", "b"], null, "a"), 0);
  assert.equal(firstOf([".", "!"], null), 1);
});

test("what stands in the way is a sentence; after a server that was away the next key asks again", async () => {
  const cases = [
    [new Error("The weights changed."), "The weights changed.", 1],
    [new RangeError("allocation failed"), NO_MEMORY, 1],
    [new TypeError("Failed to fetch"), "", 2],
    [new WebAssembly.CompileError("unknown instruction"), "", 1],
  ];
  for (const [error, sentence, times] of cases) {
    let [asked, told] = [0, 0];
    const own = new BrowserSource(async () => {
      asked += 1;
      throw error;
    });
    own.onChange = () => {
      told += 1;
    };
    for (const text of ["a", "a b"]) {
      assert.equal(await own.trace(text, known()), null);
      await new Promise(setImmediate);
    }
    assert.deepEqual([own.trouble, asked, told], [sentence, times, times]);
  }
});
