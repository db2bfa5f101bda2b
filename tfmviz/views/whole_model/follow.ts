// What changes with the pointer: the followed token's row, what it reads of the others, the amounts in the band.

import type { Arrays } from "../shared/arrays.ts";
import { decimal, perCent, rounded } from "../shared/numbers.ts";
import { type Brush, shareColour } from "./brush.ts";
import { type Place, type Placed, type PlacedLane, TEXT_LINE, TILE } from "./layout.ts";
import { DIMMED, tileOf } from "./paint.ts";
import { type Column, hasRow, onPhone } from "./scene.ts";

export type Says = Record<string, [word: string, probability: number, rank: number]>;

type Followed = { token: { stack: string; row: number }; says: Says; stage: number | null; box: string | null };

export function follow(brush: Brush, placed: Placed, arrays: Arrays, { token, says, stage, box }: Followed) {
  let order = 0;
  for (const lane of placed.lanes) {
    const isOwn = lane.lane.stack === token.stack;
    if (isOwn) frameRows(brush, lane, token.row);
    for (const { band } of isOwn ? lane.lines : [])
      for (const [n, { kind, label }] of lane.rows.entries())
        brush.text(label, lane.left - 6, band + TEXT_LINE * (n + 0.5), { align: "right", colour: inkOf(brush, kind) });
    for (const place of lane.columns) {
      brush.pen.globalAlpha = stage === null || order <= stage ? 1 : DIMMED;
      if (isOwn) {
        reads(brush, place, arrays, token.row, placed.isStrip);
        headWrites(brush, place, arrays, token.row);
        amounts(brush, place, lane, { arrays, row: token.row, says, isStrip: placed.isStrip });
      }
      brush.pen.globalAlpha = 1;
      const { x, y, width, height } = place.box;
      if (stage === order || box === place.column.id)
        brush.frame(brush.colours.accent, 3, { x: x - 1.5, y: y - 1.5, width: width + 3, height: height + 3 });
      order += 1;
    }
    if (lane.lane.marks?.by === token.stack) marks(brush, lane, arrays, token.row);
  }
}

/** The row across a whole line; where one column stands below the other, in each. */
function frameRows(brush: Brush, { lines, columns, row: high }: PlacedLane, row: number): void {
  const frame = (x: number, end: number, top: number, tall: number) =>
    brush.frame(brush.colours.accent, 2, { x, y: top + row * tall - 0.5, width: end - x, height: Math.max(tall, 3) });
  for (const { body, columns: members } of lines) {
    const end = members[members.length - 1].body;
    frame(1, end ? end.x + end.width + 4 : 1, body, high);
  }
  for (const { body, row: own } of lines.length ? [] : columns)
    if (body) frame(body.x - 1, body.x + body.width + 1, body.y, own);
}

/** Lines from every token that it reads, each as strong as its share; on a phone a strip of shares. */
function reads(brush: Brush, { column, gap, body, row: high }: Place, arrays: Arrays, row: number, isStrip: boolean) {
  if (!column.reads || !body) return;
  const { columns, values } = arrays[column.reads];
  const alpha = brush.pen.globalAlpha;
  for (let n = 0; n < columns; n++) {
    const share = values[row * columns + n];
    if (share <= 0) continue;
    if (isStrip) {
      brush.fill(shareColour(share), gap.x, body.y + n * high, gap.width, high);
      continue;
    }
    const root = Math.sqrt(share);
    brush.pen.globalAlpha = alpha * Math.max(0.08, root);
    const [from, to] = [body.y + (n + 0.5) * high, body.y + (row + 0.5) * high];
    brush.line(brush.colour("attention"), Math.max(0.7, 5 * root), [gap.x, from], [gap.x + gap.width, to]);
  }
  brush.pen.globalAlpha = alpha;
}

const inkOf = (brush: Brush, kind: string) =>
  ["length", "says", "sure"].includes(kind) ? brush.colours.text : brush.colour(kind);

type What = { arrays: Arrays; row: number; says: Says; isStrip: boolean };

/** The amounts of one column; on a phone, where there is no column of names, each with its name. */
function amounts(brush: Brush, { column, box, body, band }: Place, lane: PlacedLane, what: What) {
  if (!body) return;
  const { arrays, row, isStrip } = what;
  const { x, width } = isStrip ? body : box;
  const rows = isStrip ? onPhone(lane.rows, column) : lane.rows;
  const bars = lane.lane.columns.flatMap((column) => column.bars ?? []);
  const most = Math.max(1e-12, ...bars.map(({ values }) => arrays[values].values[row]));
  for (const [n, { kind, label }] of rows.entries()) {
    if (!hasRow(column, kind)) continue;
    const y = band + TEXT_LINE * n;
    const bar = column.bars?.find((other) => other.kind === kind);
    const value = bar ? arrays[bar.values].values[row] : null;
    const text = value === null ? textOf(column, kind, what) : amount(value);
    if (value !== null) brush.fill(brush.colour(kind), x, y + 16, width * (value / most), 2);
    const whole = isStrip && text ? `${label} ${text}` : text;
    const at = isStrip ? x : x + width / 2;
    brush.text(whole, at, y + 8, { align: isStrip ? "left" : "center", colour: inkOf(brush, kind), room: width + 4 });
  }
}

/** Of a vector its length, or what the model says there. */
function textOf(column: Column, kind: string, { arrays, row, says, isStrip }: What): string {
  if (kind === "length") return amount(arrays[`${column.matrix}.length`].values[row]);
  const said = saidOf(column, arrays, row, says);
  if (!said) return "";
  if (kind === "sure") return perCent(said[1]);
  return isStrip ? `${said[0]} ${perCent(said[1])}` : said[0];
}

/** What the model says at a column: of every token at its end, before that only of the one that is chosen. */
export function saidOf(column: Column, arrays: Arrays, row: number, says: Says): [string, number, number?] | null {
  if (column.image === "words") return [column.labels?.[row] ?? "", arrays[column.matrix].values[row]];
  return says[column.id] ?? null;
}

function headWrites(brush: Brush, { column, box }: Place, arrays: Arrays, row: number): void {
  if (!column.heads) return;
  const { columns, values } = arrays[column.heads.writes];
  for (let head = 0; head < column.heads.count; head++) {
    const { x, y } = tileOf(column, box, head);
    const options = { align: "center", colour: brush.colour(column.kind) } as const;
    brush.text(amount(values[head * columns + row]), x + TILE / 2, y + TILE + 9, options);
  }
}

function marks(brush: Brush, { lane, marks: place }: PlacedLane, arrays: Arrays, row: number): void {
  if (!lane.marks || !place) return;
  const { values, title } = lane.marks;
  const isRoomy = place.width > 14;
  for (const [n, name] of values.entries()) {
    const { columns, values: shares } = arrays[name];
    const high = place.height / columns;
    const x = place.x + n * place.width;
    for (let key = 0; key < columns; key++)
      brush.fill(shareColour(shares[row * columns + key]), x, place.y + key * high, place.width - 1, high - 1);
    if (isRoomy && values.length > 1) brush.text(String(n), x + place.width / 2, place.y - 9, { align: "center" });
  }
  const above = values.length > 1 ? 26 : 9;
  if (isRoomy) brush.text(title, place.x + values.length * place.width, place.y - above, { align: "right" });
}

/** @param value an amount, with about three digits that count */
export const amount = (value: number) => (value >= 100 ? rounded(value) : decimal(value, value >= 10 ? 1 : 2));
