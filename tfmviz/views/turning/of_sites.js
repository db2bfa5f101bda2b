// The data of the arrows from what the engine computed, as `payload` in __init__.py makes them in Python.

/** @import { Engine } from "../engine/engine.js" */
/** @import { Plain } from "../shared/record.js" */

const [LEAST_TURNS, MOST_TURNS] = [16, 512]; // positions of the sliders, as in __init__.py

/**
 * Null for a model that turns nothing.
 * @param {Plain} record
 * @param {Engine} engine
 * @param {{layer: string, head: number}} shown
 * @returns {Plain | null}
 */
export function turningOf({ facts, sites }, { transformer }, { layer, head }) {
  const { theta } = transformer.positions;
  const tokens = facts.texts.target.labels;
  const last = Math.max(LEAST_TURNS, tokens.length, Math.min(transformer.config.max_len, MOST_TURNS)) - 1;
  return theta && { facts: { layer, head, tokens, theta, last }, sites };
}
