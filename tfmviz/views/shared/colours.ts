// Colours with fixed meanings: cividis is a share of attention, grey is masked, blue looks, vermilion is looked at,
// teal is the probability of a word. `tfmviz/colours.json` holds them; all but cividis come with the page's style.

import table from "../../colours.json" with { type: "json" };
import { contextOf } from "./canvas.ts";
import { LETTER_SIZE } from "./constants.ts";

/** red, green and blue, 0 to 255 */
export type Rgb = number[];

/** `hatch`: of lines across what is masked; `looks`: of a query, `looked`: of a key; `soft`: of what has no value. */
const NAMED = ["ground", "masked", "hatch", "looks", "looked", "accent", "grid", "soft"] as const;

export interface Colours extends Record<(typeof NAMED)[number], string> {
  text: string;
  maskedPacked: number; // see `packed`
  roles: Record<string, string>; // the theme's other colours, by what they are for (`variables` in theme.py)
  isDark: boolean;
  areVeiled: boolean; // values are hidden, see guessing.ts
  font: string;
  letters: number; // pixels of the usual letters; more on a projector too
  least: number; // pixels of the smallest letters; more on a projector (see ui/projected.css)
}

const ROLES = ["q", "k", "v", "x", "score", "mlp", "norm", "position", "faint", "below", "zero", "above"];
ROLES.push("little", "middling", "much", "probability", "plain");

/** "#rrggbb" as three bytes. */
export const bytesOf = (hex: string): Rgb => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

export const mixed = (from: Rgb, to: Rgb, part: number): Rgb =>
  from.map((value, i) => Math.round(value + (to[i] - value) * part));

const STOPS = table.cividis.map(bytesOf); // Matplotlib's, at ten places from its beginning to its end

/** A colour between some that lie at even steps, at a place from 0 to 1. */
export function between(stops: Rgb[], place: number): Rgb {
  const at = place * (stops.length - 1);
  const low = Math.max(0, Math.min(Math.floor(at), stops.length - 2));
  return mixed(stops[low], stops[low + 1] ?? stops[low], at - low);
}

export const RAMP: Rgb[] = Array.from({ length: 256 }, (_, n) => between(STOPS, n / 255));

/** A colour as ImageData stores it; 0 is none. */
export const packed = ([r, g, b]: number[]) => (255 << 24) | (b << 16) | (g << 8) | r;

const PACKED = Uint32Array.from(RAMP, packed);

/** @param shade 0 to 1, the place in `RAMP` */
export const shadeIndex = (shade: number) => Math.min(255, Math.round(shade * 255));

export const packedShade = (shade: number) => PACKED[shadeIndex(shade)];

export const css = (shade: number) => `rgb(${RAMP[shadeIndex(shade)].join(" ")})`;

export function pixels(width: number, height: number, colourOf: (n: number) => number) {
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  const context = contextOf(canvas);
  const image = context.createImageData(width, height);
  const all = new Uint32Array(image.data.buffer);
  for (let n = 0; n < all.length; n++) all[n] = colourOf(n);
  context.putImageData(image, 0, 0);
  return canvas;
}

/** Black or white, whichever can be read on a colour: the contrast is 4.58 at least. */
export const inkOnRgb = (rgb: Rgb) => (luminance(rgb) > 0.179 ? "black" : "white");

/** The colour of a word's probability: small ones stay visible, it grows with the square root. */
export const probable = (p: number, { little, probability }: Record<string, string>) =>
  mixed(bytesOf(little), bytesOf(probability), Math.sqrt(p));

export const painted = (rgb: Rgb) => ({ background: `rgb(${rgb.join(" ")})`, color: inkOnRgb(rgb) });

export const inkOn = (shade: number) => inkOnRgb(RAMP[shadeIndex(shade)]);

export function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element);
  const read = (name: string) => style.getPropertyValue(name).trim();
  const least = Number(read("--least-letters")) || 12;
  const all = <Name extends string>(names: readonly Name[]) =>
    Object.fromEntries(names.map((name) => [name, read(`--${name}`)])) as Record<Name, string>;
  return {
    ...all(NAMED),
    text: style.color,
    maskedPacked: packed(bytesOf(read("--masked"))),
    roles: all(ROLES),
    isDark: element instanceof HTMLElement && element.dataset.dark === "true",
    areVeiled: element instanceof HTMLElement && element.dataset.veiled === "true",
    font: style.fontFamily,
    letters: Math.max(LETTER_SIZE, least),
    least,
  };
}

function luminance(rgb: number[]) {
  const linear = (value: number) => (value <= 10 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const [red, green, blue] = rgb.map(linear);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const darkGrounds: Map<string, boolean> = new Map(); // every drawing asks, and to read a canvas takes long

/** Whether the page's ground is dark, in whatever notation its colour is given. */
export function isDark(element: Element) {
  const ground = getComputedStyle(element).getPropertyValue("--ground").trim() || "white";
  const known = darkGrounds.get(ground);
  if (known !== undefined) return known;
  const context = contextOf(Object.assign(document.createElement("canvas"), { width: 1, height: 1 }));
  context.fillStyle = ground;
  context.fillRect(0, 0, 1, 1);
  const dark = luminance([...context.getImageData(0, 0, 1, 1).data.slice(0, 3)]) < 0.2;
  darkGrounds.set(ground, dark);
  return dark;
}
