// The shares of the words at one place: what every setting leaves of each, and all side by side with the drawn number.

import { barLength, decimal, perCent } from "../shared/numbers.ts";
import { drawWords, type Place, type Rival } from "./words.ts";

const WIDE = 0.06; // the smallest share in which a word is written

/** What every setting leaves of a word; where it is cut, the row says so and ends. */
export const Shares = ({ shares }: Pick<Rival, "shares">) =>
  shares.map((share, n) =>
    share === null ? (
      <td key={n} class="cut">
        {n === shares.indexOf(null) && "cut"}
      </td>
    ) : (
      <td key={n}>
        <span class="track">
          <span class="share" style={{ width: barLength(share) }} />
        </span>
        <small>{perCent(share)}</small>
      </td>
    ),
  );

/** The shares that are left, the largest first, and the number that falls on one. */
export function Cumulated({ place }: { place: Place }) {
  const { rivals, number, falls } = place;
  const left = rivals
    .map(({ text, token, shares }) => ({ text: text.trim(), token, share: shares[shares.length - 1] ?? 0 }))
    .filter(({ share }) => share > 0)
    .sort((a, b) => b.share - a.share);
  const rest = Math.max(0, 1 - left.reduce((sum, { share }) => sum + share, 0));
  return (
    <div class="cumulated" role="img" aria-label={drawWords(place, false)}>
      {[...left, { text: "all others", token: null, share: rest }].map(({ text, token, share }) => (
        <span
          key={token}
          class={`part${token === null ? " rest" : token === falls ? " falls" : ""}`}
          style={{ width: `${100 * share}%` }}
        >
          {share > WIDE && text}
        </span>
      ))}
      {number !== null && (
        <span class="pin" style={{ left: `${100 * number}%` }}>
          <b>{decimal(number, 3)}</b>
        </span>
      )}
    </div>
  );
}
