// A mask drawn on a canvas: blue cells are open, grey ones closed; rows are queries, columns keys.

import { fitsInto, fresh, measured, type Pen, setPen, widest } from "../shared/canvas.ts";
import type { Colours } from "../shared/colours.ts";
import { make, within } from "../shared/elements.ts";
import { hatch } from "../shared/hatch.ts";
import { fading } from "../shared/motion.ts";
import { across, cut, type Names, reach, SLANT, thinned, writeName, writeToken } from "../shared/names.ts";
import { type Mask, type Place, rowCount } from "./bits.ts";
import type { Lab } from "./view.tsx";

const LARGEST = 30;
const SMALLEST = 18; // 13 words fit a phone, a finger hits the words above; a longer board is scrolled
const MOST_LARGE = 40; // tokens; cells of a longer text are small, and reached by the arrow keys
const LABEL = 90;
const NONE = "none!"; // beside a row, in place of the number of its keys

export function paintMask(pen: Pen, mask: Mask, cell: number, colours: Colours) {
  pen.fillStyle = colours.masked;
  pen.fillRect(0, 0, mask.columns * cell, mask.rows * cell);
  hatch(pen, { rows: mask.rows, columns: mask.columns, wide: cell, high: cell }, colours, () => true);
  const gap = cell >= 7 ? 1 : 0;
  pen.fillStyle = colours.looks;
  for (let n = 0; n < mask.open.length; n++)
    if (mask.open[n]) pen.fillRect(...corner(mask, n, cell), cell - gap, cell - gap);
}

const corner = ({ columns }: Mask, n: number, cell: number) =>
  [(n % columns) * cell, Math.floor(n / columns) * cell] as const;

export class Board {
  drawn = ""; // the cells of the last drawing
  above: Names = { step: 1, size: 1, isSlanted: false, room: 0 };
  beside = { step: 1, size: 1 };
  cell = 1;
  left = 0;
  top = 0;
  width = 0;
  height = 0;

  canvas = make("canvas", { tabIndex: 0, role: "application" });
  node = make("div", { className: "board" }, this.canvas);
  cursor = { row: 0, column: 0 };

  lab: Lab;

  constructor(lab: Lab) {
    this.lab = lab;
    this.canvas.addEventListener("pointerdown", (event) => {
      const place = this.placeAt(event);
      if (!place) return;
      this.canvas.setPointerCapture(event.pointerId);
      this.cursor = this.within(place);
      lab.press(place);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      const place = this.placeAt(event);
      lab.point(place);
      if (place && event.buttons) lab.drag(place);
    });
    this.canvas.addEventListener("pointerup", () => lab.finish());
    this.canvas.addEventListener("pointercancel", () => lab.cancel());
    this.canvas.addEventListener("pointerleave", () => lab.point(null));
    this.canvas.addEventListener("keydown", (event) => lab.key(event));
  }

  within({ row, column }: Place) {
    const { rows, columns } = this.lab.mask;
    return { row: within(row, rows), column: within(column, columns) };
  }

  measure(width: number, { font, letters, least }: Colours) {
    const { rows, columns } = this.lab.mask;
    const { texts } = this.lab;
    const measure = (text: string, size: number) => measured(text, `${size}px ${font}`).width;
    const keys = texts.keys.map(cut);
    this.left = Math.min(LABEL, widest(texts.queries, `${letters}px ${font}`)) + 10;
    const counts = measure(NONE, letters) + 10;
    const room = Math.max(0, width - this.left - counts); // on a page that the reader leaves there is none
    const smallest = Math.max(rows, columns) > MOST_LARGE ? 3 : Math.max(SMALLEST, 1.4 * least); // “−∞” has room
    this.cell = Math.max(Math.min(LARGEST, room / columns, Math.max(410 / rows, 3)), room ? smallest : 0);
    this.node.classList.toggle("wide", this.cell * columns > room);
    this.above = across(keys, this.cell, measure, { letters, least }, LABEL);
    this.beside = thinned(this.cell, { letters, least });
    this.top = this.above.room;
    const after = Math.max(counts, reach([...keys].reverse(), this.cell, measure, this.above, LABEL));
    this.width = this.left + this.cell * columns + after;
    this.height = this.top + this.cell * rows + 4;
  }

  draw(colours: Colours, hovered: Place | null) {
    const open = this.lab.mask.open.join("");
    this.cursor = this.within(this.cursor);
    fading(this.canvas, open !== this.drawn, () =>
      this.paint(fresh(this.canvas, this.width, this.height), colours, hovered),
    );
    this.drawn = open;
  }

  paint(pen: Pen, colours: Colours, hovered: Place | null = null) {
    const { cell, left, top } = this;
    pen.save();
    pen.translate(left, top);
    paintMask(pen, this.lab.mask, cell, colours);
    this.paintMarks(pen, colours);
    const place = hovered ?? (this.canvas.matches(":focus-visible") ? this.cursor : null);
    pen.strokeStyle = colours.accent;
    pen.lineWidth = 3;
    if (place && place.row >= 0 && place.column >= 0) pen.strokeRect(place.column * cell, place.row * cell, cell, cell);
    pen.restore();
    this.paintTexts(pen, colours);
  }

  /** Writes −∞ into closed cells, what the mask adds to their scores, and marks those that differ from the start. */
  paintMarks(pen: Pen, colours: Colours): void {
    const { cell } = this;
    const { mask, entry } = this.lab;
    setPen(pen, { font: `${colours.letters}px ${colours.font}`, textAlign: "center", textBaseline: "middle" });
    const [isWritten, size] = [fitsInto(pen, "−∞", cell), Math.max(2, cell * 0.3)];
    mask.open.forEach((isOpen, n) => {
      const [x, y] = corner(mask, n, cell).map((edge) => edge + cell / 2);
      pen.fillStyle = colours.text;
      if (isWritten && !isOpen) pen.fillText("−∞", x, y);
      pen.fillStyle = colours.accent;
      if (isOpen ^ entry.mask.open[n]) pen.fillRect(x - size / 2, y - size / 2, size, size);
    });
  }

  paintTexts(pen: Pen, colours: Colours): void {
    const { cell, left, top, above, beside } = this;
    const { mask, texts } = this.lab;
    pen.font = `${beside.size}px ${colours.font}`;
    pen.textBaseline = "middle";
    for (let i = 0; i < mask.rows; i += beside.step) {
      const count = rowCount(mask, i);
      pen.fillStyle = count ? colours.text : colours.accent;
      pen.textAlign = "right";
      writeToken(pen, cut(texts.queries[i]), [left - 5, top + (i + 0.5) * cell], beside.size);
      pen.textAlign = "left";
      pen.fillText(count ? String(count) : NONE, left + mask.columns * cell + 5, top + (i + 0.5) * cell);
    }
    pen.fillStyle = colours.text;
    pen.font = `${above.size}px ${colours.font}`;
    for (let j = 0; j < mask.columns; j += above.step) {
      const x = left + (j + 0.5) * cell;
      writeName(pen, cut(texts.keys[j]), { x, y: top, side: "above", longest: (this.width - x) / SLANT }, above);
    }
  }

  /** A place on the grid; on the labels beside it row or column is −1. */
  placeAt(event: MouseEvent): Place | null {
    const box = this.canvas.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top - this.top) / this.cell);
    const column = Math.floor((event.clientX - box.left - this.left) / this.cell);
    const { rows, columns } = this.lab.mask;
    if (row >= rows || column >= columns || (row < 0 && column < 0)) return null;
    return { row: Math.max(-1, row), column: Math.max(-1, column) };
  }
}
