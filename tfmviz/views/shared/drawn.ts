// A part of the page as a figure: grounds, letters, canvases and curves, each where the browser has put it.

import { type Pen, setPen } from "./canvas.ts";
import type { Figure } from "./picture.ts";

const LEFT_OUT = ".tfmviz-bar, .unseen, dialog, input, select, [hidden]";
const CLEAR = /(?:, 0|\/ 0)\)$|^transparent$/;

const STEPS = 24; // straight pieces of a curve

type Part = [box: DOMRect, draw: (pen: Pen, x: number, y: number) => void];

export function figureOf(root: HTMLElement): Figure {
  const { left, top, width, height } = root.getBoundingClientRect();
  const parts = [...drawnOf(root)];
  const paint = (pen: Pen) => {
    setPen(pen, { textAlign: "left", textBaseline: "middle" });
    for (const [box, draw] of parts) draw(pen, box.left - left, box.top - top);
  };
  return { width, height, paint };
}

function* drawnOf(node: Node): Generator<Part> {
  if (node instanceof Text) yield* wordsOf(node);
  if (node instanceof SVGElement)
    for (const curve of node.querySelectorAll("path"))
      yield [node.getBoundingClientRect(), (pen, x, y) => follow(pen, curve, x, y)];
  if (!(node instanceof HTMLElement) || node.matches(LEFT_OUT)) return;
  const { display, visibility, backgroundColor } = getComputedStyle(node);
  if (display === "none" || visibility === "hidden") return;
  const box = node.getBoundingClientRect();
  const ground = (pen: Pen, x: number, y: number) => {
    pen.fillStyle = backgroundColor;
    pen.fillRect(x, y, box.width, box.height);
  };
  if (node instanceof HTMLCanvasElement) yield [box, (pen, x, y) => pen.drawImage(node, x, y, box.width, box.height)];
  else if (!CLEAR.test(backgroundColor)) yield [box, ground];
  for (const child of node.childNodes) yield* drawnOf(child);
}

/** Word by word, since a line may break between two of them. */
function* wordsOf(node: Text): Generator<Part> {
  if (!node.parentElement) return;
  const { color, fontWeight, fontSize, fontFamily } = getComputedStyle(node.parentElement);
  const font = `${Number(fontWeight) > 500 ? "bold " : ""}${fontSize} ${fontFamily}`;
  const range = document.createRange();
  for (const { 0: text, index } of node.data.matchAll(/\S+/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + text.length);
    const box = range.getBoundingClientRect();
    yield [box, (pen, x, y) => setPen(pen, { fillStyle: color, font }).fillText(text, x, y + box.height / 2)];
  }
}

/** @param x of its drawing, in pixels */
function follow(pen: Pen, curve: SVGPathElement, x: number, y: number) {
  const { stroke, strokeWidth, opacity } = getComputedStyle(curve);
  Object.assign(pen, { strokeStyle: stroke, lineWidth: Number.parseFloat(strokeWidth), globalAlpha: Number(opacity) });
  pen.beginPath();
  for (let step = 0; step <= STEPS; step++) {
    const point = curve.getPointAtLength((curve.getTotalLength() * step) / STEPS);
    if (step) pen.lineTo(x + point.x, y + point.y);
    else pen.moveTo(x + point.x, y + point.y);
  }
  pen.stroke();
  pen.globalAlpha = 1;
}
