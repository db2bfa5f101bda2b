// The data of the arrows from what the engine computed, as `payload` in __init__.py makes them in Python.

import type { Engine } from "../engine/engine.ts";
import { FEWEST_TURNS, MOST_TURNS } from "../shared/constants.ts";
import type { Plain } from "../shared/record.ts";

/** Null for a model that turns nothing. */
export function turningOf({ facts, sites }: Plain, { transformer }: Engine, head: { layer: string; head: number }) {
  const { theta } = transformer.positions;
  const tokens = facts.texts.target.labels;
  const last = Math.max(FEWEST_TURNS, tokens.length, Math.min(transformer.config.max_len, MOST_TURNS)) - 1;
  return theta && { facts: { ...head, tokens, theta, last }, sites };
}
