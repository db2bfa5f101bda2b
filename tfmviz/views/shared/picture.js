// Saves figures as files. A figure draws itself on a pen; for SVG it gets one that writes elements.

/** @import { ClipRect, Pen } from "./canvas.js" */
/** @import { Colours } from "./colours.js" */
import { contextOf, measured } from "./canvas.js";

/** @typedef {{width: number, height: number, paint: (pen: Pen) => void}} Figure */

const SVG = "http://www.w3.org/2000/svg";

/** @type {Record<string, string>} */
const ANCHORS = { center: "middle", right: "end", end: "end" };

/** @type {Record<string, string>} */
const BASELINES = { middle: "central", top: "hanging" };

/**
 * The part of CanvasRenderingContext2D that figures use, written as SVG.
 * @implements {Pen}
 */
class SvgPen {
  /**
   * @param {number} width
   * @param {number} height
   */
  constructor(width, height) {
    this.isVector = true;
    this.root = svgElement("svg", { xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}` });
    this.parent = this.root;
    /** @type {Record<string, any>[]} */
    this.saved = [];
    /** @type {CanvasRenderingContext2D["fillStyle"]} */
    this.fillStyle = "#000";
    /** @type {CanvasRenderingContext2D["strokeStyle"]} */
    this.strokeStyle = "#000";
    this.lineWidth = 1;
    this.globalAlpha = 1;
    this.font = "10px sans-serif";
    /** @type {CanvasTextAlign} */
    this.textAlign = "start";
    /** @type {CanvasTextBaseline} */
    this.textBaseline = "alphabetic";
    this.imageSmoothingEnabled = false;
    this.path = "";
  }

  save() {
    const { parent, fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline } = this;
    this.saved.push({ parent, fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline });
  }

  restore() {
    Object.assign(this, this.saved.pop());
  }

  /** @type {Pen["translate"]} */
  translate(x, y) {
    this.#group(`translate(${round(x)} ${round(y)})`);
  }

  /** @param {number} angle radians */
  rotate(angle) {
    this.#group(`rotate(${round((angle * 180) / Math.PI)})`);
  }

  /** @type {ClipRect} */
  clipRect(x, y, width, height) {
    const id = `clip${this.root.querySelectorAll("clipPath").length}`;
    const path = svgElement("clipPath", { id });
    path.append(svgElement("rect", { x, y, width, height }));
    this.parent.append(path);
    const group = svgElement("g", { "clip-path": `url(#${id})` });
    this.parent.append(group);
    this.parent = group;
  }

  /** @type {Pen["fillRect"]} */
  fillRect(x, y, width, height) {
    this.#add("rect", { ...box(x, y, width, height), fill: this.fillStyle, "fill-opacity": this.globalAlpha });
  }

  /** @type {Pen["strokeRect"]} */
  strokeRect(x, y, width, height) {
    this.#add("rect", { ...box(x, y, width, height), fill: "none", ...this.#line() });
  }

  beginPath() {
    this.path = "";
  }

  /** @type {Pen["moveTo"]} */
  moveTo(x, y) {
    this.path += `M${round(x)} ${round(y)}`;
  }

  /** @type {Pen["lineTo"]} */
  lineTo(x, y) {
    this.path += `L${round(x)} ${round(y)}`;
  }

  stroke() {
    this.#add("path", { d: this.path, fill: "none", ...this.#line() });
  }

  /** @type {Pen["fillText"]} */
  fillText(text, x, y) {
    const [, size, family] = /(\d+(?:\.\d+)?)px (.*)/.exec(this.font) ?? ["", "10", "sans-serif"];
    const node = svgElement("text", {
      x: round(x),
      y: round(y),
      fill: this.fillStyle,
      "font-size": size,
      "font-family": family,
      "font-weight": /bold/.test(this.font) ? 700 : 400,
      "text-anchor": ANCHORS[this.textAlign] ?? "start",
      "dominant-baseline": BASELINES[this.textBaseline] ?? "auto",
      "xml:space": "preserve",
    });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML cannot hold
    node.textContent = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "\ufffd");
    this.parent.append(node);
  }

  /** @param {string} text */
  measureText(text) {
    return measured(text, this.font);
  }

  /**
   * As on a canvas: (image, x, y, width, height), or a part of the image: (image, sx, sy, sw, sh, x, y, width, height).
   * @param {CanvasImageSource} image one of our canvases
   * @param {...number} place
   */
  drawImage(image, ...place) {
    const whole = /** @type {HTMLCanvasElement} */ (image);
    const canvas = place.length > 4 ? cutOut(whole, place) : whole;
    const [x, y, width, height] = place.slice(-4);
    const drawing = { href: canvas.toDataURL(), preserveAspectRatio: "none", "image-rendering": "pixelated" };
    this.#add("image", { ...box(x, y, width, height), ...drawing });
  }

  toString() {
    return new XMLSerializer().serializeToString(this.root);
  }

  #line() {
    return { stroke: this.strokeStyle, "stroke-width": this.lineWidth, "stroke-opacity": this.globalAlpha };
  }

  /** @param {string} transform */
  #group(transform) {
    const group = svgElement("g", { transform });
    this.parent.append(group);
    this.parent = group;
  }

  /**
   * @param {string} name
   * @param {Record<string, any>} attributes
   */
  #add(name, attributes) {
    this.parent.append(svgElement(name, attributes));
  }
}

/**
 * @param {string} name
 * @param {Record<string, any>} attributes
 */
export function svgElement(name, attributes) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  return node;
}

/**
 * @param {HTMLCanvasElement} image
 * @param {number[]} place
 */
function cutOut(image, [x, y, width, height]) {
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  contextOf(canvas).drawImage(image, x, y, width, height, 0, 0, width, height);
  return canvas;
}

/** @param {number} value */
const round = (value) => Math.round(value * 100) / 100;

/**
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 */
const box = (x, y, width, height) => ({ x: round(x), y: round(y), width: round(width), height: round(height) });

const EDGE = 16;
const ABOVE = 18; // pixels beside the lines of the title
const HEADING = 22; // pixels for a line of the title
const LINE = 18; // pixels for a line of the caption

/**
 * A figure as it is saved: under a name, with its title above and its caption below.
 * @typedef {Figure & {name: string, title: string, caption: string, colours: Colours}} Saved
 */

/**
 * @param {Saved} figure
 * @param {"svg" | "png"} format
 */
export async function save(figure, format) {
  const page = pageOf(figure);
  const { name } = figure;
  if (format === "svg") {
    const pen = new SvgPen(page.width, page.height);
    page.paint(pen);
    download(new Blob([pen.toString()], { type: "image/svg+xml" }), `${name}.svg`);
    return;
  }
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: 2 * page.width, height: 2 * page.height });
  const context = contextOf(canvas);
  context.scale(2, 2);
  page.paint(context);
  /** @type {Blob | null} */
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  if (blob) download(blob, `${name}.png`);
}

/**
 * A figure with title and caption, as a figure.
 * @param {Saved} figure
 * @returns {Figure}
 */
function pageOf(figure) {
  const { title, caption, colours } = figure;
  const [large, small] = [`bold 17px ${colours.font}`, `13px ${colours.font}`];
  const heads = wrapped(title, figure.width, large);
  const above = ABOVE + HEADING * heads.length;
  const lines = wrapped(caption, figure.width, small);
  const [width, height] = [figure.width + 2 * EDGE, figure.height + above + 22 + LINE * lines.length];
  /** @param {Pen} pen */
  const paint = (pen) => {
    pen.fillStyle = colours.ground;
    pen.fillRect(0, 0, width, height);
    pen.fillStyle = colours.text;
    pen.font = large;
    for (const [i, line] of heads.entries()) pen.fillText(line, EDGE, 26 + HEADING * i);
    pen.save();
    pen.translate(EDGE, above);
    figure.paint(pen);
    pen.restore();
    pen.fillStyle = colours.text;
    pen.globalAlpha = 1;
    pen.textAlign = "start";
    pen.textBaseline = "alphabetic";
    pen.font = small;
    for (const [i, line] of lines.entries()) pen.fillText(line, EDGE, figure.height + above + 22 + LINE * i);
  };
  return { width, height, paint };
}

/**
 * A text in lines that are no wider than the width, except where one word is.
 * @param {string} text
 * @param {number} width
 * @param {string} font
 */
function wrapped(text, width, font) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines[lines.length - 1]} ${word}`.trim();
    if (measured(longer, font).width <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
export function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
