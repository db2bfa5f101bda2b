import assert from "node:assert/strict";
import { test } from "node:test";
import { parted } from "../../tfmviz/views/shared/parted.ts";
import { plainSite } from "../../tfmviz/views/shared/quoted.ts";
import { csvOf, isNumeric, numberIn, orderOf, plain } from "../../tfmviz/views/shared/table.ts";

// Reads comma-separated values as RFC 4180 has them.
function read(text) {
  const rows = [[]];
  for (const [, quoted, bare, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,"\r\n]*))(,|\r\n)/g)) {
    rows.at(-1).push(quoted?.replaceAll('""', '"') ?? bare);
    if (end !== ",") rows.push([]);
  }
  return rows;
}

test("a file gives back the names and the numbers, whatever is in them", () => {
  const names = ["the", 'a "b", c', "two\nlines", "👩‍👩‍👧", "老", "<img src=x>", "“said”"];
  const rows = names.map((name, n) => [name, n / 7, Math.fround(-1e-9 * n)]);
  const back = read(csvOf({ title: "", columns: ["token", "share", "score"], rows }));
  assert.deepEqual(back[0], ["token", "share", "score"]);
  for (const [n, [name, share, score]] of rows.entries()) {
    assert.equal(back[n + 1][0], name);
    assert.ok(Math.abs(Number(back[n + 1][1]) - share) <= 1e-6 * share);
    assert.ok(Math.abs(Number(back[n + 1][2]) - score) <= 1e-6 * Math.abs(score));
  }
});

test("a spreadsheet takes no token for a formula, and negative numbers stay numbers", () => {
  const formulas = ['=HYPERLINK("http://x")', "=1+1", "+1", "-2", "@x", "\t=1", "\r=1", "\n=1", " =1", "＝1", "＋1"];
  const file = csvOf({ title: "", columns: ["=a", "b"], rows: [...formulas, "a=b"].map((name) => [name, -0.5]) });
  const cells = read(file);
  assert.deepEqual(
    cells.slice(0, -1).map(([name]) => name),
    ["'=a", ...formulas.map((name) => `'${name}`), "a=b"],
  );
  assert.equal(cells[1][1], "-0.5");
  assert.ok(file.includes(`"'=HYPERLINK(""http://x"")"`));
});

test("what is masked is empty, and numbers are plain", () => {
  assert.deepEqual([null, Number.NaN, -Infinity, 0, 1 / 3, 12345678].map(plain), [
    "",
    "",
    "",
    "0",
    "0.3333333",
    "12345680",
  ]);
});

test("a site is called what a reader calls it", () => {
  assert.equal(plainSite("decoder.4.self_attn"), "decoder layer 4");
  assert.equal(plainSite("decoder.0.cross_attn"), "decoder layer 0 cross-attention");
  assert.equal(plainSite("embed"), "embed");
});

test("a number that is written for readers is a number again, and nothing else is", () => {
  const read = {
    "1,234": 1234,
    "1,2": "1,2",
    "007": "007",
    0: 0,
    2026: 2026,
    "−0.5": -0.5,
    ".25": 0.25,
    "22%": "22%",
    "2/9 = 22%": "2/9 = 22%",
    "": "",
    a1: "a1",
    "–": "–",
  };
  for (const [text, value] of Object.entries(read)) assert.equal(numberIn(text), value);
});

test("a power of ten is a number, whatever only looks like one is not", () => {
  assert.deepEqual(["2.3·10¹⁹", "1·10⁰", "−4·10²"].map(numberIn), [2.3e19, 1, -400]);
  for (const text of ["2.3·10", "a·10²", "2·10²x", "2·10²·10²"]) assert.equal(numberIn(text), text);
});

test("rows stand in the order of a column, those without a number last, and equal ones as they came", () => {
  const rows = [
    ["b", "24.6", "2.3·10¹⁹"],
    ["a", "–", "1.0·10²⁰"],
    ["d", "1,024", "9.6·10¹⁸"],
    ["c", "24.6", "–"],
  ];
  assert.deepEqual(orderOf(rows, 1, false), [2, 0, 3, 1]);
  assert.deepEqual(orderOf(rows, 1, true), [0, 3, 2, 1]);
  assert.deepEqual(orderOf(rows, 2, false), [1, 0, 2, 3]);
  assert.deepEqual(orderOf(rows, 0, true), [1, 0, 3, 2]);
  assert.deepEqual(orderOf(rows, 0, false), [2, 3, 0, 1]);
});

test("a column of numbers may hold signs, units, intervals and gaps, and one of words begins with digits at times", () => {
  for (const numbers of [
    ["1.0", "–"],
    ["268 million", "33.6 million"],
    ["−0.02 ± 0.04"],
    ["2.3·10¹⁹", ""],
    ["0.9 (0.8–1)"],
  ])
    assert.ok(isNumeric(numbers), numbers.join());
  for (const words of [["8 it", "1 animal"], ["n² · d"], ["", "–"], ["117 million (Radford)"]])
    assert.ok(!isNumeric(words), words.join());
});

test("bytes are numbers, and a long head may be broken with a hyphen alone", () => {
  assert.ok(isNumeric(["676 bytes", "4.4 KiB", "–"]));
  assert.deepEqual(parted("multiplications").split("\u00ad"), ["multipli", "cations"]);
  assert.deepEqual(parted("temperature 0.8").split("\u00ad"), ["tempera", "ture 0.8"]);
  assert.equal(parted("longest path"), "longest path");
});
