// Text, lines and arrows of the picture on a pen, in the page's colours.

import { largestSize, type Matrix } from "../shared/arrays.ts";
import { type Pen, setPen, strokes } from "../shared/canvas.ts";
import { bytesOf, type Colours, css, mixed, packed, packedShade, pixels } from "../shared/colours.ts";
import { LETTER_SIZE } from "../shared/constants.ts";
import { writeToken } from "../shared/names.ts";
import type { Rect } from "./layout.ts";

type Point = [x: number, y: number];
type Look = { isBold?: boolean; align?: CanvasTextAlign; colour?: string; room?: number };

export class Brush {
  pen: Pen;
  colours: Colours;

  constructor(pen: Pen, colours: Colours) {
    this.pen = pen;
    this.colours = colours;
  }

  colour(kind: string) {
    return colourOf(kind, this.colours.roles);
  }

  /** @param look `room` is for a text that may hold tokens; without it, it is written as it is */
  text(text: string, x: number, y: number, look: Look = {}) {
    const { isBold = false, align = "left", colour = this.colours.text, room } = look;
    const font = `${isBold ? "bold " : ""}${LETTER_SIZE}px ${this.colours.font}`;
    setPen(this.pen, { fillStyle: colour, textAlign: align, textBaseline: "middle", font });
    if (room === undefined) this.pen.fillText(text, x, y);
    else writeToken(this.pen, text, [x, y], LETTER_SIZE, room);
  }

  /** @param text as wide as the font of the last text makes it */
  widthOf(text: string) {
    return this.pen.measureText(text).width;
  }

  line(colour: string, width: number, ...points: Point[]) {
    strokes(this.pen, { strokeStyle: colour, lineWidth: width }, points.flat());
  }

  arrow(colour: string, width: number, [x0, y0]: Point, [x1, y1]: Point) {
    const [dx, dy] = [Math.sign(x1 - x0) * 4, Math.sign(y1 - y0) * 4];
    this.line(colour, width, [x0, y0], [x1, y1]);
    this.line(colour, width, [x1 - dx - dy, y1 - dy - dx], [x1, y1], [x1 - dx + dy, y1 - dy + dx]);
  }

  fill(colour: string, x: number, y: number, width: number, height: number) {
    this.pen.fillStyle = colour;
    this.pen.fillRect(x, y, width, height);
  }

  frame(colour: string, line: number, { x, y, width, height }: Rect) {
    setPen(this.pen, { strokeStyle: colour, lineWidth: line });
    this.pen.strokeRect(x, y, width, height);
  }
}

type Roles = Record<string, string>;

const ROLE_OF: Record<string, string> = { attention: "q", cross: "q", embed: "x", readout: "x" };

export const colourOf = (kind: string, roles: Roles) => roles[ROLE_OF[kind] ?? kind] ?? roles.faint;

/** Vectors as a picture, one pixel a number. Small numbers stay visible: colour grows with the square root. */
export function stripImage({ rows, columns, values }: Matrix, roles: Roles) {
  const [below, ground, above] = [roles.below, roles.zero, roles.above].map(bytesOf);
  const largest = largestSize(values) || 1;
  return pixels(columns, rows, (n) => {
    const part = Math.sqrt(Math.abs(values[n]) / largest);
    return packed(mixed(ground, values[n] < 0 ? below : above, part));
  });
}

/** Shares of attention as a picture. `allowed` says what is not masked, `from` where in the values it begins. */
export function shareImage(
  { rows, columns, values }: Matrix,
  { allowed, masked = "", from = 0 }: { allowed?: Matrix; masked?: string; from?: number },
) {
  return pixels(columns, rows, (n) => {
    if (allowed && !allowed.values[from + n]) return packed(bytesOf(masked));
    return packedShade(Math.sqrt(Math.max(0, values[from + n])));
  });
}

export const shareColour = (share: number) => css(Math.sqrt(Math.max(0, share)));
