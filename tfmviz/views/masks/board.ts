// A mask drawn on a canvas: blue cells are open, grey ones closed; rows are queries, columns keys.

import { fitsInto, fresh, measured, type Pen, setPen, widest } from "../shared/canvas.ts";
import type { Colours } from "../shared/colours.ts";
import { make, within } from "../shared/elements.ts";
import { hatch } from "../shared/hatch.ts";
import { fading } from "../shared/motion.ts";
import { across, cut, reach, SLANT, thinned, writeName, writeToken } from "../shared/names.ts";
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

function layOut(free: number, { mask: { rows, columns }, texts }: Lab, { font, letters, least }: Colours) {
  const measure = (text: string, size: number) => measured(text, `${size}px ${font}`).width;
  const keys = texts.keys.map(cut);
  const left = Math.min(LABEL, widest(texts.queries, `${letters}px ${font}`)) + 10;
  const counts = measure(NONE, letters) + 10;
  const room = Math.max(0, free - left - counts); // on a page that the reader leaves there is none
  const smallest = Math.max(rows, columns) > MOST_LARGE ? 3 : Math.max(SMALLEST, 1.4 * least); // “−∞” has room
  const cell = Math.max(Math.min(LARGEST, room / columns, Math.max(410 / rows, 3)), room ? smallest : 0);
  const above = across(keys, cell, measure, { letters, least }, LABEL);
  const after = Math.max(counts, reach([...keys].reverse(), cell, measure, above, LABEL));
  const [width, height] = [left + cell * columns + after, above.room + cell * rows + 4];
  const beside = thinned(cell, { letters, least });
  return { cell, left, top: above.room, width, height, above, beside, isWide: cell * columns > room };
}

const corner = ({ columns }: Mask, n: number, cell: number) =>
  [(n % columns) * cell, Math.floor(n / columns) * cell] as const;

export class Board {
  drawn = ""; // the cells of the last drawing
  place!: ReturnType<typeof layOut>; // from the first `measure` on
  cursor = { row: 0, column: 0 };
  lab: Lab;

  canvas = make("canvas", {
    tabIndex: 0,
    role: "application",
    onpointerdown: (event) => {
      const place = this.placeAt(event);
      if (!place) return;
      this.canvas.setPointerCapture(event.pointerId);
      this.cursor = this.within(place);
      this.lab.press(place);
    },
    onpointermove: (event) => {
      const place = this.placeAt(event);
      this.lab.point(place);
      if (place && event.buttons) this.lab.drag(place);
    },
    onpointerup: () => this.lab.finish(),
    onpointercancel: () => this.lab.cancel(),
    onpointerleave: () => this.lab.point(null),
    onkeydown: (event) => this.lab.key(event),
  });
  node = make("div", { className: "board" }, this.canvas);

  constructor(lab: Lab) {
    this.lab = lab;
  }

  within({ row, column }: Place) {
    const { rows, columns } = this.lab.mask;
    return { row: within(row, rows), column: within(column, columns) };
  }

  measure(width: number, colours: Colours) {
    this.place = layOut(width, this.lab, colours);
    this.node.classList.toggle("wide", this.place.isWide);
  }

  draw(colours: Colours, hovered: Place | null) {
    const open = this.lab.mask.open.join("");
    const { width, height } = this.place;
    this.cursor = this.within(this.cursor);
    fading(this.canvas, open !== this.drawn, () => this.paint(fresh(this.canvas, width, height), colours, hovered));
    this.drawn = open;
  }

  paint(pen: Pen, colours: Colours, hovered: Place | null = null) {
    const { cell, left, top } = this.place;
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
    const { cell } = this.place;
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
    const { cell, left, top, width, above, beside } = this.place;
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
      writeName(pen, cut(texts.keys[j]), { x, y: top, side: "above", longest: (width - x) / SLANT }, above);
    }
  }

  /** A place on the grid; on the labels beside it row or column is −1. */
  placeAt(event: MouseEvent): Place | null {
    const box = this.canvas.getBoundingClientRect();
    const { cell, left, top } = this.place;
    const row = Math.floor((event.clientY - box.top - top) / cell);
    const column = Math.floor((event.clientX - box.left - left) / cell);
    const { rows, columns } = this.lab.mask;
    if (row >= rows || column >= columns || (row < 0 && column < 0)) return null;
    return { row: Math.max(-1, row), column: Math.max(-1, column) };
  }
}
