// The transformer of tfmviz/model in the reader's browser: decoder-only or encoder-only, one text at a time.

import { type AttentionInputs, attend } from "./heads.ts";
import { feedForward, layerNorm, type NormWeights, residual } from "./layers.ts";
import { SCHEMES, type Scheme } from "./positions.ts";
import { type BlockWeights, storedIn, type Tensors } from "./stored.ts";
import type { Tap } from "./tap.ts";
import { Memory, type Panels, type Tensor, type Value } from "./tensors.ts";

/** What the engine reads of `config.json`, with what that may leave out; see known.ts. */
export interface Config {
  architecture: "decoder-only" | "encoder-only";
  vocab_size: number;
  max_len: number;
  d_model: number;
  n_layers: number;
  n_heads: number;
  n_kv_heads: number;
  d_ff: number;
  d_head: number;
  head_width: number | null;
  window: number | null;
  divisor: number; // of the scores
  score_divisor: number | null;
  norm_position: "pre" | "post";
  norm_eps: number;
  feed_forward: "gelu" | "relu" | "none";
  positions: string;
  rope_theta: number[] | null; // radians per position
  embeddings: "tied" | "untied";
  embedding_scale: "one" | "sqrt_d_model";
}

/** Self-attention, then feed-forward, if there is any, on (len, d_model). */
function block(x: Tensor, weights: BlockWeights, { tap, ...around }: AttentionInputs) {
  const { self_attn, self_attn_residual, mlp, mlp_residual } = weights;
  const before = tap("resid_pre", x); // (len, d_model), and so below
  const within = tap.scope("self_attn");
  const attention = (h: Tensor) => attend(h, self_attn, { ...around, tap: within });
  const mid = tap("resid_mid", residual(before, self_attn_residual, attention, within));
  if (!mlp || !mlp_residual) return tap("resid_post", mid);
  const inside = tap.scope("mlp");
  const layer = (h: Tensor) => feedForward(h, mlp, inside);
  return tap("resid_post", residual(mid, mlp_residual, layer, inside));
}

/** Query i sees keys j ≤ past + i; of these the last `window`, if it is set. An encoder's query sees every key. */
function maskOf({ architecture, window }: Config, past: number, length: number): Value {
  const columns = past + length;
  const data = new Uint8Array(length * columns);
  for (let i = 0; i < length; i++) {
    const last = architecture === "encoder-only" ? columns : past + i + 1;
    data.fill(1, i * columns + (window ? Math.max(last - window, 0) : 0), i * columns + last);
  }
  return { shape: [length, columns], data };
}

export class Transformer {
  config: Config;
  memory = new Memory();
  stack: string;
  W_E: Panels;
  W_U: Panels;
  positions: Scheme;
  blocks: BlockWeights[];
  norm: NormWeights | null;
  loaded: number;

  constructor(config: Config, tensors: Tensors) {
    this.config = config;
    const stored = storedIn(this.memory, tensors, config);
    const { d_model, vocab_size, n_layers } = config;
    const isEncoder = config.architecture === "encoder-only";
    this.stack = isEncoder ? "encoder" : "decoder";
    this.W_E = stored.panels("embedding.W_E", [vocab_size, d_model]);
    this.W_U = config.embeddings === "tied" ? this.W_E : stored.panels("embedding.W_U", [vocab_size, d_model]);
    const table = (shape: number[]) => stored.take(`${this.stack}.positions.table`, shape);
    this.positions = SCHEMES[config.positions](config, isEncoder, table);
    this.blocks = Array.from({ length: n_layers }, (_, n) => stored.block(`${this.stack}.blocks.${n}.`));
    this.norm = config.norm_position === "post" ? null : stored.norm(`${this.stack}.norm`);
    this.loaded = this.memory.free;
  }

  /** All before the logits, (len, d_model), for the tokens after `past`, whose keys and values the tap adds. */
  stream(ids: number[], tap: Tap, past: number) {
    const { memory, positions } = this;
    memory.free = this.loaded; // what the last pass computed goes
    const within = tap.scope(this.stack);
    let x = positions.embed(tap("embed", this.embed(ids)), within, past); // (len, d_model)
    const mask = maskOf(this.config, past, ids.length);
    const bias = positions.bias(ids.length, past + ids.length); // once for all blocks
    for (const [n, weights] of this.blocks.entries()) {
      const around = { mask, positions, bias, tap: within.scope(String(n)) };
      x = memory.keeping(() => block(x, weights, around));
    }
    return this.norm ? within("norm", layerNorm(x, this.norm)) : x;
  }

  /** x W_Uᵀ: (len, vocab). */
  logits(x: Tensor) {
    return this.memory.product(x, this.W_U);
  }

  embed(ids: number[]) {
    const { d_model, embedding_scale } = this.config;
    const scale = embedding_scale === "one" ? 1 : Math.sqrt(d_model);
    const x = this.memory.tensor(ids.length, d_model);
    const [to, all] = [x.data, new Float32Array(this.memory.buffer)];
    for (const [row, id] of ids.entries()) {
      const from = this.W_E.at / 4 + Math.floor(id / 8) * d_model * 8 + (id % 8);
      for (let n = 0; n < d_model; n++) to[row * d_model + n] = all[from + n * 8] * scale;
    }
    return x;
  }
}
