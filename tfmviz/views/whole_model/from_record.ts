// The picture of a text that the browser has read itself. All but tokens, arrays and best words is as Python has drawn
// it for another text; Python's `made` says what each array is made of (tfmviz/views/whole_model/scene.py).

import type { Engine } from "../engine/engine.ts";
import { readOut, writeOf } from "../engine/weights.ts";
import { largest, type Matrix, rowOf } from "../shared/arrays.ts";
import { HEAD_ACROSS, VECTOR_NUMBERS } from "../shared/constants.ts";
import { type Plain, recordOf, type SiteRecord, type Sites } from "../shared/record.ts";
import type { Says } from "./follow.ts";
import type { Scene } from "./scene.ts";

/** how an array is made of which sites */
type Made = [how: string, sites: string[], head: number | null];

/** `said` are sites by column */
export type Drawn = Scene & { made: Record<string, Made>; said: Record<string, string> };

/** `drawn` is the picture of another text, of the same part of the same model; `plain` has all sites of this one. */
export function sceneOf(drawn: Drawn, plain: Plain, engine: Engine): Plain<Scene> {
  const record = recordOf(plain);
  const { ids } = plain.facts;
  const { labels: tokens } = plain.facts.texts.target;
  const sites: Sites = {};
  for (const [name, made] of Object.entries(drawn.made)) {
    const { matrix, lengths } = drawnArray(made, record, engine);
    sites[name] = { shape: [matrix.rows, matrix.columns], data: matrix.values };
    if (lengths) sites[`${name}.length`] = { shape: [lengths.length], data: lengths };
  }
  const bestWords = () => rowList(record.matrix("logits")).map((row) => engine.words[best(row)]);
  const lanes = drawn.lanes.map((lane) => ({
    ...lane,
    tokens,
    ...(lane.oneHot ? { oneHot: { ...lane.oneHot, ids } } : {}),
    columns: lane.columns.map((column) => ({
      ...column,
      shape: column.image === "pattern" ? [tokens.length, tokens.length] : [tokens.length, column.shape[1]],
      ...(column.labels ? { labels: column.image === "words" ? bestWords() : tokens } : {}),
    })),
  }));
  return { facts: { ...drawn, lanes }, sites };
}

/** What the model would say of a token at each column (`said` in tfmviz/ui/whole_model_data.py). */
export function saysOf({ said }: Drawn, plain: Plain, engine: Engine, token: number): Says {
  const columns = Object.keys(said);
  if (!columns.length) return {};
  const record = recordOf(plain);
  const { logits: end } = engine.next(token);
  const answer = best(end);
  const early = columns.slice(0, -1).map((column) => rowOf(record.matrix(said[column]), token));
  const all = [...readOut(engine, early), end];
  return Object.fromEntries(
    all.map((logits, n) => {
      const rank = 1 + logits.filter((logit) => logit > logits[answer]).length;
      return [columns[n], [engine.words[best(logits)], certainty(logits), rank]];
    }),
  );
}

type Strips = { matrix: Matrix; lengths?: Float32Array };

function drawnArray([how, [site, other], head]: Made, record: SiteRecord, engine: Engine): Strips {
  const { shape } = record.at(site);
  const heads = how === "head" ? record.at(site.replace(/[^.]+$/, "q")).shape[0] : shape[0];
  const layer = site.slice(0, site.lastIndexOf("."));
  const all = () => Array.from({ length: heads }, (_, n) => record.head(site, n));
  switch (how) {
    case "strips":
      return strips(other ? sumOf(record.matrix(site), record.matrix(other)) : record.matrix(site));
    case "head":
      return withLengths(record.head(site, Number(head), heads));
    case "write":
      return strips(writeOf(engine, layer, Number(head), record.head(site, Number(head))));
    case "writes":
      return { matrix: stacked(all().map((z, n) => inOneRow(lengthsOfRows(writeOf(engine, layer, n, z))))) };
    case "lengths":
      return { matrix: inOneRow(lengthsOfRows(record.matrix(site))) };
    case "mean": {
      const found = all();
      const values = new Float32Array(found[0].values.length);
      for (const one of found) for (let n = 0; n < values.length; n++) values[n] += one.values[n] / heads;
      return { matrix: { ...found[0], values } };
    }
    case "thumbs":
      return { matrix: stacked(all().map(thumbnail)) };
    case "pattern":
      return { matrix: record.head(site, Number(head)) };
    case "allowed": {
      const [mask, pattern] = [record.head(site, Number(head)), record.head(other, Number(head))];
      return { matrix: { ...mask, values: mask.values.map((open, n) => Number(open || pattern.values[n] > 0)) } };
    }
    default: {
      const rows = rowList(record.matrix(site));
      return { matrix: inOneRow(Float32Array.from(rows, how === "best" ? certainty : (row) => row[best(row)])) };
    }
  }
}

const best = (scores: ArrayLike<number>) => largest(scores, 1)[0];

function certainty(logits: Float32Array | Float64Array): number {
  const most = logits[best(logits)];
  let sum = 0;
  for (const one of logits) sum += Math.exp(one - most);
  return 1 / sum;
}

const rowList = (x: Matrix) => Array.from({ length: x.rows }, (_, row) => rowOf(x, row));

const inOneRow = (values: Float32Array): Matrix => ({ rows: 1, columns: values.length, values });

const withLengths = (x: Matrix, matrix = x) => ({ matrix, lengths: lengthsOfRows(x) });

const strips = (x: Matrix) => withLengths(x, shortened(x));

const lengthsOfRows = (x: Matrix) =>
  Float32Array.from(rowList(x), (row) => {
    let sum = 0;
    for (const number of row) sum += number * number; // Math.hypot takes ten times as long
    return Math.sqrt(sum);
  });

const sumOf = (a: Matrix, b: Matrix): Matrix => ({ ...a, values: a.values.map((value, n) => value + b.values[n]) });

/** Each vector as means of neighbours. */
function shortened(x: Matrix): Matrix {
  const size = Math.min(VECTOR_NUMBERS, x.columns);
  const starts = Array.from({ length: size + 1 }, (_, n) => Math.floor((n * x.columns) / size));
  const values = rowList(x).flatMap((row) =>
    Array.from({ length: size }, (_, n) => {
      let sum = 0;
      for (let at = starts[n]; at < starts[n + 1]; at++) sum += row[at];
      return sum / (starts[n + 1] - starts[n]);
    }),
  );
  return { rows: x.rows, columns: size, values: Float32Array.from(values) };
}

/** A pattern in fewer cells: each is the highest that it stands for. */
function thumbnail({ rows, columns, values }: Matrix): Matrix {
  const [high, wide] = [Math.min(HEAD_ACROSS, rows), Math.min(HEAD_ACROSS, columns)];
  const made = new Float32Array(high * wide);
  const place = (n: number, length: number, size: number) => Math.ceil(((n + 1) * size) / length) - 1;
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const at = place(row, rows, high) * wide + place(column, columns, wide);
      made[at] = Math.max(made[at], values[row * columns + column]);
    }
  }
  return { rows: high, columns: wide, values: made };
}

function stacked(all: Matrix[]): Matrix {
  const { columns, values } = all[0];
  const made = new Float32Array(all.length * values.length);
  for (const [n, one] of all.entries()) made.set(one.values, n * values.length);
  return { rows: all.length * all[0].rows, columns, values: made };
}
