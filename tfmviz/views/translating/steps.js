// What the view of a translation says in words, and which steps it shows.

import { perCent } from "../shared/numbers.js";
import { quoted } from "../shared/quoted.js";

/**
 * One word that is written.
 * @typedef {object} Written
 * @property {string} reads the last word that the decoder has read
 * @property {string} writes
 * @property {number} p what the model gave the word
 * @property {number[]} weights attention to each word of the source
 */

/**
 * Which step is looked at: the one asked for if it is written, else the last one; null before the first.
 * @param {number} shown how many are written
 * @param {number | null} asked
 */
export const lookedAt = (shown, asked) => (asked !== null && asked < shown ? asked : shown ? shown - 1 : null);

/**
 * How many steps are written: all of them if nothing else was chosen.
 * @param {number | null} asked
 * @param {number} most
 */
export const shownOf = (asked, most) => (asked === null ? most : Math.max(0, Math.min(asked, most)));

/**
 * The words of the source that a step looks at most, the first first.
 * @param {number[]} weights
 * @param {number} n
 */
export const strongest = (weights, n) =>
  weights
    .map((weight, position) => ({ weight, position }))
    .sort((a, b) => b.weight - a.weight || a.position - b.position)
    .slice(0, n);

/**
 * A step for screen readers and for the line under the figure.
 * @param {Written} step
 * @param {string[]} source
 * @param {number} n from 0
 */
export function stepSentence({ reads, writes, p, weights }, source, n) {
  const looks = strongest(weights, 3)
    .map(({ weight, position }) => `${quoted(source, position)} ${perCent(weight)}`)
    .join(", ");
  const does = `the decoder reads “${reads}” and writes “${writes}” (${perCent(p)})`;
  return `Step ${n + 1}: ${does}. It looks most at ${looks}.`;
}
