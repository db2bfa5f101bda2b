// Colours with fixed meanings: cividis is a share of attention, grey is masked, blue looks, vermilion is looked at.

import { contextOf } from "./canvas.ts";
import { LETTER_SIZE } from "./constants.ts";

/** red, green and blue, 0 to 255 */
export type Rgb = number[];

export interface Colours {
  text: string;
  ground: string;
  masked: string;
  maskedPacked: number; // as ImageData stores it
  looks: string; // of a query
  looked: string; // of a key
  accent: string;
  grid: string;
  soft: string; // of what has no value, or none that may be seen
  roles: Record<string, string>; // the theme's other colours, by what they are for (`variables` in theme.py)
  isDark: boolean;
  areVeiled: boolean; // values are hidden, see guessing.ts
  font: string;
  letters: number; // pixels of the usual letters; more on a projector too
  least: number; // pixels of the smallest letters; more on a projector (see ui/projected.css)
}

const ROLES = ["q", "k", "v", "x", "score", "mlp", "norm", "position", "faint", "below", "zero", "above"];
ROLES.push("little", "middling", "much");

// Matplotlib's cividis, at ten places from its beginning to its end.
const CIVIDIS = ["00224e", "123570", "3b496c", "575d6d", "707173", "8a8678", "a59c74", "c3b369", "e1cc55", "fee838"];
const STOPS = CIVIDIS.map((hex) => [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16)));

/** 256 colours from shade 0 to 1. */
export const RAMP: Rgb[] = Array.from({ length: 256 }, (_, n) => {
  const place = (n / 255) * (STOPS.length - 1);
  const low = Math.min(Math.floor(place), STOPS.length - 2);
  return STOPS[low].map((value, i) => Math.round(value + (STOPS[low + 1][i] - value) * (place - low)));
});

const PACKED = Uint32Array.from(RAMP, ([r, g, b]) => (255 << 24) | (b << 16) | (g << 8) | r); // as ImageData stores it

/** @param shade 0 to 1, the place in `RAMP` */
export const indexOf = (shade: number) => Math.min(255, Math.round(shade * 255));

export const packed = (shade: number) => PACKED[indexOf(shade)];

export const css = (shade: number) => `rgb(${RAMP[indexOf(shade)].join(" ")})`;

/** Black or white, whichever can be read on a colour: the contrast is 4.58 at least. */
export const inkOnRgb = (rgb: Rgb) => (luminance(rgb) > 0.179 ? "#000" : "#fff");

export const inkOn = (shade: number) => inkOnRgb(RAMP[indexOf(shade)]);

/** The colours and the font that figures take from the page they are in. */
export function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element);
  const read = (name: string) => style.getPropertyValue(name).trim();
  const [r, g, b] = bytesOf(read("--masked"));
  const least = Number(read("--least-letters")) || 12;
  return {
    text: style.color,
    ground: read("--ground"),
    masked: read("--masked"),
    maskedPacked: (255 << 24) | (b << 16) | (g << 8) | r,
    looks: read("--looks"),
    looked: read("--looked"),
    accent: read("--accent"),
    grid: read("--grid"),
    soft: read("--soft"),
    roles: Object.fromEntries(ROLES.map((name) => [name, read(`--${name}`)])),
    isDark: element instanceof HTMLElement && element.dataset.dark === "true",
    areVeiled: element instanceof HTMLElement && element.dataset.veiled === "true",
    font: style.fontFamily,
    letters: Math.max(LETTER_SIZE, least),
    least,
  };
}

/** Relative luminance of an sRGB colour, 0 to 1 (WCAG 2). */
function luminance(rgb: number[]) {
  const [red, green, blue] = rgb.map((value) =>
    value <= 10 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** "#rrggbb" as three bytes. */
export const bytesOf = (hex: string): number[] => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

/** Whether the page's ground is dark, in whatever notation its colour is given. */
export function isDark(element: Element) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const context = contextOf(canvas);
  context.fillStyle = getComputedStyle(element).getPropertyValue("--ground").trim() || "#fff";
  context.fillRect(0, 0, 1, 1);
  return luminance([...context.getImageData(0, 0, 1, 1).data.slice(0, 3)]) < 0.2;
}
