// What views need of a model's weights: those of an attention layer as arrays (shapes as in tfmviz/record/weights.py),
// and what vectors become through some of them.

/** @import { Matrix } from "../shared/arrays.js" */
/** @import { Site, Sites } from "../shared/record.js" */
/** @import { Engine } from "./engine.js" */
/** @import { Affine, Memory, Panels } from "./tensors.js" */
import { layerNorm } from "./layers.js";

/**
 * @param {Engine} engine
 * @param {string} layer path of an attention layer
 */
const attentionOf = ({ transformer }, layer) => transformer.blocks[Number(layer.split(".")[1])].self_attn;

/**
 * @param {Engine} engine
 * @param {string} layer
 * @returns {Sites} W_Q, W_K, W_V (heads, d_model, d_head), b_Q … (heads, d_head), W_O (heads × d_head, d_model), b_O
 */
export function weightsOf(engine, layer) {
  const { W_Q, W_K, W_V, W_O, d_head } = attentionOf(engine, layer);
  const { memory } = engine.transformer;
  const into = Object.entries({ Q: W_Q, K: W_K, V: W_V }).flatMap(([letter, affine]) => [
    [`W_${letter}`, byHeads(matrixOfPanels(memory, affine.panels), d_head)],
    [`b_${letter}`, biasOf(memory, affine, [affine.panels.columns / d_head, 1, d_head])],
  ]);
  const out = { W_O: matrixOfPanels(memory, W_O.panels), b_O: biasOf(memory, W_O, [W_O.panels.columns]) };
  return { ...Object.fromEntries(into), ...out };
}

/**
 * @param {Memory} memory
 * @param {Panels} panels
 * @returns {Site} (inner, columns)
 */
function matrixOfPanels({ buffer }, { at, inner, columns }) {
  const packed = new Float32Array(buffer, at, Math.ceil(columns / 8) * inner * 8);
  const data = new Float32Array(inner * columns);
  for (let row = 0, to = 0; row < inner; row++) {
    for (let column = 0; column < columns; column++, to++) {
      data[to] = packed[((column >> 3) * inner + row) * 8 + (column & 7)];
    }
  }
  return { shape: [inner, columns], data };
}

/**
 * (inner, heads × width) to (heads, inner, width).
 * @param {Site} matrix
 * @param {number} width
 * @returns {Site}
 */
function byHeads({ shape: [inner, columns], data }, width) {
  const made = new Float32Array(data.length);
  for (let n = 0; n < data.length; n++) {
    const [row, column] = [Math.floor(n / columns), n % columns];
    made[(Math.floor(column / width) * inner + row) * width + (column % width)] = data[n];
  }
  return { shape: [columns / width, inner, width], data: made };
}

/**
 * @param {Memory} memory
 * @param {Affine} affine
 * @param {number[]} shape
 * @returns {Site}
 */
const biasOf = ({ buffer }, { bias, panels: { columns } }, shape) => ({
  shape,
  data: new Float32Array(buffer, bias, columns).slice(),
});

/**
 * What a head adds to the stream, z W_O.
 * @param {Engine} engine
 * @param {string} layer
 * @param {number} head
 * @param {Matrix} z (len, d_head)
 * @returns {Matrix} (len, d_model)
 */
export function writeOf(engine, layer, head, { rows, columns, values }) {
  const { memory, loaded } = engine.transformer;
  const { panels } = attentionOf(engine, layer).W_O;
  memory.free = loaded;
  const wide = memory.tensor(rows, panels.inner); // the other heads' places are 0
  const { data } = wide;
  data.fill(0);
  for (let row = 0; row < rows; row++) {
    data.set(values.subarray(row * columns, (row + 1) * columns), row * panels.inner + head * columns);
  }
  return { rows, columns: panels.columns, values: memory.product(wide, panels).data.slice() };
}

/**
 * What the model would say if the stream ended with these vectors: the logits of each.
 * @param {Engine} engine
 * @param {ArrayLike<number>[]} vectors
 */
export function readOut({ transformer }, vectors) {
  const { memory, loaded, norm } = transformer;
  if (!vectors.length) return [];
  memory.free = loaded;
  const width = vectors[0].length;
  const x = memory.tensor(vectors.length, width);
  for (const [n, vector] of vectors.entries()) x.data.set(vector, n * width);
  const logits = transformer.logits(norm ? layerNorm(x, norm) : x);
  return vectors.map((_, n) => logits.part(n).data.slice());
}
