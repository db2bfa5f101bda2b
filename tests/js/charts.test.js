import assert from "node:assert/strict";
import { test } from "node:test";
import { ofVega } from "../../tfmviz/views/charts/bar.ts";
import { csvOf } from "../../tfmviz/views/shared/table.ts";

test("names lose the number and the quotes that charts give them, and numbers are plain", () => {
  const rows = [
    { line: "0003 “the”", y: 0.25 },
    { line: "0004 2024", y: Number.NaN },
  ];
  const described = {
    title: "t",
    columns: ["panel", "line", "y"],
    tables: [{ data: "a", of: "p", fields: ["line", "y"] }],
  };
  const values = ofVega(described, (name) => (name === "a" ? rows : []));
  assert.deepEqual(values.rows, [
    ["p", "the", 0.25],
    ["p", "2024", Number.NaN],
  ]);
  assert.equal(csvOf(values), "panel,line,y\r\np,the,0.25\r\np,2024,\r\n");
});
