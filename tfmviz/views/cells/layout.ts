// Where everything lies: cells, labels, colour bar. Nothing here draws.

import { BRACKET, partOf, runsOf } from "../shared/bytes.ts";
import { LETTER_SIZE } from "../shared/constants.ts";
import { arrowOf, within } from "../shared/elements.ts";
import { type Measure, type Names, across as namesAcross, reach, smallestNamed, thinned } from "../shared/names.ts";
import type { Axis, Cell, Picture } from "./words.ts";

type Point = { x: number; y: number };
export type Place = ReturnType<typeof layOut>;

const FREE = 3; // pixels of a cell that its number leaves free, beside it and above
const LARGEST_SQUARE = 56; // pixels of a cell
const WIDEST = 140; // pixels of a cell that is not square
const LOWEST = 240; // pixels of one matrix, in however low a window
const LOWEST_OF_SEVERAL = 130;
const NARROWEST = 130; // pixels of a matrix among several
const NARROWEST_OF_MANY = 110; // on a phone two stand side by side
const BETWEEN = 24; // pixels between matrices
export const LONGEST_NAME = 150; // pixels
const TITLE = 24; // pixels for the title of an axis or a matrix
const SHORTEST_BAR = 240;
const LONGEST_BAR = 360;
const EDGE = 2; // pixels for the frame of a cell at the upper edge
const BAR = 46; // pixels for the colour bar with its numbers

/**
 * Sizes and places for a free width. Cells are as large as there is room, unless they could not be read then; none is
 * higher than wide, but where the name of its row needs that. What does not fit in the least letters is left out.
 */
export function layOut(picture: Picture, free: Free, measure: Measure, least: number) {
  const { rows, columns, matrices } = picture;
  const { width } = free;
  const widest = Math.min(LONGEST_NAME, 0.34 * width, widestName(rows, measure, least));
  const names = widest ? Math.ceil(widest) + 8 : 0;
  const [beside, under] = [runsOf(rows.names ?? []), runsOf(columns.names ?? [])];
  const needed = names + (beside.length ? BRACKET : 0) + (rows.title ? TITLE : 0);
  const first = cellsRightOf(needed, picture, free, measure, least);
  const outside = reach((columns.names ?? []).map(partOf), first.wide, measure, first.below, LONGEST_NAME);
  const left = Math.max(needed, Math.min(width / 4, outside));
  const { across, wide, high, below } = left > needed ? cellsRightOf(left, picture, free, measure, least) : first;
  const over = matrices > 1 ? TITLE : 0;
  const down = Math.ceil(matrices / across);
  const pitch = over + high * rows.count + below.room + (under.length ? BRACKET : 0) + (down > 1 ? 10 : 0);
  const corners = Array.from({ length: matrices }, (_, n) => ({
    x: left + (n % across) * (wide * columns.count + BETWEEN),
    y: EDGE + over + Math.floor(n / across) * pitch,
  }));
  const right = left + across * (wide * columns.count + BETWEEN) - BETWEEN;
  const bar = Math.min(width - left - 3, Math.max(Math.min(right - left, LONGEST_BAR), SHORTEST_BAR));
  const bottom = EDGE + down * pitch + (columns.title ? TITLE : 0) + 3; // of all but the bar
  return {
    left,
    bottom,
    bar,
    wide,
    high,
    numbers: sizeOfNumbers(picture, wide, high, measure, least),
    right,
    corners,
    runs: { beside, below: under },
    below,
    beside: { ...namesDown(rows, high, least), room: names },
    width: Math.min(width, Math.max(right, left + bar) + 3),
    height: bottom + (picture.scale.title ? BAR : 0),
  };
}

type Free = { width: number; height: number }; // pixels

/** How large cells are that stand right of the names of rows, and how the names of columns stand below them. */
function cellsRightOf(left: number, picture: Picture, free: Free, measure: Measure, least: number) {
  const { rows, columns, matrices, square } = picture;
  const width = free.width - left - 3;
  const narrowest = matrices > 4 ? NARROWEST_OF_MANY : NARROWEST;
  const most = Math.min(picture.across, matrices);
  const across = Math.max(1, Math.min(most, Math.floor((width + BETWEEN) / (narrowest + BETWEEN))));
  const isStacked = across < most && across === 1; // for want of room: one scrolls, so each may fill the width
  const down = Math.ceil(matrices / across);
  const room = ((width + BETWEEN) / across - BETWEEN) / columns.count;
  // How high cells must be for the smallest numbers; 0 where there are none, or these are wider than the cells.
  const number = widthOfNumbers(picture.texts, measure, least);
  const needed = !number || number + FREE > room ? 0 : Math.max(least, square ? number : 0) + FREE;
  // A bar that pictures share stands below one of them, and all are of one size.
  const around = EDGE + 3 + BAR + (columns.title ? TITLE : 0) + (matrices > 1 ? TITLE : 0) * down;
  const lowest = matrices > 1 ? LOWEST_OF_SEVERAL : LOWEST;
  const sizes = (below: Names) => {
    const height = (free.height - around) / down - below.room;
    const forNames = columns.names?.length ? Math.min(free.height / down, smallestNamed(least) * rows.count) : 0;
    const highest = isStacked ? room : Math.max(...[height, lowest, forNames].map((all) => all / rows.count), needed);
    const side = Math.min(room, Math.max(LARGEST_SQUARE, needed), highest);
    if (square) return { wide: side, high: side };
    const wide = Math.min(room, WIDEST);
    return { wide, high: Math.max(needed, Math.min(picture.rowHeight, highest, Math.max(wide, least + 2))) };
  };
  const first = sizes(namesUnder(columns, room, measure, least));
  const { wide, high } = sizes(namesUnder(columns, first.wide, measure, least));
  return { across, wide, high, below: namesUnder(columns, wide, measure, least) };
}

/** Pixels of the letters of all numbers, at most a third more than the smallest; 0 where there are none or no room. */
function sizeOfNumbers({ texts }: Picture, wide: number, high: number, measure: Measure, least: number) {
  for (let size = Math.floor(Math.min((4 / 3) * least, high - FREE)); texts && size >= least; size--)
    if (widthOfNumbers(texts, measure, size) + FREE <= wide) return size;
  return 0;
}

const widthOfNumbers = (texts: string[][] | null, measure: Measure, size: number) =>
  Math.max(0, ...[...new Set(texts?.flat())].map((text) => measure(text, size)));

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
  const [down, right] = arrowOf({ key }) ?? [0, 0];
  const cell = { matrix: Math.min(from.matrix, matrices - 1), row: from.row + down, column: from.column + right };
  if (key === "Home") cell.column = 0;
  if (key === "End") cell.column = columns.count - 1;
  if (cell.column < 0 && cell.matrix > 0) Object.assign(cell, { matrix: cell.matrix - 1, column: columns.count - 1 });
  if (cell.column >= columns.count && cell.matrix < matrices - 1)
    Object.assign(cell, { matrix: cell.matrix + 1, column: 0 });
  return { ...cell, row: within(cell.row, rows.count), column: within(cell.column, columns.count) };
}

function widestName(axis: Axis, measure: Measure, least: number) {
  const names = axis.names ?? [String(axis.count - 1)];
  return Math.max(0, ...names.map((name) => measure(partOf(name), Math.max(LETTER_SIZE, least))));
}

function namesUnder(axis: Axis, wide: number, measure: Measure, least: number): Names {
  const letters = Math.max(LETTER_SIZE, least);
  if (axis.names?.length === 0) return { step: 1, size: letters, isSlanted: false, room: 4 };
  if (axis.names) return namesAcross(axis.names.map(partOf), wide, measure, { letters, least }, LONGEST_NAME);
  const step = roundedUp((widestName(axis, measure, least) + 8) / wide);
  return { step, size: letters, isSlanted: false, room: TITLE };
}

/** Names beside rows, and numbers, of which people want every fifth or tenth. */
function namesDown(axis: Axis, high: number, least: number) {
  const letters = Math.max(LETTER_SIZE, least);
  if (axis.names?.length === 0) return { step: 1, size: letters };
  return axis.names ? thinned(high, { letters, least }) : { step: roundedUp((letters + 1) / high), size: letters };
}

/** A step that people count in: 1, 2, 5, 10, 20, 50 … */
function roundedUp(least: number) {
  let step = 1;
  while (step < least) step *= String(step)[0] === "2" ? 2.5 : 2;
  return step;
}
