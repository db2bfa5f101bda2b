// What stands around attention: norms, the residual stream, the feed-forward layer.

import type { Tap } from "./tap.ts";
import { type Affine, added, each, linear, type Tensor } from "./tensors.ts";

export type NormWeights = { gain: Float32Array; bias: Float32Array; eps: number };

export type Residual = { position: "pre" | "post"; norm: NormWeights };

export type FeedForward = { W_in: Affine; W_out: Affine };

/** LayerNorm: (x − μ) / √(σ² + ε) · γ + β over the numbers of each token. */
export function layerNorm(x: Tensor, { gain, bias, eps }: NormWeights) {
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

/** One step of the residual stream around a layer f: x + f(Norm(x)), or, post-norm, Norm(x + f(x)). */
export function residual(x: Tensor, { position, norm }: Residual, layer: (x: Tensor) => Tensor, tap: Tap) {
  if (position === "pre") return added(x, layer(tap("norm", layerNorm(x, norm))));
  return tap("norm", layerNorm(added(x, layer(x)), norm));
}

/** GELU(x W_in + b_in) W_out + b_out. */
export function feedForward(x: Tensor, { W_in, W_out }: FeedForward, tap: Tap) {
  const pre = tap("pre", linear(x, W_in)); // (len, d_ff)
  const post = tap(
    "post",
    each(pre, (z) => 0.5 * z * (1 + erf(z * Math.SQRT1_2))),
  );
  return tap("out", linear(post, W_out)); // (len, d_model)
}

/** The error function to float32's accuracy: x P(x²) / Q(x²), as in Eigen and XLA. Beyond ±4 it is ±1. */
export function erf(value: number) {
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
