import assert from "node:assert/strict";
import { test } from "node:test";
import {
  cellSentence,
  filterWords,
  firstWords,
  headName,
  headWords,
  sentence,
  shownName,
  unusedOf,
  verdictWords,
} from "../../tfmviz/views/explorer/words.ts";
import { quoted } from "../../tfmviz/views/shared/quoted.ts";
import { stepSentence } from "../../tfmviz/views/translating/view.tsx";
import { aboutVector } from "../../tfmviz/views/whole_model/words.ts";

const DECODER = { name: "decoder.self_attn", verdicts: [[["induction", 0.875]], [[], ["previous token", null]]] };
const CROSS = { name: "decoder.cross_attn", verdicts: [] };
const TEXTS = { queries: { labels: ["I", "see"] }, keys: { labels: ["je", "te", "vois"] } };
const PATTERN = {
  mask: { rows: 2, columns: 3, allowed: Uint8Array.of(1, 0, 1, 1, 1, 1) },
  weights: Float32Array.of(0.75, 0, 0.25, 0.1, 0.3, 0.6),
};

test("heads are named with their stack where there are several", () => {
  assert.equal(headName(DECODER, { layer: 2, head: 3 }), "Layer 2, head 3");
  assert.equal(headName(CROSS, { layer: 2, head: 3 }), "Layer 2, head 3 (cross-attention)");
});

test("what is shown is named: one head, several in order, or a mean", () => {
  const name = (aggregate, numbers = [2], layer = 1) =>
    shownName(CROSS, { layer, heads: numbers.map((head) => ({ layer: 1, head })), aggregate });
  assert.equal(name("heads"), "Layer 1, head 2 (cross-attention)");
  assert.equal(name("heads", [10, 9]), "Layer 1, heads 9, 10 (cross-attention)");
  assert.equal(name("heads", [10, 9], 2), "Heads 1.10, 1.9 (cross-attention)");
  assert.equal(name("mean"), "Layer 1, mean of all heads (cross-attention)");
  assert.equal(name("all"), "Mean over all layers and heads (cross-attention)");
  assert.equal(name("rollout"), "Attention rollout up to layer 1 (cross-attention)");
});

test("what the first token takes is said where it is most of all", () => {
  const of = (...scores) =>
    firstWords({ scores: { "first token": [scores.slice(0, 2), scores.slice(2)] } }, TEXTS.keys);
  assert.match(of(0.9, 0.6, 0.3, null), / 60% .* “je” \(token 0\)\.$/);
  assert.equal(of(0.5, 0.5, 0.5, 0.5), "");
  assert.equal(of(null, null), "");
  assert.equal(firstWords({ scores: {} }, TEXTS.keys), "");
});

test("verdicts name what a head does and how clearly", () => {
  assert.equal(headWords(DECODER, { layer: 0, head: 0 }), "Layer 0, head 0: induction 0.88");
  assert.equal(headWords(DECODER, { layer: 1, head: 0 }), "Layer 1, head 0");
  assert.equal(headWords(DECODER, { layer: 1, head: 1 }), "Layer 1, head 1: only one token to attend to");
  assert.equal(headWords(CROSS, { layer: 1, head: 1 }), headName(CROSS, { layer: 1, head: 1 }));
});

test("a biography is said as it is, and a head without a claim that held has no number", () => {
  const kind = { name: "decoder.self_attn", verdicts: [[["no claim", 0]]], repeats: [], said: [["gives 12%."]] };
  assert.deepEqual(verdictWords(kind, { layer: 0, head: 0 }, {}), [" gives 12%.", ""]);
  assert.equal(headWords(kind, { layer: 0, head: 0 }), "Layer 0, head 0: no claim");
});

test("a verdict ends a sentence and says how many heads share it; one that names no pattern names no number of it", () => {
  const words = { induction: "looks at what followed", broad: "spreads", mixed: "fits no known pattern" };
  const kind = {
    verdicts: [
      [
        ["induction", 0.875],
        ["mixed", 0.31],
        ["mixed", null],
      ],
      [
        ["induction", 0.5],
        ["broad", 0.9],
        ["mixed", 0.2],
      ],
    ],
    repeats: [[[], ["broad", 0.88]]],
  };
  const said = (head) => verdictWords(kind, { layer: 0, head }, words).join("");
  assert.equal(said(0), " looks at what followed (induction, 0.88). 2 of 6 heads do this.");
  assert.equal(
    verdictWords(kind, { layer: 1, head: 1 }, words).join(""),
    " spreads (broad, 0.90). 1 of 6 heads does this.",
  );
  assert.equal(said(1), " fits no known pattern. 3 of 6 heads fit no pattern. (On repeated random text: broad 0.88.)");
  assert.equal(said(2), " has only one token to attend to.");
  assert.equal(said(3), "");
});

test("filters are told in words", () => {
  assert.equal(filterWords({ withoutFirst: false, top: 100, least: 0 }), "");
  const words = filterWords({ withoutFirst: true, top: 80, least: 0.02 });
  assert.equal(words, "without the first token, largest 80%, at least 0.02");
});

test("a query looks at keys, the largest first; a key is looked at by queries", () => {
  assert.equal(
    sentence(PATTERN, { side: "query", at: 1 }, TEXTS),
    "“see” (token 1) looks at “vois” 0.60, “te” 0.30, “je” 0.10.",
  );
  assert.equal(sentence(PATTERN, { side: "query", at: 0 }, TEXTS), "“I” (token 0) looks at “je” 0.75, “vois” 0.25.");
  assert.equal(sentence(PATTERN, { side: "key", at: 1 }, TEXTS), "“te” (token 1) is looked at by “see” 0.30.");
});

test("what goes to a sink is said of a row, and not behind filters", () => {
  const kind = {
    unused: [
      [
        [0, 0],
        [0, 0.25],
      ],
      [
        [0.5, 0.125],
        [0, 0.25],
      ],
    ],
  };
  const heads = [
    { layer: 0, head: 1 },
    { layer: 1, head: 1 },
  ];
  const view = { aggregate: "heads", heads, layer: 1, withoutFirst: false, top: 100, least: 0 };
  assert.deepEqual(unusedOf(kind, view), [0, 0.25]);
  assert.deepEqual(unusedOf(kind, { ...view, aggregate: "mean" }), [0.25, 0.1875]);
  assert.deepEqual(unusedOf(kind, { ...view, aggregate: "all" }), [0.125, 0.15625]);
  assert.equal(unusedOf(kind, { ...view, aggregate: "rollout" }), null);
  assert.equal(unusedOf(kind, { ...view, withoutFirst: true }), null);
  assert.equal(unusedOf({}, view), null);
  const pattern = { ...PATTERN, unused: [0, 0.25] };
  assert.match(sentence(pattern, { side: "query", at: 1 }, TEXTS), /; 0\.25 goes to no token\.$/);
  for (const focus of [
    { side: "query", at: 0 },
    { side: "key", at: 1 },
  ])
    assert.doesNotMatch(sentence(pattern, focus, TEXTS), /no token/);
});

test("a row of cross-attention is said with both its words", () => {
  const said = ["“<START>”, about to write “I”", "“I”, about to write “see”"];
  const texts = { ...TEXTS, queries: { labels: ["<START> → I", "I → see"], said } };
  const [query, key] = [0, 1].map((n) => sentence(PATTERN, { side: ["query", "key"][n], at: 1 }, texts));
  assert.match(query, /^“I”, about to write “see” looks at “vois” 0.60,/);
  assert.equal(key, "“te” (token 1) is looked at by “I → see” 0.30.");
  assert.match(cellSentence(PATTERN, { row: 1, column: 0 }, texts), /^query “I”, about to write “see”, key/);
});

test("no sentence names two tokens of a text alike", () => {
  const labels = ["the", "bird", "saw", "the"];
  assert.deepEqual(
    labels.map((_, at) => quoted(labels, at)),
    ["“the” (token 0)", "“bird”", "“saw”", "“the” (token 3)"],
  );
  const weights = [0.4, 0.2, 0.1, 0.3];
  const pattern = { mask: { rows: 1, columns: 4, allowed: Uint8Array.of(1, 1, 1, 1) }, weights };
  const texts = { queries: { labels: ["bird"] }, keys: { labels } };
  const column = { title: "A", image: "pattern", matrix: "A", labels };
  const said = [
    sentence(pattern, { side: "query", at: 0 }, texts),
    stepSentence({ reads: "x", writes: "y", p: 1, weights }, labels, 0),
    aboutVector(column, { A: { values: Float32Array.from([...weights, ...weights]), columns: 4 } }, 0, labels),
  ];
  for (const words of said) {
    assert.match(words, /“the” \(token 0\)/);
    assert.doesNotMatch(words, /“the” (?!\(token \d\))/);
  }
});

test("a cell is a weight, or masked", () => {
  const names = "query “I” (token 0), key “te” (token 1)";
  assert.equal(cellSentence(PATTERN, { row: 0, column: 1 }, TEXTS), `${names}: masked`);
  const found = cellSentence(PATTERN, { row: 1, column: 0 }, TEXTS);
  assert.equal(found, "query “see” (token 1), key “je” (token 0): 0.10");
});
