// Canvases to draw figures on.

/**
 * What figures draw on: a canvas, or what writes the same as SVG (`picture.js`). Only the latter has `clipRect`, and
 * `isVector` tells a figure that single cells are wanted rather than an image.
 * @typedef {Pick<CanvasRenderingContext2D, Methods | Settings> & {isVector?: boolean, clipRect?: ClipRect}} Pen
 */

/** @typedef {"save" | "restore" | "translate" | "rotate" | "beginPath" | "moveTo" | "lineTo" | "stroke"
 *   | "fillRect" | "strokeRect" | "fillText" | "measureText" | "drawImage"} Methods */

/** @typedef {"fillStyle" | "strokeStyle" | "lineWidth" | "globalAlpha" | "font" | "textAlign" | "textBaseline"
 *   | "imageSmoothingEnabled"} Settings */

/** @typedef {(x: number, y: number, width: number, height: number) => void} ClipRect */

/**
 * @param {HTMLCanvasElement} canvas
 * @returns {CanvasRenderingContext2D}
 */
export function contextOf(canvas) {
  const context = canvas.getContext("2d");
  if (!context) throw new Error("This browser cannot draw on a canvas.");
  return context;
}

/**
 * Gives a canvas a size in CSS pixels, sharp on any screen. Returns its context with nothing on it.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 */
export function fresh(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    Object.assign(canvas, { width: w, height: h });
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  }
  const context = contextOf(canvas);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/**
 * Clips to a rectangle until the next `restore()`.
 * @param {Pen} pen
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 */
export function clip(pen, x, y, width, height) {
  if (pen.clipRect) {
    pen.clipRect(x, y, width, height);
  } else if (pen instanceof CanvasRenderingContext2D) {
    pen.beginPath();
    pen.rect(x, y, width, height);
    pen.clip();
  }
}

/** @type {CanvasRenderingContext2D | null} */
let ruler = null;

/**
 * How wide and high a text is.
 * @param {string} text
 * @param {string} font
 */
export function measured(text, font) {
  ruler ??= contextOf(document.createElement("canvas"));
  ruler.font = font;
  return ruler.measureText(text);
}

/**
 * The width in pixels of the widest of some texts, rounded up.
 * @param {string[]} texts
 * @param {string} font
 */
export const widest = (texts, font) => Math.ceil(Math.max(0, ...texts.map((text) => measured(text, font).width)));

/**
 * Whether a cell has room for a text in the pen's letters.
 * @param {Pen} pen
 * @param {string} text
 * @param {number} wide
 */
export const fitsInto = (pen, text, wide) => pen.measureText(text).width + 2 <= wide;

/** A drawing that is kept beside the page until something it depends on changes. */
export class Layer {
  canvas = document.createElement("canvas");
  /** @type {unknown[]} */
  known = [];

  /**
   * The drawing, made anew if one of the values it depends on is another than last time.
   * @param {{width: number, height: number}} size
   * @param {unknown[]} values
   * @param {(context: CanvasRenderingContext2D) => void} paint
   */
  drawn({ width, height }, values, paint) {
    const isKnown = this.known.length === values.length && values.every((value, n) => value === this.known[n]);
    if (!isKnown) paint(fresh(this.canvas, width, height));
    this.known = values;
    return this.canvas;
  }
}

/**
 * Writes a text from bottom to top.
 * @param {Pen} pen
 * @param {string} text
 * @param {number} x
 * @param {number} y
 */
export function upwards(pen, text, x, y) {
  pen.save();
  pen.translate(x, y);
  pen.rotate(-Math.PI / 2);
  pen.fillText(text, 0, 0);
  pen.restore();
}
