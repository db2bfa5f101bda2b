// Text, lines and arrows of the picture on a pen, in the page's colours.

/** @import { Pen } from "../shared/canvas.js" */
/** @import { Colours } from "../shared/colours.js" */
import { colourOf } from "./colours.js";

/** @typedef {[x: number, y: number]} Point */

export const LETTERS = 14; // pixels, before the picture is scaled

export class Brush {
  /**
   * @param {Pen} pen
   * @param {Colours} colours
   */
  constructor(pen, colours) {
    this.pen = pen;
    this.colours = colours;
  }

  /** @param {string} kind */
  colour(kind) {
    return colourOf(kind, this.colours.roles);
  }

  /**
   * @param {string} text
   * @param {number} x
   * @param {number} y
   * @param {{isBold?: boolean, align?: CanvasTextAlign, colour?: string}} [options]
   */
  text(text, x, y, { isBold = false, align = "left", colour = this.colours.text } = {}) {
    const { pen } = this;
    pen.fillStyle = colour;
    pen.textAlign = align;
    pen.textBaseline = "middle";
    pen.font = `${isBold ? "bold " : ""}${LETTERS}px ${this.colours.font}`;
    pen.fillText(text, x, y);
  }

  /** @param {string} text as wide as the font of the last text makes it */
  widthOf(text) {
    return this.pen.measureText(text).width;
  }

  /**
   * A text with as many of its letters as there is room for.
   * @param {string} text
   * @param {number} room
   */
  cut(text, room) {
    this.pen.font = `${LETTERS}px ${this.colours.font}`;
    if (this.widthOf(text) <= room) return text;
    let short = [...text];
    while (short.length > 1 && this.widthOf(`${short.join("")}…`) > room) short = short.slice(0, -1);
    return `${short.join("")}…`;
  }

  /**
   * @param {string} colour
   * @param {number} width
   * @param {...Point} points
   */
  line(colour, width, ...points) {
    const { pen } = this;
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.beginPath();
    pen.moveTo(...points[0]);
    for (const point of points.slice(1)) pen.lineTo(...point);
    pen.stroke();
  }

  /**
   * An arrow along one of the axes.
   * @param {string} colour
   * @param {number} width
   * @param {Point} from
   * @param {Point} to
   */
  arrow(colour, width, [x0, y0], [x1, y1]) {
    const [dx, dy] = [Math.sign(x1 - x0) * 4, Math.sign(y1 - y0) * 4];
    this.line(colour, width, [x0, y0], [x1, y1]);
    this.line(colour, width, [x1 - dx - dy, y1 - dy - dx], [x1, y1], [x1 - dx + dy, y1 - dy + dx]);
  }

  /**
   * @param {string} colour
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   */
  fill(colour, x, y, width, height) {
    this.pen.fillStyle = colour;
    this.pen.fillRect(x, y, width, height);
  }

  /**
   * @param {string} colour
   * @param {number} line
   * @param {import("./layout.js").Rect} rect
   */
  frame(colour, line, { x, y, width, height }) {
    this.pen.strokeStyle = colour;
    this.pen.lineWidth = line;
    this.pen.strokeRect(x, y, width, height);
  }
}
