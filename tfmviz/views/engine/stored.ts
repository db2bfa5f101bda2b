// Weights on their way from a file into the kernel's memory, checked against the config.

import type { AttentionWeights } from "./heads.ts";
import { type FeedForward, gelu, type NormWeights, type Residual, relu } from "./layers.ts";
import type { Affine, Memory, Panels } from "./tensors.ts";
import type { Config } from "./transformer.ts";

/** by their names in the weights' file */
export type Tensors = Record<string, { shape: number[]; data: Float32Array }>;

export type BlockWeights = {
  self_attn: AttentionWeights;
  self_attn_residual: Residual;
  mlp: FeedForward | null;
  mlp_residual: Residual | null;
};

export function storedIn(memory: Memory, tensors: Tensors, config: Config) {
  const { d_model, d_head, d_ff, n_heads, n_kv_heads, divisor, feed_forward, norm_position: position } = config;

  function take(name: string, shape: number[]) {
    const found = tensors[name];
    if (!found) throw new Error(`The weights lack ${name}.`);
    const [there, wanted] = [found.shape, shape].map((sizes) => sizes.join(", "));
    if (there !== wanted) throw new Error(`${name} is (${there}) in the weights, but (${wanted}) by the config.`);
    const { data } = found;
    for (const number of data) if (!Number.isFinite(number)) throw new Error(`Not all numbers in ${name} are finite.`);
    return data;
  }

  /** The transpose of a stored matrix (columns, inner). */
  const panels = (name: string, [columns, inner]: [number, number]): Panels =>
    memory.panels({ data: take(name, [columns, inner]) }, { inner, columns, down: 1, across: inner });

  function affine(name: string, shape: [number, number]): Affine {
    const made = panels(`${name}.weight`, shape);
    const bias = memory.tensor(Math.ceil(shape[0] / 8) * 8);
    bias.data.set(take(`${name}.bias`, [shape[0]]));
    return { panels: made, bias: bias.at };
  }

  function norm(name: string): NormWeights {
    return { gain: take(`${name}.weight`, [d_model]), bias: take(`${name}.bias`, [d_model]), eps: config.norm_eps };
  }

  function block(prefix: string): BlockWeights {
    const around = (part: string) => ({ position, norm: norm(`${prefix}${part}_residual.norm`) });
    const [q, kv] = [n_heads * d_head, n_kv_heads * d_head];
    const self_attn = {
      W_Q: affine(`${prefix}self_attn.W_Q`, [q, d_model]),
      W_K: affine(`${prefix}self_attn.W_K`, [kv, d_model]),
      W_V: affine(`${prefix}self_attn.W_V`, [kv, d_model]),
      W_O: affine(`${prefix}self_attn.W_O`, [d_model, q]),
      d_head,
      divisor,
    };
    const self_attn_residual = around("self_attn");
    if (feed_forward === "none") return { self_attn, self_attn_residual, mlp: null, mlp_residual: null };
    const W_in = affine(`${prefix}mlp.W_in`, [d_ff, d_model]);
    const W_out = affine(`${prefix}mlp.W_out`, [d_model, d_ff]);
    const mlp = { W_in, W_out, activation: feed_forward === "relu" ? relu : gelu };
    return { self_attn, self_attn_residual, mlp, mlp_residual: around("mlp") };
  }

  return { take, panels, norm, block };
}
