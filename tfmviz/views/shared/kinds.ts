// How a token's name looks, wherever it stands: a special token is a grey chip, pieces of one word share an outline.

const SPECIAL = /^(?:<[^\s<>]+>|\[[A-Z]{2,}\]|⏎)$/;
const SHORT: Record<string, string> = { "<|endoftext|>": "end", "⏎": "new line" };
const OPENS = /^['’]?[\p{L}\p{M}\p{N}]/u;
const CLOSES = /[\p{L}\p{M}\p{N}]['’]?$/u;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u; // words without a gap

/** A label in parts; those are chips that stand for no text, or for a new line. */
export const partsOf = (label: string) =>
  label.split(/( )/).map((part) => ({ text: SHORT[part] ?? part, isChip: SPECIAL.test(part) }));

/** Classes of tokens in a row: "on" where the next one is a piece of the same word, "joined" where the last one is. */
export function joinsOf(tokens: string[]) {
  const isSpaced = tokens.some((token) => token.length > 1 && token.startsWith(" "));
  const joins = tokens.map((token, n) => {
    if (n === 0 || UNSPACED.test(tokens[n - 1] + token)) return false;
    return token.startsWith("##") || (isSpaced && OPENS.test(token) && CLOSES.test(tokens[n - 1]));
  });
  return joins.map((isJoined, n) => [isJoined && "joined", joins[n + 1] && "on"].filter(Boolean).join(" "));
}
