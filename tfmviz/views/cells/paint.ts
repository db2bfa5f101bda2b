// Paints a picture of cells on a canvas context, or on the stand-in that writes SVG.

import { paintBrackets, partOf } from "../shared/bytes.ts";
import { contextOf, fitted, type Pen, setPen, upwards } from "../shared/canvas.ts";
import { bytesOf, type Colours, inkOnRgb } from "../shared/colours.ts";
import { make } from "../shared/elements.ts";
import type { Place } from "./layout.ts";
import { painter, type Scale, ticks } from "./scales.ts";
import { nameOf, type Picture } from "./words.ts";

const LEAST_GAP = 8; // pixels a cell must measure to have a line around it
const MOST_VECTORS = 4096; // cells that an SVG holds one by one
const LEAST_BOX = 14; // pixels across a box around a name
const BAR_STEPS = 128;
const TICK_ROOM = 56; // pixels for a number on the colour bar

/** One pixel a cell, for each matrix. What is not finite has the colour of what is masked. */
export function bitmaps({ matrices, rows, columns, values, scale }: Picture, colours: Colours): HTMLCanvasElement[] {
  const colourOf = painter(scale, colours.isDark);
  const size = rows.count * columns.count;
  return Array.from({ length: matrices }, (_, matrix) => {
    const canvas = make("canvas", { width: columns.count, height: rows.count });
    const context = contextOf(canvas);
    const image = context.createImageData(columns.count, rows.count);
    const pixels = new Uint32Array(image.data.buffer);
    for (let n = 0; n < size; n++) {
      const value = values[matrix * size + n];
      if (Number.isFinite(value)) {
        const [red, green, blue] = colourOf(value);
        pixels[n] = (255 << 24) | (blue << 16) | (green << 8) | red;
      } else pixels[n] = colours.maskedPacked;
    }
    context.putImageData(image, 0, 0);
    return canvas;
  });
}

/** Everything that does not move. */
export function paintPicture(pen: Pen, picture: Picture, place: Place, colours: Colours, images: HTMLCanvasElement[]) {
  if (picture.scale.title) paintBar(pen, picture.scale, place, colours);
  place.corners.forEach((corner, matrix) => {
    pen.save();
    pen.translate(corner.x, corner.y);
    paintCells(pen, picture, place, colours, images[matrix], matrix);
    pen.restore();
  });
  paintNames(pen, picture, place, colours);
  paintTitles(pen, picture, place, colours);
}

function paintCells(
  pen: Pen,
  picture: Picture,
  place: Place,
  colours: Colours,
  image: HTMLCanvasElement,
  matrix: number,
) {
  const { wide, high } = place;
  const [width, height] = [wide * picture.columns.count, high * picture.rows.count];
  if (colours.areVeiled) {
    pen.fillStyle = colours.soft;
    pen.fillRect(0, 0, width, height);
    paintGaps(pen, picture, place, { ...colours, ground: colours.grid });
    return;
  }
  if (pen.isVector && image.width * image.height <= MOST_VECTORS) paintOneByOne(pen, picture, place, colours, matrix);
  else {
    pen.imageSmoothingEnabled = wide < 1 || high < 1; // or rows would be left out
    pen.drawImage(image, 0, 0, width, height);
  }
  paintGaps(pen, picture, place, colours);
  paintTexts(pen, picture, place, colours);
  if (matrix === 0) paintMarks(pen, picture, place, colours);
}

function paintOneByOne(
  pen: Pen,
  { rows, columns, values, scale }: Picture,
  { wide, high }: Place,
  colours: Colours,
  matrix: number,
) {
  const colourOf = painter(scale, colours.isDark);
  const size = rows.count * columns.count;
  for (let n = 0; n < size; n++) {
    const value = values[matrix * size + n];
    pen.fillStyle = Number.isFinite(value) ? `rgb(${colourOf(value).join(",")})` : colours.masked;
    pen.fillRect((n % columns.count) * wide, Math.floor(n / columns.count) * high, wide, high);
  }
}

function paintGaps(pen: Pen, { rows, columns }: Picture, { wide, high }: Place, colours: Colours): void {
  setPen(pen, { strokeStyle: colours.ground, lineWidth: 1 });
  pen.beginPath();
  if (Math.min(wide, high) >= LEAST_GAP) {
    for (let column = 1; column < columns.count; column++) {
      pen.moveTo(column * wide, 0);
      pen.lineTo(column * wide, rows.count * high);
    }
    for (let row = 1; row < rows.count; row++) {
      pen.moveTo(0, row * high);
      pen.lineTo(columns.count * wide, row * high);
    }
  }
  pen.stroke();
  pen.strokeStyle = colours.grid; // cells may have the colour of the ground
  pen.strokeRect(0, 0, columns.count * wide, rows.count * high);
}

/** Numbers stand in all cells in one size, or in none. */
function paintTexts(
  pen: Pen,
  { columns, values, texts, scale }: Picture,
  { wide, high, numbers }: Place,
  colours: Colours,
): void {
  if (!texts || !numbers) return;
  const colourOf = painter(scale, colours.isDark);
  setPen(pen, { font: `${numbers}px ${colours.font}`, textAlign: "center", textBaseline: "middle" });
  texts.forEach((line, row) => {
    line.forEach((text, column) => {
      const value = values[row * columns.count + column];
      pen.fillStyle = inkOnRgb(Number.isFinite(value) ? colourOf(value) : bytesOf(colours.masked));
      pen.fillText(text, (column + 0.5) * wide, (row + 0.5) * high + 1);
    });
  });
}

function paintMarks(pen: Pen, { frames, crosses }: Picture, { wide, high }: Place, colours: Colours): void {
  const { accent, text, roles } = colours;
  const inks: Record<string, string> = { accent, text, attention: roles.q, mlp: roles.mlp };
  pen.lineWidth = 3;
  for (const { top, left, bottom, right, colour } of frames) {
    pen.strokeStyle = inks[colour];
    pen.strokeRect(left * wide, top * high, (right - left) * wide, (bottom - top) * high);
  }
  pen.strokeStyle = colours.accent;
  for (const [row, column] of crosses) paintCross(pen, column * wide, row * high, wide, high);
}

/** The ends of a cross: its middle would strike out the number. */
function paintCross(pen: Pen, x: number, y: number, wide: number, high: number) {
  const [edge, long] = [3, Math.min(13, 0.4 * wide, 0.4 * high)];
  pen.beginPath();
  for (const [cornerX, wayX] of [
    [x + edge, 1],
    [x + wide - edge, -1],
  ])
    for (const [cornerY, wayY] of [
      [y + edge, 1],
      [y + high - edge, -1],
    ]) {
      pen.moveTo(cornerX, cornerY);
      pen.lineTo(cornerX + wayX * long, cornerY + wayY * long);
    }
  pen.stroke();
}

function paintNames(pen: Pen, { rows, columns, matrices }: Picture, place: Place, colours: Colours): void {
  const { corners, wide, high, beside, below, runs } = place;
  setPen(pen, { fillStyle: colours.text, textBaseline: "middle" });
  const isFirst = (n: number) => corners[n].x === corners[0].x; // in its row of matrices
  for (let matrix = 0; matrix < matrices; matrix++) {
    const { x, y } = corners[matrix];
    setPen(pen, { font: `${beside.size}px ${colours.font}`, textAlign: "right" });
    if (beside.room && isFirst(matrix))
      for (let row = 0; row < rows.count; row += beside.step)
        pen.fillText(fitted(pen, partOf(nameOf(rows, row)), beside.room - 6), x - 6, y + (row + 0.5) * high + 1);
    if (beside.room && isFirst(matrix))
      for (const row of rows.boxed)
        paintBox(pen, x - beside.room + 1, y + row * high + 1, beside.room - 3, high - 2, colours);
    const colour = colours.text;
    if (isFirst(matrix))
      paintBrackets(pen, runs.beside, "left", {
        from: y,
        cell: high,
        edge: x - beside.room,
        size: beside.size,
        colour,
      });
    pen.font = `${below.size}px ${colours.font}`;
    const bottom = y + rows.count * high;
    pen.textAlign = below.upright ? "right" : "center";
    for (let column = 0; column < columns.count; column += below.step) {
      const [name, middle] = [partOf(nameOf(columns, column)), x + (column + 0.5) * wide];
      if (below.upright) upwards(pen, fitted(pen, name, below.room - 6), middle, bottom + 6);
      else pen.fillText(name, middle, bottom + 14);
    }
    for (const column of columns.boxed)
      paintBox(pen, x + column * wide + 1, bottom + 2, wide - 2, below.room - 4, colours);
    const edge = bottom + below.room - 4;
    paintBrackets(pen, runs.below, "below", { from: x, cell: wide, edge, size: below.size, colour });
  }
}

/** A box around the name of a token that the other text lacks. */
function paintBox(pen: Pen, x: number, y: number, width: number, height: number, { accent }: Colours) {
  if (Math.min(width, height) < LEAST_BOX) return; // the boxes would hide the names
  setPen(pen, { strokeStyle: accent, lineWidth: 2 });
  pen.strokeRect(x, y, width, height);
}

function paintTitles(
  pen: Pen,
  { rows, columns, titles }: Picture,
  { corners, wide, high, width, height, left, right }: Place,
  colours: Colours,
): void {
  setPen(pen, { fillStyle: colours.text, font: `${colours.letters + 1}px ${colours.font}`, textAlign: "left" });
  pen.textBaseline = "alphabetic";
  corners.forEach(({ x, y }, matrix) => {
    if (corners.length > 1) pen.fillText(fitted(pen, titles[matrix], wide * columns.count + 18), x, y - 7);
  });
  setPen(pen, { textBaseline: "middle", textAlign: "center" });
  const half = pen.measureText(columns.title).width / 2;
  const middle = Math.max(half, Math.min(width - half, (left + right) / 2));
  if (columns.title) pen.fillText(columns.title, middle, height - 13);
  const [first, last] = [corners[0], corners[corners.length - 1]];
  if (rows.title) upwards(pen, rows.title, 9, (first.y + last.y + rows.count * high) / 2);
}

function paintBar(pen: Pen, scale: Scale, { left, bar }: Place, colours: Colours) {
  const colourOf = painter(scale, colours.isDark);
  const { low, high } = scale;
  for (let n = 0; n < BAR_STEPS; n++) {
    pen.fillStyle = `rgb(${colourOf(low + ((n + 0.5) / BAR_STEPS) * (high - low)).join(",")})`;
    const begin = Math.round((n / BAR_STEPS) * bar);
    pen.fillRect(left + begin, 0, Math.round(((n + 1) / BAR_STEPS) * bar) - begin, 10);
  }
  pen.strokeStyle = colours.grid; // an end of the bar may have the colour of the ground
  pen.lineWidth = 1;
  pen.strokeRect(left + 0.5, 0.5, bar - 1, 9);
  setPen(pen, { fillStyle: colours.text, font: `${colours.letters}px ${colours.font}`, textBaseline: "middle" });
  pen.textAlign = "center";
  for (const { value, text } of ticks(scale, Math.max(2, Math.min(8, Math.floor(bar / TICK_ROOM))))) {
    const x = left + ((value - low) / (high - low)) * bar;
    const half = pen.measureText(text).width / 2;
    pen.fillRect(Math.min(x, left + bar - 1), 10, 1, 4);
    pen.fillText(text, Math.max(half, Math.min(left + bar + 2 - half, x)), 24);
  }
}
