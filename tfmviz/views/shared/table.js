// The numbers of a figure as a table: plain numbers, plain names.

/**
 * Names come first in a row, then numbers; null stands for what is masked or not there.
 * @typedef {{title: string, columns: string[], rows: (string | number | null)[][]}} Values
 */

/** Digits that count: float32 has no more. */
const DIGITS = 7;

/**
 * A value as it stands in a table: a number in plain digits, "" for one that is not finite.
 * @param {string | number | null} value
 */
export function plain(value) {
  if (typeof value === "string") return value;
  return value !== null && Number.isFinite(value) ? String(Number(value.toPrecision(DIGITS))) : "";
}

/**
 * A number that is written for readers ("1,234"), as a number; all else as it is.
 * @param {string} text
 */
export const numberIn = (text) =>
  /^(?=.*\d)[-−]?(?:0|[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d*)?(?:\.\d+)?$/.test(text)
    ? Number(text.replace("−", "-").replaceAll(",", ""))
    : text;

/**
 * The table as a file of comma-separated values (RFC 4180).
 *
 * A name that a spreadsheet would take for a formula gets an apostrophe before it.
 * @param {Values} values
 */
export const csvOf = ({ columns, rows }) =>
  [columns, ...rows].map((row) => `${row.map((value) => field(value)).join(",")}\r\n`).join("");

/** @param {string | number | null} value */
function field(value) {
  if (typeof value !== "string") return plain(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
