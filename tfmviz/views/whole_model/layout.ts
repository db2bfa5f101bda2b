// Where everything stands: lanes, lines of columns that break as words do, and on a phone one strip from top to bottom.
// Nothing here draws; places are in CSS pixels.

import { wrapped } from "../shared/canvas.ts";
import { SLANT } from "../shared/names.ts";
import { indexOf } from "../shared/where.ts";
import { type Column, entrance, hasBypass, type Lane, onPhone, type Row, type Scene, written } from "./scene.ts";

export type Rect = { x: number; y: number; width: number; height: number };

type Measure = (text: string, isBold?: boolean) => number;

/** A column in its place: its box, its matrix with the height of a row, the gap before that, the top of its amounts. */
export interface Place {
  column: Column;
  box: Rect;
  body: Rect | null;
  gap: { x: number; width: number };
  row: number;
  band: number;
}

type Arc = { from: string; to: string[]; last: number; level: number };

export type Line = { band: number; body: number; bottom: number; columns: Place[]; arcs: Arc[] };

export interface PlacedLane {
  lane: Lane;
  y: number;
  title: string[];
  rows: Row[];
  row: number;
  labels: number;
  left: number;
  columns: Place[];
  lines: Line[];
  sentence: { x: number; y: number; lines: string[] } | null;
  marks: Rect | null; // of the first of them
  bottom: number;
}

export type Placed = { isStrip: boolean; width: number; height: number; lanes: PlacedLane[] };

/** a column of a line, and the pixels that it gets */
type Member = { column: Column; full: number };

type Room = { y: number; width: number; tall: number; measure: Measure; rows: Row[]; lanes: number };

export const TEXT_LINE = 18; // pixels from one line of text to the next
export const TILE = 34; // of a head's small picture
export const BYPASS = 14; // beside the parts of a block: the way of the residual connection
export const KEY = 17; // pixels that a cell must measure to have its key's name above it
export const LONGEST_KEY = 80;
const NARROW = 560;
const TITLE = 26;
export const ARC = 6; // above the boxes, for each way of what goes past a layer
const SHAPE = 22; // between a box and its matrix: an arrow and the matrix's shape
const ONE_HOT = 34;
const APART = 6; // from one box to the next
const LONGEST_LABEL = 112;
const GAP = { plain: 16, reads: 30 };
const STRIP = { least: 42, most: 150 };
const PATTERN = { least: 150, most: 330 };
const WORDS = 92;
const MARK = 20;
const MANY = 48; // tokens, from which on not every one is labelled
// `above`: of the window, what comes before them
const ROWS = { room: 400, above: 400, least: 15, less: 17, most: 24, many: 5 };
const PHONE = { box: 132, room: 110, least: 3, most: 12, word: 17 };

/** @param followed the stack of the token that amounts are shown of; `tall`: the height of the window */
export function layOut(scene: Scene, width: number, measure: Measure, followed: string, tall = Infinity): Placed {
  const isStrip = width < NARROW;
  const lanes = [];
  let y = 0;
  for (const lane of scene.lanes) {
    const rows = lane.stack === followed ? bandRows(lane, scene.beside) : [];
    const room = { y, width, tall, measure, rows, lanes: scene.beside ? 2 : scene.lanes.length };
    const placed = isStrip ? downward(lane, room) : across(lane, room);
    lanes.push(placed);
    y = placed.bottom + 14;
  }
  return { isStrip, width, height: y, lanes };
}

/** What is written of the followed token: what parts add, its vector's length, its prediction if it stands alone. */
function bandRows(lane: Lane, isBeside = false): Row[] {
  const kinds: Map<string, string> = new Map();
  for (const { bars } of lane.columns) for (const { kind, label } of bars ?? []) kinds.set(kind, label);
  const rows = [...kinds].map(([kind, label]) => ({ kind, label }));
  rows.push({ kind: "length", label: "length" });
  if (!isBeside && lane.columns.some(({ says }) => says))
    rows.push({ kind: "says", label: "top prediction" }, { kind: "sure", label: "probability" });
  return rows;
}

/** Lines of words, none wider than `width`; of no words none. */
export const broken = (text: string, width: number, measure: Measure) => wrapped(text, width, measure).filter(Boolean);

function boxSize(column: Column, measure: Measure) {
  const texts = [...column.lines, ...(column.parameters === undefined ? [] : [written(column.parameters)])];
  const parts = (column.parts ?? []).filter(({ kind }) => kind !== "add");
  const beside = 6 + (hasBypass(column) ? BYPASS : 0);
  const inner = Math.max(
    measure(column.title, true),
    ...texts.map((text) => measure(text)),
    ...parts.flatMap(({ lines }) => lines.map((text) => measure(text) + beside)),
    column.heads ? Math.min(column.heads.count, 4) * (TILE + 6) : 0,
  );
  const heads = column.heads ? Math.ceil(column.heads.count / 4) * (TILE + TEXT_LINE + 4) + 2 : 0;
  const stacked = parts.reduce((sum, { lines }) => sum + lines.length * TEXT_LINE + 8, 0);
  return { inner: inner + 8, height: TEXT_LINE * (1 + texts.length) + 6 + heads + stacked };
}

const gapOf = (column: Column) => (column.reads ? GAP.reads : GAP.plain);

/** Columns in as few lines as fit, all about equally long: the indices of each line. */
export function inLines(widths: number[], room: number) {
  const fill = (limit: number) => {
    const lines: number[][] = [[]];
    let used = 0;
    for (const [n, width] of widths.entries()) {
      if (used + width > limit && lines[lines.length - 1].length) {
        lines.push([]);
        used = 0;
      }
      lines[lines.length - 1].push(n);
      used += width;
    }
    return lines;
  };
  const fewest = fill(room).length;
  for (let limit = Math.max(...widths); limit < room; limit += 8) if (fill(limit).length === fewest) return fill(limit);
  return fill(room);
}

function across(lane: Lane, { y, width, tall, measure, rows, lanes }: Room): PlacedLane {
  const { tokens, oneHot } = lane;
  const marks = lane.marks ? MARK * lane.marks.values.length + 30 : 0;
  const widest = Math.min(LONGEST_LABEL, Math.max(40, ...tokens.map((text) => measure(text)))) + 8;
  const left = Math.max(widest + (oneHot ? ONE_HOT : 0), ...rows.map(({ label }) => measure(label) + 8));
  const least = tokens.length > MANY ? ROWS.many : ROWS.least;
  const most = lanes > 1 ? ROWS.less : ROWS.most;
  const high = Math.min(ROWS.room, tall - ROWS.above);
  const row = Math.max(least, Math.min(most, Math.floor(high / lanes / tokens.length)));
  const title = titleOf(lane, width, measure);
  const placed: PlacedLane = { lane, y, title, rows, row, left, ...nothing(), labels: left - (oneHot ? ONE_HOT : 0) };
  const widths = lane.columns.map((column) => {
    const image = column.image === "pattern" ? PATTERN.least : column.image === "words" ? WORDS : STRIP.least;
    return Math.max(boxSize(column, measure).inner, gapOf(column) + image) + APART;
  });
  const free = width - left - marks;
  let top = y + TITLE + TEXT_LINE * (title.length - 1);
  for (const [number, indices] of inLines(widths, free).entries()) {
    const members = indices.map((n) => ({ column: lane.columns[n], full: widths[n] }));
    handOut(members, free, row);
    const first = number === 0 && oneHot ? entrance(lane, oneHot.size) : null;
    const line = lineOf(members, first, top, placed, measure);
    const end = line.columns[line.columns.length - 1].body;
    if (lane.marks && end) placed.marks = { x: end.x + end.width + 12, y: end.y, width: MARK, height: end.height };
    placed.lines.push(line);
    placed.columns.push(...line.columns);
    placed.bottom = line.bottom;
    top = line.bottom + TEXT_LINE;
  }
  return placed;
}

const nothing = () => ({ columns: [], lines: [], sentence: null, marks: null, bottom: 0 });

/** Hands the room that is left to the columns of a line, to a pattern first. */
function handOut(members: Member[], room: number, row: number) {
  let free = Math.max(0, room - members.reduce((sum, { full }) => sum + full, 0));
  for (const member of members.filter(({ column }) => column.image === "pattern")) {
    const square = Math.min(PATTERN.most, row * member.column.shape[1]);
    const more = Math.min(free, Math.max(0, square - PATTERN.least));
    member.full += more;
    free -= more;
  }
  for (const member of members) member.full += Math.min(free / members.length, 70);
}

function lineOf(members: Member[], first: Column | null, top: number, placed: PlacedLane, measure: Measure): Line {
  const { lane, row, rows, left } = placed;
  const arcs = arcsOf(members.map(({ column }) => column));
  const levels = Math.max(members.some(({ column }) => column.crosses) ? 1 : 0, ...arcs.map(({ level }) => level));
  const y = top + (levels ? ARC * (levels + 1) : 0);
  const all = [...members.map(({ column }) => column), ...(first ? [first] : [])];
  const band = y + Math.max(...all.map((column) => boxSize(column, measure).height)) + SHAPE;
  const body = band + rows.length * TEXT_LINE + (rows.length ? 6 : 0) + keyRoom(members, measure);
  const height = row * lane.tokens.length;
  const columns: Place[] = [];
  const box = (column: Column, x: number, width: number) => ({ x, y, width, height: boxSize(column, measure).height });
  if (first) {
    const inner = box(first, 1, left - APART - 1);
    columns.push({ column: first, box: inner, gap: { x: 0, width: 0 }, body: null, row, band });
  }
  let x = left;
  for (const { column, full } of members) {
    const gap = gapOf(column);
    const most = column.image === "strips" ? STRIP.most : column.image === "pattern" ? PATTERN.most : full;
    const own = { x: x + gap, y: body, width: Math.min(most, full - gap - APART), height };
    const place = { column, box: box(column, x, full - APART), gap: { x: x - 4, width: gap } };
    columns.push({ ...place, body: own, row, band });
    x += full;
  }
  return { band, body, bottom: body + height, columns, arcs };
}

/** The ways past other columns, one above the other where they would meet. */
export function arcsOf(columns: Column[]): Arc[] {
  const arcs: Arc[] = [];
  const own = columns.map(({ id }) => id);
  const others = columns.flatMap(({ from = [] }) => from.filter((id) => !own.includes(id))); // on a line above
  for (const id of [...new Set([...others, ...own])]) {
    const start = own.indexOf(id);
    const ends = columns.flatMap((column, n) => (column.from?.includes(id) ? [n] : []));
    if (!ends.length) continue;
    const taken = arcs.filter(({ last }) => last > start).map(({ level }) => level);
    let level = 1;
    while (taken.includes(level)) level += 1;
    arcs.push({ from: id, to: ends.map((n) => columns[n].id), last: Math.max(...ends), level });
  }
  return arcs;
}

function titleOf(lane: Lane, width: number, measure: Measure) {
  const room = lane.columns.some(({ crosses }) => crosses) ? width * 0.75 : width; // the memory's way comes down there
  return broken(lane.note ? `${lane.title}: ${lane.note}` : lane.title, room, measure);
}

/** Room for the names of keys, which are slanted where they have no room side by side. */
function keyRoom(members: Member[], measure: Measure) {
  const found = members.find(({ column }) => column.image === "pattern");
  const labels = found?.column.labels ?? [];
  if (!found || (found.full - GAP.plain - APART) / labels.length < KEY) return 0;
  return SLANT * Math.min(LONGEST_KEY, Math.max(0, ...labels.map((text) => measure(text)))) + 16;
}

/** One column below the other: the box on the left, what comes out of it on the right. */
function downward(lane: Lane, { y, width, measure, rows }: Room): PlacedLane {
  const { tokens } = lane;
  const title = titleOf(lane, width, measure);
  const row = Math.max(PHONE.least, Math.min(PHONE.most, Math.floor(PHONE.room / tokens.length)));
  const placed: PlacedLane = { lane, y, title, rows, row, labels: 0, left: 0, ...nothing() };
  let top = y + TITLE + TEXT_LINE * (title.length - 1);
  if (lane.oneHot) {
    // The tokens as running text beside their box.
    const column = entrance(lane, lane.oneHot.size);
    const { height } = boxSize(column, measure);
    const x = PHONE.box + 16;
    const lines = broken(tokens.join(" "), width - x, measure);
    const box = { x: 1, y: top, width: PHONE.box, height };
    placed.columns.push({ column, box, gap: { x, width: 0 }, body: null, row: 0, band: top });
    placed.sentence = { x, y: top, lines };
    top += Math.max(height + SHAPE, TEXT_LINE * lines.length) + 6;
  }
  for (const column of lane.columns) {
    const size = boxSize(column, measure);
    const wide = Math.max(PHONE.box, Math.min(size.inner, width / 2));
    const x = wide + 16;
    const high = column.image === "words" ? PHONE.word : column.image === "pattern" ? (width - x) / tokens.length : row;
    top += keyRoom([{ column, full: width - x + GAP.plain + APART }], measure);
    const body = { x, y: top, width: width - x, height: high * tokens.length };
    const band = body.y + body.height + 4;
    const box = { x: 1, y: top, width: wide, height: size.height };
    placed.columns.push({ column, box, gap: { x: wide + 3, width: 10 }, body, row: high, band });
    top = Math.max(top + size.height + SHAPE, band + TEXT_LINE * onPhone(rows, column).length) + 12;
  }
  const first = placed.columns.find(({ body }) => body);
  if (lane.marks && first?.body)
    placed.marks = { ...first.body, x: first.gap.x, width: first.gap.width / lane.marks.values.length };
  placed.bottom = top;
  return placed;
}

export type Found = { stack: string; row: number; lane: Lane; place: Place | null };

/** The vector at a place, with its column if the pointer is on one; null if there is none. */
export function vectorAt(placed: Placed, x: number, y: number): Found | null {
  for (const { lane, lines, columns, row } of placed.lanes) {
    const line = lines.find(({ body, bottom }) => y >= body && y < bottom);
    if (line) {
      const place = line.columns.find(({ body }) => body && x >= body.x && x < body.x + body.width);
      return { stack: lane.stack, row: Math.floor((y - line.body) / row), lane, place: place ?? null };
    }
    const strip = columns.find(({ body }) => placed.isStrip && body && y >= body.y && y < body.y + body.height);
    if (strip?.body) return { stack: lane.stack, row: Math.floor((y - strip.body.y) / strip.row), lane, place: strip };
  }
  return null;
}

/** A lane by its stack, to the end of its first line; in it or any, a box by title, a token's row, or its vector. */
export function partOf({ lanes, width }: Placed, names: string[]): Rect | null {
  for (const { lane, y, bottom, columns, lines } of lanes) {
    const [name, token] = names[0] === lane.stack ? names.slice(1) : names;
    if (name === undefined) return { x: 0, y, width, height: (lines[0]?.bottom ?? bottom) - y };
    const place = columns.find(({ column }) => column.title === name);
    if (place && token === undefined) return place.box;
    const at = indexOf(lane.tokens, token ?? name);
    const [body, row] = place ? [place.body, place.row] : [lines[0]?.columns.at(-1)?.body, lines[0]?.columns[0].row];
    if (at < 0 || !body || row === undefined) continue;
    const from = place ? body.x : 0;
    return { x: from, y: body.y + at * row, width: body.x + body.width - from, height: row };
  }
  return null;
}
