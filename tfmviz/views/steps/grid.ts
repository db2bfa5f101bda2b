// One matrix as a picture: cells in its colour, rows and columns named where there is room, the chosen cell framed.

import { fitsInto, fresh, measured, type Pen, setPen, strokes, widest } from "../shared/canvas.ts";
import { type Colours, inkOnRgb, packed, pixels } from "../shared/colours.ts";
import { make, takenArrow, within } from "../shared/elements.ts";
import { hatch } from "../shared/hatch.ts";
import { across, cut, type Names, reach, SLANT, thinned, writeName, writeToken } from "../shared/names.ts";
import { decimal, number, shortShare } from "../shared/numbers.ts";
import type { Figure } from "../shared/picture.ts";
import { quoted } from "../shared/quoted.ts";
import { shader } from "../shared/shades.ts";
import { cellOf } from "../shared/where.ts";
import { type Axis, at, type Description, type Head, type MatrixId, type Selection, type Shown } from "./head.ts";

const LEAST_LABEL = 9; // pixels a cell must measure to have its token beside it
const SMALLEST = 24; // to be hit with a finger; the matrix may then be wider than its room, and is scrolled
const MOST_LARGE = 16; // tokens; cells of a longer text are small, and reached by the arrow keys
const LARGEST_CELL = 48; // has room for “−0.25” on a projector, too
const LABEL = 86;
const HEAD = 18; // pixels for the number of a head
const NAME = 24; // pixels for the name of a saved matrix
const EDGE = 2; // pixels for the outline of the last row and column
const GAP = 40;

/** a later matrix is only outlined */
export type Size = "large" | "small" | "later";

export type Cell = { row: number; column: number };

export class Grid {
  selection!: Selection; // from the first drawing on
  painted: { isDark: boolean; canvas: HTMLCanvasElement } | null = null;
  above: Names = { step: 1, size: 1, isSlanted: false, room: 0 };
  beside = { step: 1, size: 1 };
  left = 0;
  top = 0;
  after = 0; // pixels right of the cells, for slanted names
  high = 1; // pixels of a cell
  wide = 1;
  numbers = 0; // pixels of the letters in the cells
  width = 0;
  height = 0;

  head: Head;
  id: MatrixId;
  size: Size;
  matrix: Shown;
  canvas: HTMLCanvasElement;
  readout = make("span", { className: "readout" });
  node: HTMLElement;

  constructor(head: Head, id: MatrixId, size: Size, hover: (cell: Cell | null) => void, pick: (cell: Cell) => void) {
    this.head = head;
    this.id = id;
    this.size = size;
    this.matrix = head.matrix(id);
    this.canvas = make("canvas", { tabIndex: size === "later" ? -1 : 0, role: "img", dataset: { matrix: id } });
    const { name, title, tone } = this.matrix;
    const strong = make("strong", { className: `tone-${tone}`, textContent: name });
    const numbers = make("span", { className: "shape", textContent: shape(this.matrix) });
    const caption = make("figcaption", {}, strong, ` ${title} `, numbers);
    const properties = { className: `grid ${size}`, dataset: { matrix: id } };
    this.node = make("figure", properties, caption, this.canvas, this.readout);
    if (size === "later") return;
    this.canvas.addEventListener("pointermove", (event) => event.pointerType !== "touch" && hover(this.cellAt(event)));
    this.canvas.addEventListener("pointerleave", () => hover(null));
    this.canvas.addEventListener("click", (event) => {
      const cell = this.cellAt(event);
      if (cell) pick(cell);
    });
    this.canvas.addEventListener("keydown", (event) => this.move(event, pick));
  }

  /** @param isWhole it is no wider than its room, however small its cells: a phone shows all of it */
  measure(width: number, height: number, { font, letters, least }: Colours, isWhole = false) {
    const { rows, columns, axes } = this.matrix;
    const isText = (axis: Axis) => axis === "query" || axis === "key";
    const isNamed = (axis: Axis) => this.size === "large" && isText(axis);
    const ofText = (text: string, size: number) => measured(cut(text), `bold ${size}px ${font}`).width;
    const labels = this.head.labels(axes.columns).slice(0, columns);
    const isSquare = isText(axes.rows) && isText(axes.columns);
    const isLarge = this.size === "large" && Math.max(rows, columns) <= MOST_LARGE;
    // On a projector “.89” has room.
    const smallest = isSquare && isLarge && !isWhole ? Math.max(SMALLEST, 1.4 * least) : 0;
    const room = this.size === "large" ? HEAD : 0; // for numbers of heads
    this.left = axes.rows === "concat" ? room : 0;
    if (isNamed(axes.rows))
      this.left = Math.min(LABEL, widest(this.head.labels(axes.rows), `bold ${letters}px ${font}`)) + 6;
    this.top = axes.columns === "concat" ? room : 0;
    this.after = 0;
    const fit = (wide: number) => {
      if (isNamed(axes.columns)) {
        this.above = across(labels, wide, ofText, { letters, least }, LABEL);
        this.after = reach([...labels].reverse(), wide, ofText, this.above, LABEL);
        this.top = this.above.room;
      }
      this.high = Math.min(LARGEST_CELL, (height - this.top) / rows);
      this.wide = Math.min(LARGEST_CELL, (width - this.left - this.after - EDGE) / columns);
      if (isSquare) this.high = this.wide = Math.max(smallest, Math.min(this.high, this.wide));
      return this.wide;
    };
    fit(fit(LARGEST_CELL)); // the names need room, too
    this.beside = thinned(this.high, { letters, least });
    if (isText(axes.rows) && this.high < LEAST_LABEL) this.left = 0;
    if (isText(axes.columns) && this.wide < LEAST_LABEL) this.top = this.after = 0;
    this.width = this.left + this.wide * columns + EDGE + this.after;
    this.height = this.top + this.high * rows + EDGE;
  }

  draw(selection: Selection, colours: Colours) {
    this.selection = selection;
    this.paint(fresh(this.canvas, this.width, this.height), colours);
    const { matrix } = this;
    const { row, column } = this.head.cellOf(this.id, selection);
    const value = this.size === "later" ? "" : number(at(matrix, row, column));
    const chosen = `${this.placeOf("rows", row)}, ${this.placeOf("columns", column)}, ${value}`;
    this.readout.textContent = value;
    this.canvas.ariaLabel = `${matrix.name}, ${matrix.title}, ${shape(matrix)}; chosen: ${chosen}. Arrow keys move.`;
  }

  placeOf(side: "rows" | "columns", index: number) {
    const labels = this.head.labels(this.matrix.axes[side]);
    return `${side === "rows" ? "row" : "column"} ${labels.length ? quoted(labels, index) : index}`;
  }

  paint(pen: Pen, colours: Colours): void {
    const { rows, columns } = this.matrix;
    pen.save();
    pen.translate(this.left, this.top);
    if (this.size === "later") {
      setPen(pen, { strokeStyle: colours.grid, lineWidth: 1 });
      pen.strokeRect(1, 1, this.wide * columns - 2, this.high * rows - 2);
    } else {
      pen.imageSmoothingEnabled = false;
      pen.drawImage(this.image(colours), 0, 0, this.wide * columns, this.high * rows);
      const { values, allowed } = this.matrix;
      const isMasked = (n: number) => values[n] === -Infinity || (allowed && !allowed[n]) === true;
      hatch(pen, { rows, columns, wide: this.wide, high: this.high }, colours, (row, column) =>
        isMasked(row * columns + column),
      );
      this.paintNumbers(pen, colours);
      this.paintHeads(pen, colours);
      this.paintMark(pen, colours);
    }
    pen.restore();
    this.paintLabels(pen, colours);
  }

  /** One pixel a cell, kept until the page turns dark or light. */
  image(colours: Colours) {
    if (this.painted?.isDark === colours.isDark) return this.painted.canvas;
    const shade = shader(this.matrix, colours);
    const canvas = pixels(this.matrix.columns, this.matrix.rows, (n) => packed(shade(n)));
    this.painted = { isDark: colours.isDark, canvas };
    return canvas;
  }

  paintNumbers(pen: Pen, colours: Colours): void {
    const { wide, high } = this;
    this.numbers = 0;
    if (Math.min(wide, high) < colours.least + 3) return;
    const { columns, values, tone, allowed } = this.matrix;
    const isShown = (n: number) => values[n] !== -Infinity && (!allowed || allowed[n]);
    const write = tone === "share" ? shortShare : decimal;
    const texts = Array.from(values, (value, n) => (isShown(n) ? write(value) : ""));
    pen.font = `${colours.least}px ${colours.font}`;
    if (!texts.every((text) => fitsInto(pen, text, wide))) return;
    this.numbers = colours.least;
    const shade = shader(this.matrix, colours);
    setPen(pen, { textAlign: "center", textBaseline: "middle" });
    for (const [n, text] of texts.entries()) {
      if (!text) continue;
      pen.fillStyle = inkOnRgb(shade(n));
      pen.fillText(text, ((n % columns) + 0.5) * wide, (Math.floor(n / columns) + 0.5) * high);
    }
  }

  paintHeads(pen: Pen, colours: Colours) {
    const { rows, columns, axes } = this.matrix;
    const { heads, dim, head: own } = this.head;
    if (axes.rows !== "concat" && axes.columns !== "concat") return; // setting a font takes long
    const [width, height] = [columns * this.wide, rows * this.high];
    setPen(pen, { strokeStyle: colours.text, lineWidth: 1, textAlign: "center", textBaseline: "middle" });
    for (let h = 0; h < heads; h++) {
      const [x, y] = [h * dim * this.wide, h * dim * this.high];
      if (h && axes.columns === "concat") strokes(pen, {}, [x, 0, x, height]);
      if (h && axes.rows === "concat") strokes(pen, {}, [0, y, width, y]);
      const middle = (h + 0.5) * dim;
      pen.fillStyle = h === own ? colours.accent : colours.text;
      pen.font = `${h === own ? "bold " : ""}${colours.letters}px ${colours.font}`;
      if (axes.columns === "concat" && this.top) pen.fillText(String(h), middle * this.wide, -HEAD / 2);
      if (axes.rows === "concat" && this.left) pen.fillText(String(h), -HEAD / 2, middle * this.high);
    }
  }

  paintMark(pen: Pen, colours: Colours): void {
    const { rows, columns } = this.matrix;
    const { wide, high } = this;
    const { row, column } = this.head.cellOf(this.id, this.selection);
    const marks = marksOf(this.matrix.axes);
    setPen(pen, { strokeStyle: colours.accent, lineWidth: 1 });
    if (marks.row) pen.strokeRect(0.5, row * high, columns * wide - 1, Math.max(high, 2));
    if (marks.column) pen.strokeRect(column * wide, 0.5, Math.max(wide, 2), rows * high - 1);
    pen.lineWidth = 3;
    pen.strokeRect(column * wide, row * high, Math.max(wide, 3), Math.max(high, 3));
  }

  paintLabels(pen: Pen, colours: Colours): void {
    const { rows, columns, axes } = this.matrix;
    const chosen = this.head.cellOf(this.id, this.selection);
    const font = (isChosen: boolean, size: number) => `${isChosen ? "bold " : ""}${size}px ${colours.font}`;
    const { above, beside } = this;
    /** Where there is room for every n-th name only, the chosen one has it. */
    const isLeftOut = (n: number, at: number, step: number) => n !== at && (n % step !== 0 || Math.abs(n - at) < step);
    setPen(pen, { fillStyle: colours.text, textBaseline: "middle", textAlign: "right" });
    for (const [row, label] of this.left ? this.head.labels(axes.rows).slice(0, rows).entries() : []) {
      if (isLeftOut(row, chosen.row, beside.step)) continue;
      pen.font = font(row === chosen.row, beside.size);
      writeToken(pen, cut(label), [this.left - 4, this.top + (row + 0.5) * this.high], beside.size);
    }
    for (const [column, label] of this.top ? this.head.labels(axes.columns).slice(0, columns).entries() : []) {
      if (isLeftOut(column, chosen.column, above.step)) continue;
      pen.font = font(column === chosen.column, above.size);
      const x = this.left + (column + 0.5) * this.wide;
      writeName(pen, cut(label), { x, y: this.top, side: "above", longest: (this.width - x) / SLANT }, above);
    }
  }

  /** A cell, row or column by the names of its tokens, or "#3" where rows or columns are dimensions. */
  locate(names: string[]) {
    const { rows, columns, axes } = this.matrix;
    const of = (axis: Axis, count: number) => Array.from({ length: count }, (_, n) => this.head.labels(axis)[n] ?? "");
    const corner = { x: this.left, y: this.top, wide: this.wide, high: this.high };
    const lattice = { ...corner, rows: of(axes.rows, rows), columns: of(axes.columns, columns) };
    return cellOf(this.canvas, lattice, names, this.numbers);
  }

  cellAt(event: MouseEvent): Cell | null {
    const box = this.canvas.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top - this.top) / this.high);
    const column = Math.floor((event.clientX - box.left - this.left) / this.wide);
    const isInside = row >= 0 && column >= 0 && row < this.matrix.rows && column < this.matrix.columns;
    return isInside ? { row, column } : null;
  }

  move(event: KeyboardEvent, pick: (cell: Cell) => void) {
    const arrow = takenArrow(event); // or the stage would change too
    if (!arrow) return;
    const { row, column } = this.head.cellOf(this.id, this.selection);
    const { rows, columns } = this.matrix;
    pick({ row: within(row + arrow[0], rows), column: within(column + arrow[1], columns) });
  }
}

/** Which lines are marked: in a product, the row of the left matrix meets the column of the right one. */
export const marksOf = ({ rows, columns }: Pick<Description, "rows" | "columns">) => ({
  row: rows === "query" || rows === "key",
  column: columns === "key" || rows === "wide" || rows === "concat",
});

const shape = ({ rows, columns }: Shown) => `${rows} × ${columns}`;

export function sideBySide(grids: Grid[], colours: Colours): Figure {
  const width = grids.reduce((sum, grid) => sum + grid.width + GAP, 0);
  const height = NAME + Math.max(0, ...grids.map((grid) => grid.height));
  const paint = (pen: Pen) => {
    let x = 0;
    const font = `bold 13px ${colours.font}`;
    for (const grid of grids) {
      setPen(pen, { fillStyle: colours.text, textAlign: "left", textBaseline: "alphabetic", font });
      pen.fillText(grid.matrix.name, x, 14);
      pen.save();
      pen.translate(x, NAME);
      grid.paint(pen, colours);
      pen.restore();
      x += grid.width + GAP;
    }
  };
  return { width: Math.max(width, 560), height, paint };
}
