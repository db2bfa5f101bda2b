// One head's numbers: what travelled, and what is multiplied out from it when it is first looked at.

/** @import { Matrix } from "../shared/arrays.js" */
/** @import { Plain } from "../shared/record.js" */
/** @import { Masked, Tone } from "../shared/shades.js" */
import { recordOf } from "../shared/record.js";
import { arraysOf } from "./arrays_of.js";

/** @typedef {"query" | "key" | "dim" | "wide" | "concat"} Axis what rows or columns stand for; `wide` is d_model */

/** @typedef {Record<Axis, number>} Selection one index of each */

/**
 * What the rows and columns of a matrix stand for, its colour, its name, and where it comes from if it did not travel.
 * @typedef {object} Description
 * @property {Axis} rows
 * @property {Axis} columns
 * @property {Tone} tone
 * @property {string} name
 * @property {string} title
 * @property {(head: Head) => Masked} [from]
 */

/** @typedef {Masked & {id: MatrixId, tone: Tone, title: string, name: string, axes: Description}} Shown */

/** @typedef {"x" | "memory" | "plain" | "plainShare" | "plainMean" | "W_Q" | "W_K" | "W_V" | "q" | "k" | "v" | "rot_q"
 *   | "rot_k" | "keysAcross" | "raw" | "scaled" | "masked" | "share" | "z" | "concat" | "W_O" | "out" | "before"
 *   | "after"} MatrixId */

/** @type {Record<MatrixId, Description>} */
const MATRICES = {
  x: { rows: "query", columns: "wide", tone: "x", name: "X", title: "vectors x" },
  memory: { rows: "key", columns: "wide", tone: "x", name: "M", title: "the encoder's output" },
  plain: {
    rows: "query",
    columns: "key",
    tone: "score",
    name: "X Xᵀ",
    title: "x · x",
    from: (head) => product(head.arrays.x, transposed(head.read)),
  },
  plainShare: {
    rows: "query",
    columns: "key",
    tone: "share",
    name: "A",
    title: "softmax",
    from: (head) => softmax(head.matrix("plain")),
  },
  plainMean: {
    rows: "query",
    columns: "wide",
    tone: "x",
    name: "A X",
    title: "weighted mean",
    from: (head) => product(head.matrix("plainShare"), head.read),
  },
  W_Q: { rows: "wide", columns: "dim", tone: "q", name: "W_Q", title: "learned" },
  W_K: { rows: "wide", columns: "dim", tone: "k", name: "W_K", title: "learned" },
  W_V: { rows: "wide", columns: "dim", tone: "v", name: "W_V", title: "learned" },
  q: { rows: "query", columns: "dim", tone: "q", name: "Q", title: "queries" },
  k: { rows: "key", columns: "dim", tone: "k", name: "K", title: "keys" },
  v: { rows: "key", columns: "dim", tone: "v", name: "V", title: "values" },
  rot_q: { rows: "query", columns: "dim", tone: "q", name: "Q", title: "queries, turned" },
  rot_k: { rows: "key", columns: "dim", tone: "k", name: "K", title: "keys, turned" },
  keysAcross: {
    rows: "dim",
    columns: "key",
    tone: "k",
    name: "Kᵀ",
    title: "keys, transposed",
    from: (head) => transposed(head.matched.k),
  },
  raw: {
    rows: "query",
    columns: "key",
    tone: "score",
    name: "Q Kᵀ",
    title: "scores q · k",
    from: (head) => product(head.matched.q, transposed(head.matched.k)),
  },
  scaled: {
    rows: "query",
    columns: "key",
    tone: "score",
    name: "Q Kᵀ / √d",
    title: "scaled",
    from: (head) => scaled(head),
  },
  masked: {
    rows: "query",
    columns: "key",
    tone: "score",
    name: "S",
    title: "masked",
    from: (head) => masked(head.matrix("scaled"), head.arrays.mask),
  },
  share: {
    rows: "query",
    columns: "key",
    tone: "share",
    name: "A",
    title: "softmax",
    from: ({ arrays: { pattern, mask } }) => ({ ...pattern, allowed: mask.values }),
  },
  z: { rows: "query", columns: "dim", tone: "v", name: "A V", title: "weighted sum" },
  concat: { rows: "query", columns: "concat", tone: "v", name: "Z", title: "all heads side by side" },
  W_O: { rows: "concat", columns: "wide", tone: "x", name: "W_O", title: "learned" },
  out: { rows: "query", columns: "wide", tone: "x", name: "out", title: "what the layer writes" },
  before: { rows: "query", columns: "wide", tone: "x", name: "stream", title: "before" },
  after: {
    rows: "query",
    columns: "wide",
    tone: "x",
    name: "stream + out",
    title: "after",
    from: ({ arrays: { before, out } }) => sum(before, out),
  },
};

/**
 * What is different in linear attention, whose pattern is φ(q) · φ(k), divided by its sum.
 * @type {Partial<Record<MatrixId, Partial<Description>>>}
 */
const LINEAR = {
  rot_q: { name: "φ(Q)", title: "queries, all positive" },
  rot_k: { name: "φ(K)", title: "keys, all positive" },
  keysAcross: { name: "φ(K)ᵀ" },
  raw: { name: "φ(Q) φ(K)ᵀ", title: "products φ(q) · φ(k)" },
  scaled: { name: "ln φ(Q) φ(K)ᵀ", title: "logarithm", from: (head) => logarithm(head.matrix("raw")) },
};

/**
 * @param {string} item
 * @returns {item is MatrixId}
 */
export function isMatrix(item) {
  return Object.hasOwn(MATRICES, item);
}

export class Head {
  title = ""; // of the model
  layer = "";
  head = 0;
  heads = 1;
  preNorm = true;
  divisor = 1; // of q · k
  divided = ""; // the same as it is written; "" where nothing is divided
  /** @type {number | null} */
  cap = null; // c of c · tanh(score / c)
  /** @type {number | null} */
  sink = null; // a logit that belongs to no key
  linear = false; // whether the pattern is φ(q) · φ(k), divided by its sum
  normed = false; // whether a norm makes queries and keys
  outNormed = false; // whether a norm makes what the layer writes
  /** @type {string[]} */
  queries = [];
  /** @type {string[]} */
  keys = [];
  /** @type {Partial<Record<MatrixId, Shown>>} */
  made = {};

  /**
   * @param {Uint8Array | Plain} source facts and sites as in tfmviz/views/steps/__init__.py
   * @param {Head | null} [same] the same head on another text, where the layer's matrices do not travel again
   */
  constructor(source, same = null) {
    const record = recordOf(source);
    const weights = Object.entries(same?.arrays ?? {}).filter(([name]) => /^[Wb]_/.test(name));
    const arrays = { ...Object.fromEntries(weights), ...arraysOf(record) };
    const { title, layer, head, heads, preNorm, queries, keys } = record.facts;
    const { divisor, divided, cap, linear, sink, normed, outNormed } = record.facts;
    Object.assign(this, { title, layer, head, heads, preNorm, queries, keys });
    Object.assign(this, { divisor, divided, cap, linear, sink, normed, outNormed });
    this.arrays = arrays;
    /** @type {Record<Axis, number>} */
    this.counts = {
      query: arrays.x.rows,
      key: arrays.k.rows,
      dim: arrays.q.columns,
      wide: arrays.x.columns,
      concat: arrays.concat.columns,
    };
    this.crossing = "memory" in arrays; // one text looks at another
    this.turned = "rot_q" in arrays && !linear;
  }

  get dim() {
    return this.counts.dim;
  }

  /** What keys and values are made from. */
  get read() {
    return this.arrays.memory ?? this.arrays.x;
  }

  /** The queries and keys that meet in the scores. */
  get matched() {
    const { q, k, rot_q = q, rot_k = k } = this.arrays;
    return { q: rot_q, k: rot_k };
  }

  /**
   * @param {MatrixId} id
   * @returns {Shown}
   */
  matrix(id) {
    const known = this.made[id];
    if (known) return known;
    const { tone, title, from } = this.description(id);
    const numbers = from ? from(this) : this.arrays[id];
    const shown = { id, tone, title, name: this.nameOf(id), ...numbers, axes: MATRICES[id] };
    this.made[id] = shown;
    return shown;
  }

  /** @param {MatrixId} id */
  description(id) {
    return this.linear ? { ...MATRICES[id], ...LINEAR[id] } : MATRICES[id];
  }

  /** @param {MatrixId} id */
  nameOf(id) {
    const { name } = this.description(id);
    if (this.linear) return name;
    if (id === "scaled" && !this.divided.startsWith("√"))
      return this.divided ? `Q Kᵀ / ${this.divided}` : this.cap === null ? "Q Kᵀ + b" : "Q Kᵀ";
    return this.crossing ? name.replace("X Xᵀ", "X Mᵀ").replace("A X", "A M") : name;
  }

  /**
   * The cell of a matrix that a selection points at.
   * @param {MatrixId} id
   * @param {Selection} selection
   */
  cellOf(id, selection) {
    const { rows, columns } = MATRICES[id];
    return { row: selection[rows], column: selection[columns] };
  }

  /**
   * The part of a selection that a cell of a matrix stands for.
   * @param {MatrixId} id
   * @param {{row: number, column: number}} cell
   * @returns {Partial<Selection>}
   */
  selectionAt(id, { row, column }) {
    const { rows, columns } = MATRICES[id];
    return { [rows]: row, [columns]: column };
  }

  /**
   * @param {MatrixId} id
   * @param {Selection} selection
   */
  value(id, selection) {
    const { row, column } = this.cellOf(id, selection);
    return at(this.matrix(id), row, column);
  }

  /**
   * The tokens along an axis; of numbers none.
   * @param {Axis} axis
   */
  labels(axis) {
    return axis === "query" ? this.queries : axis === "key" ? this.keys : [];
  }
}

/**
 * @param {Matrix} matrix
 * @param {number} row
 * @param {number} column
 */
export const at = ({ columns, values }, row, column) => values[row * columns + column];

/**
 * @param {Matrix} matrix
 * @param {number} row
 */
export const rowOf = ({ columns, values }, row) => values.subarray(row * columns, (row + 1) * columns);

/**
 * @param {Matrix} matrix
 * @param {number} column
 */
export const columnOf = ({ rows, columns, values }, column) =>
  Float64Array.from({ length: rows }, (_, row) => values[row * columns + column]);

/**
 * @param {Matrix} matrix
 * @returns {Matrix}
 */
export function transposed({ rows, columns, values }) {
  return {
    rows: columns,
    columns: rows,
    values: Float64Array.from(values, (_, n) => values[(n % rows) * columns + Math.floor(n / rows)]),
  };
}

/**
 * @param {Matrix} a
 * @param {Matrix} b
 * @returns {Matrix}
 */
export function product(a, b) {
  const values = new Float64Array(a.rows * b.columns);
  for (let i = 0; i < a.rows; i++) {
    for (let m = 0; m < a.columns; m++) {
      const factor = a.values[i * a.columns + m];
      for (let j = 0; j < b.columns; j++) values[i * b.columns + j] += factor * b.values[m * b.columns + j];
    }
  }
  return { rows: a.rows, columns: b.columns, values };
}

/**
 * @param {Matrix} a
 * @param {Matrix} b
 * @returns {Matrix}
 */
function sum(a, b) {
  return { rows: a.rows, columns: a.columns, values: Float64Array.from(a.values, (value, n) => value + b.values[n]) };
}

/**
 * The scores as the softmax gets them: divided, capped where the model has a cap, with the bias of its positions.
 * @param {Head} head
 * @returns {Matrix}
 */
function scaled(head) {
  const { rows, columns, values } = head.matrix("raw");
  const { divisor, cap } = head;
  const { bias } = head.arrays;
  /** @param {number} score */
  const kept = (score) => (cap === null ? score : cap * Math.tanh(score / cap));
  return { rows, columns, values: values.map((value, n) => kept(value / divisor) + (bias?.values[n] ?? 0)) };
}

/**
 * @param {Matrix} products
 * @returns {Matrix}
 */
const logarithm = ({ rows, columns, values }) => ({ rows, columns, values: values.map(Math.log) });

/**
 * @param {Matrix} scores
 * @param {Matrix} mask
 * @returns {Masked}
 */
function masked(scores, mask) {
  return {
    rows: scores.rows,
    columns: scores.columns,
    values: scores.values.map((value, n) => (mask.values[n] ? value : -Infinity)),
    allowed: mask.values,
  };
}

/**
 * Each row as shares: powers of e, divided by their sum.
 * @param {Matrix} scores
 * @returns {Matrix}
 */
export function softmax(scores) {
  const values = new Float64Array(scores.values.length);
  for (let i = 0; i < scores.rows; i++) {
    const row = rowOf(scores, i);
    const largest = Math.max(...row);
    const powers = Float64Array.from(row, (score) => Math.exp(score - largest));
    const total = powers.reduce((a, b) => a + b, 0);
    values.set(
      powers.map((power) => power / total),
      i * scores.columns,
    );
  }
  return { rows: scores.rows, columns: scores.columns, values };
}
