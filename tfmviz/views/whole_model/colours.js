// Colours of the picture: every kind of part has its own, as on the other pages; numbers run from purple to orange.

/** @import { Matrix } from "../shared/arrays.js" */
/** @import { Rgb } from "../shared/colours.js" */
import { contextOf } from "../shared/canvas.js";
import { bytesOf, css, indexOf, RAMP } from "../shared/colours.js";

/** @typedef {Record<string, string>} Roles the theme's colours, by what they are for */

/** @type {Record<string, string>} */
const ROLE_OF = { attention: "q", cross: "x", embed: "below", readout: "below" };

/** @type {(kind: string, roles: Roles) => string} */
export const colourOf = (kind, roles) => roles[ROLE_OF[kind] ?? kind] ?? roles.faint;

/**
 * Vectors as a picture, one pixel a number. Small numbers stay visible: colour grows with the square root.
 * @param {Matrix} matrix
 * @param {Roles} roles
 */
export function stripImage({ rows, columns, values }, roles) {
  const [below, ground, above] = [roles.below, roles.zero, roles.above].map(bytesOf);
  const largest = largestOf(values) || 1;
  return image(columns, rows, (n) => {
    const to = values[n] < 0 ? below : above;
    const part = Math.sqrt(Math.abs(values[n]) / largest);
    return ground.map((from, i) => from + (to[i] - from) * part);
  });
}

/**
 * Shares of attention as a picture. `allowed` says what is not masked, `from` where in the values it begins.
 * @param {Matrix} shares
 * @param {{allowed?: Matrix | null, masked?: string, from?: number}} options
 */
export function shareImage({ rows, columns, values }, { allowed = null, masked = "#808080", from = 0 }) {
  return image(columns, rows, (n) => {
    if (allowed && !allowed.values[from + n]) return bytesOf(masked);
    return RAMP[indexOf(Math.sqrt(Math.max(0, values[from + n])))];
  });
}

/** @param {number} share */
export const shareColour = (share) => css(Math.sqrt(Math.max(0, share)));

/** @param {ArrayLike<number>} values */
export function largestOf(values) {
  let largest = 0;
  for (let n = 0; n < values.length; n++) largest = Math.max(largest, Math.abs(values[n]));
  return largest;
}

/** @type {(width: number, height: number, colour: (n: number) => Rgb) => HTMLCanvasElement} */
function image(width, height, colour) {
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  const context = contextOf(canvas);
  const { data } = context.createImageData(width, height);
  for (let n = 0; n < width * height; n++) data.set([...colour(n), 255], 4 * n);
  context.putImageData(new ImageData(data, width, height), 0, 0);
  return canvas;
}
