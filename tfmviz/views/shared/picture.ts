// Saves figures as files. A figure draws itself on a pen; for SVG it gets one that writes elements.

import { contextOf, measured, type Pen, setPen, wrapped } from "./canvas.ts";
import type { Colours } from "./colours.ts";

export type Figure = { width: number; height: number; paint: (pen: Pen) => void };

const SVG = "http://www.w3.org/2000/svg";

const ANCHORS: Record<string, string> = { center: "middle", right: "end", end: "end" };

const BASELINES: Record<string, string> = { middle: "central", top: "hanging" };

/** The part of CanvasRenderingContext2D that figures use, written as SVG. */
class SvgPen implements Pen {
  root: SVGElement;
  parent: SVGElement;
  saved: Partial<SvgPen>[] = [];
  fillStyle: CanvasRenderingContext2D["fillStyle"] = "black";
  strokeStyle: CanvasRenderingContext2D["strokeStyle"] = "black";
  lineWidth = 1;
  globalAlpha = 1;
  font = "10px sans-serif";
  textAlign: CanvasTextAlign = "start";
  textBaseline: CanvasTextBaseline = "alphabetic";
  imageSmoothingEnabled = false;
  path = "";
  isVector = true;

  constructor(width: number, height: number) {
    this.root = svgElement("svg", { xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}` });
    this.parent = this.root;
  }

  save() {
    const { root, saved, path, ...settings } = this;
    this.saved.push(settings);
  }

  restore() {
    Object.assign(this, this.saved.pop());
  }

  translate(x: number, y: number): void {
    this.#group({ transform: `translate(${round(x)} ${round(y)})` });
  }

  rotate(angle: number) {
    this.#group({ transform: `rotate(${round((angle * 180) / Math.PI)})` });
  }

  clipRect(x: number, y: number, width: number, height: number): void {
    const id = `clip${this.root.querySelectorAll("clipPath").length}`;
    const path = svgElement("clipPath", { id });
    path.append(svgElement("rect", { x, y, width, height }));
    this.parent.append(path);
    this.#group({ "clip-path": `url(#${id})` });
  }

  /** The paint of slanted lines, `apart` pixels from one another along a row. */
  hatching(colour: string, apart: number) {
    const id = `hatch${colour.replace(/\W/g, "")}`;
    if (!this.root.querySelector(`#${id}`)) {
      const size = { width: apart, height: apart };
      const pattern = svgElement("pattern", { id, patternUnits: "userSpaceOnUse", ...size });
      const lines = [-apart, 0, apart].map((x) => `M${x - 1} ${apart + 1}L${x + apart + 1} -1`);
      pattern.append(svgElement("path", { d: lines.join(""), stroke: colour }));
      this.root.prepend(pattern);
    }
    return `url(#${id})`;
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    this.#add("rect", { ...box(x, y, width, height), fill: this.fillStyle, "fill-opacity": this.globalAlpha });
  }

  strokeRect(x: number, y: number, width: number, height: number): void {
    this.#add("rect", { ...box(x, y, width, height), fill: "none", ...this.#line() });
  }

  beginPath() {
    this.path = "";
  }

  moveTo(x: number, y: number): void {
    this.path += `M${round(x)} ${round(y)}`;
  }

  lineTo(x: number, y: number): void {
    this.path += `L${round(x)} ${round(y)}`;
  }

  stroke() {
    this.#add("path", { d: this.path, fill: "none", ...this.#line() });
  }

  fillText(text: string, x: number, y: number): void {
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

  measureText(text: string) {
    return measured(text, this.font);
  }

  /** As on a canvas, of one of our canvases: (image, x, y, width, height), or with the part (sx, sy, sw, sh) before. */
  drawImage(image: CanvasImageSource, ...place: number[]) {
    let canvas = image as HTMLCanvasElement;
    if (place.length > 4) {
      const [sx, sy, width, height] = place;
      canvas = Object.assign(document.createElement("canvas"), { width, height });
      contextOf(canvas).drawImage(image, sx, sy, width, height, 0, 0, width, height);
    }
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

  #group(attributes: Record<string, string>) {
    const group = svgElement("g", attributes);
    this.parent.append(group);
    this.parent = group;
  }

  #add(name: string, attributes: Record<string, unknown>) {
    this.parent.append(svgElement(name, attributes));
  }
}

export function svgElement(name: string, attributes: Record<string, unknown>) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  return node;
}

const round = (value: number) => Math.round(value * 100) / 100;

function box(...place: number[]) {
  const [x, y, width, height] = place.map(round);
  return { x, y, width, height };
}

const EDGE = 16;
const ABOVE = 18; // pixels beside the lines of the title
const HEADING = 22; // pixels for a line of the title
const LINE = 18; // pixels for a line of the caption

export type Saved = Figure & { name: string; title: string; caption: string; colours: Colours };

export async function save(figure: Saved, format: "svg" | "png") {
  const { name, title, caption, colours } = figure;
  const [large, small] = [`bold 17px ${colours.font}`, `13px ${colours.font}`];
  const heads = wrapped(title, figure.width, (text) => measured(text, large).width);
  const above = ABOVE + HEADING * heads.length;
  const lines = wrapped(caption, figure.width, (text) => measured(text, small).width);
  const [width, height] = [figure.width + 2 * EDGE, figure.height + above + 22 + LINE * lines.length];
  const paint = (pen: Pen) => {
    pen.fillStyle = colours.ground;
    pen.fillRect(0, 0, width, height);
    setPen(pen, { fillStyle: colours.text, font: large });
    for (const [i, line] of heads.entries()) pen.fillText(line, EDGE, 26 + HEADING * i);
    pen.save();
    pen.translate(EDGE, above);
    figure.paint(pen);
    pen.restore();
    setPen(pen, { fillStyle: colours.text, globalAlpha: 1, font: small });
    setPen(pen, { textAlign: "start", textBaseline: "alphabetic" });
    for (const [i, line] of lines.entries()) pen.fillText(line, EDGE, figure.height + above + 22 + LINE * i);
  };
  if (format === "svg") {
    const pen = new SvgPen(width, height);
    paint(pen);
    return download(new Blob([pen.toString()], { type: "image/svg+xml" }), `${name}.svg`);
  }
  const canvas = Object.assign(document.createElement("canvas"), { width: 2 * width, height: 2 * height });
  const context = contextOf(canvas);
  context.scale(2, 2);
  paint(context);
  const blob: Blob | null = await new Promise((done) => canvas.toBlob(done, "image/png"));
  if (blob) download(blob, `${name}.png`);
}

export function download(blob: Blob, name: string) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
