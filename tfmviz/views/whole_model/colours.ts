// Colours of the picture: every kind of part has its own, as on the other pages; numbers run from purple to orange.

import type { Matrix } from "../shared/arrays.ts";
import { bytesOf, css, mixed, packed, packedShade, pixels } from "../shared/colours.ts";

/** the theme's colours, by what they are for */
type Roles = Record<string, string>;

const ROLE_OF: Record<string, string> = { attention: "q", cross: "q", embed: "x", readout: "x" };

export const colourOf = (kind: string, roles: Roles) => roles[ROLE_OF[kind] ?? kind] ?? roles.faint;

/** Vectors as a picture, one pixel a number. Small numbers stay visible: colour grows with the square root. */
export function stripImage({ rows, columns, values }: Matrix, roles: Roles) {
  const [below, ground, above] = [roles.below, roles.zero, roles.above].map(bytesOf);
  const largest = largestOf(values) || 1;
  return pixels(columns, rows, (n) => {
    const part = Math.sqrt(Math.abs(values[n]) / largest);
    return packed(mixed(ground, values[n] < 0 ? below : above, part));
  });
}

/** Shares of attention as a picture. `allowed` says what is not masked, `from` where in the values it begins. */
export function shareImage(
  { rows, columns, values }: Matrix,
  { allowed = null, masked = "", from = 0 }: { allowed?: Matrix | null; masked?: string; from?: number },
) {
  return pixels(columns, rows, (n) => {
    if (allowed && !allowed.values[from + n]) return packed(bytesOf(masked));
    return packedShade(Math.sqrt(Math.max(0, values[from + n])));
  });
}

export const shareColour = (share: number) => css(Math.sqrt(Math.max(0, share)));

export function largestOf(values: ArrayLike<number>) {
  let largest = 0;
  for (let n = 0; n < values.length; n++) largest = Math.max(largest, Math.abs(values[n]));
  return largest;
}
