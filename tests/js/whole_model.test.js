import assert from "node:assert/strict";
import { test } from "node:test";
import { RAMP } from "../../tfmviz/views/shared/colours.ts";
import { shareColour, shareImage } from "../../tfmviz/views/whole_model/brush.ts";
import { arcsOf, broken, inLines, layOut, partOf, vectorAt } from "../../tfmviz/views/whole_model/layout.ts";
import { paintWords } from "../../tfmviz/views/whole_model/paint.ts";
import { hasRow, onPhone } from "../../tfmviz/views/whole_model/scene.ts";
import { captionOf, hrefOf } from "../../tfmviz/views/whole_model/words.ts";

const measure = (text) => 7 * text.length;

const column = (id, more = {}) => ({
  id,
  kind: "norm",
  title: id,
  lines: [],
  words: "",
  links: [],
  shape: [11, 256],
  matrix: id,
  image: "strips",
  ...more,
});

const block = (n) =>
  column(`decoder.${n}`, {
    parameters: 789760,
    parts: [
      { kind: "norm", lines: ["norm"] },
      { kind: "attention", lines: ["attention", "8 heads"] },
      { kind: "add", lines: ["+"] },
    ],
    bars: [{ kind: "attention", label: "attention adds", values: "x" }],
    reads: "mean",
    says: true,
  });

const TOKENS = "The cat sat on the mat and the dog barked .".split(" ");

const scene = (lanes = 1) => ({
  title: "small",
  zoom: "model",
  layer: "decoder.0.self_attn",
  head: 0,
  total: 100,
  numbers: 64,
  width: 256,
  lanes: Array.from({ length: lanes }, (_, n) => ({
    stack: n === lanes - 1 ? "decoder" : "encoder",
    title: "Decoder",
    note: "RoPE. Queries and keys turn with their positions; in their product only the distance counts.",
    tokens: TOKENS,
    oneHot: { ids: TOKENS.map((_, n) => n), size: 6144 },
    columns: [column("embed"), ...[0, 1, 2, 3, 4, 5].map(block), column("norm"), column("end", { image: "words" })],
  })),
});

const overlap = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

for (const width of [318, 520, 620, 870, 1226]) {
  test(`at ${width} pixels nothing lies on anything else or past the edge`, () => {
    const placed = layOut(scene(2), width, measure, "decoder");
    assert.equal(placed.isStrip, width < 560);
    const places = placed.lanes.flatMap(({ columns }) => columns);
    assert.equal(places.length, 20);
    const rects = places.flatMap(({ box, body }) => (body ? [box, body] : [box]));
    for (const [n, rect] of rects.entries()) {
      assert.ok(rect.x >= 0 && rect.x + rect.width <= width && rect.y + rect.height <= placed.height, `${n}`);
      for (const other of rects.slice(n + 1)) assert.ok(!overlap(rect, other), JSON.stringify([rect, other]));
    }
    for (const { rows, columns } of placed.lanes)
      for (const { column: shown, body, row, band } of columns)
        if (body) {
          assert.ok(Math.abs(body.height - row * TOKENS.length) < 1e-9);
          const written = placed.isStrip ? onPhone(rows, shown).length : 0;
          for (const rect of rects) assert.ok(!written || !overlap(rect, { ...body, y: band, height: 18 * written }));
        }
  });
}

test("six layers stand in one line on a projector", () => {
  const [lane] = layOut(scene(), 1226, measure, "decoder").lanes;
  assert.equal(lane.lines.length, 1);
});

test("amounts are only written of the text in which the followed token is", () => {
  const [source, target] = layOut(scene(2), 870, measure, "decoder").lanes;
  assert.deepEqual(source.rows, []);
  assert.deepEqual(
    target.rows.map(({ label }) => label),
    ["attention adds", "length", "top prediction", "probability"],
  );
  const silent = scene();
  for (const shown of silent.lanes[0].columns) shown.says = false;
  for (const quiet of [silent, { ...scene(), beside: true }]) {
    const [{ rows }] = layOut(quiet, 870, measure, "decoder").lanes;
    assert.deepEqual(
      rows.map(({ label }) => label),
      ["attention adds", "length"],
    );
  }
});

for (const width of [318, 870]) {
  test(`the vector under the pointer is found at ${width} pixels`, () => {
    const placed = layOut(scene(2), width, measure, "decoder");
    for (const lane of placed.lanes)
      for (const place of lane.columns.filter(({ body }) => body)) {
        const { x, y, width: wide } = place.body;
        const found = vectorAt(placed, x + wide / 2, y + 4.5 * place.row);
        assert.equal(found.row, 4);
        assert.equal(found.stack, lane.lane.stack);
        assert.equal(found.place, place);
      }
    assert.equal(vectorAt(placed, 5, -3), null);
    assert.equal(vectorAt(placed, 5, placed.height + 1), null);
  });
}

test("columns break into lines of about equal length", () => {
  assert.deepEqual(inLines([50, 50, 50, 50, 50], 170), [
    [0, 1, 2],
    [3, 4],
  ]);
  assert.deepEqual(inLines([50, 50, 50, 50], 170), [
    [0, 1],
    [2, 3],
  ]);
  assert.deepEqual(inLines([50, 50], 100), [[0, 1]]);
  assert.deepEqual(inLines([500, 50], 100), [[0], [1]]);
});

test("ways past other columns lie one above the other only where they would meet", () => {
  const apart = [column("x"), column("a"), column("b", { from: ["x"] }), column("c"), column("d", { from: ["b"] })];
  assert.deepEqual(
    arcsOf(apart).map(({ from, to, level }) => [from, to, level]),
    [
      ["x", ["b"], 1],
      ["b", ["d"], 1],
    ],
  );
  const across = [column("x"), column("q"), column("k", { from: ["x"] }), column("p", { from: ["q", "k"] })];
  assert.deepEqual(
    arcsOf(across).map(({ from, level }) => [from, level]),
    [
      ["x", 1],
      ["q", 2],
      ["k", 1],
    ],
  );
});

test("a way that begins on the line above comes in from the left, past all before its end", () => {
  const line = [column("t5"), column("t6", { from: ["t3"] }), column("h", { from: ["t6"] })];
  assert.deepEqual(
    arcsOf(line).map(({ from, to, level }) => [from, to, level]),
    [
      ["t3", ["t6"], 1],
      ["t6", ["h"], 1],
    ],
  );
});

test("a long title breaks between words", () => {
  assert.deepEqual(broken("aa bb cc", 35, measure), ["aa bb", "cc"]);
  assert.deepEqual(broken("unbreakable a", 20, measure), ["unbreakable", "a"]);
});

test("a column says only what it has", () => {
  assert.deepEqual(
    ["attention", "mlp", "length", "says", "sure"].map((kind) => hasRow(block(0), kind)),
    [true, false, true, true, true],
  );
  assert.equal(hasRow(column("x", { image: "pattern" }), "length"), false);
  assert.equal(hasRow(column("x"), "says"), false);
});

test("an address sets model, text, layer, head, token and what the page is to show", () => {
  const kinds = { "decoder.cross_attn": "cross-attention" };
  const where = { layer: "decoder.2.cross_attn", head: 3, token: 5, stage: "qkv" };
  const address = { model: "a&b", text: "J'ai <b> ?" };
  const [page, query] = hrefOf("step_by_step", address, where, kinds).split("?");
  assert.equal(page, "step_by_step");
  assert.deepEqual(Object.fromEntries(new URLSearchParams(query)), {
    model: "a&b",
    text: "J'ai <b> ?",
    kind: "cross-attention",
    layer: "2",
    head: "3",
    token: "5",
    stage: "qkv",
  });
});

test("the caption says how many numbers a strip stands for, and whose parameters are counted", () => {
  assert.match(captionOf(scene()), /256 numbers, averaged to 64/);
  assert.match(captionOf(scene()), /The model has 100 parameters\.$/);
  assert.match(captionOf({ ...scene(), zoom: "block" }), /4,738,560 of them here\.$/);
  assert.doesNotMatch(captionOf({ ...scene(), width: 64 }), /averaged/);
});

test("bars under words are pale, and words keep apart, however low the rows of a long text are", () => {
  for (let row = 1; row < 30; row += 0.5) {
    const [words, inks, pen] = [[], [], { globalAlpha: 0.5 }];
    const brush = {
      pen,
      colour: () => "",
      fill: () => inks.push(pen.globalAlpha),
      text: (_text, _x, middle) => words.push(middle),
      widthOf: measure,
      cut: (text) => text,
    };
    const labels = Array(40).fill("the");
    paintWords(brush, { labels }, { x: 0, y: 0, width: 90, row }, Array(40).fill(0.5), null);
    const middles = [...new Set(words)];
    assert.ok(inks.length === middles.length && inks.every((ink) => ink < 0.2), `${row}: ${inks}`);
    assert.ok(
      middles.every((middle, n) => !n || middle >= middles[n - 1] + 12),
      `${row}: ${middles}`,
    );
    assert.equal(pen.globalAlpha, 0.5);
  }
});

test("a share has the colour of its root, and a masked one the grey", (context) => {
  let painted = [];
  const createImageData = (width, height) => ({ data: new Uint8ClampedArray(4 * width * height) });
  const putImageData = ({ data }) => {
    painted = [...data];
  };
  globalThis.document = { createElement: () => ({ getContext: () => ({ createImageData, putImageData }) }) };
  context.after(() => delete globalThis.document);
  const values = Float32Array.of(9, 9, 0, 0.25, 1, 0.5);
  const allowed = { rows: 2, columns: 3, values: Float32Array.of(1, 1, 1, 1, 1, 0) };
  shareImage({ rows: 2, columns: 2, values }, { allowed, masked: "#808080", from: 2 });
  const pixels = [0, 4, 8, 12].map((n) => painted.slice(n, n + 3));
  assert.deepEqual(pixels, [RAMP[0], RAMP[128], RAMP[255], [128, 128, 128]]);
  assert.equal(shareColour(0.25), `rgb(${RAMP[128].join(" ")})`);
});

test("lanes, boxes, vectors and rows are found by their names, in a lane or in any", () => {
  const placed = layOut(scene(2), 1226, measure, "decoder");
  const [upper, lower] = placed.lanes;
  assert.equal(partOf(placed, ["decoder"]).y, lower.y);
  const norm = ({ columns }) => columns.find(({ column }) => column.id === "norm");
  assert.deepEqual(partOf(placed, ["norm"]), norm(upper).box);
  assert.deepEqual(partOf(placed, ["decoder", "norm"]), norm(lower).box);
  const vector = partOf(placed, ["decoder", "norm", "the#2"]);
  const found = vectorAt(placed, vector.x + 1, vector.y + 1);
  assert.deepEqual([found.stack, found.row, found.place.column.id], ["decoder", 7, "norm"]);
  const row = partOf(placed, ["sat"]);
  assert.deepEqual([row.x, vectorAt(placed, 9, row.y + 1).row], [0, 2]);
  assert.equal(partOf(placed, ["no such word"]), null);
});
