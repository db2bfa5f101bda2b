// What the view of a translation says in words, and which steps it shows.

import { perCent } from "../shared/numbers.ts";
import { quoted } from "../shared/quoted.ts";

export interface Written {
  reads: string; // the last word that the decoder has read
  writes: string;
  p: number; // what the model gave the word
  weights: number[]; // attention to each word of the source
}

/** Which of the `shown` steps is looked at: the one asked for if it is written, else the last one; null before. */
export const lookedAt = (shown: number, asked: number | null) =>
  asked !== null && asked < shown ? asked : shown ? shown - 1 : null;

/** How many steps are written: all of them if nothing else was chosen. */
export const shownOf = (asked: number | null, most: number) =>
  asked === null ? most : Math.max(0, Math.min(asked, most));

/** The words of the source that a step looks at most, the first first. */
export const strongest = (weights: number[], n: number) =>
  weights
    .map((weight, position) => ({ weight, position }))
    .sort((a, b) => b.weight - a.weight || a.position - b.position)
    .slice(0, n);

/** A step, counted from 0, for screen readers and for the line under the figure. */
export function stepSentence({ reads, writes, p, weights }: Written, source: string[], n: number) {
  const looks = strongest(weights, 3)
    .map(({ weight, position }) => `${quoted(source, position)} ${perCent(weight)}`)
    .join(", ");
  const does = `the decoder reads “${reads}” and writes “${writes}” (${perCent(p)})`;
  return `Step ${n + 1}: ${does}. It looks most at ${looks}.`;
}
