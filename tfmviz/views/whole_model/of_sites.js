// The picture of a text that the browser has read itself. All but tokens, arrays and best words is as Python has drawn it
// for another text; Python's `made` says what each array is made of (tfmviz/views/whole_model/scene.py).

/** @import { Engine } from "../engine/engine.js" */
/** @import { Matrix } from "../shared/arrays.js" */
/** @import { Plain, Site, Sites } from "../shared/record.js" */
/** @import { Says } from "./follow.js" */
/** @import { Scene } from "./scene.js" */
import { recordOf, SiteRecord } from "../shared/record.js";

/** @typedef {[how: string, sites: string[], head: number | null]} Made how an array is made of which sites */

/** @typedef {Scene & {made: Record<string, Made>, said: Record<string, string>}} Drawn `said` are sites by column */

const NUMBERS = 64; // that a vector is drawn with, at most
const TILE = 24; // cells that the picture of a head measures across, at most

/**
 * @param {Drawn} drawn the picture of another text, of the same part of the same model
 * @param {Plain} plain all sites of the text
 * @param {Engine} engine that has computed them
 * @returns {Plain}
 */
export function sceneOf(drawn, plain, engine) {
  const record = recordOf(plain);
  const { ids } = plain.facts;
  const { labels: tokens } = plain.facts.texts.target;
  /** @type {Sites} */
  const sites = {};
  for (const [name, made] of Object.entries(drawn.made)) {
    const { matrix, lengths } = arrayOf(made, record, engine);
    sites[name] = siteOf(matrix);
    if (lengths) sites[`${name}.length`] = { shape: [lengths.length], data: lengths };
  }
  const lanes = drawn.lanes.map((lane) => ({
    ...lane,
    tokens,
    ...(lane.oneHot ? { oneHot: { ...lane.oneHot, ids } } : {}),
    columns: lane.columns.map((column) => ({
      ...column,
      shape: column.image === "pattern" ? [tokens.length, tokens.length] : [tokens.length, column.shape[1]],
      ...(column.labels ? { labels: column.image === "words" ? bestWords(record, engine) : tokens } : {}),
    })),
  }));
  return { facts: { ...drawn, lanes }, sites };
}

/**
 * What the model would say of a token at each column (`said` in tfmviz/ui/scenes.py).
 * @param {Drawn} drawn
 * @param {Plain} plain
 * @param {Engine} engine
 * @param {number} token
 * @returns {Says}
 */
export function saysOf({ said }, plain, engine, token) {
  const columns = Object.keys(said);
  if (!columns.length) return {};
  const record = recordOf(plain);
  const { logits: end } = engine.next(token);
  const answer = end.indexOf(largest(end));
  const early = columns.slice(0, -1).map((column) => vectorOf(record, said[column], token));
  const all = [...engine.readOut(early), end];
  return Object.fromEntries(
    all.map((logits, n) => {
      const rank = 1 + logits.filter((logit) => logit > logits[answer]).length;
      return [columns[n], [engine.label(logits.indexOf(largest(logits))), certainty(logits), rank]];
    }),
  );
}

/**
 * @param {SiteRecord} record
 * @param {string} site
 * @param {number} row
 */
function vectorOf(record, site, row) {
  const { columns, values } = record.matrix(site);
  return values.subarray(row * columns, (row + 1) * columns);
}

/**
 * @param {Made} made
 * @param {SiteRecord} record
 * @param {Engine} engine
 * @returns {{matrix: Matrix, lengths?: Float32Array}}
 */
function arrayOf([how, [site, other], head], record, engine) {
  const { shape } = record.at(site);
  const heads = how === "head" ? record.at(site.replace(/[^.]+$/, "q")).shape[0] : shape[0];
  const layer = site.slice(0, site.lastIndexOf("."));
  const all = () => Array.from({ length: heads }, (_, n) => record.head(site, n));
  switch (how) {
    case "strips": {
      const x = record.matrix(site);
      return strips(other ? added(x, record.matrix(other)) : x);
    }
    case "head": {
      const x = record.head(site, Number(head), heads);
      return { matrix: x, lengths: lengthsOf(x) };
    }
    case "write":
      return strips(engine.write(layer, Number(head), record.head(site, Number(head))));
    case "writes":
      return { matrix: below(all().map((z, n) => rowOfValues(lengthsOf(engine.write(layer, n, z))))) };
    case "lengths":
      return { matrix: rowOfValues(lengthsOf(record.matrix(site))) };
    case "mean":
      return { matrix: meanOf(all()) };
    case "thumbs":
      return { matrix: below(all().map(thumbnail)) };
    case "pattern":
      return { matrix: record.head(site, Number(head)) };
    case "allowed": {
      const [mask, pattern] = [record.head(site, Number(head)), record.head(other, Number(head))];
      return { matrix: { ...mask, values: mask.values.map((open, n) => Number(open || pattern.values[n] > 0)) } };
    }
    default: {
      const rows = rowsOf(record.matrix(site));
      return { matrix: rowOfValues(Float32Array.from(rows, how === "best" ? certainty : largest)) };
    }
  }
}

/** @param {Float32Array | Float64Array} row */
function largest(row) {
  let most = Number.NEGATIVE_INFINITY;
  for (const one of row) if (one > most) most = one;
  return most;
}

/** @param {Float32Array | Float64Array} logits @returns {number} the probability of the largest */
function certainty(logits) {
  const most = largest(logits);
  let sum = 0;
  for (const one of logits) sum += Math.exp(one - most);
  return 1 / sum;
}

/**
 * @param {SiteRecord} record
 * @param {Engine} engine
 */
const bestWords = (record, engine) =>
  rowsOf(record.matrix("logits")).map((row) => engine.label(row.indexOf(largest(row))));

/** @param {Matrix} matrix */
const rowsOf = ({ rows, columns, values }) =>
  Array.from({ length: rows }, (_, row) => values.subarray(row * columns, (row + 1) * columns));

/** @param {Matrix} matrix @returns {Site} */
const siteOf = ({ rows, columns, values }) => ({ shape: [rows, columns], data: values });

/** @param {Float32Array} values @returns {Matrix} */
const rowOfValues = (values) => ({ rows: 1, columns: values.length, values });

/** @param {Matrix} x */
const strips = (x) => ({ matrix: means(x), lengths: lengthsOf(x) });

/** @param {Matrix} x */
const lengthsOf = (x) => Float32Array.from(rowsOf(x), (row) => Math.hypot(...row));

/** @param {Matrix} a @param {Matrix} b @returns {Matrix} */
const added = (a, b) => ({ ...a, values: a.values.map((value, n) => value + b.values[n]) });

/** @param {Matrix} x @returns {Matrix} each vector as means of neighbours */
function means(x) {
  const size = Math.min(NUMBERS, x.columns);
  const starts = Array.from({ length: size + 1 }, (_, n) => Math.floor((n * x.columns) / size));
  const values = rowsOf(x).flatMap((row) =>
    Array.from({ length: size }, (_, n) => {
      let sum = 0;
      for (let at = starts[n]; at < starts[n + 1]; at++) sum += row[at];
      return sum / (starts[n + 1] - starts[n]);
    }),
  );
  return { rows: x.rows, columns: size, values: Float32Array.from(values) };
}

/** @param {Matrix[]} all @returns {Matrix} */
function meanOf(all) {
  const values = new Float32Array(all[0].values.length);
  for (const one of all) for (let n = 0; n < values.length; n++) values[n] += one.values[n] / all.length;
  return { ...all[0], values };
}

/** @param {Matrix} pattern @returns {Matrix} a cell is the largest that it stands for */
function thumbnail({ rows, columns, values }) {
  const [high, wide] = [Math.min(TILE, rows), Math.min(TILE, columns)];
  const made = new Float32Array(high * wide);
  const place = (/** @type {number} */ n, /** @type {number} */ length, /** @type {number} */ size) =>
    Math.ceil(((n + 1) * size) / length) - 1;
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const at = place(row, rows, high) * wide + place(column, columns, wide);
      made[at] = Math.max(made[at], values[row * columns + column]);
    }
  }
  return { rows: high, columns: wide, values: made };
}

/** @param {Matrix[]} all @returns {Matrix} one below the other */
function below(all) {
  const { columns, values } = all[0];
  const made = new Float32Array(all.length * values.length);
  for (const [n, one] of all.entries()) made.set(one.values, n * values.length);
  return { rows: all.length * all[0].rows, columns, values: made };
}
