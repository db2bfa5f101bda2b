// Paints a picture of cells on a canvas context, or on the stand-in that writes SVG.

import { paintBrackets, partOf } from "../shared/bytes.ts";
import { fitted, type Pen, setPen, strokes, upwards } from "../shared/canvas.ts";
import { bytesOf, type Colours, inkOnRgb, packed, pixels } from "../shared/colours.ts";
import { hatch } from "../shared/hatch.ts";
import { writeName, writeToken } from "../shared/names.ts";
import { LONGEST_NAME, type Place } from "./layout.ts";
import { nameOf, type Picture, painter, ticks } from "./words.ts";

const LEAST_GAP = 8; // pixels a cell must measure to have a line around it
const MOST_VECTORS = 4096; // cells that an SVG holds one by one
const LEAST_BOX = 14; // pixels across a box around a name
const BAR_STEPS = 128;
const TICK_ROOM = 56; // pixels for a number on the colour bar

/** Whether a cell has no number though none is forbidden: it shows the ground, and a masked one is hatched. */
const isLeftOut = ({ form }: Picture, value: number) => value === -Infinity && form.absent[1] !== "–";

/** One pixel a cell, for each matrix. What is not finite has the colour of what is masked, or none. */
export function bitmaps(picture: Picture, colours: Colours): HTMLCanvasElement[] {
  const { matrices, rows, columns, values, scale } = picture;
  const colourOf = painter(scale, colours.isDark);
  const size = rows.count * columns.count;
  return Array.from({ length: matrices }, (_, matrix) =>
    pixels(columns.count, rows.count, (n) => {
      const value = values[matrix * size + n];
      if (Number.isFinite(value)) return packed(colourOf(value));
      return isLeftOut(picture, value) ? 0 : colours.maskedPacked;
    }),
  );
}

type Scene = { picture: Picture; place: Place; colours: Colours };

export function paintPicture(pen: Pen, scene: Scene, images: HTMLCanvasElement[]) {
  if (scene.picture.scale.title) paintBar(pen, scene);
  scene.place.corners.forEach((corner, matrix) => {
    pen.save();
    pen.translate(corner.x, corner.y);
    paintCells(pen, scene, images[matrix], matrix);
    pen.restore();
  });
  paintNames(pen, scene);
  paintTitles(pen, scene);
}

function paintCells(pen: Pen, scene: Scene, image: HTMLCanvasElement, matrix: number) {
  const { picture, place, colours } = scene;
  const { wide, high, numbers } = place;
  const [rows, columns] = [picture.rows.count, picture.columns.count];
  if (colours.areVeiled) {
    pen.fillStyle = colours.soft;
    pen.fillRect(0, 0, wide * columns, high * rows);
    return paintGaps(pen, scene, colours.grid);
  }
  const colourOf = painter(picture.scale, colours.isDark);
  const cells = picture.values.subarray(matrix * rows * columns, (matrix + 1) * rows * columns);
  if (pen.isVector && cells.length <= MOST_VECTORS)
    for (const [n, value] of cells.entries()) {
      const none = isLeftOut(picture, value) ? colours.ground : colours.masked;
      pen.fillStyle = Number.isFinite(value) ? `rgb(${colourOf(value).join(",")})` : none;
      pen.fillRect((n % columns) * wide, Math.floor(n / columns) * high, wide, high);
    }
  else {
    pen.imageSmoothingEnabled = wide < 1 || high < 1; // or rows would be left out
    pen.drawImage(image, 0, 0, wide * columns, high * rows);
  }
  const isMasked = (value: number) => !Number.isFinite(value) && !isLeftOut(picture, value);
  hatch(pen, { rows, columns, wide, high }, colours, (row, column) => isMasked(cells[row * columns + column]));
  paintGaps(pen, scene, colours.ground);
  // Numbers stand in all cells in one size, or in none.
  const texts = numbers ? picture.texts?.slice(matrix * rows, (matrix + 1) * rows) : [];
  setPen(pen, { font: `${numbers}px ${colours.font}`, textAlign: "center", textBaseline: "middle" });
  for (const [n, text] of texts?.flat().entries() ?? []) {
    pen.fillStyle = inkOnRgb(Number.isFinite(cells[n]) ? colourOf(cells[n]) : bytesOf(colours.masked));
    pen.fillText(text, ((n % columns) + 0.5) * wide, (Math.floor(n / columns) + 0.5) * high + 1);
  }
  paintMarks(pen, scene);
}

function paintGaps(pen: Pen, { picture: { rows, columns }, place: { wide, high }, colours }: Scene, colour: string) {
  const [width, height] = [columns.count * wide, rows.count * high];
  if (Math.min(wide, high) >= LEAST_GAP) {
    const down = Array.from({ length: columns.count - 1 }, (_, n) => [(n + 1) * wide, 0, (n + 1) * wide, height]);
    const across = Array.from({ length: rows.count - 1 }, (_, n) => [0, (n + 1) * high, width, (n + 1) * high]);
    strokes(pen, { strokeStyle: colour, lineWidth: 1 }, ...down, ...across);
  }
  setPen(pen, { strokeStyle: colours.grid, lineWidth: 1 }); // cells may have the colour of the ground
  pen.strokeRect(0, 0, width, height);
}

function paintMarks(pen: Pen, { picture: { frames, crosses }, place: { wide, high }, colours }: Scene) {
  const { accent, text, roles } = colours;
  const inks: Record<string, string> = { accent, text, plain: roles.plain };
  pen.lineWidth = 3;
  for (const { top, left, bottom, right, colour } of frames) {
    pen.strokeStyle = inks[colour];
    pen.strokeRect(left * wide, top * high, (right - left) * wide, (bottom - top) * high);
  }
  const [edge, long] = [3, Math.min(13, 0.4 * wide, 0.4 * high)];
  for (const [row, column] of crosses) {
    // The ends of a cross: its middle would strike out the number.
    const ends = [0, 1, 2, 3].map((n) => {
      const [isRight, isLow] = [n % 2, n >> 1];
      const x = (column + isRight) * wide + (isRight ? -edge : edge);
      const y = (row + isLow) * high + (isLow ? -edge : edge);
      return [x, y, x + (isRight ? -long : long), y + (isLow ? -long : long)];
    });
    strokes(pen, { strokeStyle: accent }, ...ends);
  }
}

function paintNames(pen: Pen, { picture: { rows, columns, matrices }, place, colours }: Scene) {
  const { corners, wide, high, beside, below, runs } = place;
  const colour = colours.text;
  setPen(pen, { fillStyle: colour, textBaseline: "middle" });
  for (let matrix = 0; matrix < matrices; matrix++) {
    const { x, y } = corners[matrix];
    const isFirst = x === corners[0].x; // in its row of matrices
    setPen(pen, { font: `${beside.size}px ${colours.font}`, textAlign: "right" });
    if (beside.room && isFirst) {
      for (let row = 0; row < rows.count; row += beside.step) {
        const name = partOf(nameOf(rows, row));
        writeToken(pen, name, [x - 6, y + (row + 0.5) * high + 1], beside.size, beside.room - 6);
      }
      const hasRoom = Math.min(beside.room - 3, high - 2) >= LEAST_BOX; // else boxes would hide the names
      setPen(pen, { strokeStyle: colours.accent, lineWidth: 2 });
      for (const row of hasRoom ? rows.boxed : []) // tokens that the other text lacks
        pen.strokeRect(x - beside.room + 1, y + row * high + 1, beside.room - 3, high - 2);
    }
    const along = { from: y, cell: high, edge: x - beside.room, size: beside.size, colour };
    if (isFirst) paintBrackets(pen, runs.beside, "left", along);
    setPen(pen, { font: `${below.size}px ${colours.font}`, strokeStyle: colours.accent, lineWidth: 2 });
    const bottom = y + rows.count * high;
    for (let column = 0; column < columns.count; column += below.step) {
      const isBoxed = columns.boxed.includes(column) && wide >= LEAST_BOX;
      const name = partOf(nameOf(columns, column));
      const last = place.width - (below.isSlanted ? 0 : pen.measureText(name).width / 2);
      const middle = Math.min(x + (column + 0.5) * wide, last);
      const at = { x: middle, y: bottom, side: "below", longest: LONGEST_NAME, isBoxed } as const;
      writeName(pen, name, at, below);
    }
    const edge = bottom + below.room - 4;
    paintBrackets(pen, runs.below, "below", { from: x, cell: wide, edge, size: below.size, colour });
  }
}

function paintTitles(pen: Pen, { picture: { rows, columns, titles }, place, colours }: Scene) {
  const { corners, wide, high, width, height, bottom, left, right } = place;
  setPen(pen, { fillStyle: colours.text, font: `${colours.letters + 1}px ${colours.font}` });
  setPen(pen, { textAlign: "left", textBaseline: "alphabetic" });
  corners.forEach(({ x, y }, matrix) => {
    if (corners.length > 1)
      pen.fillText(fitted(pen, titles[matrix], Math.min(wide * columns.count + 18, width - x)), x, y - 7);
  });
  setPen(pen, { textBaseline: "middle", textAlign: "center" });
  const half = pen.measureText(columns.title).width / 2;
  const middle = Math.max(half, Math.min(width - half, (left + right) / 2));
  if (columns.title) pen.fillText(columns.title, middle, bottom - 13);
  const [first, last] = [corners[0], corners[corners.length - 1]];
  if (!rows.title) return;
  const long = pen.measureText(rows.title).width / 2; // a single row is lower than the title of its axis
  upwards(pen, rows.title, 9, Math.max(long, Math.min(height - long, (first.y + last.y + rows.count * high) / 2)));
}

function paintBar(pen: Pen, { picture: { scale }, place: { left, bar, bottom }, colours }: Scene) {
  pen.save();
  pen.translate(0, bottom + 8);
  const colourOf = painter(scale, colours.isDark);
  const { low, high } = scale;
  for (let n = 0; n < BAR_STEPS; n++) {
    pen.fillStyle = `rgb(${colourOf(low + ((n + 0.5) / BAR_STEPS) * (high - low)).join(",")})`;
    const begin = Math.round((n / BAR_STEPS) * bar);
    pen.fillRect(left + begin, 0, Math.round(((n + 1) / BAR_STEPS) * bar) - begin, 10);
  }
  setPen(pen, { strokeStyle: colours.grid, lineWidth: 1 }); // an end of the bar may have the colour of the ground
  pen.strokeRect(left + 0.5, 0.5, bar - 1, 9);
  setPen(pen, { fillStyle: colours.text, font: `${colours.letters}px ${colours.font}`, textBaseline: "middle" });
  pen.textAlign = "center";
  for (const { value, text } of ticks(scale, Math.max(2, Math.min(8, Math.floor(bar / TICK_ROOM))))) {
    const x = left + ((value - low) / (high - low)) * bar;
    const half = pen.measureText(text).width / 2;
    pen.fillRect(Math.min(x, left + bar - 1), 10, 1, 4);
    pen.fillText(text, Math.max(half, Math.min(left + bar + 2 - half, x)), 24);
  }
  pen.restore();
}
