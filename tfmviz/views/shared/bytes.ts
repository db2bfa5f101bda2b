// Characters that the vocabulary holds only as bytes. A token that is a part of 老 is labelled "老 1/3"
// (tfmviz/text/tokenizer.py). Figures write "1/3" beside its cells, and 老 once, at a bracket around all its bytes.

import { type Pen, setPen, strokes } from "./canvas.ts";
import type { Texts } from "./elements.ts";

/** tokens from `start` to before `end` */
export type Run = { start: number; end: number; character: string };

export type Bracketed = Texts & { runs: Run[] };

export const BRACKET = 26; // pixels beside the labels
const OVER = 20; // pixels of this room that the character takes
const BYTE_NAMED = /^(.) (\d)(?:–(\d))?\/(\d)$/su;
const BYTES_NAMED = /([^ -~]) (\d(–\d)?)\/(\d)/gsu;

/** What stands beside the cells of a token: of 老 1/3 only 1/3. */
export function partOf(label: string) {
  const [, , first, last, of] = BYTE_NAMED.exec(label) ?? [];
  return first ? `${first}${last ? `–${last}` : ""}/${of}` : label;
}

/** The same in words: 老, byte 1 of 3. */
export const inWords = (text: string) =>
  text.replace(BYTES_NAMED, (_, one, which, several, of) => `${one}, byte${several ? "s" : ""} ${which} of ${of}`);

/** The characters that are cut into bytes, each with its tokens. The text may end within one. */
export function runsOf(labels: string[]): Run[] {
  const runs: Run[] = [];
  let awaited = ""; // what the next token must be to belong to the same character
  for (const [n, label] of labels.entries()) {
    const [isPart, character, first, last = first, of] = BYTE_NAMED.exec(label) ?? [];
    if (isPart && awaited === `${character}${first}/${of}`) runs[runs.length - 1].end = n + 1;
    else if (isPart) runs.push({ start: n, end: n + 1, character });
    awaited = isPart ? `${character}${Number(last) + 1}/${of}` : "";
  }
  return runs;
}

export const bracketed = (texts: Texts): Bracketed => ({
  ...texts,
  labels: texts.labels.map(partOf),
  runs: runsOf(texts.labels),
});

/** Where the first cell begins, its pixels, where the room of the labels ends, and the pixels of a letter. */
type Along = { from: number; cell: number; edge: number; size: number; colour: string };

/** Draws brackets on a side of labels, in the font that the pen has. A character without room is left out. */
export function paintBrackets(pen: Pen, runs: Run[], side: "left" | "above" | "below", along: Along) {
  const { from, cell, edge, size, colour } = along;
  const away = side === "below" ? 1 : -1; // the way from the labels
  const line = edge + away * (BRACKET - OVER);
  const point = (x: number, y: number): [number, number] => (side === "left" ? [y, x] : [x, y]);
  const inset = Math.min(2, cell / 4);
  let free = Number.NEGATIVE_INFINITY; // where the last character ends
  setPen(pen, { textAlign: "center", textBaseline: "middle" });
  for (const { start, end, character } of runs) {
    const [low, high] = [from + start * cell + inset, from + end * cell - inset];
    const tips = [point(low, line - away * 4), point(high, line - away * 4)];
    const bracket = [tips[0], point(low, line), point(high, line), tips[1]];
    strokes(pen, { strokeStyle: colour, lineWidth: 1.5 }, bracket.flat());
    const middle = (low + high) / 2;
    if (middle - size / 2 < free) continue;
    pen.fillText(character, ...point(middle, line + away * (OVER / 2)));
    free = middle + size / 2;
  }
}
