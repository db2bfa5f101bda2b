// One place of the text in words, and the shares of its words: what every setting leaves of each, and all side by side
// with the drawn number.

import { barLength, decimal, perCent } from "../shared/numbers.ts";

/** One place of the text: the token that stands there, and what stood against it. */
export interface Place {
  token: number;
  text: string;
  p: number; // what the model gave the token
  left: number; // what the settings left of that
  entropy: number; // of the model's distribution, in nats
  number: number | null; // the one that falls into the cumulated distribution; null: nothing is drawn
  falls: number; // the token that it falls on, or the most probable one
  low: number; // where the part of that token begins
  high: number;
  rivals: Rival[];
}

/** shares by stage; null: cut away */
export type Rival = { token: number; text: string; shares: (number | null)[] };

export function entropyWords(entropy: number) {
  const equal = Math.exp(entropy);
  const among = decimal(equal, equal < 10 ? 1 : 0);
  return `Entropy ${decimal(entropy)} nats: as uncertain as a choice among ${among} equally likely tokens.`;
}

/** The draw at a place; `isWritten`: the token stands in the text already. */
export function drawWords({ token, text, number, low, high, falls, rivals }: Place, isWritten: boolean) {
  const name = (id: number) => rivals.find((rival) => rival.token === id)?.text ?? text;
  const chosen = `“${name(falls).trim() || name(falls)}”`;
  if (number === null) {
    const taken = `Greedy: the most probable token, ${chosen}.`;
    return isWritten && falls !== token ? `${taken} You chose another one.` : taken;
  }
  const [drawnAt, from, to] = [number, low, high].map((value) => decimal(value, 3));
  const drawn = `${drawnAt} falls between ${from} and ${to}, on ${chosen}.`;
  if (!isWritten || falls === token) return drawn;
  return `${drawn} You, or other settings, chose this word.`;
}

/** A rival for screen readers: "the": model 12%, temperature 0.8 15%, cut by top-k 40. */
export function rivalSentence({ text, shares }: Rival, stages: string[]) {
  const cut = shares.indexOf(null);
  const kept = shares.slice(0, cut < 0 ? shares.length : cut).map((share, n) => `${stages[n]} ${perCent(share ?? 0)}`);
  const parts = [...kept, ...(cut < 0 ? [] : [`cut by ${stages[cut]}`])];
  return `“${text.trim() || text}”: ${parts.join(", ")}`;
}

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
