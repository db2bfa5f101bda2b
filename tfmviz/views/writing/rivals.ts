// The words that stood against each other at one place: a table with a column for every setting, and the shares side by
// side, into which the drawn number falls.

import { button, make, type Properties } from "../shared/elements.ts";
import { barLength, decimal, perCent } from "../shared/numbers.ts";
import { type Place, type Rival, rivalSentence } from "./words.ts";

const WIDE = 0.06; // the smallest share in which a word is written

/**
 * Head and body of the table.
 * @param about `what` heads the words
 */
export function rivalTable(
  place: Place,
  { what, stages, ends, isWritten }: { what: string; stages: string[]; ends: number[]; isWritten: boolean },
) {
  const heads = [what, ...stages].map((textContent) => make("th", { scope: "col", textContent }));
  const rows = place.rivals.map((rival, n) => {
    const name = wordButton(rival, {
      tabIndex: n === 0 ? 0 : -1,
      ariaPressed: String(isWritten && rival.token === place.token),
      ariaLabel: rivalSentence(rival, stages),
      title: ends.includes(rival.token) ? "The end mark cannot be written" : "Put this word here",
      disabled: ends.includes(rival.token),
    });
    const className = rival.token === place.falls ? "falls" : rival.shares.includes(null) ? "gone" : "";
    return make("tr", { className }, make("th", { scope: "row" }, name), ...shareCells(rival));
  });
  return [make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows)];
}

const wordButton = ({ text, token }: Rival, properties: Properties<HTMLButtonElement>) =>
  button(text, { dir: "auto", dataset: { token }, ...properties });

/** What every setting leaves of a word; where it is cut, the row says so and ends. */
function shareCells({ shares }: Rival) {
  const cut = shares.indexOf(null);
  return shares.map((share, n) => {
    if (share === null) return make("td", { className: "cut", textContent: n === cut ? "cut" : "" });
    const bar = make("span", { className: "share", style: { width: barLength(share) } });
    return make("td", {}, make("span", { className: "track" }, bar), make("small", { textContent: perCent(share) }));
  });
}

/** The shares that are left, the largest first, and the number that falls on one. */
export function cumulatedParts({ rivals, number, falls }: Place) {
  const left = rivals
    .map(({ text, token, shares }) => ({ text, token, share: shares[shares.length - 1] ?? 0 }))
    .filter(({ share }) => share > 0)
    .sort((a, b) => b.share - a.share);
  const rest = 1 - left.reduce((sum, { share }) => sum + share, 0);
  const parts = left.map(({ text, token, share }) =>
    part(token === falls ? "part falls" : "part", share > WIDE ? text.trim() : "", share),
  );
  parts.push(part("part rest", rest > WIDE ? "all others" : "", Math.max(0, rest)));
  if (number === null) return parts;
  const pin = make("span", { className: "pin", style: { left: `${100 * number}%` } });
  pin.append(make("b", { textContent: decimal(number, 3) }));
  return [...parts, pin];
}

const part = (className: string, textContent: string, share: number) =>
  make("span", { className, textContent, style: { width: `${100 * share}%` } });
