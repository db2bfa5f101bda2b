// What the view of writing says in words.

import { decimal, perCent } from "../shared/numbers.js";

/**
 * One place of the text: the token that stands there, and what stood against it.
 * @typedef {object} Place
 * @property {number} token
 * @property {string} text
 * @property {number} p what the model gave the token
 * @property {number} left what the settings left of that
 * @property {number} entropy of the model's distribution, in nats
 * @property {number | null} number the one that falls into the cumulated distribution; null: nothing is drawn
 * @property {number} falls the token that it falls on, or the most probable one
 * @property {number} low where the part of that token begins
 * @property {number} high
 * @property {Rival[]} rivals
 */

/** @typedef {{token: number, text: string, shares: (number | null)[]}} Rival shares by stage; null: cut away */

export const LEGEND = "Colour: probability, dark 0 to yellow 1. Line: entropy.";

/**
 * A word of the text for the pointer and for screen readers.
 * @param {Place} place
 * @param {number} n
 */
export const wordSentence = ({ text, p, entropy }, n) =>
  `Word ${n + 1} “${text.trim() || text}”: probability ${perCent(p)}, entropy ${decimal(entropy)} nats`;

/**
 * How undecided the model was.
 * @param {number} entropy
 */
export function entropyWords(entropy) {
  const equal = Math.exp(entropy);
  const among = decimal(equal, equal < 10 ? 1 : 0);
  return `Entropy ${decimal(entropy)} nats, as among ${among} equally likely tokens.`;
}

/**
 * The draw at a place.
 * @param {Place} place
 * @param {boolean} isWritten whether the token stands in the text already
 */
export function drawWords({ token, text, number, low, high, falls, rivals }, isWritten) {
  const name = (/** @type {number} */ id) => rivals.find((rival) => rival.token === id)?.text ?? text;
  const chosen = `“${name(falls).trim() || name(falls)}”`;
  if (number === null) {
    const taken = `Greedy: the most probable token, ${chosen}.`;
    return isWritten && falls !== token ? `${taken} You have put another here.` : taken;
  }
  const [drawnAt, from, to] = [number, low, high].map((value) => decimal(value, 3));
  const drawn = `${drawnAt} falls between ${from} and ${to}, on ${chosen}.`;
  if (!isWritten || falls === token) return drawn;
  return `${drawn} You or other settings chose this word.`;
}

/**
 * A rival for screen readers: "the": model 12%, temperature 0.8 15%, cut by top-k 40.
 * @param {Rival} rival
 * @param {string[]} stages
 */
export function rivalSentence({ text, shares }, stages) {
  const parts = [];
  for (const [n, share] of shares.entries()) {
    if (share === null) {
      parts.push(`cut by ${stages[n]}`);
      break;
    }
    parts.push(`${stages[n]} ${perCent(share)}`);
  }
  return `“${text.trim() || text}”: ${parts.join(", ")}`;
}
