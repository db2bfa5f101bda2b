// What views need of a model besides a record: an attention layer's weights as arrays (shapes as in
// tfmviz/record/weights.py), the data of step by step with them, and what vectors become through some of them.

import type { Matrix } from "../shared/arrays.ts";
import type { Plain, Sites } from "../shared/record.ts";
import type { HeadFacts } from "../steps/head.ts";
import type { Engine } from "./engine.ts";
import { splitHeads } from "./heads.ts";
import { layerNorm } from "./layers.ts";
import { linear } from "./tensors.ts";

const attentionOf = ({ transformer }: Engine, layer: string) =>
  transformer.blocks[Number(layer.split(".")[1])].self_attn;

/** W_Q, W_K, W_V (heads, d_model, d_head), b_Q … (heads, d_head), W_O (heads × d_head, d_model), b_O. */
function weightsOf(engine: Engine, layer: string): Sites {
  const { W_Q, W_K, W_V, W_O, d_head } = attentionOf(engine, layer);
  const { memory, loaded } = engine.transformer;
  const found: Sites = {};
  for (const [letter, affine] of Object.entries({ Q: W_Q, K: W_K, V: W_V, O: W_O })) {
    const { inner, columns } = affine.panels;
    memory.free = loaded;
    const ones = Float32Array.from({ length: inner * inner }, (_, n) => Number(n % (inner + 1) === 0));
    const unit = memory.of(ones, [inner, inner]);
    const zero = memory.of(new Float32Array(inner), [1, inner]);
    const width = letter === "O" ? columns : d_head;
    for (const [name, x] of Object.entries({ W: memory.product(unit, affine.panels), b: linear(zero, affine) })) {
      const { shape: parted, data } = splitHeads(x, width);
      const shape = letter === "O" ? x.shape.slice(name === "b" ? 1 : 0) : parted;
      found[`${name}_${letter}`] = { shape, data: data.slice() };
    }
  }
  return found;
}

/** One head as step by step takes it (`payload` in views/steps); with weights, unless a view of this head has them. */
export function stepsOf(
  { facts, sites }: Plain,
  engine: Engine,
  { title, layer, head }: { title: string; layer: string; head: number },
  { withWeights = false }: { withWeights?: boolean } = {},
): Plain<HeadFacts> {
  const { config, d_head, positions } = engine.transformer;
  const { n_heads, norm_position } = config;
  const { labels, tokens } = facts.texts.target;
  const before = sites[`${layer.slice(0, layer.lastIndexOf("."))}.resid_pre`];
  const preNorm = norm_position === "pre";
  const found: Sites = { ...sites, x: preNorm ? sites[`${layer}.norm`] : before, before };
  if (withWeights) Object.assign(found, weightsOf(engine, layer));
  const bias = positions.bias(labels.length, labels.length);
  if (bias) found.bias = { shape: [n_heads, labels.length, labels.length], data: bias };
  const { theta } = positions;
  if (theta) {
    const angles = Array.from(labels, (_, position) => theta.map((rate) => position * rate));
    found.angles = { shape: [labels.length, theta.length], data: Float32Array.from(angles.flat()) };
  }
  const scaling = { divisor: Math.sqrt(d_head), divided: `√${d_head}`, cap: null };
  const how = { preNorm, ...scaling, linear: false, sink: null, normed: false, outNormed: false };
  const texts = { queries: labels, tokens, keys: labels };
  return { facts: { title, layer, head, heads: n_heads, ...texts, ...how }, sites: found };
}

/** What a head adds to the stream: z W_O, from (len, d_head) to (len, d_model). */
export function writeOf(engine: Engine, layer: string, head: number, { rows, columns, values }: Matrix): Matrix {
  const { memory, loaded } = engine.transformer;
  const { panels } = attentionOf(engine, layer).W_O;
  memory.free = loaded;
  const wide = memory.tensor(rows, panels.inner); // the other heads' places are 0
  const { data } = wide;
  data.fill(0);
  for (let row = 0; row < rows; row++)
    data.set(values.subarray(row * columns, (row + 1) * columns), row * panels.inner + head * columns);
  return { rows, columns: panels.columns, values: memory.product(wide, panels).data.slice() };
}

/** What the model would say if the stream ended with these vectors: the logits of each. */
export function readOut({ transformer }: Engine, vectors: ArrayLike<number>[]) {
  const { memory, loaded, norm } = transformer;
  if (!vectors.length) return [];
  memory.free = loaded;
  const width = vectors[0].length;
  const x = memory.tensor(vectors.length, width);
  for (const [n, vector] of vectors.entries()) x.data.set(vector, n * width);
  const logits = transformer.logits(norm ? layerNorm(x, norm) : x);
  return vectors.map((_, n) => logits.part(n).data.slice());
}
