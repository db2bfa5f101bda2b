// A picture of cells. Every touch is answered here; the page around hears of a cell only where a click does something.

import { fresh, measured, type Pen } from "../shared/canvas.ts";
import { inPixels, isChord, make, put } from "../shared/elements.ts";
import { veil } from "../shared/guessing.ts";
import { fading } from "../shared/motion.ts";
import type { Values } from "../shared/table.ts";
import { component, type Page, ViewBase } from "../shared/view_base.ts";
import { cellOf } from "../shared/where.ts";
import { cellAt, layOut, next, type Place } from "./layout.ts";
import { bitmaps, paintPicture } from "./paint.ts";
import {
  type Axis,
  altOf,
  type Cell,
  type Change,
  changed,
  nameOf,
  type Picture,
  pictureIn,
  sentence,
  spokenOf,
  valueAt,
} from "./words.ts";

const AROUND = 290; // pixels of the window that are not the picture's: what stands above it, its title, its hint
const AROUND_WHOLE = 110; // of the whole screen

const KEYS = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End"];

class Cells extends ViewBase {
  picture!: Picture; // from the first `read` on
  alt = "";
  place!: Place; // from the first drawing on
  images: HTMLCanvasElement[] = []; // one pixel a cell, for each matrix; none until they are needed
  cursor: Cell = { matrix: 0, row: 0, column: 0 }; // where the keyboard is
  pointed: Cell | null = null; // what is spoken of
  title = make("p");
  canvas = make("canvas", { tabIndex: 0, role: "application" });
  mark = make("div", { className: "mark" });
  tip = make("p", { className: "tip" });

  tools = this.bar();

  constructor(parent: HTMLElement, page: Page) {
    super(parent, page);
    const { canvas } = this;
    const head = make("div", { className: "head" }, this.title, this.tools);
    const stage = make("div", { className: "stage" }, canvas, this.mark);
    this.mount({ className: "cells" }, head, stage, this.tip);
    canvas.onpointermove = (event) => this.point(this.under(event));
    canvas.onpointerleave = () => this.point(this.atKeyboard() ? this.cursor : null);
    canvas.onclick = (event) => this.choose(this.under(event));
    canvas.onfocus = () => this.atKeyboard() && this.point(this.cursor);
    canvas.onblur = () => this.point(null);
    canvas.onkeydown = (event) => this.key(event);
    this.atEnd(veil(this.node, () => this.redraw()));
  }

  /** Takes what Python sends, or how the picture differs from that. */
  read(data: Uint8Array | Change) {
    this.picture = data instanceof Uint8Array ? pictureIn(data) : changed(this.picture, data);
    this.alt = this.picture.alt || altOf(this.picture);
    this.images = [];
    const { matrices, titles, scale, click, frames } = this.picture;
    const { top: row, left: column } = frames[0] ?? { top: 0, left: 0 }; // the first that is framed
    this.cursor = this.atKeyboard() ? next(this.cursor, "", this.picture) : { matrix: 0, row, column };
    const own = matrices === 1 ? titles : [];
    this.title.textContent = [...own, scale.title].filter(Boolean).join(": ");
    this.canvas.dataset.picks = String(Boolean(click));
    this.tools.ariaLabel = `Figure: ${this.title.textContent}`;
  }

  // Draws, and says what is drawn; while a class guesses, without values.
  draw() {
    const { click } = this.picture;
    const words = this.colours.areVeiled ? this.title.textContent : this.alt;
    const keys = `Arrow keys move${click ? `; press Enter to ${click}` : ""}.`;
    this.canvas.ariaLabel = `${words.replace(/\.?$/, ".")} ${keys}`;
    const { font, least } = this.colours;
    const isOther = !this.images.length;
    if (isOther) this.images = bitmaps(this.picture, this.colours);
    const measure = (text: string, size: number) => measured(text, `${size}px ${font}`).width;
    const height = innerHeight - (this.node.matches(":fullscreen") ? AROUND_WHOLE : AROUND);
    this.place = layOut(this.picture, { width: this.width, height }, measure, least);
    const { canvas, place } = this;
    fading(canvas, isOther, () => paintPicture(fresh(canvas, place.width, place.height), this, this.images));
    this.point(this.atKeyboard() ? this.cursor : null);
  }

  palette() {
    const colours = super.palette();
    if (colours.isDark !== this.colours?.isDark) this.images = [];
    return colours;
  }

  under(event: MouseEvent) {
    const box = this.canvas.getBoundingClientRect();
    return cellAt(this.place, { x: event.clientX - box.left, y: event.clientY - box.top }, this.picture);
  }

  atKeyboard() {
    return this.canvas.matches(":focus-visible");
  }

  point(cell: Cell | null) {
    const wasIdle = !this.pointed;
    this.showCell(cell);
    if (!this.pointed && wasIdle) return;
    const { rows, columns, linked } = this.picture;
    const at = this.pointed && [rows.places?.[this.pointed.row], columns.places?.[this.pointed.column]];
    this.page.beside?.(linked, at);
  }

  /** Shows the cell that is pointed at in a linked picture, by its places; a note where this one has no such cell. */
  mirror(at: (number | undefined)[] | null) {
    if (!this.width) return false;
    const { rows, columns } = this.picture;
    const [row, column] = [rows, columns].map(({ places }, n) => (at && places ? places.indexOf(at[n] ?? -1) : -1));
    this.showCell(row >= 0 && column >= 0 ? { matrix: 0, row, column } : null);
    this.pointed = null; // the pointer is elsewhere
    if (at && this.mark.hidden) put(this.tip, { textContent: "This pair of tokens does not occur here." });
    return !this.mark.hidden;
  }

  /** Only the mark and the line below change, so this is quick however many cells there are. */
  showCell(cell: Cell | null) {
    const { rows, columns, matrices } = this.picture;
    const isThere = cell && cell.matrix < matrices && cell.row < rows.count && cell.column < columns.count;
    this.pointed = isThere ? cell : null;
    if (this.colours.areVeiled) this.say("");
    put(this.mark, { hidden: !isThere });
    const { click, scale, linked } = this.picture;
    const hint = scale.title && !linked.length ? "Hover over a cell for its value." : ""; // said once
    const idle = click ? `Click a cell to ${click}.` : hint;
    put(this.tip, { textContent: isThere && !this.colours.areVeiled ? sentence(this.picture, cell) : idle });
    this.canvas.dataset.over = String(Boolean(isThere));
    if (!isThere) return;
    const { corners, wide, high } = this.place;
    const { x, y } = corners[cell.matrix];
    const [left, top] = [x + cell.column * wide, y + cell.row * high];
    Object.assign(this.mark.style, inPixels({ left, top, width: wide, height: high }));
  }

  /** A cell by the names of its row and its column, or one of these alone; the first may be the title of its matrix. */
  locate(...names: string[]) {
    const titled = this.picture.titles.findIndex((title) => title.split(":")[0] === names[0]); // a number may follow
    const { corners, wide, high, numbers } = this.place;
    const [rows, columns] = [this.picture.rows, this.picture.columns].map((axis) =>
      Array.from({ length: axis.count }, (_, n) => nameOf(axis, n)),
    );
    const lattice = { ...corners[Math.max(titled, 0)], wide, high, rows, columns };
    return cellOf(this.canvas, lattice, titled < 0 ? names : names.slice(1), numbers);
  }

  choose(cell: Cell | null) {
    if (!cell) return;
    this.cursor = cell;
    this.point(cell);
    if (this.picture.click) this.page.pick?.({ row: cell.row, column: cell.column });
  }

  key(event: KeyboardEvent) {
    if (isChord(event)) return;
    const chooses = event.key === "Enter" || event.key === " ";
    if (!KEYS.includes(event.key) && event.key !== "Escape" && !chooses) return;
    event.preventDefault();
    event.stopPropagation(); // the page's own shortcuts are not meant
    if (event.key === "Escape") return this.canvas.blur();
    if (chooses) return this.choose(this.cursor);
    if (this.pointed) this.cursor = next(this.cursor, event.key, this.picture); // the first key shows where one is
    this.point(this.cursor);
    this.say(this.tip.textContent);
  }

  figure() {
    const { width, height } = this.place;
    const { name } = this.picture;
    const paint = (pen: Pen) => paintPicture(pen, this, this.images);
    return { width: Math.max(width, 420), height, paint, name, title: this.title.textContent ?? "", caption: this.alt };
  }

  values(): Values {
    const { rows, columns, matrices, titles, form } = this.picture;
    const name = (axis: Axis, index: number) => nameOf(axis, index) || spokenOf(axis, index);
    const all = Array.from({ length: columns.count }, (_, column) => column);
    const lines = Array.from({ length: matrices * rows.count }, (_, n) => {
      const [matrix, row] = [Math.floor(n / rows.count), n % rows.count];
      const numbers = all.map((column) => {
        const value = valueAt(this.picture, { matrix, row, column });
        return value === -Infinity && form.absent[1] !== "–" ? form.absent[1] : value;
      });
      return [...(matrices > 1 ? [titles[matrix]] : []), name(rows, row), ...numbers];
    });
    const heads = [...(matrices > 1 ? ["figure"] : []), rows.title, ...all.map((column) => name(columns, column))];
    return { title: this.title.textContent ?? "", columns: heads, rows: lines };
  }
}

export default component((parent, page) => new Cells(parent, page));
