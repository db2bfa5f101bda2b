// Probabilities as bars, the largest first; a bar as long as its ground would be certainty. Labels become text, never
// HTML.

import { make } from "../shared/elements.js";
import { barLength } from "../shared/numbers.js";

/** @typedef {[label: string, probability: number, written: string]} Row how it is written stands at the end */

/** @param {{data: Row[], parentElement: any}} component */
export default function ({ data, parentElement }) {
  parentElement.list_ ??= parentElement.appendChild(make("ol"));
  parentElement.list_.replaceChildren(...data.map(row));
}

/** @param {Row} row */
function row([label, probability, written]) {
  const bar = make("span", { className: "bar", style: { width: barLength(probability) } });
  const number = make("span", { className: "number", textContent: written });
  return make(
    "li",
    {},
    make("span", { className: "label", dir: "auto", textContent: label }),
    make("span", { className: "track" }, bar, number),
  );
}
