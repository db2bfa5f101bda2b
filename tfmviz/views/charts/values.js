// The numbers of a chart that Streamlit draws, as a table: plain numbers, plain names.

/**
 * Names and numbers; null stands for what is not there.
 * @typedef {{title: string, columns: string[], rows: (string | number | null)[][]}} Values
 */

/**
 * Which columns of which data sets are a chart's values, as `plots/values.py` writes it.
 * @typedef {{title: string, columns: string[], tables: {data: string, of: string, fields: string[]}[]}} Described
 */

/** Digits that count. */
const DIGITS = 7;

/**
 * @param {Described} described
 * @param {(data: string) => Record<string, any>[]} rowsOf
 * @returns {Values}
 */
export function ofVega({ title, columns, tables }, rowsOf) {
  const rows = tables.flatMap(({ data, of, fields }) =>
    rowsOf(data).map((row) => [...(of ? [of] : []), ...fields.map((field) => plainName(row[field]))]),
  );
  return { title, columns, rows };
}

/**
 * Names bear a number before them, by which charts sort them, and quotes around a token.
 * @param {unknown} value
 */
function plainName(value) {
  return typeof value === "string" ? value.replace(/^\d{4} /, "").replace(/^“(.*)”$/s, "$1") : Number(value);
}

/**
 * A value in a table: a number in plain digits, "" for one that is not finite.
 * @param {string | number | null} value
 */
export function written(value) {
  if (typeof value === "string") return value;
  return value !== null && Number.isFinite(value) ? String(Number(value.toPrecision(DIGITS))) : "";
}

/**
 * The table as comma-separated values (RFC 4180). A name that a spreadsheet would take for a formula gets an
 * apostrophe before it.
 * @param {Values} values
 */
export const csvOf = ({ columns, rows }) =>
  [columns, ...rows].map((row) => `${row.map((value) => entry(value)).join(",")}\r\n`).join("");

/** @param {string | number | null} value */
function entry(value) {
  if (typeof value !== "string") return written(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
