// The boxes of a sentence: a token each, or all tokens that share a character.

/** What a tokenizer made of a text; offsets are in characters, not the units of JavaScript's strings. */
export type Cut = { text: string; labels: string[]; offsets: [number, number][] };

/** From `start` to `end` in the units of strings, without the space before a word, which begins at `reach`. */
export type Box = { tokens: number[]; label: string; reach: number; start: number; end: number };

/** @returns none where there are no tokens */
export function boxesOf({ text, labels, offsets }: Cut): Box[] {
  const places = [0]; // of each character
  for (const character of text) places.push(places[places.length - 1] + character.length);
  const boxes: Box[] = [];
  for (const [token, [from, to]] of offsets.entries()) {
    const [reach, end] = [places[from], places[to]];
    const last = boxes[boxes.length - 1];
    if (last && reach < last.end) {
      last.tokens.push(token);
      last.end = Math.max(last.end, end);
      last.label = text.slice(last.start, last.end);
    } else {
      const piece = text.slice(reach, end);
      const start = piece.trim() ? end - piece.trimStart().length : reach;
      boxes.push({ tokens: [token], label: labels[token], reach, start, end });
    }
  }
  return boxes;
}

export const boxAt = (boxes: Box[], fits: (box: Box) => boolean) => boxes.find(fits) ?? boxes[boxes.length - 1];
