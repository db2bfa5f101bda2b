// Where everything lies: cells, labels, colour bar. Nothing here draws.

import { BRACKET, partOf, runsOf } from "../shared/bytes.ts";
import { LETTER_SIZE } from "../shared/constants.ts";
import type { Axis, Cell, Picture } from "./words.ts";

type Point = { x: number; y: number };
/** Every `step`-th is drawn, in letters of `size` pixels; `room` is what they need beside the cells. */
type Labels = { step: number; size: number; upright: boolean; room: number };
export type Place = ReturnType<typeof layOut>;
/** the width of a text in letters of a size */
type Measure = (text: string, size: number) => number;

const FREE = 3; // pixels of a cell that its number leaves free, beside it and above
const LARGEST_SQUARE = 56; // pixels of a cell
const WIDEST = 140; // pixels of a cell that is not square
const HIGHEST = 460; // pixels of one matrix
const HIGHEST_OF_SEVERAL = 300;
const NARROWEST = 130; // pixels of a matrix among several
const BETWEEN = 24; // pixels between matrices
const LONGEST_NAME = 150;
const TITLE = 24; // pixels for the title of an axis or a matrix
const SHORTEST_BAR = 240;
const BAR = 40; // pixels for the colour bar with its numbers

/**
 * Sizes and places for a free width.
 * @param least pixels of the smallest letters; where they do not fit, labels and numbers are left out
 */
export function layOut(picture: Picture, width: number, measure: Measure, least: number) {
  const { rows, columns, matrices, square } = picture;
  const names = nameWidth(rows, measure, Math.min(LONGEST_NAME, 0.34 * width), least);
  const [beside, under] = [runsOf(rows.names ?? []), runsOf(columns.names ?? [])];
  const left = names + (beside.length ? BRACKET : 0) + (rows.title ? TITLE : 0);
  const free = width - left - 3;
  const across = Math.max(1, Math.min(picture.across, matrices, Math.floor((free + BETWEEN) / (NARROWEST + BETWEEN))));
  const room = ((free + BETWEEN) / across - BETWEEN) / columns.count;
  const needed = heightOfNumbers(picture, room, measure, least);
  const highest = Math.max((matrices > 1 ? HIGHEST_OF_SEVERAL : HIGHEST) / rows.count, needed);
  const side = Math.min(room, Math.max(LARGEST_SQUARE, needed), Math.max(highest, 1));
  const wide = square ? side : Math.min(room, WIDEST);
  const high = square ? side : Math.min(Math.max(picture.rowHeight, needed), highest);
  const below = columnLabels(columns, wide, measure, least);
  const over = matrices > 1 ? TITLE : 0;
  const down = Math.ceil(matrices / across);
  const top = picture.scale.title ? BAR : 0;
  const pitch = over + high * rows.count + below.room + (under.length ? BRACKET : 0) + (down > 1 ? 10 : 0);
  const corners = Array.from({ length: matrices }, (_, n) => ({
    x: left + (n % across) * (wide * columns.count + BETWEEN),
    y: top + over + Math.floor(n / across) * pitch,
  }));
  const right = left + across * (wide * columns.count + BETWEEN) - BETWEEN;
  const bar = Math.min(free, Math.max(right - left, SHORTEST_BAR));
  return {
    left,
    top,
    bar,
    wide,
    high,
    numbers: sizeOfNumbers(picture, wide, high, measure, least),
    right,
    corners,
    runs: { beside, below: under },
    below,
    beside: { ...thinned(high, least, rows.names?.length === 0), room: names, upright: false },
    width: Math.min(width, Math.max(right, left + bar) + 3),
    height: top + down * pitch + (columns.title ? TITLE : 0) + 3,
  };
}

/** How high cells must be for the smallest numbers; 0 where there are none, or these are wider than the cells. */
function heightOfNumbers({ texts, square }: Picture, wide: number, measure: Measure, least: number) {
  const across = widthOfNumbers(texts, measure, least);
  if (!across || across + FREE > wide) return 0;
  return Math.max(least + FREE, square ? across + FREE : 0);
}

/**
 * Pixels of the letters of all numbers: the largest in which each fits into its cell, at most a third more than the
 * smallest; 0 where there are none.
 */
function sizeOfNumbers({ texts }: Picture, wide: number, high: number, measure: Measure, least: number) {
  for (let size = Math.floor(Math.min((4 / 3) * least, high - FREE)); texts && size >= least; size--)
    if (widthOfNumbers(texts, measure, size) + FREE <= wide) return size;
  return 0;
}

const widthOfNumbers = (texts: string[][] | null, measure: Measure, size: number) =>
  Math.max(0, ...[...new Set(texts?.flat())].map((text) => measure(text, size)));

/** Which matrix, row and column lie under a point; null beside them. */
export function cellAt({ corners, wide, high }: Place, { x, y }: Point, { rows, columns }: Picture): Cell | null {
  for (const [matrix, corner] of corners.entries()) {
    const row = Math.floor((y - corner.y) / high);
    const column = Math.floor((x - corner.x) / wide);
    if (row >= 0 && column >= 0 && row < rows.count && column < columns.count) return { matrix, row, column };
  }
  return null;
}

/** The cell that an arrow key leads to; over the edge of a matrix into its neighbour, where there is one. */
export function next(from: Cell, key: string, { rows, columns, matrices }: Picture) {
  const cell = { ...from, matrix: Math.min(from.matrix, matrices - 1) };
  if (key === "ArrowUp") cell.row -= 1;
  if (key === "ArrowDown") cell.row += 1;
  if (key === "ArrowLeft") cell.column -= 1;
  if (key === "ArrowRight") cell.column += 1;
  if (key === "Home") cell.column = 0;
  if (key === "End") cell.column = columns.count - 1;
  if (cell.column < 0 && cell.matrix > 0) Object.assign(cell, { matrix: cell.matrix - 1, column: columns.count - 1 });
  if (cell.column >= columns.count && cell.matrix < matrices - 1)
    Object.assign(cell, { matrix: cell.matrix + 1, column: 0 });
  cell.row = Math.min(rows.count - 1, Math.max(0, cell.row));
  cell.column = Math.min(columns.count - 1, Math.max(0, cell.column));
  return cell;
}

function widestName(axis: Axis, measure: Measure, least: number) {
  const names = axis.names ?? [String(axis.count - 1)];
  return Math.max(0, ...names.map((name) => measure(partOf(name), Math.max(LETTER_SIZE, least))));
}

function nameWidth(axis: Axis, measure: Measure, most: number, least: number) {
  const width = widestName(axis, measure, least);
  return width ? Math.ceil(Math.min(most, width)) + 8 : 0;
}

/** Column labels stand level where they fit, else upright. Numbers can be thinned out and stay level. */
function columnLabels(axis: Axis, wide: number, measure: Measure, least: number): Labels {
  const width = widestName(axis, measure, least);
  const size = Math.max(LETTER_SIZE, least);
  if (!width) return { step: 1, size, upright: false, room: 4 };
  if (!axis.names) {
    const step = roundedUp((width + 8) / wide);
    return { step, size, upright: false, room: TITLE };
  }
  if (width + 8 <= wide) return { step: 1, size, upright: false, room: TITLE };
  return { ...thinned(wide, least), upright: true, room: Math.min(LONGEST_NAME, width) + 10 };
}

/**
 * How many labels are drawn where each has `pitch` pixels: all, in somewhat smaller letters if need be, or every n-th.
 * @param none there are none
 */
function thinned(pitch: number, least: number, none = false) {
  const size = Math.max(LETTER_SIZE, least);
  if (none || pitch >= size) return { step: 1, size };
  if (pitch >= least) return { step: 1, size: Math.floor(pitch) };
  return { step: roundedUp((size + 1) / pitch), size };
}

/** A step that people count in: 1, 2, 5, 10, 20, 50 … */
function roundedUp(least: number) {
  let step = 1;
  while (step < least) step *= String(step)[0] === "2" ? 2.5 : 2;
  return step;
}
