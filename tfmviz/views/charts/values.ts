// The numbers of a chart that Streamlit draws, as a table: plain numbers, plain names.

import type { Values } from "../shared/table.ts";

/** Which columns of which data sets are a chart's values, as `plots/values.py` writes it. */
type Described = { title: string; columns: string[]; tables: { data: string; of: string; fields: string[] }[] };

type Rows = Record<string, unknown>[];

export function ofVega({ title, columns, tables }: Described, rowsOf: (data: string) => Rows): Values {
  const rows = tables.flatMap(({ data, of, fields }) =>
    rowsOf(data).map((row) => [...(of ? [of] : []), ...fields.map((field) => plainName(row[field]))]),
  );
  return { title, columns, rows };
}

/** Names bear a number before them, by which charts sort them, and quotes around a token. */
function plainName(value: unknown) {
  return typeof value === "string" ? value.replace(/^\d{4} /, "").replace(/^“(.*)”$/s, "$1") : Number(value);
}
