// The numbers of a chart that Streamlit draws, as a table: plain numbers, plain names.

/** @import { Values } from "../shared/table.js" */

/**
 * Which columns of which data sets are a chart's values, as `plots/values.py` writes it.
 * @typedef {{title: string, columns: string[], tables: {data: string, of: string, fields: string[]}[]}} Described
 */

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
