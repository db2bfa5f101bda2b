// A feed-forward layer as a picture: vectors made of cells, the weights between them, where a number comes from.

import type { Arrays } from "../shared/arrays.ts";
import { measured, type Pen, setPen, strokes } from "../shared/canvas.ts";
import { type Colours, packed, pixels } from "../shared/colours.ts";
import { within } from "../shared/elements.ts";
import { shader } from "../shared/shades.ts";
import { type Header, nameOf, TONE } from "./explain.ts";

// Where vectors stand: one below the other, all cells of one size, so that widths can be compared.

export type Part = "x" | "gate" | "pre" | "post" | "out" | "before" | "after";

export type Place = { part: Part; index: number };

type Box = { part: Part; length: number; x: number; y: number; width: number; height: number };

/** Every vector fills its box column by column, `rows` numbers in each. */
export type Layout = { width: number; height: number; cell: number; rows: number; boxes: Box[] };

const NAME = 23; // pixels for the name above a vector
const WEIGHTS = 40; // pixels for a matrix of weights between two vectors
const SMALLEST_CELL = 6; // pixels of a cell, as long as there are not too many rows
const LARGEST_CELL = 14;
const MOST_ROWS = 48;
const BETWEEN = 4; // cells between two vectors on one line

export function layoutOf(arrays: Arrays, width: number): Layout {
  const [narrow, wide] = [arrays.x.columns, arrays.pre.columns];
  const across = (rows: number) => Math.max(Math.ceil(wide / rows), 3 * Math.ceil(narrow / rows) + 2 * BETWEEN);
  let rows = 1;
  while (width / across(rows) < SMALLEST_CELL && rows < MOST_ROWS) rows += 1;
  const cell = Math.min(LARGEST_CELL, (width - 2) / across(rows));
  const high = rows * cell;
  const boxes: Box[] = [];
  let y = NAME;
  const put = (line: Part[]) => {
    const widths = line.map((part) => Math.ceil(arrays[part].columns / rows) * cell);
    let x = (width - widths.reduce((a, b) => a + b) - (line.length - 1) * BETWEEN * cell) / 2;
    for (const [n, part] of line.entries()) {
      boxes.push({ part, length: arrays[part].columns, x, y, width: widths[n], height: high });
      x += widths[n] + BETWEEN * cell;
    }
    y += high + NAME;
  };
  put(["x"]);
  y += WEIGHTS - NAME / 2;
  if (arrays.gate) put(["gate"]);
  put(["pre"]);
  put(["post"]);
  y += WEIGHTS - NAME / 2;
  put(["before", "out", "after"]);
  return { width, height: y - NAME + 4, cell, rows, boxes };
}

export const boxOf = ({ boxes }: Layout, part: Part) => boxes.find((box) => box.part === part) ?? boxes[0];

export function cornerOf(layout: Layout, { part, index }: Place) {
  const { x, y } = boxOf(layout, part);
  const { rows, cell } = layout;
  return { x: x + Math.floor(index / rows) * cell, y: y + (index % rows) * cell };
}

export function placeAt({ boxes, rows, cell }: Layout, x: number, y: number): Place | null {
  for (const box of boxes) {
    const [column, row] = [Math.floor((x - box.x) / cell), Math.floor((y - box.y) / cell)];
    const index = column * rows + row;
    if (column >= 0 && row >= 0 && row < rows && x < box.x + box.width && index < box.length)
      return { part: box.part, index };
  }
  return null;
}

/** The number that an arrow key leads to: the next cell, at an edge the nearest one of the next vector. */
export function moved(layout: Layout, from: Place, [down, right]: [rows: number, columns: number]): Place {
  const { cell } = layout;
  const corner = cornerOf(layout, from);
  const [x, y] = [corner.x + (right + 0.5) * cell, corner.y + (down + 0.5) * cell];
  const inside = placeAt(layout, x, y);
  if (inside) return inside;
  const own = boxOf(layout, from.part);
  const isAhead = (box: Box) => (down ? (box.y - own.y) * down > 0 : box.y === own.y && (box.x - own.x) * right > 0);
  const away = (box: Box) => Math.abs(box.y - y) + Math.abs(Math.min(Math.max(x, box.x), box.x + box.width) - x) / 1e4;
  const [next] = layout.boxes.filter(isAhead).sort((a, b) => away(a) - away(b));
  if (!next) return from;
  const column = within(Math.floor((x - next.x) / cell), Math.ceil(next.length / layout.rows));
  const row = within(Math.floor((y - next.y) / cell), layout.rows);
  return { part: next.part, index: Math.min(next.length - 1, column * layout.rows + row) };
}

type Scene = { header: Header; arrays: Arrays; layout: Layout; place: Place; colours: Colours };

/** the vectors whose numbers, all or the one at the same place, a number is made of */
const SOURCES: Record<Part, Part[]> = {
  x: [],
  gate: ["x"],
  pre: ["x"],
  post: ["gate", "pre"],
  out: ["post"],
  before: [],
  after: ["before", "out"],
};

export function paintLayer(pen: Pen, scene: Scene) {
  const { layout, colours } = scene;
  for (const { above, below, top, bottom } of betweenOf(scene)) {
    const left = [above.x, top, below.x, bottom];
    const right = [above.x + above.width, top, below.x + below.width, bottom];
    strokes(pen, { strokeStyle: colours.text, globalAlpha: 0.35, lineWidth: 1.5 }, left, right);
    pen.globalAlpha = 1;
  }
  pen.imageSmoothingEnabled = false;
  for (const box of layout.boxes) {
    pen.drawImage(imageOf(scene, box), box.x, box.y, box.width, box.height);
    setPen(pen, { strokeStyle: colours.grid, lineWidth: 1 });
    pen.strokeRect(box.x - 0.5, box.y - 0.5, box.width + 1, box.height + 1);
    paintName(pen, scene, box);
  }
}

function betweenOf({ arrays, layout }: Scene) {
  const pairs: [from: Part, to: Part][] = [
    ["x", arrays.gate ? "gate" : "pre"],
    ["post", "out"],
  ];
  return pairs.map(([from, to]) => {
    const [above, below] = [boxOf(layout, from), boxOf(layout, to)];
    return { above, below, top: above.y + above.height, bottom: below.y - NAME + 2 };
  });
}

export function paintWeights(pen: Pen, scene: Scene) {
  const { arrays, header, layout, colours } = scene;
  const [d, wide] = [arrays.x.columns, arrays.pre.columns].map((count) => count.toLocaleString("en"));
  const matrices = header.gated ? `W_gate and W_in, each ${d} × ${wide}` : `W_in, ${d} × ${wide}`;
  const texts = [`${matrices} weights, the same for every token`, `W_out, ${wide} × ${d} weights`];
  setPen(pen, { font: `${colours.letters}px ${colours.font}`, textAlign: "center", textBaseline: "middle" });
  for (const [n, { top, bottom }] of betweenOf(scene).entries()) {
    const [x, y] = [layout.width / 2, (top + bottom) / 2];
    const { width } = pen.measureText(texts[n]);
    pen.fillStyle = colours.ground;
    pen.fillRect(x - width / 2 - 4, y - 11, width + 8, 22);
    pen.fillStyle = colours.text;
    pen.fillText(texts[n], x, y);
  }
}

function paintName(pen: Pen, { header, arrays, layout, colours }: Scene, box: Box) {
  const [name, words] = nameOf(box.part, header);
  const size = words && `${words}, ${arrays[box.part].columns.toLocaleString("en")}`;
  const [strong, plain] = [`bold ${colours.letters + 1}px ${colours.font}`, `${colours.letters}px ${colours.font}`];
  const [wide, rest] = [measured(name, strong).width + 10, measured(size, plain).width];
  const x = Math.max(0, Math.min(box.x, layout.width - wide - rest)); // on a phone a name may be wider than its vector
  setPen(pen, { textAlign: "left", textBaseline: "alphabetic", fillStyle: colours.text, font: strong });
  pen.fillText(name, x, box.y - 6);
  pen.font = plain;
  pen.fillText(size, x + wide, box.y - 6);
}

function imageOf({ arrays, layout: { rows }, colours }: Scene, { part, length }: Box) {
  const columns = Math.ceil(length / rows);
  const shade = shader({ ...arrays[part], tone: TONE[part] }, colours);
  return pixels(columns, rows, (n) => {
    const at = (n % columns) * rows + Math.floor(n / columns);
    return at < length ? packed(shade(at)) : 0;
  });
}

/** Frames a number, and shows what it is made of: a whole vector as a fan of two lines, a single number as a frame. */
export function paintChoice(pen: Pen, { arrays, layout, place, colours }: Scene) {
  const { cell } = layout;
  setPen(pen, { strokeStyle: colours.accent, lineWidth: 2 });
  const { x, y } = cornerOf(layout, place);
  for (const part of SOURCES[place.part].filter((source) => arrays[source])) {
    const [box, own] = [boxOf(layout, part), boxOf(layout, place.part)];
    if (box.length === own.length) {
      const corner = cornerOf(layout, { part, index: place.index });
      pen.strokeRect(corner.x - 1, corner.y - 1, cell + 2, cell + 2);
    } else {
      const [middle, meeting] = [x + cell / 2, own.y - NAME + 2];
      const end = box.y + box.height + 1;
      const fan = [box.x, end, middle, meeting, box.x + box.width, end];
      strokes(pen, {}, fan, [middle, meeting, middle, y]);
    }
  }
  pen.lineWidth = 3;
  pen.strokeRect(x - 1.5, y - 1.5, cell + 3, cell + 3);
}
