// One head of a text that the browser has read itself, as step by step takes it (`payload` in views/steps).

/** @import { Engine } from "../engine/engine.js" */
/** @import { Plain, Sites } from "../shared/record.js" */
import { weightsOf } from "../engine/weights.js";

/**
 * @param {Plain} plain all sites of the text
 * @param {Engine} engine that has computed them
 * @param {{title: string, layer: string, head: number}} shown
 * @param {{withWeights?: boolean}} [wishes] whether the layer's matrices are there too; a view of this head has them
 * @returns {Plain}
 */
export function stepsOf({ facts, sites }, engine, { title, layer, head }, { withWeights = false } = {}) {
  const { config, positions } = engine.transformer;
  const { d_head, divisor, n_heads, norm_position } = config;
  const { labels } = facts.texts.target;
  const before = sites[`${layer.slice(0, layer.lastIndexOf("."))}.resid_pre`];
  const preNorm = norm_position === "pre";
  /** @type {Sites} */
  const found = { x: preNorm ? sites[`${layer}.norm`] : before, before };
  if (withWeights) Object.assign(found, weightsOf(engine, layer));
  for (const [site, value] of Object.entries(sites)) {
    if (site.startsWith(`${layer}.`)) found[site.slice(layer.length + 1)] ??= value;
  }
  const bias = positions.bias(labels.length, labels.length);
  if (bias) found.bias = { shape: [n_heads, labels.length, labels.length], data: bias };
  const { theta } = positions;
  if (theta) {
    const angles = Float32Array.from({ length: labels.length * theta.length }, (_, n) => angleOf(theta, n));
    found.angles = { shape: [labels.length, theta.length], data: angles };
  }
  const divided = Math.abs(divisor - Math.sqrt(d_head)) < 1e-9 * divisor ? `√${d_head}` : plainly(divisor);
  const how = { preNorm, divisor, divided, cap: null, linear: false, sink: null, normed: false, outNormed: false };
  return { facts: { title, layer, head, queries: labels, keys: labels, heads: n_heads, ...how }, sites: found };
}

/**
 * By how much a pair of coordinates turns, as the model computes it.
 * @param {number[]} theta
 * @param {number} n
 */
const angleOf = (theta, n) => Math.floor(n / theta.length) * theta[n % theta.length];

/** @param {number} divisor */
const plainly = (divisor) => (divisor === 1 ? "" : String(Number(divisor.toPrecision(4))));
