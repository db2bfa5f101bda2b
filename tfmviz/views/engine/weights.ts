// What views need of a model's weights: those of an attention layer as arrays (shapes as in tfmviz/record/weights.py),
// and what vectors become through some of them.

import type { Matrix } from "../shared/arrays.ts";
import type { Sites } from "../shared/record.ts";
import type { Engine } from "./engine.ts";
import { splitHeads } from "./heads.ts";
import { layerNorm } from "./layers.ts";
import { linear } from "./tensors.ts";

const attentionOf = ({ transformer }: Engine, layer: string) =>
  transformer.blocks[Number(layer.split(".")[1])].self_attn;

/** W_Q, W_K, W_V (heads, d_model, d_head), b_Q … (heads, d_head), W_O (heads × d_head, d_model), b_O. */
export function weightsOf(engine: Engine, layer: string): Sites {
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
