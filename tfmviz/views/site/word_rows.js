// Which words are probable, as bars, and where.

import { make } from "../shared/elements.js";
import { barLength, perCent } from "../shared/numbers.js";

/** @param {[word: string, probability: number][]} best */
export const wordRows = (best) =>
  best.map(([word, p]) => {
    const length = make("span", { className: "length", style: { width: barLength(p) } });
    const label = make("span", { className: "label", dir: "auto", textContent: word });
    return make("li", {}, label, make("span", { className: "track" }, length), perCent(p));
  });

/**
 * The token after which words are listed, or the gap for which they are: the chosen one, a gap, the last one.
 * @param {string[]} tokens
 * @param {number | null} chosen
 * @param {boolean} fillsGaps whether ___ is a gap for this model
 */
export function positionOf(tokens, chosen, fillsGaps) {
  const at = chosen ?? tokens.findIndex((token) => fillsGaps && /^ ?_{3,}$/.test(token));
  return at < 0 || at >= tokens.length ? tokens.length - 1 : at;
}

/**
 * What is asked there.
 * @param {string[]} tokens
 * @param {number} position
 * @param {boolean} fillsGaps
 */
export function questionOf(tokens, position, fillsGaps) {
  const read = tokens.slice(0, position + 1).join("");
  return fillsGaps ? `What may stand at token ${position}` : `What comes after “${read.slice(-60)}”`;
}
