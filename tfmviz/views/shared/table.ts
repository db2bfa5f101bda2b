// The numbers of a figure as a table: plain numbers, plain names.

import { FORMULA, RAISED_DIGITS } from "./constants.ts";

/** Names come first in a row, then numbers; null stands for what is masked or not there. */
export type Values = { title: string; columns: string[]; rows: (string | number | null)[][] };

/** Digits that count: float32 has no more. */
const DIGITS = 7;

/** A value as it stands in a table: a number in plain digits, "" for one that is not finite. */
export function plain(value: string | number | null) {
  if (typeof value === "string") return value;
  return value !== null && Number.isFinite(value) ? String(Number(value.toPrecision(DIGITS))) : "";
}

/** A number that is written for readers ("1,234", "2.3·10¹⁹"), as a number; all else as it is. */
export function numberIn(text: string) {
  const [digits, power, more] = text.split("·10");
  if (!/^(?=.*\d)[-−]?(?:0|[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d*)?(?:\.\d+)?$/.test(digits)) return text;
  const exponent = power === undefined ? "0" : [...power].map((raised) => RAISED_DIGITS.indexOf(raised)).join("");
  return /^\d+$/.test(exponent) && more === undefined
    ? Number(`${digits.replace("−", "-").replaceAll(",", "")}e${exponent}`)
    : text;
}

const UNITS = /\b(?:[kKMGT]i?B|B|[µnm]?s|min|h|days?|years?|bits?|bytes?|nats?|million|billion|trillion|to|of)\b/g;

/** Whether most of a column's cells are numbers as readers write them, with signs, units, intervals; none if empty. */
export function isNumeric(cells: string[]) {
  const filled = cells.filter((text) => /[\p{L}\p{N}∞]/u.test(text));
  const numbers = filled.filter((text) => /^[^\p{L}]*[\p{N}∞][^\p{L}]*$/u.test(text.replace(UNITS, "")));
  return 2 * numbers.length > filled.length;
}

/** The rows by a column: numbers from the largest on or, if `isUp`, the smallest; names as in a dictionary. */
export function orderOf(rows: string[][], column: number, isUp: boolean) {
  const cells = rows.map((row) => numberIn(row[column]));
  const value = (n: number) => cells[n] as number;
  const isNumber = (n: number) => typeof cells[n] === "number";
  const places = rows.map((_, n) => n);
  if (!places.some(isNumber)) {
    places.sort((a, b) => String(cells[a]).localeCompare(String(cells[b]), "en"));
    return isUp ? places : places.reverse();
  }
  const counted = places.filter(isNumber).sort((a, b) => (isUp ? value(a) - value(b) : value(b) - value(a)));
  return [...counted, ...places.filter((n) => !isNumber(n))];
}

/** The table as a CSV file (RFC 4180). A name like a spreadsheet's formula gets an apostrophe, as in views/files.py. */
export const csvOf = ({ columns, rows }: Values) =>
  [columns, ...rows].map((row) => `${row.map((value) => field(value)).join(",")}\r\n`).join("");

const LIKE_A_FORMULA = new RegExp(`^${FORMULA}`);

function field(value: string | number | null) {
  if (typeof value !== "string") return plain(value);
  const text = LIKE_A_FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
