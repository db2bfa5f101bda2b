// Which words are probable, as bars, and where.

import { make } from "../shared/elements.ts";
import { UNFILLED } from "../shared/first.ts";
import { barLength, perCent } from "../shared/numbers.ts";
import type { Site } from "./site.ts";

/** So many words after the chosen token, the last one if none is, or for a gap; and the question that they answer. */
export function nextWords({ engine, facts, place }: Site, count: number, temperature = 1) {
  if (!engine || !facts) return { textContent: "", rows: [] };
  const { tokens } = facts.texts.target;
  const { fillsGaps } = engine.tokenizer;
  const at = place.token ?? tokens.findIndex((token) => fillsGaps && UNFILLED.test(token));
  const position = at < 0 || at >= tokens.length ? tokens.length - 1 : at;
  const read = tokens.slice(0, position + 1).join("");
  const textContent = fillsGaps ? `Candidates for token ${position}` : `Next after “${read.slice(-60)}”`;
  const rows = engine.likeliest(position, count, temperature).map(([word, p]) => {
    const length = make("span", { className: "length", style: { width: barLength(p) } });
    const label = make("span", { className: "label", dir: "auto", textContent: word });
    return make("li", {}, label, make("span", { className: "track" }, length), perCent(p));
  });
  return { textContent, rows };
}
