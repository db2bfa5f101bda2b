// Text, lines and arrows of the picture on a pen, in the page's colours.

import { type Pen, setPen, strokes } from "../shared/canvas.ts";
import type { Colours } from "../shared/colours.ts";
import { LETTER_SIZE } from "../shared/constants.ts";
import { writeToken } from "../shared/names.ts";
import { colourOf } from "./colours.ts";
import type { Rect } from "./layout.ts";

type Point = [x: number, y: number];

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

  /** @param room pixels for a text that may hold tokens; undefined: it holds none and is written as it is */
  text(
    text: string,
    x: number,
    y: number,
    {
      isBold = false,
      align = "left",
      colour = this.colours.text,
      room,
    }: { isBold?: boolean; align?: CanvasTextAlign; colour?: string; room?: number } = {},
  ) {
    const { pen } = this;
    setPen(pen, { fillStyle: colour, textAlign: align, textBaseline: "middle" });
    pen.font = `${isBold ? "bold " : ""}${LETTER_SIZE}px ${this.colours.font}`;
    if (room === undefined) pen.fillText(text, x, y);
    else writeToken(pen, text, [x, y], LETTER_SIZE, room);
  }

  /** @param text as wide as the font of the last text makes it */
  widthOf(text: string) {
    return this.pen.measureText(text).width;
  }

  line(colour: string, width: number, ...points: Point[]) {
    strokes(this.pen, { strokeStyle: colour, lineWidth: width }, points.flat());
  }

  /** An arrow along one of the axes. */
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
