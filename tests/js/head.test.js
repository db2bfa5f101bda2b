import assert from "node:assert/strict";
import { test } from "node:test";
import { rowOf } from "../../tfmviz/views/shared/arrays.ts";
import { explain } from "../../tfmviz/views/steps/explain.ts";
import { at, columnOf, headOf, product, softmax, transposed } from "../../tfmviz/views/steps/head.ts";
import { chainOf, signOf, stagesOf } from "../../tfmviz/views/steps/stages.ts";

const A = { rows: 2, columns: 3, values: Float64Array.of(1, 2, 3, 4, 5, 6) };
const B = { rows: 3, columns: 1, values: Float64Array.of(1, 10, 100) };

test("numbers are found by row and column", () => {
  assert.equal(at(A, 1, 0), 4);
  assert.deepEqual([...rowOf(A, 1)], [4, 5, 6]);
  assert.deepEqual([...columnOf(A, 1)], [2, 5]);
});

test("a product of matrices", () => {
  assert.deepEqual(product(A, B), { rows: 2, columns: 1, values: Float64Array.of(321, 654) });
});

test("rows become columns, and back", () => {
  assert.deepEqual(transposed(A), { rows: 3, columns: 2, values: Float64Array.of(1, 4, 2, 5, 3, 6) });
  assert.deepEqual(transposed(transposed(A)), A);
});

test("shares sum to 1, keep ratios of e, and do not overflow", () => {
  const { values } = softmax({ rows: 2, columns: 2, values: Float64Array.of(0, Math.log(3), 1000, 1000) });
  for (const [n, share] of [0.25, 0.75, 0.5, 0.5].entries()) assert.ok(Math.abs(values[n] - share) < 1e-12);
});

test("what is masked has no share", () => {
  assert.deepEqual([...softmax({ rows: 1, columns: 2, values: Float64Array.of(5, -Infinity) }).values], [1, 0]);
});

test("the first stage of cross-attention counts the rows of the answer and the tokens of the source", () => {
  const queries = ["<START> → I", "I → 'm", "'m → a", "a → student", "student → .", ". → <END>"];
  const words = (crossing) => {
    const head = { crossing, counts: { query: 6, key: crossing ? 4 : 6 }, queries, arrays: {} };
    return stagesOf(head)[0]
      .words(head, { query: 3 })
      .map((part) => (typeof part === "string" ? part : part[1]))
      .join("");
  };
  assert.match(words(true), /6 rows attend to the 4 tokens of the source.*“a → student”/);
  assert.match(words(false), /reads 6 tokens/);
});

const row = (...values) => ({ rows: 1, columns: values.length, values: Float64Array.from(values) });

/** A head of these facts and matrices, of which the others that every head has are one 0. */
function head(facts, arrays) {
  const shaped = ({ rows, columns, values }) => ({ shape: [1, rows, columns], data: values });
  const all = { x: row(0), q: row(0), k: row(0), z: row(0), concat: row(0), ...arrays };
  const sites = Object.fromEntries(Object.entries(all).map(([name, matrix]) => [name, shaped(matrix)]));
  for (const name of ["x", "concat"]) sites[name].shape.shift();
  return headOf({ facts: { layer: "l", head: 0, heads: 1, queries: ["a"], keys: ["b"], ...facts }, sites });
}

const SCALED = { divisor: Math.sqrt(32), divided: "√32", cap: null, arrays: {} };

test("a model that divides by nothing has no such step", () => {
  assert.equal(signOf(SCALED, "÷√d"), "÷√d");
  assert.ok(chainOf(SCALED).includes("scaled"));
  const bare = { ...SCALED, divisor: 1, divided: "" };
  assert.ok(!chainOf(bare).includes("scaled"));
  assert.ok(!chainOf(bare).includes("÷√d"));
  const biased = { ...bare, arrays: { bias: A } };
  assert.ok(chainOf(biased).includes("scaled"));
  assert.equal(signOf(biased, "÷√d"), "+bias");
  assert.equal(signOf({ ...SCALED, divisor: 16, divided: "16" }, "÷√d"), "÷16");
});

test("scores are divided by the model's divisor, then capped, and then the bias is added", () => {
  const facts = { divisor: 2, divided: "√32", cap: 3 };
  const { values, name } = head(facts, { q: row(5), k: row(4), bias: row(0.25) }).matrix("scaled");
  assert.ok(Math.abs(values[0] - (3 * Math.tanh(20 / 2 / 3) + 0.25)) < 1e-12);
  assert.equal(name, "Q Kᵀ / √d");
});

test("a linear head multiplies φ(q) and φ(k) and takes the logarithm, so that the softmax divides by their sum", () => {
  const both = { rows: 2, columns: 1, values: Float64Array.of(3, 0.5) };
  const facts = { linear: true, divisor: 1, divided: "", cap: null, keys: ["a", "b"] };
  const linear = head(facts, { q: row(1), k: both, rot_q: row(2), rot_k: both, mask: row(1, 1) });
  assert.deepEqual([...linear.matrix("raw").values], [6, 1]);
  assert.deepEqual([...linear.matrix("scaled").values], [Math.log(6), 0]);
  const [first, second] = softmax(linear.matrix("masked")).values;
  assert.ok(Math.abs(first - 6 / 7) < 1e-12 && Math.abs(second - 1 / 7) < 1e-12);
  assert.deepEqual(
    ["rot_q", "keysAcross", "raw", "scaled"].map((id) => linear.matrix(id).name),
    ["φ(Q)", "φ(K)ᵀ", "φ(Q) φ(K)ᵀ", "ln φ(Q) φ(K)ᵀ"],
  );
  assert.equal(signOf(linear, "÷√d"), "ln");
  const stages = stagesOf(linear).map(({ id }) => id);
  assert.ok(stages.includes("feature") && !stages.includes("turn"));
  const words = stagesOf(linear)
    .find(({ id }) => id === "feature")
    .words(linear, {});
  const pieces = words
    .flat()
    .join("")
    .match(/x \+ (\d+) above (\d+), e\^x below/);
  const [more, from] = pieces.slice(1).map(Number);
  assert.equal(from + more, Math.exp(from), "both pieces of φ meet");
  assert.match(
    explain(linear, "rot_q", { query: 0, dim: 0 })
      .blocks.flat(4)
      .map((part) => JSON.stringify(part))
      .join(),
    /φ = 1.000 \+ 1 = 2.000/,
  );
});

test("step by step says what of a row goes to the sink", () => {
  const told = (sink) => {
    const shares = { pattern: row(0.5, sink === null ? 0.5 : 0.2), mask: row(1, 1) };
    const sunk = head({ sink, divided: "", cap: null, keys: ["b", "c"] }, shares);
    const stage = stagesOf(sunk).find(({ id }) => id === "share");
    return stage.words(sunk, { query: 0, key: 0 }).flat().join("");
  };
  assert.match(told(0.1), /“b” 0\.500, “c” 0\.200; 0\.300 goes to the sink/);
  assert.match(told(null), /“c” 0\.500\.$/);
});

test("a score is explained by what it was divided, capped and biased by", () => {
  const told = (more, arrays = {}) => {
    const facts = { divisor: 2, divided: "√4", cap: null, ...more };
    return explain(head(facts, { q: row(5), k: row(4), ...arrays }), "scaled", { query: 0, key: 0 })
      .blocks.flat(4)
      .map((part) => JSON.stringify(part))
      .join(" ");
  };
  assert.match(told({}), /20.000 ÷ √4 = 20.000 ÷ 2.000 = 10.000"/);
  assert.match(told({ divided: "2" }), /"20.000 ÷ 2.000 = 10.000"/);
  assert.match(told({ divided: "", divisor: 1 }, { bias: row(0.25) }), /"20.000 \+ 0.250 \(position bias\) = 20.250"/);
  const capped = told({ cap: 3 }, { bias: row(-0.25) });
  assert.match(capped, /20.000 ÷ 2.000 = 10.000"/);
  assert.match(capped, /With the cap c = 3\.000: c · tanh\(10.000 \/ c\) − 0.250 \(position bias\) = 2.742"/);
});

test("a score is explained by the products of its query and its key, which add up to it", () => {
  const asked = head({ divisor: 2, divided: "√4", cap: null }, { q: row(3, 5, 0.5), k: row(2, -4, 6) });
  const told = JSON.stringify(explain(asked, "raw", { query: 0, key: 0 }));
  for (const part of ["6.000", "−20.000", "3.000", "−11.000"]) assert.ok(told.includes(part), `${part}: ${told}`);
  assert.equal(asked.matrix("raw").values[0], -11);
});

test("the output of a head that is off is explained as off, and a zero of another head is not", () => {
  const told = (z, v) => {
    const asked = head({ divided: "", cap: null }, { z: row(z), v: row(v), pattern: row(1), mask: row(1) });
    return JSON.stringify(explain(asked, "z", { query: 0, key: 0, dim: 0 }).blocks);
  };
  assert.match(told(0, 2), /This head is off/);
  assert.doesNotMatch(told(2, 2), /is off/);
  assert.doesNotMatch(told(0, 0), /is off/);
});

test("the stage of the mask counts the keys that the query sees, or says that nothing is masked", () => {
  const told = (...mask) => {
    const keys = { rows: 2, columns: 1, values: Float64Array.of(1, 2) };
    const masked = head(
      { divided: "", divisor: 1, cap: null, keys: ["b", "c"] },
      { q: row(1), k: keys, mask: row(...mask) },
    );
    const stage = stagesOf(masked).find(({ id }) => id === "masked");
    return stage.words(masked, { query: 0 }).flat().join("");
  };
  assert.match(told(1, 0), /“a” sees 1 of 2/);
  assert.match(told(1, 1), /every query sees every key/);
});
