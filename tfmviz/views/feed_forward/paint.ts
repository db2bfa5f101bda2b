// A feed-forward layer as a picture: vectors made of cells, the weights between them, where a number comes from.

import type { Arrays } from "../shared/arrays.ts";
import { measured, type Pen, setPen, strokes } from "../shared/canvas.ts";
import { type Colours, packed, pixels } from "../shared/colours.ts";
import { shader } from "../shared/shades.ts";
import { type Header, nameOf, TONE } from "./explain.ts";
import { type Box, boxOf, cornerOf, type Layout, NAME, type Part, type Place } from "./layout.ts";

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
