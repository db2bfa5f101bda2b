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

export class Stored {
  memory: Memory;
  tensors: Tensors;
  config: Config;

  constructor(memory: Memory, tensors: Tensors, config: Config) {
    this.memory = memory;
    this.tensors = tensors;
    this.config = config;
  }

  take(name: string, shape: number[]) {
    const found = this.tensors[name];
    if (!found) throw new Error(`The weights lack ${name}.`);
    if (found.shape.join() !== shape.join()) {
      throw new Error(
        `${name} is (${found.shape.join(", ")}) in the weights, but (${shape.join(", ")}) by the config.`,
      );
    }
    const { data } = found;
    for (const number of data) if (!Number.isFinite(number)) throw new Error(`Not all numbers in ${name} are finite.`);
    return data;
  }

  /** The transpose of a stored matrix (columns, inner). */
  panels(name: string, [columns, inner]: [number, number]): Panels {
    const data = this.take(name, [columns, inner]);
    return this.memory.panels({ data }, { inner, columns, down: 1, across: inner });
  }

  affine(name: string, shape: [number, number]): Affine {
    const panels = this.panels(`${name}.weight`, shape);
    const bias = this.memory.tensor(Math.ceil(shape[0] / 8) * 8);
    bias.data.set(this.take(`${name}.bias`, [shape[0]]));
    return { panels, bias: bias.at };
  }

  norm(name: string): NormWeights {
    const { d_model, norm_eps: eps } = this.config;
    return { gain: this.take(`${name}.weight`, [d_model]), bias: this.take(`${name}.bias`, [d_model]), eps };
  }

  feedForward(name: string): FeedForward {
    const { d_model, d_ff, feed_forward } = this.config;
    const W_in = this.affine(`${name}.W_in`, [d_ff, d_model]);
    const W_out = this.affine(`${name}.W_out`, [d_model, d_ff]);
    return { W_in, W_out, activation: feed_forward === "relu" ? relu : gelu };
  }

  block(prefix: string): BlockWeights {
    const { d_model, d_head, n_heads, n_kv_heads, divisor, feed_forward, norm_position: position } = this.config;
    const around = (part: string) => ({ position, norm: this.norm(`${prefix}${part}_residual.norm`) });
    const [q, kv] = [n_heads * d_head, n_kv_heads * d_head];
    return {
      self_attn: {
        W_Q: this.affine(`${prefix}self_attn.W_Q`, [q, d_model]),
        W_K: this.affine(`${prefix}self_attn.W_K`, [kv, d_model]),
        W_V: this.affine(`${prefix}self_attn.W_V`, [kv, d_model]),
        W_O: this.affine(`${prefix}self_attn.W_O`, [d_model, q]),
        d_head,
        divisor,
      },
      self_attn_residual: around("self_attn"),
      mlp: feed_forward === "none" ? null : this.feedForward(`${prefix}mlp`),
      mlp_residual: feed_forward === "none" ? null : around("mlp"),
    };
  }
}
