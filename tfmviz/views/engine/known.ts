// Which models the engine computes. All others are the server's.

import { NORM_EPS } from "../shared/constants.ts";
import { SCHEMES } from "./positions.ts";
import type { Config } from "./transformer.ts";

const SIZES = ["vocab_size", "max_len", "d_model", "n_layers", "n_heads", "n_kv_heads", "d_ff"];

/** What may be left out, as in tfmviz/record/facts.py. The last three say something about training only. */
const UNSAID = {
  head_width: null,
  window: null,
  norm_eps: NORM_EPS,
  rope_theta: null,
  score_divisor: null,
  trained_len: null,
  dropout: 0,
  training_mask: "causal",
};

/** The choices that the engine has; the first of each is meant where a config does not say. */
const CHOICES: Record<string, unknown[]> = {
  architecture: ["decoder-only", "encoder-only"],
  n_decoder_layers: [null],
  shared_layers: ["absent"],
  attention: ["softmax"],
  sink: ["absent"],
  global_layers: [null],
  norm_position: ["pre", "post"],
  first_norm: ["present"],
  norm: ["layer"],
  qk_norm: ["absent"],
  residual: ["sequential"],
  feed_forward: ["gelu", "relu", "none"],
  n_experts: [1],
  n_chosen: [1],
  expert_weights: ["probabilities", "shares"],
  d_shared: [null],
  limits: [null],
  position_numbers: ["shared"],
  positions: ["rope", ...Object.keys(SCHEMES)],
  other_theta: [null],
  other_layers: [null],
  score_cap: [null],
  logit_cap: [null],
  embeddings: ["tied", "untied"],
  embedding_width: [null],
  embedding_scale: ["one", "sqrt_d_model"],
  embedding_norm: ["absent"],
  segment: ["absent"],
  head: ["linear"],
};

/** Why the engine cannot compute the model of a `config.json`; "" if it can. */
export function whyUnknown(config: Partial<Config>) {
  for (const [name, value] of Object.entries<unknown>(config)) {
    if (SIZES.includes(name)) {
      if (!Number.isInteger(value) || Number(value) < 1) return `${name} = ${value} is no size.`;
    } else if (Object.hasOwn(CHOICES, name)) {
      if (!CHOICES[name].includes(value)) return `The browser does not compute models with ${name} = ${value}.`;
    } else if (!Object.hasOwn(UNSAID, name)) return `The browser does not know what ${name} means.`;
  }
  if (config.architecture === "encoder-only" && config.window) return "The browser computes windows of decoders only.";
  const missing = SIZES.find((name) => !(name in config));
  return missing ? `The config does not say ${missing}.` : "";
}

export function complete(config: Partial<Config>): Config {
  const chosen = Object.fromEntries(Object.entries(CHOICES).map(([name, [first]]) => [name, first]));
  const all = { ...UNSAID, ...chosen, ...config } as Config;
  const d_head = all.head_width ?? all.d_model / all.n_heads;
  return { ...all, d_head, divisor: all.score_divisor ?? Math.sqrt(d_head) };
}
