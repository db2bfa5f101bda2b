// Names along the cells of a picture: level where they fit, else slanted at 45°, never upright.

import { fitted, type Pen } from "./canvas.ts";
import { partsOf } from "./kinds.ts";

/** the side of a square over its diagonal: what a slanted text takes of width and height for a pixel of its length */
export const SLANT = Math.SQRT1_2;

const SMALLEST = 9; // pixels of letters; on a projector those of all pictures
const APART = 1.25; // pixels from one slanted line to the next along the axis, for each pixel of its letters
const BESIDE = 8; // pixels between two level names
const AWAY = 5; // pixels between names and cells

/** Every `step`-th is drawn, in letters of `size` pixels; `room` is what they need above or below the cells. */
export type Names = Written & { step: number; room: number };

type Written = { size: number; isSlanted: boolean };

type Letters = { letters: number; least: number };

export const cut = (label: string) => (label.length > 12 ? `${label.slice(0, 11)}…` : label);

const smallest = (least: number) => (least > 12 ? least : SMALLEST);

/** Pixels of the smallest cells that all have names. */
export const smallestNamed = (least: number) => APART * smallest(least);

export type Measure = (name: string, size: number) => number;

/** How names stand along cells that are `wide` pixels wide; `longest` pixels of a slanted one are seen. */
export function across(names: string[], wide: number, measure: Measure, { letters, least }: Letters, longest: number) {
  const widest = (size: number) => Math.max(0, ...names.map((name) => measure(name, size)));
  for (let size = letters; size >= least; size--)
    if (widest(size) + BESIDE <= wide) return { step: 1, size, isSlanted: false, room: size + 2 * AWAY };
  const { step, size } = thinned(wide / APART, { letters, least });
  const length = Math.min(longest, widest(size)) + size;
  return { step, size, isSlanted: true, room: Math.ceil(SLANT * length) + 2 * AWAY };
}

/** How many names are drawn where each has `pitch` pixels: all, in smaller letters if need be, or every n-th. */
export function thinned(pitch: number, { letters, least }: Letters) {
  if (pitch >= smallest(least)) return { step: 1, size: Math.min(letters, Math.floor(pitch)) };
  return { step: Math.ceil((letters + 1) / pitch), size: letters };
}

/** How far slanted names stand out over the edge of the cells, in pixels; the names are counted from there. */
export function reach(names: string[], wide: number, measure: Measure, { size, isSlanted }: Names, longest: number) {
  if (!isSlanted) return 0;
  const length = (name: string) => Math.min(longest, measure(name, size)) + size / 2;
  return Math.max(0, ...names.map((name, n) => SLANT * length(name) - (n + 0.5) * wide));
}

/** The middle of a column and the edge of its cells; a box has the pen's `strokeStyle`. */
type At = { x: number; y: number; side: "above" | "below"; longest: number; isBoxed?: boolean };

/** Writes a name in the middle of its cell's column; the end of a slanted one stands there. */
export function writeName(pen: Pen, name: string, { x, y, side, longest, isBoxed }: At, { size, isSlanted }: Written) {
  const away = (side === "above" ? -1 : 1) * (AWAY + size / 2);
  pen.save();
  pen.translate(x, y + (isSlanted ? SLANT * away : away));
  if (isSlanted) pen.rotate(-Math.PI / 4);
  pen.textAlign = !isSlanted ? "center" : side === "above" ? "left" : "right";
  const [left, top, wide, high] = writeToken(pen, name, [0, 0], size, isSlanted ? longest : undefined);
  if (isBoxed) pen.strokeRect(left, top, wide, high);
  pen.restore();
}

const CHIP = 0.16; // opacity of the letters' own colour

/** Writes a token's name, cut to `longest` pixels, special ones on a grey chip. Returns the box around it. */
export function writeToken(pen: Pen, name: string, [x, y]: [number, number], size: number, longest = Infinity) {
  const parts = partsOf(name);
  const texts = parts.map((part) => part.text);
  const text = fitted(pen, texts.join(""), longest);
  const width = pen.measureText(text).width;
  const left = { left: 0, center: -width / 2, right: -width }[pen.textAlign as "left" | "center" | "right"];
  const { globalAlpha } = pen;
  pen.globalAlpha = CHIP;
  for (const [n, part] of parts.entries()) {
    if (!part.isChip) continue;
    const from = x + left + pen.measureText(texts.slice(0, n).join("")).width - 3;
    pen.fillRect(from, y - 0.6 * size, Math.min(pen.measureText(part.text).width, width) + 6, 1.2 * size);
  }
  pen.globalAlpha = globalAlpha;
  pen.fillText(text, x, y);
  return [x + left - 3, y - 0.6 * size, width + 6, 1.2 * size] as const;
}
