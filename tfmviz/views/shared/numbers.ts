// Numbers as the pages write them. The first four functions give what tfmviz/words/numbers.py gives.

import { NO_NUMBER, PER_CENT_EDGES, RAISED_DIGITS } from "./constants.ts";

const SPARE = 25; // digits, by which a tie is told from what only lies close to one

/** −0.25, or +0.25 with a sign: a minus that is as wide as the plus, no negative zero, and so many digits. */
export function decimal(value: number, digits = 2, { sign = false }: { sign?: boolean } = {}) {
  if (!Number.isFinite(value)) return NO_NUMBER;
  const written = evenly(Math.abs(value), "toFixed", digits);
  const isNegative = value < 0 && /[1-9]/.test(written);
  return `${isNegative ? "−" : sign ? "+" : ""}${written}`;
}

/** 6.2·10⁻⁶; exactly nothing is 0. */
export function tiny(value: number) {
  if (!Number.isFinite(value)) return NO_NUMBER;
  if (value === 0) return "0";
  const [digits, power] = evenly(Math.abs(value), "toExponential", 1).split("e");
  const raised = power
    .replace("+", "")
    .replace("-", "⁻")
    .replace(/\d/g, (digit) => RAISED_DIGITS[Number(digit)]);
  return `${value < 0 ? "−" : ""}${digits}·10${raised}`;
}

/** 29%, 3.4%, 0.02%: two digits that count. What rounding leaves of nothing, −10⁻⁸ too, is 0.00%. */
export function perCent(probability: number) {
  if (!Number.isFinite(probability)) return NO_NUMBER;
  return `${decimal(100 * probability, PER_CENT_EDGES.filter((edge) => probability < edge).length)}%`;
}

/** How long a bar is that stands for a share from 0 to 1: a tiny one is seen, none is not. */
export const barLength = (share: number) => (share > 0 ? `max(2px, ${100 * share}%)` : "0px");

/** 14, 0.25, 6.2·10⁻⁶: two digits that count, for numbers of at least 0. */
export function rounded(value: number) {
  if (!Number.isFinite(value)) return NO_NUMBER;
  const power = Number(evenly(value, "toExponential", 1).split("e")[1]);
  if (value === 0 || power >= 1) return evenly(value, "toFixed", 0);
  return power < -3 ? tiny(value) : evenly(value, "toFixed", 1 - power);
}

/** Rounds a number of at least 0 as Python does: of two neighbours equally near, JavaScript takes the larger. */
function evenly(value: number, notation: "toFixed" | "toExponential", digits: number) {
  if (notation === "toFixed" && (2 * value * 10 ** digits) % 2 !== 1) return value.toFixed(digits); // surely no tie
  const [exact, power] = value[notation](digits + SPARE).split("e");
  const kept = exact.slice(0, -SPARE).replace(/\.$/, "");
  const isTie = exact.slice(-SPARE) === "5".padEnd(SPARE, "0");
  if (isTie && "02468".includes(kept.slice(-1))) return power ? `${kept}e${power}` : kept;
  return value[notation](digits);
}

/** A number of a matrix: three decimals, two of large numbers, and of small ones two digits that count. */
export function number(value: number) {
  const size = Math.abs(value);
  if (value === -Infinity) return "−∞"; // a masked score
  if (value === 0 || size >= 0.01) return decimal(value, size >= 100 ? 2 : 3);
  return `${value < 0 ? "−" : ""}${rounded(size)}`;
}

/** A number as the next term of a sum: " + 0.412", " − 0.080". */
export const plus = (value: number) => (value < 0 ? ` − ${number(-value)}` : ` + ${number(value)}`);

/** A share of attention: 1.00, 0.42, 0.004. */
export const share = (weight: number) =>
  weight >= 0.01 ? decimal(weight) : weight >= 0.0005 ? decimal(weight, 3) : "0";

/** The same where there is little room: 1.0, .42, and a dot for almost nothing. */
export function shortShare(weight: number) {
  if (weight >= 0.995) return "1.0";
  return weight >= 0.005 ? decimal(weight).slice(1) : "·";
}
