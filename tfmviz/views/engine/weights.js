// The weights of an attention layer as arrays, out of the kernel's panels, with the shapes of tfmviz/record/weights.py.

/** @import { Site, Sites } from "../shared/record.js" */
/** @import { AttentionWeights } from "./heads.js" */
/** @import { Affine, Memory, Panels } from "./tensors.js" */

/**
 * @param {Memory} memory
 * @param {AttentionWeights} weights
 * @returns {Sites} W_Q, W_K, W_V (heads, d_model, d_head), b_Q … (heads, d_head), W_O (heads × d_head, d_model), b_O
 */
export function arraysOfLayer(memory, { W_Q, W_K, W_V, W_O, d_head }) {
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
export function matrixOfPanels({ buffer }, { at, inner, columns }) {
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
