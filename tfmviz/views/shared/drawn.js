// A part of the page as a figure: grounds, letters and canvases, each where the browser has put it.

/** @import { Pen } from "./canvas.js" */
/** @import { Figure } from "./picture.js" */

const LEFT_OUT = ".tfmviz-bar, .unseen, dialog, input, select, [hidden]";
const CLEAR = /(?:, 0|\/ 0)\)$|^transparent$/;

/** @typedef {{box: DOMRect, fill?: string, image?: HTMLCanvasElement, text?: string, font?: string}} Part */

/**
 * @param {HTMLElement} root
 * @returns {Figure}
 */
export function figureOf(root) {
  const { left, top, width, height } = root.getBoundingClientRect();
  const parts = [...drawnOf(root)];
  /** @param {Pen} pen */
  const paint = (pen) => {
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    for (const { box, fill = "", image, text, font = "" } of parts) {
      const [x, y] = [box.left - left, box.top - top];
      pen.fillStyle = fill;
      pen.font = font;
      if (image) pen.drawImage(image, x, y, box.width, box.height);
      else if (text) pen.fillText(text, x, y + box.height / 2);
      else pen.fillRect(x, y, box.width, box.height);
    }
  };
  return { width, height, paint };
}

/**
 * @param {Node} node
 * @returns {Generator<Part>}
 */
function* drawnOf(node) {
  if (node instanceof Text) yield* wordsOf(node);
  if (!(node instanceof HTMLElement) || node.matches(LEFT_OUT)) return;
  const { display, visibility, backgroundColor } = getComputedStyle(node);
  if (display === "none" || visibility === "hidden") return;
  const box = node.getBoundingClientRect();
  if (node instanceof HTMLCanvasElement) yield { box, image: node };
  else if (!CLEAR.test(backgroundColor)) yield { box, fill: backgroundColor };
  for (const child of node.childNodes) yield* drawnOf(child);
}

/**
 * Word by word, since a line may break between two of them.
 * @param {Text} node
 * @returns {Generator<Part>}
 */
function* wordsOf(node) {
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
