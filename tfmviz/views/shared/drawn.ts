// A part of the page as a figure: grounds, letters, canvases and curves, each where the browser has put it.

import type { Pen } from "./canvas.ts";
import type { Figure } from "./picture.ts";

const LEFT_OUT = ".tfmviz-bar, .unseen, dialog, input, select, [hidden]";
const CLEAR = /(?:, 0|\/ 0)\)$|^transparent$/;

type Part = {
  box: DOMRect;
  fill?: string;
  image?: HTMLCanvasElement;
  text?: string;
  font?: string;
  curve?: SVGPathElement;
};

const STEPS = 24; // straight pieces of a curve

export function figureOf(root: HTMLElement): Figure {
  const { left, top, width, height } = root.getBoundingClientRect();
  const parts = [...drawnOf(root)];
  const paint = (pen: Pen) => {
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    for (const { box, fill = "", image, text, font = "", curve } of parts) {
      const [x, y] = [box.left - left, box.top - top];
      pen.fillStyle = fill;
      pen.font = font;
      if (curve) follow(pen, curve, x, y);
      else if (image) pen.drawImage(image, x, y, box.width, box.height);
      else if (text) pen.fillText(text, x, y + box.height / 2);
      else pen.fillRect(x, y, box.width, box.height);
    }
  };
  return { width, height, paint };
}

function* drawnOf(node: Node): Generator<Part> {
  if (node instanceof Text) yield* wordsOf(node);
  if (node instanceof SVGElement)
    for (const curve of node.querySelectorAll("path")) yield { box: node.getBoundingClientRect(), curve };
  if (!(node instanceof HTMLElement) || node.matches(LEFT_OUT)) return;
  const { display, visibility, backgroundColor } = getComputedStyle(node);
  if (display === "none" || visibility === "hidden") return;
  const box = node.getBoundingClientRect();
  if (node instanceof HTMLCanvasElement) yield { box, image: node };
  else if (!CLEAR.test(backgroundColor)) yield { box, fill: backgroundColor };
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
    yield { box: range.getBoundingClientRect(), text, font, fill: color };
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
