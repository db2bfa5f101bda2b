// What colours and numbers a value gets. Nothing here draws.

/** @import { Rgb } from "../shared/colours.js" */
import { bytesOf, indexOf, RAMP } from "../shared/colours.js";
import { decimal, tiny } from "../shared/numbers.js";

/**
 * @typedef {{
 *   colours: "cividis" | "norms" | "signed" | "open",
 *   low: number,
 *   high: number,
 *   title: string,
 *   root: boolean,
 *   ticks: "decimal" | "whole" | "per cent",
 *   stops: {light: string[], dark: string[]},
 * }} Scale
 */

/**
 * The function that gives a finite value its colour.
 * @param {Scale} scale
 * @param {boolean} dark
 * @returns {(value: number) => Rgb}
 */
export function painter(scale, dark) {
  if (scale.colours === "cividis") return (value) => RAMP[indexOf(along(scale, value))];
  const stops = scale.stops[dark ? "dark" : "light"].map(bytesOf);
  return (value) => mixed(stops, along(scale, value));
}

/**
 * How far along the colours a value lies: from 0, the first, to 1, the last.
 * @param {Scale} scale
 * @param {number} value
 */
export function along({ low, high, root, colours }, value) {
  if (colours === "signed") {
    const middle = (low + high) / 2;
    const part = within((value - middle) / (high - middle), -1, 1);
    return (1 + (root ? Math.sign(part) * Math.sqrt(Math.abs(part)) : part)) / 2;
  }
  const part = within((value - low) / (high - low), 0, 1);
  return root ? Math.sqrt(part) : part;
}

/**
 * Numbers for a colour bar, at most about `most` of them.
 * @param {Scale} scale
 * @param {number} most
 */
export function ticks({ low, high, ticks: kind }, most) {
  const step = roundStep((high - low) / most, kind === "whole");
  const digits = decimals(kind === "per cent" ? 100 * step : step);
  const write = (/** @type {number} */ value) => {
    if (kind === "per cent") return `${decimal(100 * value, digits)}%`;
    return step < 1e-4 ? tiny(value) : decimal(value, digits);
  };
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, n) => ({
    value: (first + n) * step,
    text: write((first + n) * step),
  }));
}

/**
 * The least step of at least `least` that is 1, 2, 2.5 or 5 times a power of ten.
 * @param {number} least
 * @param {boolean} whole
 */
function roundStep(least, whole) {
  const power = 10 ** Math.floor(Math.log10(least));
  const factors = whole ? [1, 2, 5, 10] : [1, 2, 2.5, 5, 10];
  const step = factors.map((factor) => factor * power).find((one) => one >= least * (1 - 1e-9)) ?? 10 * power;
  return whole ? Math.max(1, step) : step;
}

/**
 * Digits after the point that a multiple of `step` needs.
 * @param {number} step
 */
function decimals(step) {
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const left = step * 10 ** digits;
  return Math.abs(left - Math.round(left)) > 1e-6 ? digits + 1 : digits;
}

/**
 * @param {Rgb[]} stops at even steps
 * @param {number} place from 0 to 1
 * @returns {Rgb}
 */
function mixed(stops, place) {
  if (stops.length === 1) return stops[0];
  const at = place * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2);
  return stops[low].map((value, i) => Math.round(value + (stops[low + 1][i] - value) * (at - low)));
}

/**
 * @param {number} value
 * @param {number} least
 * @param {number} most
 */
const within = (value, least, most) => Math.min(most, Math.max(least, value));
