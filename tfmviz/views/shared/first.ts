// Where a text is looked at first.

import { TYPED_GAP } from "./constants.ts";

/** A token that is a gap, where the model fills gaps. */
export const UNFILLED = new RegExp(`^${TYPED_GAP}$`);

/** The token to look at (`nearest` in ui/sentences.py): the chosen one, a gap, an example's own word, the last word. */
export function firstOf(tokens: string[], chosen: number | null, own = "", fillsGaps = false) {
  const last = tokens.length - 1;
  if (chosen !== null) return Math.min(chosen, last);
  const gap = fillsGaps ? tokens.findIndex((token) => UNFILLED.test(token)) : -1;
  if (gap >= 0) return gap;
  const word = own ? tokens.map((token) => token.trim()).lastIndexOf(own) : -1;
  if (word >= 0) return word;
  const any = tokens.map((token) => /[\p{L}\p{N}]/u.test(token)).lastIndexOf(true);
  return any < 0 ? last : any;
}
