// One head's numbers: what travelled, and what is multiplied out from it when it is first looked at.

import { type Arrays, type Matrix, rowOf, softmaxOf } from "../shared/arrays.ts";
import { type Plain, recordOf, type SiteRecord } from "../shared/record.ts";
import type { Masked, Tone } from "../shared/shades.ts";

/** what rows or columns stand for; `wide` is d_model */
export type Axis = "query" | "key" | "dim" | "wide" | "concat";

export type Selection = Record<Axis, number>;

export type Description = { rows: Axis; columns: Axis; tone: Tone; name: string; title: string };

export type Shown = Masked & { id: MatrixId; tone: Tone; title: string; name: string; axes: Description };

type Vectors = "x" | "memory" | "q" | "k" | "v" | "rot_q" | "rot_k" | "z" | "concat" | "out" | "before" | "after";
type Scores = "plain" | "plainShare" | "plainMean" | "keysAcross" | "raw" | "scaled" | "masked" | "share";
export type MatrixId = Vectors | Scores | "W_Q" | "W_K" | "W_V" | "W_O";

const MATRICES: Record<MatrixId, Description> = {
  x: { rows: "query", columns: "wide", tone: "x", name: "X", title: "vectors x" },
  memory: { rows: "key", columns: "wide", tone: "x", name: "M", title: "the encoder's output" },
  plain: { rows: "query", columns: "key", tone: "score", name: "X Xᵀ", title: "x · x" },
  plainShare: { rows: "query", columns: "key", tone: "share", name: "A", title: "softmax" },
  plainMean: { rows: "query", columns: "wide", tone: "x", name: "A X", title: "weighted mean" },
  W_Q: { rows: "wide", columns: "dim", tone: "q", name: "W_Q", title: "learned" },
  W_K: { rows: "wide", columns: "dim", tone: "k", name: "W_K", title: "learned" },
  W_V: { rows: "wide", columns: "dim", tone: "v", name: "W_V", title: "learned" },
  q: { rows: "query", columns: "dim", tone: "q", name: "Q", title: "queries" },
  k: { rows: "key", columns: "dim", tone: "k", name: "K", title: "keys" },
  v: { rows: "key", columns: "dim", tone: "v", name: "V", title: "values" },
  rot_q: { rows: "query", columns: "dim", tone: "q", name: "Q", title: "queries, turned" },
  rot_k: { rows: "key", columns: "dim", tone: "k", name: "K", title: "keys, turned" },
  keysAcross: { rows: "dim", columns: "key", tone: "k", name: "Kᵀ", title: "keys, transposed" },
  raw: { rows: "query", columns: "key", tone: "score", name: "Q Kᵀ", title: "scores q · k" },
  scaled: { rows: "query", columns: "key", tone: "score", name: "Q Kᵀ / √d", title: "scaled" },
  masked: { rows: "query", columns: "key", tone: "score", name: "S", title: "masked" },
  share: { rows: "query", columns: "key", tone: "share", name: "A", title: "softmax" },
  z: { rows: "query", columns: "dim", tone: "v", name: "A V", title: "weighted sum" },
  concat: { rows: "query", columns: "concat", tone: "v", name: "Z", title: "all heads side by side" },
  W_O: { rows: "concat", columns: "wide", tone: "x", name: "W_O", title: "learned" },
  out: { rows: "query", columns: "wide", tone: "x", name: "out", title: "what the layer writes" },
  before: { rows: "query", columns: "wide", tone: "x", name: "stream", title: "before" },
  after: { rows: "query", columns: "wide", tone: "x", name: "stream + out", title: "after" },
};

/** Where a matrix comes from that did not travel. */
const MADE: Partial<Record<MatrixId, (head: Head) => Masked>> = {
  plain: (head) => product(head.arrays.x, transposed(head.read)),
  plainShare: (head) => softmax(head.matrix("plain")),
  plainMean: (head) => product(head.matrix("plainShare"), head.read),
  keysAcross: (head) => transposed(head.matched.k),
  raw: (head) => product(head.matched.q, transposed(head.matched.k)),
  /** As the softmax gets them: divided, capped where the model has a cap, with the bias of its positions. */
  scaled(head) {
    const { linear, cap, divisor, arrays } = head;
    const kept = (score: number) => (cap === null ? score : cap * Math.tanh(score / cap));
    const made = (value: number, n: number) => kept(value / divisor) + (arrays.bias?.values[n] ?? 0);
    return each(head.matrix("raw"), linear ? Math.log : made);
  },
  masked(head) {
    const allowed = head.arrays.mask.values;
    return { ...each(head.matrix("scaled"), (value, n) => (allowed[n] ? value : -Infinity)), allowed };
  },
  share: ({ arrays: { pattern, mask } }) => ({ ...pattern, allowed: mask.values }),
  after: ({ arrays: { before, out } }) => each(before, (value, n) => value + out.values[n]),
};

/** What is different in linear attention, whose pattern is φ(q) · φ(k), divided by its sum. */
const LINEAR: Partial<Record<MatrixId, Partial<Description>>> = {
  rot_q: { name: "φ(Q)", title: "positive queries" },
  rot_k: { name: "φ(K)", title: "positive keys" },
  keysAcross: { name: "φ(K)ᵀ" },
  raw: { name: "φ(Q) φ(K)ᵀ", title: "products φ(q) · φ(k)" },
  scaled: { name: "ln φ(Q) φ(K)ᵀ", title: "logarithm" },
};

const OF_HEAD = "q k v rot_q rot_k mask pattern z bias W_Q W_K W_V b_Q b_K b_V".split(" ");
const OF_LAYER = ["x", "memory", "before", "out", "W_O", "b_O", "angles"];

function arraysOf(record: SiteRecord<HeadFacts>): Arrays {
  const { layer, head, heads } = record.facts;
  const arrays: Arrays = {};
  const own = (name: string) => record.has(`${layer}.${name}`);
  for (const name of OF_HEAD.filter(own)) arrays[name] = record.head(`${layer}.${name}`, head, heads);
  for (const name of OF_LAYER.filter(own)) arrays[name] = record.matrix(`${layer}.${name}`);
  if (own("concat")) return { ...arrays, concat: record.matrix(`${layer}.concat`) };
  // The z of all heads side by side: (q_len, heads × d_head).
  const all = Array.from({ length: heads }, (_, n) => record.head(`${layer}.z`, n));
  const { rows, columns } = all[0];
  const lines = Array.from({ length: rows }, (_, row) => all.map((z) => [...rowOf(z, row)]));
  return { ...arrays, concat: { rows, columns: columns * heads, values: Float32Array.from(lines.flat(2)) } };
}

/** What is known of a head besides its arrays (`payload` in __init__.py). */
export type HeadFacts = {
  title: string; // of the model
  layer: string;
  head: number;
  heads: number;
  preNorm: boolean;
  divisor: number; // of q · k
  divided: string; // the same as it is written; "" where nothing is divided
  cap: number | null; // c of c · tanh(score / c)
  sink: number | null; // a logit that belongs to no key
  linear: boolean; // whether the pattern is φ(q) · φ(k), divided by its sum
  normed: boolean; // whether a norm makes queries and keys
  outNormed: boolean; // whether a norm makes what the layer writes
  queries: string[]; // the labels of `tokens`
  tokens: string[];
  keys: string[];
};

export const isMatrix = (item: string): item is MatrixId => Object.hasOwn(MATRICES, item);

export type Head = ReturnType<typeof headOf>;

/** @param same the same head on another text, where the layer's matrices do not travel again */
export function headOf(source: Uint8Array | Plain<HeadFacts>, same: { arrays: Arrays } | null = null) {
  const record = recordOf(source);
  const { facts } = record;
  const { queries, keys, linear, divided, cap } = facts;
  const weights = Object.entries(same?.arrays ?? {}).filter(([name]) => /^[Wb]_/.test(name));
  const arrays: Arrays = { ...Object.fromEntries(weights), ...arraysOf(record) };
  const { x, q, k, concat, memory, rot_q = q, rot_k = k } = arrays;
  const dim = q.columns;
  const counts: Record<Axis, number> = { query: x.rows, key: k.rows, dim, wide: x.columns, concat: concat.columns };
  const crossing = "memory" in arrays; // one text looks at another
  const known: Partial<Record<MatrixId, Shown>> = {};
  const nameOf = (id: MatrixId) => {
    const { name } = MATRICES[id];
    if (linear) return LINEAR[id]?.name ?? name;
    if (id === "scaled" && !divided.startsWith("√"))
      return divided ? `Q Kᵀ / ${divided}` : cap === null ? "Q Kᵀ + b" : "Q Kᵀ";
    return crossing ? name.replace("X Xᵀ", "X Mᵀ").replace("A X", "A M") : name;
  };
  const head = {
    ...facts,
    arrays,
    counts,
    dim,
    crossing,
    turned: "rot_q" in arrays && !linear,
    read: memory ?? x,
    matched: { q: rot_q, k: rot_k },
    matrix(id: MatrixId): Shown {
      const { tone, title } = { ...MATRICES[id], ...(linear && LINEAR[id]) };
      known[id] ??= { id, tone, title, name: nameOf(id), ...(MADE[id]?.(head) ?? arrays[id]), axes: MATRICES[id] };
      return known[id];
    },
    cellOf(id: MatrixId, selection: Selection) {
      const { rows, columns } = MATRICES[id];
      return { row: selection[rows], column: selection[columns] };
    },
    selectionAt(id: MatrixId, { row, column }: { row: number; column: number }): Partial<Selection> {
      const { rows, columns } = MATRICES[id];
      return { [rows]: row, [columns]: column };
    },
    value(id: MatrixId, selection: Selection): number {
      const { row, column } = head.cellOf(id, selection);
      return at(head.matrix(id), row, column);
    },
    /** Switched off: `z` is set to 0, whatever the values are. */
    get isOff(): boolean {
      const { z, v } = arrays;
      return z.values.every((value) => value === 0) && v.values.some((value) => value !== 0);
    },
    labels: (axis: Axis) => (axis === "query" ? queries : axis === "key" ? keys : []),
  };
  return head;
}

export const at = ({ columns, values }: Matrix, row: number, column: number) => values[row * columns + column];

export const columnOf = ({ rows, columns, values }: Matrix, column: number) =>
  Float64Array.from({ length: rows }, (_, row) => values[row * columns + column]);

export function transposed({ rows, columns, values }: Matrix): Matrix {
  const across = Float64Array.from(values, (_, n) => values[(n % rows) * columns + Math.floor(n / rows)]);
  return { rows: columns, columns: rows, values: across };
}

export function product(a: Matrix, b: Matrix): Matrix {
  const values = new Float64Array(a.rows * b.columns);
  for (let i = 0; i < a.rows; i++) {
    for (let m = 0; m < a.columns; m++) {
      const factor = a.values[i * a.columns + m];
      for (let j = 0; j < b.columns; j++) values[i * b.columns + j] += factor * b.values[m * b.columns + j];
    }
  }
  return { rows: a.rows, columns: b.columns, values };
}

const each = ({ rows, columns, values }: Matrix, f: (value: number, n: number) => number): Matrix => ({
  rows,
  columns,
  values: Float64Array.from(values, f),
});

/** Of each row. */
export function softmax(scores: Matrix): Matrix {
  const values = new Float64Array(scores.values.length);
  for (let i = 0; i < scores.rows; i++) values.set(softmaxOf(Float64Array.from(rowOf(scores, i))), i * scores.columns);
  return { rows: scores.rows, columns: scores.columns, values };
}
