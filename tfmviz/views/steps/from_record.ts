// One head of a text that the browser has read itself, as step by step takes it (`payload` in views/steps).

import type { Engine } from "../engine/engine.ts";
import { weightsOf } from "../engine/weights.ts";
import type { Plain, Sites } from "../shared/record.ts";
import type { HeadFacts } from "./head.ts";

/** Of all sites of the text; with the layer's matrices, unless a view of this head has them. */
export function stepsOf(
  { facts, sites }: Plain,
  engine: Engine,
  { title, layer, head }: { title: string; layer: string; head: number },
  { withWeights = false }: { withWeights?: boolean } = {},
): Plain<HeadFacts> {
  const { config, d_head, positions } = engine.transformer;
  const { n_heads, norm_position } = config;
  const { labels, tokens } = facts.texts.target;
  const before = sites[`${layer.slice(0, layer.lastIndexOf("."))}.resid_pre`];
  const preNorm = norm_position === "pre";
  const found: Sites = { x: preNorm ? sites[`${layer}.norm`] : before, before };
  if (withWeights) Object.assign(found, weightsOf(engine, layer));
  for (const [site, value] of Object.entries(sites)) {
    if (site.startsWith(`${layer}.`)) found[site.slice(layer.length + 1)] ??= value;
  }
  const bias = positions.bias(labels.length, labels.length);
  if (bias) found.bias = { shape: [n_heads, labels.length, labels.length], data: bias };
  const { theta } = positions;
  if (theta) {
    const angles = Array.from(labels, (_, position) => theta.map((rate) => position * rate));
    found.angles = { shape: [labels.length, theta.length], data: Float32Array.from(angles.flat()) };
  }
  const scaling = { divisor: Math.sqrt(d_head), divided: `√${d_head}`, cap: null };
  const how = { preNorm, ...scaling, linear: false, sink: null, normed: false, outNormed: false };
  const texts = { queries: labels, tokens, keys: labels };
  return { facts: { title, layer, head, heads: n_heads, ...texts, ...how }, sites: found };
}
