import assert from "node:assert/strict";
import { test } from "node:test";
import { cellAt, layOut, next } from "../../tfmviz/views/cells/layout.ts";
import { paintPicture } from "../../tfmviz/views/cells/paint.ts";
import { along, painter, said, sentence, ticks } from "../../tfmviz/views/cells/words.ts";
import { endOf } from "../../tfmviz/views/shared/arrays.ts";
import { cellOf } from "../../tfmviz/views/shared/where.ts";

const FORM = { name: "", digits: 2, sign: false, percent: false, unit: "", words: null, absent: ["–", "–"] };
const SCALE = { colours: "norms", low: 0, high: 2, title: "t", root: false, ticks: "decimal" };
const STOPS = { light: ["#000000", "#ff0000"], dark: ["#000000", "#0000ff"] };
const measure = (text, size) => 0.6 * size * text.length;
const DESK = { width: 600, height: 510 };
const [PLAIN, PROJECTED] = [12, 18]; // pixels of the smallest letters

function picture({ rows = 3, columns = 4, matrices = 1, ...more } = {}) {
  const axis = (count, title) => ({ title, names: null, spoken: null, count, boxed: [], places: null });
  return {
    ...{ matrices, rows: axis(rows, "query"), columns: axis(columns, "key"), titles: [], form: FORM, texts: null },
    ...{ notes: null, frames: [], crosses: [], square: false, rowHeight: 30, across: 3 },
    scale: { ...SCALE, stops: STOPS },
    values: Float32Array.from({ length: matrices * rows * columns }, (_, n) => n),
    ...more,
  };
}

// A canvas context that notes what it is told.
function notebook() {
  const calls = [];
  const pen = { calls, isVector: true, measureText: (text) => ({ width: 6 * text.length }) };
  for (const name of ["save", "restore", "translate", "rotate", "beginPath", "moveTo", "lineTo", "stroke"])
    pen[name] = (...values) => calls.push([name, ...values]);
  pen.fillRect = (...values) => calls.push(["fillRect", pen.fillStyle, ...values]);
  pen.strokeRect = (...values) => calls.push(["strokeRect", pen.strokeStyle, ...values]);
  pen.fillText = (...values) => calls.push(["fillText", ...values]);
  return pen;
}

const COLOURS = { isDark: false, masked: "#999999", hatch: "#777777", roles: {}, text: "black", accent: "red" };

function painted(drawn, width = 500) {
  const pen = notebook();
  const place = layOut(drawn, { width, height: 510 }, measure, PLAIN);
  const images = Array.from({ length: drawn.matrices }, () => ({
    width: drawn.columns.count,
    height: drawn.rows.count,
  }));
  const colours = { ...COLOURS, roles: { plain: "brown" }, grid: "grey", ground: "white" };
  paintPicture(pen, { picture: drawn, place, colours }, images);
  return { place, calls: pen.calls, texts: pen.calls.filter(([name]) => name === "fillText").map(([, text]) => text) };
}

test("nothing is wider than there is room, and every cell has a place", () => {
  for (const width of [200, 331, 390, 900, 1280])
    for (const [rows, columns] of [
      [1, 1],
      [7, 9],
      [512, 512],
      [3, 512],
    ])
      for (const [matrices, square] of [
        [1, false],
        [1, true],
        [9, true],
      ]) {
        const drawn = picture({ rows, columns, matrices, square });
        const place = layOut(drawn, { width, height: 510 }, measure, PLAIN);
        assert.ok(place.width <= width, `${place.width} of ${width}`);
        for (const { x, y } of place.corners) {
          assert.ok(x + place.wide * columns <= width + 0.001);
          assert.ok(y + place.high * rows <= place.height);
          assert.ok(place.wide > 0 && place.high > 0);
        }
        if (square) assert.equal(place.wide, place.high);
      }
});

test("no cell is higher than wide but for its row's name, and a matrix keeps to the window's height", () => {
  const found = [];
  for (const height of [400, 510, 900])
    for (const [rows, columns] of [
      [6, 13],
      [6, 45],
      [13, 13],
      [45, 45],
      [12, 256],
    ])
      for (const square of [true, false]) {
        const drawn = picture({ rows, columns, square });
        const place = layOut(drawn, { width: 1200, height }, measure, PLAIN);
        const what = `${rows} × ${columns} in ${height}${square ? ", square" : ""}`;
        if (place.high > Math.max(place.wide, PLAIN + 2)) found.push(`${what}: ${place.high} × ${place.wide}`);
        if (place.height > height + 1) found.push(`${what}: ${place.height} pixels`);
      }
  assert.deepEqual(found, []);
});

test("a slanted name ends at the column of its cell, and begins within the picture", () => {
  const drawn = picture({ rows: 9, columns: 9, square: true });
  Object.assign(drawn.columns, { names: Array.from({ length: 9 }, (_, n) => `a long name ${n}`) });
  const { place, calls } = painted(drawn);
  assert.ok(place.below.isSlanted);
  for (const n of drawn.columns.names.keys()) {
    const at = calls.findIndex(([name, text]) => name === "fillText" && text === `a long name ${n}`);
    const [[, x], [, angle]] = [calls[at - 2], calls[at - 1]];
    assert.deepEqual([x, angle], [place.corners[0].x + (n + 0.5) * place.wide, -Math.PI / 4]);
    assert.ok(x >= Math.SQRT1_2 * measure(`a long name ${n}`, place.below.size));
  }
});

test("matrices do not overlap", () => {
  const drawn = picture({ rows: 5, columns: 5, matrices: 7, square: true });
  const { corners, wide, high } = layOut(drawn, { width: 900, height: 510 }, measure, PLAIN);
  for (const [n, one] of corners.entries())
    for (const other of corners.slice(n + 1))
      assert.ok(Math.abs(one.x - other.x) > 5 * wide || Math.abs(one.y - other.y) > 5 * high);
});

test("a point finds the cell that is drawn there", () => {
  const drawn = picture({ rows: 3, columns: 4, matrices: 2 });
  const place = layOut(drawn, { width: 700, height: 510 }, measure, PLAIN);
  for (let matrix = 0; matrix < 2; matrix++)
    for (let row = 0; row < 3; row++)
      for (let column = 0; column < 4; column++) {
        const { x, y } = place.corners[matrix];
        const point = { x: x + (column + 0.5) * place.wide, y: y + (row + 0.5) * place.high };
        assert.deepEqual(cellAt(place, point, drawn), { matrix, row, column });
      }
  assert.equal(cellAt(place, { x: 0, y: 0 }, drawn), null);
  assert.equal(cellAt(place, { x: place.corners[1].x - 2, y: place.corners[1].y + 2 }, drawn), null);
});

test("arrow keys stay in the picture and pass from matrix to matrix", () => {
  const drawn = picture({ rows: 3, columns: 4, matrices: 2 });
  const ways = { ArrowUp: [0, 0, 1], ArrowDown: [0, 2, 1], ArrowLeft: [0, 1, 0], ArrowRight: [0, 1, 2] };
  for (const [key, [matrix, row, column]] of Object.entries({ ...ways, Home: [0, 1, 0], End: [0, 1, 3] }))
    assert.deepEqual(next({ matrix: 0, row: 1, column: 1 }, key, drawn), { matrix, row, column });
  assert.deepEqual(next({ matrix: 0, row: 0, column: 3 }, "ArrowRight", drawn), { matrix: 1, row: 0, column: 0 });
  assert.deepEqual(next({ matrix: 1, row: 2, column: 0 }, "ArrowLeft", drawn), { matrix: 0, row: 2, column: 3 });
  assert.deepEqual(next({ matrix: 0, row: 0, column: 0 }, "ArrowLeft", drawn), { matrix: 0, row: 0, column: 0 });
  assert.deepEqual(next({ matrix: 1, row: 2, column: 3 }, "ArrowRight", drawn), { matrix: 1, row: 2, column: 3 });
  assert.deepEqual(next({ matrix: 5, row: 9, column: 9 }, "", drawn), { matrix: 1, row: 2, column: 3 }, "other data");
});

test("labels that are drawn do not run into one another", () => {
  for (const count of [1, 7, 28, 40, 128, 512]) {
    const names = Array.from({ length: count }, (_, n) => `token ${n}`);
    const drawn = picture({ rows: count, columns: count, square: true });
    Object.assign(drawn.rows, { names });
    Object.assign(drawn.columns, { names });
    const { beside, below, wide, high } = layOut(drawn, { width: 1000, height: 510 }, measure, PLAIN);
    assert.ok(beside.step * high >= beside.size);
    const across = Math.SQRT1_2 * below.step * wide; // from one slanted line to the next
    assert.ok(below.isSlanted ? across >= 0.88 * below.size : wide >= measure(names.at(-1), below.size));
    assert.ok(beside.size >= 9 && (beside.size === 14 || high < 14), "letters are 14 px where there is room");
    if (count === 40) assert.equal(below.step, 1, "smaller letters come before fewer names");
  }
});

test("every cell is drawn in its colour, and grey where there is no number", () => {
  const values = Float32Array.from([0, 1, 2, Number.NaN, Infinity, -Infinity]);
  const { calls, place } = painted(
    picture({ rows: 2, columns: 3, values, scale: { ...SCALE, title: "", stops: STOPS } }),
  );
  const filled = calls.filter(([name]) => name === "fillRect");
  const [cells, lines] = [filled.slice(0, 6), filled.slice(6)];
  assert.deepEqual(
    lines.map(([, colour, x, y, width]) => [colour, x, Math.round(y / place.high), Math.round(width / place.wide)]),
    [["#777777", 0, 1, 3]], // all that is masked in a row at once
  );
  const reds = ["rgb(0,0,0)", "rgb(128,0,0)", "rgb(255,0,0)"];
  assert.deepEqual(
    cells.map(([, colour]) => colour),
    [...reds, "#999999", "#999999", "#999999"],
  );
  assert.deepEqual(
    cells.map(([, , x, y]) => [Math.round(x / place.wide), Math.round(y / place.high)]),
    [0, 1].flatMap((row) => [0, 1, 2].map((column) => [column, row])),
  );
});

test("numbers stand in all cells where they fit, and in none where one does not", () => {
  const texts = [["+0.10", "·", "1"]];
  const shown = (width) =>
    painted(picture({ rows: 1, columns: 3, texts }), width).texts.filter((t) => ["+0.10", "·"].includes(t));
  assert.deepEqual(shown(600), ["+0.10", "·"]);
  assert.deepEqual(shown(110), []);
});

test("every matrix has its own numbers, and a cell, a row or a whole matrix is found in its place", () => {
  const drawn = picture({
    rows: 1,
    columns: 2,
    matrices: 2,
    titles: ["own", "bias"],
    texts: [
      ["a", "b"],
      ["c", "d"],
    ],
  });
  const { place, texts } = painted(drawn);
  assert.deepEqual(
    texts.filter((text) => "abcd".includes(text)),
    ["a", "b", "c", "d"],
  );
  const canvas = { getBoundingClientRect: () => ({ left: 7, top: 5 }) };
  for (const { x, y } of place.corners) {
    const { wide, high } = place;
    const find = (...names) => cellOf(canvas, { x, y, wide, high, rows: ["it"], columns: ["The", "cat"] }, names, 12);
    const row = { left: 7 + x, top: 5 + y, width: 2 * wide, height: high, letters: 12 };
    assert.deepEqual(find("it"), row);
    assert.deepEqual(find(), row);
    assert.deepEqual(find("cat", "it"), { ...row, left: 7 + x + wide, width: wide });
    assert.equal(find("dog"), null);
  }
});

test("rows are as high as their numbers need, on a projector too, and no number is wider than its cell", () => {
  const found = [];
  for (const least of [PLAIN, PROJECTED])
    for (const square of [false, true])
      for (const [rows, columns, text] of [
        [3, 9, "−0.25"],
        [13, 13, "8"],
        [32, 15, "0.74"],
        [32, 32, "12"],
      ])
        for (const width of [347, 475, 599, 968, 1218]) {
          const texts = Array.from({ length: rows }, () => Array(columns).fill(text));
          const drawn = picture({ rows, columns, texts, square, rowHeight: 20 });
          const { wide, high, numbers, left } = layOut(drawn, { width, height: 510 }, measure, least);
          const what = `${rows} × ${columns} of ${text} in ${width}, at least ${least}${square ? ", square" : ""}`;
          if (!numbers && measure(text, least) + 4 <= (width - left) / columns) found.push(`${what}: no numbers`);
          if (numbers && (numbers < least || measure(text, numbers) > wide || numbers > high)) found.push(what);
        }
  assert.deepEqual(found, []);
});

test("frames and crosses mark their cells in their colours", () => {
  const frames = [{ top: 1, left: 2, bottom: 2, right: 3, colour: "plain" }];
  const { calls, place } = painted(picture({ frames, crosses: [[0, 3]] }));
  const [, , x, y, width, height] = calls.find(([name, colour]) => name === "strokeRect" && colour === "brown");
  assert.deepEqual([x, y, width, height], [2 * place.wide, place.high, place.wide, place.high]);
  const strokes = calls.filter(([name]) => name === "moveTo").slice(-4);
  for (const [, strokeX, strokeY] of strokes)
    assert.ok(strokeX > 3 * place.wide && strokeX < 4 * place.wide && strokeY > 0 && strokeY < place.high);
});

test("titles, names and the colour bar's numbers are written, and long names are cut", () => {
  const drawn = picture({ rows: 2, columns: 2, matrices: 2, titles: ["one", "two"] });
  Object.assign(drawn.rows, { names: ["a", "m".repeat(90)], title: "query" });
  const { texts } = painted(drawn);
  for (const text of ["one", "two", "query", "key", "a", "0.0", "2.0"]) assert.ok(texts.includes(text), text);
  assert.ok(texts.some((text) => /^m+…$/.test(text) && text.length < 40));
});

test("the title beside a single row is written whole, though it is longer than the row is high", () => {
  const drawn = picture({ rows: 1, columns: 4 });
  drawn.rows.title = "a title of 21 letters";
  const { calls, place } = painted(drawn);
  const at = calls.findIndex(([name, text]) => name === "fillText" && text === drawn.rows.title);
  const [, , y] = calls.slice(0, at).findLast(([name]) => name === "translate");
  const half = (6 * drawn.rows.title.length) / 2;
  assert.ok(place.high < 2 * half && y - half >= 0 && y + half <= place.height, `${y} of ${place.height}`);
});

test("pictures that share a colour bar are of one size, and two stand side by side on a phone", () => {
  const [bare, barred] = ["", "t"].map((title) =>
    layOut(
      picture({ rows: 40, columns: 40, square: true, scale: { ...SCALE, title, stops: STOPS } }),
      DESK,
      measure,
      12,
    ),
  );
  assert.equal(bare.wide, barred.wide);
  const onPhone = (matrices) => {
    const drawn = picture({ rows: 13, columns: 13, matrices, square: true });
    Object.assign(drawn.rows, { names: Array(13).fill("because") });
    return layOut(drawn, { width: 347, height: 510 }, measure, 12);
  };
  const [three, five] = [onPhone(3), onPhone(5)];
  assert.ok(
    three.corners[0].y < three.corners[1].y && three.left + 13 * three.wide > 340,
    "three fill the width, one below another",
  );
  assert.equal(five.corners[0].y, five.corners[1].y);
});

test("numbers along a side are in full letters, and the last below is not cut", () => {
  const place = layOut(picture({ rows: 64, columns: 64, square: true }), DESK, measure, PLAIN);
  assert.equal(place.beside.size, place.below.size);
  assert.ok(place.beside.step * place.high > place.beside.size);
  const { calls, place: narrow } = painted(picture({ rows: 2, columns: 513 }), 347);
  const last = calls.findIndex(([name, text]) => name === "fillText" && text === "500");
  const [, x] = calls.slice(0, last).findLast(([name]) => name === "translate");
  assert.ok(x + (6 * "500".length) / 2 <= narrow.width, `${x} of ${narrow.width}`);
});

test("a token that the other text lacks has a box around its name, in a row and in a column", () => {
  const drawn = picture({ rows: 2, columns: 3 });
  Object.assign(drawn.rows, { names: ["a", "b"], boxed: [1] });
  Object.assign(drawn.columns, { names: ["c", "d", "e"], boxed: [2] });
  const { calls, place } = painted(drawn);
  const boxes = calls.filter(([name, colour]) => name === "strokeRect" && colour === "red");
  const [{ x, y }] = place.corners;
  assert.equal(boxes.length, 2);
  const [[, , left, top, width, height], [, , right, below]] = boxes;
  assert.ok(left + width < x && top > y + place.high && top + height < y + 2 * place.high);
  const [, middle, line] = calls.slice(0, calls.indexOf(boxes[1])).findLast(([name]) => name === "translate");
  assert.ok(middle + right > x + 2 * place.wide && line + below > y + 2 * place.high);
});

test("a sentence says matrix, row, column, value and note", () => {
  const drawn = picture({ rows: 1, columns: 2, matrices: 2, titles: ["one", "two"], notes: [["", "more"]] });
  assert.equal(sentence(drawn, { matrix: 1, row: 0, column: 1 }), "two: query 0, key 1: 3.00; more");
  assert.equal(sentence(drawn, { matrix: 0, row: 0, column: 0 }), "one: query 0, key 0: 0.00");
});

test("values are said with sign, unit, per cent, or a dash", () => {
  assert.equal(said({ ...FORM, sign: true, unit: " nats" }, 0.25), "+0.25 nats");
  assert.equal(said({ ...FORM, percent: true, digits: 1, name: "moved by " }, 0.123), "moved by 12.3%");
  for (const none of [Number.NaN, Infinity, -Infinity]) assert.equal(said(FORM, none), "–");
  const form = { ...FORM, absent: /** @type {[string, string]} */ (["masked", "left out"]) };
  assert.deepEqual([said(form, Number.NaN), said(form, -Infinity), said(form, 0)], ["masked", "left out", "0.00"]);
  assert.equal(said({ ...FORM, words: ["may", "may not"] }, Number.NaN), "may not");
  assert.equal(said({ ...FORM, words: ["may", "may not"] }, 1), "may");
});

test("signed colours have their ground in the middle of the scale", () => {
  const share = { ...SCALE, colours: /** @type {const} */ ("signed"), low: 0, high: 1 };
  assert.deepEqual(
    [-1, 0, 0.25, 0.5, 1].map((value) => along(share, value)),
    [0, 0, 0.25, 0.5, 1],
  );
});

test("colours end at the ends of the scale, and dark has its own", () => {
  const scale = { ...SCALE, stops: STOPS };
  assert.deepEqual(painter(scale, false)(9), [255, 0, 0]);
  assert.deepEqual(painter(scale, true)(2), [0, 0, 255]);
  assert.deepEqual(painter(scale, false)(-3), [0, 0, 0]);
  assert.equal(along({ ...scale, colours: "signed", low: -4, high: 4, root: true }, -1), 0.25);
  assert.equal(along({ ...scale, root: true, high: 4 }, 1), 0.5);
});

test("what rounding leaves of a difference has the colour of nothing, a difference has the strongest", () => {
  const scale = { ...SCALE, colours: /** @type {const} */ ("signed"), root: true };
  const place = (values) => along({ ...scale, low: -endOf(values), high: endOf(values) }, values[0]);
  for (const values of [[0], [1e-8, Number.NaN], [-1e-6, 0]]) assert.ok(Math.abs(place(values) - 0.5) < 0.002, values);
  assert.equal(place([2e-6, -1e-6, -Infinity]), 1);
  assert.deepEqual([endOf([5e-5], 5e-5), endOf([6e-5], 5e-5)], [1, 6e-5], "where a page calls more nothing");
});

test("a colour bar has a few round numbers at any size of the values", () => {
  for (const high of [1e-7, 0.003, 0.2, 1, 4.4, 37, 512, 3e6])
    for (const [low, most] of [
      [0, 4],
      [-high, 3],
      [-high, 8],
    ]) {
      const found = ticks({ ...SCALE, low, high }, most);
      assert.ok(found.length >= 1 && found.length <= most + 1, `${found.length} between ${low} and ${high}`);
      assert.equal(new Set(found.map(({ text }) => text)).size, found.length);
      for (const { value } of found) assert.ok(value >= low * 1.000001 && value <= high * 1.000001);
    }
});

test("numbers of a colour bar stand at round steps, with the digits they need and no more", () => {
  const table = [
    [0, 2, "decimal", 4, ["0.0", "0.5", "1.0", "1.5", "2.0"]],
    [0, 1, "decimal", 4, ["0.00", "0.25", "0.50", "0.75", "1.00"]],
    [0, 30, "decimal", 4, ["0", "10", "20", "30"]],
    [0, 7, "whole", 3, ["0", "5"]],
    [0, 3, "whole", 10, ["0", "1", "2", "3"]],
    [0, 10, "whole", 4, ["0", "5", "10"]],
    [0, 0.5, "per cent", 5, ["0%", "10%", "20%", "30%", "40%", "50%"]],
  ];
  for (const [low, high, kind, most, texts] of table) {
    const found = ticks({ ...SCALE, low, high, ticks: kind }, most);
    assert.deepEqual([high, kind, ...found.map(({ text }) => text)], [high, kind, ...texts]);
  }
});
