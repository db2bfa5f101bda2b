// What stands still while the pointer moves: boxes, arrows, shapes, the tokens, the vectors.

import type { Arrays, Matrix } from "../shared/arrays.ts";
import { setPen } from "../shared/canvas.ts";
import { LETTER_SIZE } from "../shared/constants.ts";
import { hatch } from "../shared/hatch.ts";
import { writeName } from "../shared/names.ts";
import { perCent } from "../shared/numbers.ts";
import { type Brush, shareImage, stripImage } from "./brush.ts";
import type { Line, Place, Placed, PlacedLane, Rect } from "./layout.ts";
import { ARC, BYPASS, KEY, LONGEST_KEY, TEXT_LINE, TILE } from "./layout.ts";
import { type Column, hasBypass, written } from "./scene.ts";

export const DIMMED = 0.15;
const ROOMY = 9; // pixels from which on a row has room for a bar below its strip

export class Painter {
  images: Map<string, HTMLCanvasElement> = new Map(); // pictures of matrices, for one theme
  isDark = false;

  arrays: Arrays;
  longest: number;

  constructor(arrays: Arrays) {
    this.arrays = arrays;
    const lengths = Object.entries(arrays).filter(([name]) => name.endsWith(".length"));
    this.longest = Math.max(1e-12, ...lengths.flatMap(([, { values }]) => [...values]));
  }

  /** The whole picture; columns past `stage` are faint. */
  paint(brush: Brush, placed: Placed, stage: number | null) {
    const { isDark } = brush.colours;
    if (this.isDark !== isDark) this.images.clear();
    this.isDark = isDark;
    let order = 0;
    for (const lane of placed.lanes) {
      for (const [n, line] of lane.title.entries()) {
        const name = n === 0 ? (/^[^:]*:? ?/.exec(line)?.[0] ?? "") : "";
        brush.text(name, 0, lane.y + 9 + n * TEXT_LINE, { isBold: true });
        brush.text(line.slice(name.length), name ? brush.widthOf(name) : 0, lane.y + 9 + n * TEXT_LINE);
      }
      for (const line of lane.lines) paintTokens(brush, lane, line);
      if (lane.sentence) paintText(brush, lane.sentence);
      for (const place of lane.columns) {
        brush.pen.globalAlpha = stage === null || order <= stage ? 1 : DIMMED;
        this.box(brush, place);
        const text = place.column.shape.map(written).join(" × ");
        const [middle, top] = [place.box.x + place.box.width / 2, place.box.y + place.box.height];
        const { faint } = brush.colours.roles;
        brush.text(text, middle + 5, top + 12, { align: "center", colour: faint });
        const left = middle - brush.widthOf(text) / 2 - 5;
        brush.arrow(faint, 1, [left, top + 3], [left, top + 19]);
        this.matrix(brush, place, lane, placed.isStrip);
        order += 1;
      }
      brush.pen.globalAlpha = 1;
      paintArrows(brush, lane, placed.isStrip);
    }
    if (!placed.isStrip) paintMemory(brush, placed.lanes);
  }

  box(brush: Brush, { column, box }: Place) {
    const { kind, title, lines, heads, parameters } = column;
    const colour = brush.colour(kind);
    brush.fill(brush.colours.ground, box.x, box.y, box.width, box.height);
    brush.frame(colour, 1.5, box);
    brush.fill(colour, box.x, box.y, box.width, 3);
    const middle = box.x + box.width / 2;
    let y = box.y + 4;
    for (const [n, line] of [title, ...lines].entries()) {
      brush.text(line, middle, y + TEXT_LINE / 2, { align: "center", isBold: n === 0 });
      y += TEXT_LINE;
    }
    if (heads) {
      // Small pictures, four in a row; the amounts below them are painted with what follows the token.
      const { count, thumbs } = heads;
      const all = this.arrays[thumbs];
      const rows = all.rows / count;
      brush.pen.imageSmoothingEnabled = false;
      for (let head = 0; head < count; head++) {
        const from = head * rows * all.columns;
        const picture = this.kept(`${thumbs}/${head}`, () => shareImage({ ...all, rows }, { from }));
        const tile = tileOf(column, box, head);
        brush.pen.drawImage(picture, tile.x, tile.y, TILE, TILE);
      }
      y += Math.ceil(count / 4) * (TILE + TEXT_LINE + 4) + 2;
    }
    y = paintParts(brush, column, box, y + 2);
    if (parameters === undefined) return;
    const look = { align: "center", colour: brush.colours.roles.faint } as const;
    brush.text(written(parameters), middle, y + TEXT_LINE / 2, look);
  }

  matrix(brush: Brush, { column, body, row }: Place, lane: PlacedLane, isStrip: boolean) {
    if (!body) return;
    const { matrix } = column;
    const array = this.arrays[matrix];
    const { pen, colours } = brush;
    pen.imageSmoothingEnabled = false;
    if (column.image === "words") {
      paintWords(brush, column, { ...body, row }, array.values, isStrip ? lane.lane.tokens : null);
    } else if (column.image === "pattern") {
      const allowed: Matrix | undefined = this.arrays[column.allowed ?? ""];
      const picture = this.kept(matrix, () => shareImage(array, { allowed, masked: colours.masked }));
      pen.drawImage(picture, body.x, body.y, body.width, body.height);
      const { rows, columns } = array;
      pen.save();
      pen.translate(body.x, body.y);
      hatch(pen, { rows, columns, wide: body.width / columns, high: body.height / rows }, colours, (i, j) =>
        Boolean(allowed && !allowed.values[i * columns + j]),
      );
      pen.restore();
      paintKeys(brush, column.labels ?? [], body);
    } else {
      const picture = this.kept(matrix, () => stripImage(array, colours.roles));
      if (row < ROOMY) pen.drawImage(picture, body.x, body.y, body.width, body.height);
      else this.strips(brush, picture, column, { ...body, row });
      const edge = { x: body.x - 0.5, y: body.y - 0.5, width: body.width + 1, height: body.height + 1 };
      brush.frame(colours.grid, 1, edge);
    }
  }

  strips(brush: Brush, picture: HTMLCanvasElement, { matrix }: Column, { x, y, width, row }: Rect & { row: number }) {
    const { rows, columns } = this.arrays[matrix];
    const lengths = this.arrays[`${matrix}.length`].values;
    for (let n = 0; n < rows; n++) {
      brush.pen.drawImage(picture, 0, n, columns, 1, x, y + n * row + 1, width, row - 5);
      const long = Math.max(0.5, (width * lengths[n]) / this.longest);
      brush.fill(brush.colours.text, x, y + n * row + row - 3.5, long, 2);
    }
  }

  kept(name: string, make: () => HTMLCanvasElement): HTMLCanvasElement {
    const picture = this.images.get(name) ?? make();
    this.images.set(name, picture);
    return picture;
  }
}

/** The parts of a block; beside them the residual connection goes from sum to sum. Returns where they end. */
function paintParts(brush: Brush, column: Column, box: Rect, from: number) {
  if (!column.parts) return from - 2;
  const bypass = hasBypass(column) ? BYPASS : 0;
  const [way, inner] = [box.x + 7, box.x + 2 + bypass];
  const sums = [];
  const end = from + column.parts.reduce((sum, part) => sum + heightOf(part), 0);
  const { text, ground } = brush.colours;
  if (bypass) brush.line(text, 1.5, [way, from - 2], [way, end - 2]);
  let y = from;
  for (const part of column.parts) {
    if (part.kind === "add") sums.push(y - 3);
    else {
      const x = part.onStream ? box.x + 2 : inner;
      const rect = { x, y, width: box.x + box.width - 3 - x, height: heightOf(part) - 5 };
      brush.fill(ground, rect.x, rect.y, rect.width, rect.height);
      brush.frame(brush.colour(part.kind), 1, rect);
      for (const [n, line] of part.lines.entries())
        brush.text(line, x + rect.width / 2, y + 2 + TEXT_LINE * (n + 0.5), { align: "center" });
    }
    y += heightOf(part);
  }
  for (const sum of sums) {
    brush.line(text, 1.5, [way, sum], [inner, sum]);
    brush.text("+", way, sum, { isBold: true, align: "center" });
    brush.frame(text, 1.5, { x: way - 5, y: sum - 5, width: 10, height: 10 });
  }
  return y;
}

/** @param part with the room below it; a sum lies in the room of what is above it */
const heightOf = ({ kind, lines }: { kind: string; lines: string[] }) =>
  kind === "add" ? 0 : TEXT_LINE * lines.length + 8;

export function tileOf({ heads, lines }: Column, box: Rect, head: number): Rect {
  const across = Math.min(heads?.count ?? 0, 4);
  const start = box.x + (box.width - across * (TILE + 6) + 6) / 2;
  const y = box.y + 4 + TEXT_LINE * (1 + lines.length) + Math.floor(head / 4) * (TILE + TEXT_LINE + 4);
  return { x: start + (head % 4) * (TILE + 6), y, width: TILE, height: TILE };
}

/** The tokens as running text, on a phone. */
function paintText(brush: Brush, { x, y, lines }: { x: number; y: number; lines: string[] }): void {
  for (const [n, line] of lines.entries()) brush.text(line, x, y + TEXT_LINE * n + 9);
}

function paintTokens(brush: Brush, { lane, labels, row }: PlacedLane, { body }: Line): void {
  const every = Math.ceil(15 / row);
  for (const [n, token] of lane.tokens.entries())
    if (n % every === 0) brush.text(token, labels - 6, body + (n + 0.5) * row, { align: "right", room: labels - 6 });
  if (!lane.oneHot) return;
  const width = 26;
  for (const [n, id] of lane.oneHot.ids.entries()) {
    brush.fill(brush.colours.masked, labels, body + (n + 0.5) * row - 1, width, 2);
    const x = labels + (id / lane.oneHot.size) * (width - 3);
    brush.fill(brush.colour("embed"), x, body + n * row + 2, 3, Math.max(1, row - 4));
  }
}

/** The most probable words; on a phone with the tokens before them. */
export function paintWords(
  brush: Brush,
  { labels = [] }: Column,
  { x, y, width, row }: Rect & { row: number },
  p: ArrayLike<number>,
  tokens: string[] | null,
) {
  const every = Math.ceil(15 / row);
  for (let n = 0; n < labels.length; n += every) {
    const top = y + n * row;
    const alpha = brush.pen.globalAlpha;
    brush.pen.globalAlpha = 0.3 * alpha; // the words stand on it
    brush.fill(brush.colour("probability"), x, top, width * p[n], row * every - 1);
    brush.pen.globalAlpha = alpha;
    const middle = top + (row * every) / 2;
    brush.text(perCent(p[n]), x + width, middle, { align: "right" });
    const text = tokens ? `${tokens[n]} → ${labels[n]}` : labels[n];
    brush.text(text, x, middle, { room: width - brush.widthOf(perCent(p[n])) - 8 });
  }
}

function paintKeys(brush: Brush, labels: string[], body: Rect): void {
  const cell = body.width / labels.length;
  if (cell < KEY) return;
  const font = `${LETTER_SIZE}px ${brush.colours.font}`;
  setPen(brush.pen, { font, fillStyle: brush.colours.text, textBaseline: "middle" });
  const fits = labels.every((label) => brush.widthOf(label) + 8 <= cell);
  for (const [n, label] of labels.entries()) {
    const at = { x: body.x + (n + 0.5) * cell, y: body.y, side: "above", longest: LONGEST_KEY } as const;
    writeName(brush.pen, label, at, { size: LETTER_SIZE, isSlanted: !fits });
  }
}

function paintArrows(brush: Brush, { columns, lines, left }: PlacedLane, isStrip: boolean): void {
  const { text } = brush.colours;
  for (const [n, { column, box }] of columns.entries()) {
    const before = columns[n - 1]?.box;
    if (!before || column.apart) continue;
    if (isStrip) brush.arrow(text, 1.5, [8, before.y + before.height], [8, box.y - 1]);
    else if (before.y === box.y) brush.arrow(text, 1.5, [before.x + before.width, box.y + 13], [box.x - 1, box.y + 13]);
  }
  const places = new Map(columns.map((place) => [place.column.id, place]));
  for (const { from: id, to: ids, level } of lines.flatMap(({ arcs }) => arcs)) {
    const from = places.get(id);
    if (!from) continue;
    const start = from.box.x + from.box.width * 0.7;
    for (const { box } of ids.flatMap((one) => places.get(one) ?? [])) {
      const [end, y] = [box.x + box.width * 0.3, box.y - level * ARC];
      if (from.box.y === box.y) brush.line(text, 1.5, [start, box.y], [start, y], [end, y]);
      else {
        brush.text(from.column.title, left - 10, y, { align: "right" }); // it comes from the line above
        brush.line(text, 1.5, [left - 6, y], [end, y]);
      }
      brush.arrow(text, 1.5, [end, y], [end, box.y - 1]);
    }
  }
}

function paintMemory(brush: Brush, [above, below]: PlacedLane[]): void {
  const end = above.lane.marks && above.columns[above.columns.length - 1].body;
  const readers = (below?.columns ?? []).filter(({ column }) => column.crosses);
  if (!end || !readers.length) return;
  const colour = brush.colour("cross");
  const top = readers[0].box.y;
  const ends = readers.filter(({ box }) => box.y === top).map(({ box }) => box.x + box.width - 12);
  const [x, y] = [end.x + end.width / 2, top - 8];
  brush.line(colour, 2, [x, end.y + end.height], [x, y]);
  brush.line(colour, 2, [Math.min(x, ...ends), y], [Math.max(x, ...ends), y]);
  for (const at of ends) brush.arrow(colour, 2, [at, y], [at, y + 7]);
  brush.text("M", x + 10, y - 6, { isBold: true, colour });
}
