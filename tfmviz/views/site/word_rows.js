// Probable words as bars.

import { make } from "../shared/elements.js";
import { barLength, perCent } from "../shared/numbers.js";

/** @param {[word: string, probability: number][]} best */
export const wordRows = (best) =>
  best.map(([word, p]) => {
    const length = make("span", { className: "length", style: { width: barLength(p) } });
    const label = make("span", { className: "label", dir: "auto", textContent: word });
    return make("li", {}, label, make("span", { className: "track" }, length), perCent(p));
  });
