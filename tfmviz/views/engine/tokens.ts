// Byte-level byte-pair encoding, as tfmviz/text/tokenizer.py does it: text to tokens, and the characters of each;
// and labels for tokens, as tfmviz/words/labels.py makes them: every character visible.

import { LABEL_LENGTH, MASK, MASK_TOKEN, TYPED_GAP, VISIBLE } from "../shared/constants.ts";

export type Encoding = {
  ids: number[];
  tokens: string[];
  offsets: [number, number][]; // in characters, not the units of JavaScript's strings
  dropped: number; // how many tokens were left out at the end
};

/** What is read of the file of a byte-level tokenizer. */
export type TokenizerFile = { model: { vocab: Record<string, number>; merges: (string | string[])[] } };

const SPACE = "\\p{White_Space}";
/** GPT-2's rule: endings after an apostrophe; letters, digits or signs with the space before them; space. */
const WORD = new RegExp(
  `'(?:[stmd]|re|ve|ll)| ?\\p{L}+| ?\\p{N}+| ?[^${SPACE}\\p{L}\\p{N}]+|${SPACE}+(?!\\P{White_Space})|${SPACE}+`,
  "gu",
);
const GAP = new RegExp(`(${TYPED_GAP})`);

/** What browser and server may sort differently, as Unicode has grown: rare scripts, and new characters of others. */
const RARE = new RegExp(
  `[${"88f 897 c5c cdc ece 171e 1acf-1aff a7ce-a7db a7f1 10000-1d3ff 1d800-1eeff 2a6de-dffff"
    .replace(/[\da-f]+/g, "\\u{$&}")
    .replaceAll(" ", "")}]`,
  "u",
);

const LONGEST_TEXT = 20_000;

export type ByteTokens = ReturnType<typeof byteTokens>;

export function byteTokens({ model }: TokenizerFile) {
  const vocab = new Map(Object.entries(model.vocab));
  const ranks = new Map(model.merges.map((pair, rank) => [Array.isArray(pair) ? pair.join(" ") : pair, rank]));
  const spellings: string[] = [];
  for (const [spelling, index] of vocab) spellings[index] = spelling;
  const fillsGaps = spellings[MASK] === MASK_TOKEN;

  /** Whether a text becomes exactly the tokens here that it becomes on the server. */
  const knows = (text: string) => text.length <= LONGEST_TEXT && !RARE.test(text);

  /** The tokens of a word: the most urgent pair is joined until no pair is left. */
  const tokensOf = (word: string) => {
    const symbols = Array.from(new TextEncoder().encode(word), (byte) => ALPHABET[byte]);
    const rankAt = (n: number) => ranks.get(`${symbols[n]} ${symbols[n + 1]}`) ?? Number.POSITIVE_INFINITY;
    const urgent = symbols.slice(1).map((_, n) => rankAt(n));
    while (urgent.length) {
      let best = 0;
      for (let n = 1; n < urgent.length; n++) if (urgent[n] < urgent[best]) best = n;
      if (urgent[best] === Number.POSITIVE_INFINITY) break;
      symbols.splice(best, 2, symbols[best] + symbols[best + 1]);
      urgent.splice(best, 1);
      if (best > 0) urgent[best - 1] = rankAt(best - 1);
      if (best < urgent.length) urgent[best] = rankAt(best);
    }
    return symbols.map((symbol) => vocab.get(symbol) as number);
  };

  /** @param maxLen the most tokens that are kept */
  const encode = (text: string, maxLen: number): Encoding => {
    const broken = Array.from(text).findIndex((character) => /\p{Cs}/u.test(character));
    if (broken >= 0) throw new Error(`Character ${broken + 1} of the text is not valid Unicode (a lone surrogate).`);
    if (!knows(text)) throw new Error("The server has to tokenise this text.");
    const found: { id: number; token: string; span: [number, number] }[] = [];
    let start = 0;
    for (const part of fillsGaps ? text.split(GAP) : [text]) {
      const characters = Array.from(part);
      if (fillsGaps && GAP.exec(part)?.[0] === part) {
        found.push({ id: MASK, token: part, span: [start, start + characters.length] });
      } else {
        const ids = (part.match(WORD) ?? []).flatMap(tokensOf);
        const sizes = ids.map((id) => spellings[id].length);
        for (const [n, { token, from, to }] of located(characters, sizes).entries())
          found.push({ id: ids[n], token, span: [start + from, start + to] });
      }
      start += characters.length;
    }
    const kept = found.slice(0, maxLen);
    return {
      ids: kept.map(({ id }) => id),
      tokens: kept.map(({ token }) => token),
      offsets: kept.map(({ span }) => span),
      dropped: found.length - kept.length,
    };
  };

  return { vocabulary: spellings.map(readable), fillsGaps, knows, encode }; // one readable string per entry
}

/** An entry that is only a part of a character reads like "[byte E4]". */
function readable(spelling: string) {
  const bytes = Uint8Array.from(spelling, (character) => BYTE_OF.get(character) ?? 0);
  try {
    return UTF8.decode(bytes);
  } catch {
    return `[byte ${Array.from(bytes, (byte) => byte.toString(16).toUpperCase().padStart(2, "0")).join(" ")}]`;
  }
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

let hidden = 0x100;
/** GPT-2's printable alphabet: visible Latin-1 characters stand for themselves, those from U+0100 on for the others. */
const ALPHABET = Array.from({ length: 256 }, (_, byte) => {
  const isVisible = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
  return String.fromCharCode(isVisible ? byte : hidden++);
});
const BYTE_OF = new Map(ALPHABET.map((character, byte) => [character, byte]));

/** The readable string of each token and its span, from their sizes in bytes. Joined, tokens are the text's UTF-8. */
function located(characters: string[], sizes: number[]) {
  const firstByte = [0]; // of each character
  for (const [n, character] of characters.entries()) {
    const code = character.codePointAt(0) as number;
    firstByte.push(firstByte[n] + (code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4));
  }
  let from = 0;
  let stop = 0;
  return sizes.map((size) => {
    const begin = stop;
    stop += size;
    while (firstByte[from + 1] <= begin) from++;
    let to = from + 1;
    while (firstByte[to] < stop) to++;
    const notes = characters.slice(from, to).map((character, n) => {
      const [first, last] = [firstByte[from + n], firstByte[from + n + 1]];
      const [low, high] = [Math.max(begin - first, 0) + 1, Math.min(stop, last) - first];
      if (high - low + 1 === last - first) return character;
      return `${character} ${low === high ? low : `${low}–${high}`}/${last - first}`;
    });
    return { token: notes.join(""), from, to };
  });
}

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
