// Which words are probable, as bars, and where.

import { make } from "../shared/elements.ts";
import { UNFILLED } from "../shared/first.ts";
import { barLength, perCent } from "../shared/numbers.ts";

export const wordRows = (best: [word: string, probability: number][]) =>
  best.map(([word, p]) => {
    const length = make("span", { className: "length", style: { width: barLength(p) } });
    const label = make("span", { className: "label", dir: "auto", textContent: word });
    return make("li", {}, label, make("span", { className: "track" }, length), perCent(p));
  });

/** The token after which words are listed, or the gap for which they are: the chosen one, a gap, the last one. */
export function positionOf(tokens: string[], chosen: number | null, fillsGaps: boolean) {
  const at = chosen ?? tokens.findIndex((token) => fillsGaps && UNFILLED.test(token));
  return at < 0 || at >= tokens.length ? tokens.length - 1 : at;
}

export function questionOf(tokens: string[], position: number, fillsGaps: boolean) {
  const read = tokens.slice(0, position + 1).join("");
  return fillsGaps ? `Candidates for token ${position}` : `Next after “${read.slice(-60)}”`;
}
