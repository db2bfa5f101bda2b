// What stands around attention: norms, the residual stream, the feed-forward layer.

/** @import { Tap } from "./tap.js" */
/** @import { Affine, Tensor } from "./tensors.js" */
import { added, each, linear } from "./tensors.js";

/** @typedef {{gain: Float32Array, bias: Float32Array, eps: number}} NormWeights */

/** @typedef {{position: "pre" | "post", norm: NormWeights}} Residual */

/** @typedef {{W_in: Affine, W_out: Affine, activation: (x: number) => number}} FeedForward */

/**
 * LayerNorm: (x − μ) / √(σ² + ε) · γ + β over the numbers of each token.
 * @param {Tensor} x
 * @param {NormWeights} weights
 */
export function layerNorm(x, { gain, bias, eps }) {
  const made = x.memory.tensor(...x.shape);
  const [to, from, width] = [made.data, x.data, gain.length];
  for (let row = 0; row < from.length; row += width) {
    let mean = 0;
    for (let n = 0; n < width; n++) mean += from[row + n];
    mean /= width;
    let variance = 0;
    for (let n = 0; n < width; n++) variance += (from[row + n] - mean) ** 2;
    const scale = 1 / Math.sqrt(variance / width + eps);
    for (let n = 0; n < width; n++) to[row + n] = (from[row + n] - mean) * scale * gain[n] + bias[n];
  }
  return made;
}

/**
 * One step of the residual stream around a layer f: x + f(Norm(x)), or, post-norm, Norm(x + f(x)).
 * @param {Tensor} x
 * @param {Residual} weights
 * @param {(x: Tensor) => Tensor} layer
 * @param {Tap} tap
 */
export function residual(x, { position, norm }, layer, tap) {
  if (position === "pre") return added(x, layer(tap("norm", layerNorm(x, norm))));
  return tap("norm", layerNorm(added(x, layer(x)), norm));
}

/**
 * f(x W_in + b_in) W_out + b_out.
 * @param {Tensor} x
 * @param {FeedForward} weights
 * @param {Tap} tap
 */
export function feedForward(x, { W_in, W_out, activation }, tap) {
  const pre = tap("pre", linear(x, W_in)); // (len, d_ff)
  const post = tap("post", each(pre, activation));
  return tap("out", linear(post, W_out)); // (len, d_model)
}

/** @param {number} x */
export const relu = (x) => (x > 0 ? x : 0);

/** @param {number} x */
export const gelu = (x) => 0.5 * x * (1 + erf(x * Math.SQRT1_2));

/**
 * The error function, to float32's accuracy: x P(x²) / Q(x²), the quotient that Eigen and XLA use. Beyond ±4 it is ±1.
 * @param {number} value
 */
export function erf(value) {
  const x = value > 4 ? 4 : value < -4 ? -4 : value;
  const y = x * x;
  let p = -2.72614225801306e-10 * y + 2.77068142495902e-8;
  p = p * y - 2.10102402082508e-6;
  p = p * y - 5.69250639462346e-5;
  p = p * y - 7.34990630326855e-4;
  p = p * y - 2.95459980854025e-3;
  p = p * y - 1.60960333262415e-2;
  let q = -1.45660718464996e-5 * y - 2.13374055278905e-4;
  q = q * y - 1.68282697438203e-3;
  q = q * y - 7.37332916720468e-3;
  q = q * y - 1.42647390514189e-2;
  return (x * p) / q;
}
