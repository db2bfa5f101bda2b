// Weights on their way from a file into the kernel's memory, checked against the config.

/** @import { AttentionWeights } from "./heads.js" */
/** @import { FeedForward, NormWeights, Residual } from "./layers.js" */
/** @import { Affine, Memory, Panels } from "./tensors.js" */
/** @import { Config } from "./transformer.js" */
import { gelu, relu } from "./layers.js";

/** @typedef {Record<string, {shape: number[], data: Float32Array}>} Tensors by their names in the weights' file */

/**
 * @typedef {{self_attn: AttentionWeights, self_attn_residual: Residual, mlp: FeedForward | null,
 *   mlp_residual: Residual | null}} BlockWeights
 */

export class Stored {
  /**
   * @param {Memory} memory
   * @param {Tensors} tensors
   * @param {Config} config
   */
  constructor(memory, tensors, config) {
    this.memory = memory;
    this.tensors = tensors;
    this.config = config;
  }

  /**
   * @param {string} name
   * @param {number[]} shape
   */
  take(name, shape) {
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

  /**
   * The transpose of a stored matrix (columns, inner).
   * @param {string} name
   * @param {[number, number]} shape
   * @returns {Panels}
   */
  panels(name, [columns, inner]) {
    const data = this.take(name, [columns, inner]);
    return this.memory.panels({ data }, { inner, columns, down: 1, across: inner });
  }

  /**
   * @param {string} name
   * @param {[number, number]} shape
   * @returns {Affine}
   */
  affine(name, shape) {
    const panels = this.panels(`${name}.weight`, shape);
    const bias = this.memory.tensor(Math.ceil(shape[0] / 8) * 8);
    bias.data.set(this.take(`${name}.bias`, [shape[0]]));
    return { panels, bias: bias.at };
  }

  /**
   * @param {string} name
   * @returns {NormWeights}
   */
  norm(name) {
    const { d_model, norm_eps: eps } = this.config;
    return { gain: this.take(`${name}.weight`, [d_model]), bias: this.take(`${name}.bias`, [d_model]), eps };
  }

  /**
   * @param {string} name
   * @returns {FeedForward}
   */
  feedForward(name) {
    const { d_model, d_ff, feed_forward } = this.config;
    const W_in = this.affine(`${name}.W_in`, [d_ff, d_model]);
    const W_out = this.affine(`${name}.W_out`, [d_model, d_ff]);
    return { W_in, W_out, activation: feed_forward === "relu" ? relu : gelu };
  }

  /**
   * @param {string} prefix
   * @returns {BlockWeights}
   */
  block(prefix) {
    const { d_model, d_head, n_heads, n_kv_heads, divisor, feed_forward, norm_position: position } = this.config;
    const around = (/** @type {string} */ part) => ({ position, norm: this.norm(`${prefix}${part}_residual.norm`) });
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
