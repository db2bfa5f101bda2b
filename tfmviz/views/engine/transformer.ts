// The transformer of tfmviz/model in the reader's browser: decoder-only or encoder-only, one text at a time.

import { NORM_EPS } from "../shared/constants.ts";
import { type AttentionInputs, type AttentionWeights, attend } from "./heads.ts";
import { type FeedForward, feedForward, layerNorm, type NormWeights, type Residual, residual } from "./layers.ts";
import { SCHEMES } from "./positions.ts";
import type { Tap } from "./tap.ts";
import { type Affine, Memory, type Tensor, type Value } from "./tensors.ts";

/** What the engine reads of the `config.json` of a model that it knows (`KNOWN` in __init__.py). */
export interface Config {
  architecture: "decoder-only" | "encoder-only";
  max_len: number;
  d_model: number;
  n_layers: number;
  n_heads: number;
  head_width?: number | null; // d_head, d_model / n_heads if it is not said
  window?: number | null;
  norm_position: "pre" | "post";
  norm_eps?: number;
  positions: string;
  feed_forward: "gelu" | "none";
  embedding_scale: "one" | "sqrt_d_model";
}

/** by their names in the weights' file */
export type Tensors = Record<string, { shape: number[]; data: Float32Array }>;

type BlockWeights = {
  self_attn: AttentionWeights & { residual: Residual };
  mlp: (FeedForward & { residual: Residual }) | null;
};

/** Self-attention, then feed-forward, if there is any, on (len, d_model). */
function block(x: Tensor, { self_attn, mlp }: BlockWeights, { tap, ...around }: AttentionInputs) {
  const before = tap("resid_pre", x); // (len, d_model), and so below
  const within = tap.scope("self_attn");
  const attention = (h: Tensor) => attend(h, self_attn, { ...around, tap: within });
  const mid = tap("resid_mid", residual(before, self_attn.residual, attention, within));
  if (!mlp) return tap("resid_post", mid);
  const inside = tap.scope("mlp");
  return tap(
    "resid_post",
    residual(mid, mlp.residual, (h) => feedForward(h, mlp, inside), inside),
  );
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

export type Transformer = ReturnType<typeof transformerOf>;

export function transformerOf(config: Config, tensors: Tensors) {
  const { architecture, d_model, n_heads, norm_position, norm_eps = NORM_EPS, embedding_scale } = config;
  const d_head = config.head_width ?? d_model / n_heads;
  const stack = architecture === "encoder-only" ? "encoder" : "decoder";
  const memory = new Memory();
  const read = (name: string) => tensors[name].data;
  /** The transpose of a stored matrix (columns, inner). */
  const panels = (name: string) => {
    const [columns, inner] = tensors[name].shape;
    return memory.panels(tensors[name], { inner, columns, down: 1, across: inner });
  };
  const affine = (name: string): Affine => {
    const made = panels(`${name}.weight`);
    const bias = memory.tensor(Math.ceil(made.columns / 8) * 8);
    bias.data.set(read(`${name}.bias`));
    return { panels: made, bias: bias.at };
  };
  const normOf = (at: string): NormWeights => ({ gain: read(`${at}.weight`), bias: read(`${at}.bias`), eps: norm_eps });
  const around = (at: string) => ({ residual: { position: norm_position, norm: normOf(`${at}_residual.norm`) } });
  const W_E = panels("embedding.W_E"); // W_U too
  const positions = SCHEMES[config.positions](config, d_head, () => read(`${stack}.positions.table`));
  const blocks = Array.from({ length: config.n_layers }, (_, n): BlockWeights => {
    const [attn, mlp] = ["self_attn", "mlp"].map((part) => `${stack}.blocks.${n}.${part}`);
    const [W_Q, W_K, W_V, W_O] = ["W_Q", "W_K", "W_V", "W_O"].map((name) => affine(`${attn}.${name}`));
    const self_attn = { W_Q, W_K, W_V, W_O, d_head, ...around(attn) };
    if (config.feed_forward === "none") return { self_attn, mlp: null };
    return { self_attn, mlp: { W_in: affine(`${mlp}.W_in`), W_out: affine(`${mlp}.W_out`), ...around(mlp) } };
  });
  const norm = norm_position === "post" ? null : normOf(`${stack}.norm`);
  const loaded = memory.free;

  const embed = (ids: number[]) => {
    const scale = embedding_scale === "one" ? 1 : Math.sqrt(d_model);
    const x = memory.tensor(ids.length, d_model);
    const [to, all] = [x.data, new Float32Array(memory.buffer)];
    for (const [row, id] of ids.entries()) {
      const from = W_E.at / 4 + Math.floor(id / 8) * d_model * 8 + (id % 8);
      for (let n = 0; n < d_model; n++) to[row * d_model + n] = all[from + n * 8] * scale;
    }
    return x;
  };

  /** All before the logits, (len, d_model), for the tokens after `past`, whose keys and values the tap adds. */
  const stream = (ids: number[], tap: Tap, past: number) => {
    memory.free = loaded; // what the last pass computed goes
    const within = tap.scope(stack);
    let x = positions.embed(tap("embed", embed(ids)), within, past); // (len, d_model)
    const mask = maskOf(config, past, ids.length);
    const bias = positions.bias(ids.length, past + ids.length); // once for all blocks
    for (const [n, weights] of blocks.entries()) {
      const around = { mask, positions, bias, tap: within.scope(String(n)) };
      x = memory.keeping(() => block(x, weights, around));
    }
    return norm ? within("norm", layerNorm(x, norm)) : x;
  };

  /** x W_Uᵀ: (len, vocab). */
  const logits = (x: Tensor) => memory.product(x, W_E);

  return { config, d_head, memory, loaded, positions, blocks, norm, stream, logits };
}
