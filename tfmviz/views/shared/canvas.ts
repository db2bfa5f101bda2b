// Canvases to draw figures on.

/** A canvas, or what writes the same as SVG (`picture.ts`): `isVector` says that single cells are wanted, no image. */
export type Pen = Pick<CanvasRenderingContext2D, Methods | Settings> & OfSvg;

type OfSvg = { isVector?: boolean; clipRect?: ClipRect; hatching?: (colour: string, apart: number) => string };

type Moving = "save" | "restore" | "translate" | "rotate";
type Drawing = "beginPath" | "moveTo" | "lineTo" | "stroke" | "fillRect" | "strokeRect" | "drawImage";
type Methods = Moving | Drawing | "fillText" | "measureText";
type Colouring = "fillStyle" | "strokeStyle" | "lineWidth" | "globalAlpha" | "imageSmoothingEnabled";
type Settings = Colouring | "font" | "textAlign" | "textBaseline";

type ClipRect = (x: number, y: number, width: number, height: number) => void;

export function contextOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = canvas.getContext("2d");
  if (!context) throw new Error("This browser cannot draw on a canvas.");
  return context;
}

/** Gives a canvas a size in CSS pixels, sharp on any screen. Returns its context with nothing on it. */
export function fresh(canvas: HTMLCanvasElement, width: number, height: number) {
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

export const setPen = (pen: Pen, look: Partial<Pick<Pen, Settings>>) => Object.assign(pen, look);

/** Draws lines; of each the points it goes through: x, y, x, y … */
export function strokes(pen: Pen, look: Partial<Pick<Pen, Settings>>, ...lines: number[][]) {
  setPen(pen, look);
  pen.beginPath();
  for (const line of lines) {
    pen.moveTo(line[0], line[1]);
    for (let n = 2; n < line.length; n += 2) pen.lineTo(line[n], line[n + 1]);
  }
  pen.stroke();
}

/** Clips to a rectangle until the next `restore()`. */
export function clip(pen: Pen, x: number, y: number, width: number, height: number) {
  if (pen.clipRect) {
    pen.clipRect(x, y, width, height);
  } else if (pen instanceof CanvasRenderingContext2D) {
    pen.beginPath();
    pen.rect(x, y, width, height);
    pen.clip();
  }
}

const MOST_KNOWN = 5000; // measured texts

let ruler: CanvasRenderingContext2D | null = null;
const known: Map<string, TextMetrics> = new Map(); // pictures that follow a touch ask for the same names each time

export function measured(text: string, font: string) {
  const name = `${font} ${text}`;
  const found = known.get(name);
  if (found) return found;
  if (!ruler) {
    ruler = contextOf(document.createElement("canvas"));
    document.fonts?.addEventListener("loadingdone", () => known.clear());
  }
  ruler.font = font;
  const made = ruler.measureText(text);
  if (known.size === MOST_KNOWN) known.clear();
  known.set(name, made);
  return made;
}

/** The width in pixels of the widest of some texts, rounded up. */
export const widest = (texts: string[], font: string) =>
  Math.ceil(Math.max(0, ...texts.map((text) => measured(text, font).width)));

/** A text that is no wider than `room` in the pen's letters, its end cut off if need be. */
export function fitted(pen: Pen, text: string, room: number) {
  if (pen.measureText(text).width <= room) return text;
  const letters = [...text];
  while (letters.length && pen.measureText(`${letters.join("")}…`).width > room) letters.pop();
  return `${letters.join("")}…`;
}

/** A text in lines that are no wider than the width, except where one word is. */
export function wrapped(text: string, width: number, measure: (text: string) => number) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines[lines.length - 1]} ${word}`.trim();
    if (measure(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

export const fitsInto = (pen: Pen, text: string, wide: number) => pen.measureText(text).width + 2 <= wide;

/** A drawing that is kept beside the page, and made anew if one of the values it depends on has changed. */
export class Layer {
  canvas = document.createElement("canvas");
  known: unknown[] = [];

  drawn(
    { width, height }: { width: number; height: number },
    values: unknown[],
    paint: (context: CanvasRenderingContext2D) => void,
  ) {
    const isKnown = this.known.length === values.length && values.every((value, n) => value === this.known[n]);
    if (!isKnown) paint(fresh(this.canvas, width, height));
    this.known = values;
    return this.canvas;
  }
}

export function upwards(pen: Pen, text: string, x: number, y: number) {
  pen.save();
  pen.translate(x, y);
  pen.rotate(-Math.PI / 2);
  pen.fillText(text, 0, 0);
  pen.restore();
}
