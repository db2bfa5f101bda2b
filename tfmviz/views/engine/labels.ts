// Tokens as labels, as tfmviz/words/labels.py makes them: every character visible.

import { LABEL_LENGTH, VISIBLE } from "../shared/constants.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: white space to Python
const ONLY_SPACE = /^[\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/;
const UNSEEN = /[\p{Cf}\p{Zs}\p{Zl}\p{Zp}]/u; // joiners, direction marks, odd spaces
const SIGNS = new Map(Object.entries(VISIBLE));

/** A token as a person would point at it; a long one is shortened in its middle. */
export function visible(token: string) {
  const shown = Array.from(wholeLabel(token));
  if (shown.length <= LABEL_LENGTH) return shown.join("");
  return `${shown.slice(0, LABEL_LENGTH - 5).join("")}…${shown.slice(-4).join("")}`;
}

/** All of a token without the space that begins a word; what cannot be seen gets a visible sign. */
export function wholeLabel(token: string) {
  const word = ONLY_SPACE.test(token) ? token : token.replace(/^ /, "");
  const inner = word.replace(/^ +| +$/g, "");
  const left = /^ */.exec(word)?.[0].length ?? 0;
  const right = inner ? word.length - left - inner.length : 0;
  const sign = /^\p{Mn}*$/u.test(inner) ? numbered : shownSign; // accents alone have nothing to sit on
  return `${"␣".repeat(left)}${Array.from(inner, sign).join("")}${"␣".repeat(right)}`;
}

function shownSign(character: string) {
  if (/\p{Cc}/u.test(character)) return SIGNS.get(character) ?? `[${hex(character).padStart(2, "0")}]`;
  return UNSEEN.test(character) ? (SIGNS.get(character) ?? numbered(character)) : character;
}

const numbered = (character: string) => `[${hex(character).padStart(4, "0")}]`;

const hex = (character: string) => (character.codePointAt(0) as number).toString(16).toUpperCase();
