// A picture of cells. Every touch is answered here; the page around hears of a cell only where a click does something.

/** @import { Pen } from "../shared/canvas.js" */
/** @import { Place } from "./layout.js" */
/** @import { Palette } from "./paint.js" */
/** @import { Cell, Picture } from "./words.js" */
import { unpack } from "../shared/arrays.js";
import { fresh, measured } from "../shared/canvas.js";
import { bytesOf, coloursOf, isDark } from "../shared/colours.js";
import { button, make, put } from "../shared/elements.js";
import { veil } from "../shared/guessing.js";
import { save } from "../shared/picture.js";
import { cellAt, LEAST_LETTERS, layOut, next } from "./layout.js";
import { bitmaps, paintPicture } from "./paint.js";
import { nameOf, said, sentence, spokenOf, valueAt } from "./words.js";

const MOST_IN_TABLE = 4096; // cells; of more, only the row of the cursor is written out
const KEYS = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End"];

export class Cells {
  /** @type {Picture} */
  picture;
  /** @type {Place} */
  place;
  /** @type {HTMLCanvasElement[]} one pixel a cell, for each matrix; none until they are needed */
  images = [];
  /** @type {Cell} where the keyboard is */
  cursor = { matrix: 0, row: 0, column: 0 };
  /** @type {Cell | null} what is spoken of */
  pointed = null;
  /** @type {Palette} */
  colours;
  width = 0;
  title = make("p");
  canvas = make("canvas", { tabIndex: 0, role: "application" });
  mark = make("div", { className: "mark", hidden: true });
  tip = make("p", { className: "tip" });
  live = make("p", { className: "unseen", role: "status" });
  numbers = make("div", { className: "numbers", hidden: true, tabIndex: 0, role: "region" });

  /**
   * @param {HTMLElement} parent
   * @param {(cell: {row: number, column: number}) => void} pick gets a cell that was clicked
   */
  constructor(parent, pick) {
    this.pick = pick;
    this.unfold = button("Numbers", { ariaExpanded: "false", onclick: () => this.toggle() });
    const file = (/** @type {"svg" | "png"} */ format) => {
      const words = `Save as ${format.toUpperCase()}`;
      return button(format.toUpperCase(), { ariaLabel: words, title: words, onclick: () => this.save(format) });
    };
    const tools = make("div", { className: "tools" }, this.unfold, file("svg"), file("png"));
    const head = make("div", { className: "head" }, this.title, tools);
    const stage = make("div", { className: "stage" }, this.canvas, this.mark);
    this.node = make("div", { className: "view cells" }, head, stage, this.tip, this.numbers, this.live);
    this.listen();
    parent.append(this.node);
    this.watcher = new ResizeObserver(() => this.node.clientWidth !== this.width && this.layOut());
    this.watcher.observe(this.node);
    this.endVeil = veil(this.node, () => this.speak());
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("pointermove", (/** @type {MouseEvent} */ event) => this.point(this.under(event)));
    canvas.addEventListener("pointerleave", () => this.point(this.atKeyboard() ? this.cursor : null));
    canvas.addEventListener("click", (/** @type {MouseEvent} */ event) => this.choose(this.under(event)));
    canvas.addEventListener("focus", () => this.atKeyboard() && this.point(this.cursor));
    canvas.addEventListener("blur", () => this.point(null));
    canvas.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.key(event));
  }

  /** @param {Uint8Array} bytes */
  show(bytes) {
    const { header, arrays } = unpack(bytes);
    this.picture = { ...header, values: arrays.values.values };
    this.images = [];
    this.cursor = this.atKeyboard() ? next(this.cursor, "", this.picture) : this.atHome(); // still within the picture
    const own = header.matrices === 1 ? header.titles : [];
    this.title.textContent = [...own, header.scale.title].filter(Boolean).join(": ");
    this.canvas.dataset.picks = String(Boolean(header.click));
    this.numbers.ariaLabel = `Numbers: ${this.title.textContent}`;
    this.speak();
  }

  // Draws, and says what is drawn; while a class guesses, without values.
  speak() {
    if (!this.picture) return;
    const { alt, click } = this.picture;
    const words = this.isVeiled() ? this.title.textContent : alt;
    const keys = `Arrow keys move from cell to cell${click ? `, Enter ${click}` : ""}.`;
    this.canvas.ariaLabel = `${words.replace(/\.?$/, ".")} ${keys}`;
    this.layOut();
    this.point(this.atKeyboard() ? this.cursor : null);
  }

  isVeiled() {
    return this.node.dataset.veiled === "true";
  }

  // The cell that the keyboard begins with: the first that is framed.
  atHome() {
    const [frame] = this.picture.frames;
    return { matrix: 0, row: frame?.top ?? 0, column: frame?.left ?? 0 };
  }

  // Draws again if the page has turned dark or light.
  followTheme() {
    if (this.picture && String(isDark(this.node)) !== this.node.dataset.dark) this.layOut();
  }

  layOut() {
    this.width = this.node.clientWidth;
    if (!this.picture || !this.width) return;
    const dark = isDark(this.node);
    if (String(dark) !== this.node.dataset.dark) this.images = [];
    this.node.dataset.dark = String(dark);
    const own = coloursOf(this.node);
    const mlp = getComputedStyle(this.node).getPropertyValue("--mlp").trim();
    this.colours = { ...own, dark, attention: own.looks, mlp, maskedRgb: bytesOf(own.masked) };
    if (!this.images.length) this.images = bitmaps(this.picture, this.colours);
    const measure = (/** @type {string} */ text, /** @type {number} */ size) =>
      measured(text, `${size}px ${own.font}`).width;
    this.place = layOut(this.picture, this.width, measure, Math.max(LEAST_LETTERS, own.least));
    this.paint(fresh(this.canvas, this.place.width, this.place.height));
    this.point(this.pointed);
    this.writeOut();
  }

  /** @param {Pen} pen */
  paint(pen) {
    paintPicture(pen, this.picture, this.place, this.colours, this.images);
  }

  /**
   * The cell under the pointer, null if there is none.
   * @param {MouseEvent} event
   */
  under(event) {
    const box = this.canvas.getBoundingClientRect();
    return cellAt(this.place, { x: event.clientX - box.left, y: event.clientY - box.top }, this.picture);
  }

  atKeyboard() {
    return this.canvas.matches(":focus-visible");
  }

  /**
   * Only the mark and the line below change, so this is quick however many cells there are.
   * @param {Cell | null} cell
   */
  point(cell) {
    const { rows, columns, matrices } = this.picture;
    const isThere = cell && cell.matrix < matrices && cell.row < rows.count && cell.column < columns.count;
    this.pointed = isThere ? cell : null;
    if (this.isVeiled()) this.live.textContent = "";
    put(this.mark, { hidden: !isThere });
    const idle = this.picture.click ? `A click on a cell ${this.picture.click}.` : "Point at a cell for its number.";
    put(this.tip, { textContent: isThere && !this.isVeiled() ? sentence(this.picture, cell) : idle });
    this.canvas.dataset.over = String(Boolean(isThere));
    if (!isThere) return;
    const { corners, wide, high } = this.place;
    const { x, y } = corners[cell.matrix];
    Object.assign(this.mark.style, {
      left: `${x + cell.column * wide}px`,
      top: `${y + cell.row * high}px`,
      width: `${wide}px`,
      height: `${high}px`,
    });
  }

  /** @param {Cell | null} cell */
  choose(cell) {
    if (!cell) return;
    this.cursor = cell;
    this.point(cell);
    this.writeOut();
    if (this.picture.click) this.pick({ row: cell.row, column: cell.column });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const chooses = event.key === "Enter" || event.key === " ";
    if (!KEYS.includes(event.key) && event.key !== "Escape" && !chooses) return;
    event.preventDefault();
    event.stopPropagation(); // the page's own shortcuts are not meant
    if (event.key === "Escape") return this.canvas.blur();
    if (chooses) return this.choose(this.cursor);
    const before = this.cursor;
    if (this.pointed) this.cursor = next(before, event.key, this.picture); // the first key shows where one is
    this.point(this.cursor);
    this.live.textContent = this.tip.textContent;
    if (this.cursor.row !== before.row) this.writeOut();
  }

  toggle() {
    this.numbers.hidden = !this.numbers.hidden;
    this.unfold.ariaExpanded = String(!this.numbers.hidden);
    this.writeOut();
  }

  // The numbers as tables, one for each matrix.
  writeOut() {
    if (this.numbers.hidden) return;
    const { rows, columns, matrices } = this.picture;
    const all = matrices * rows.count * columns.count <= MOST_IN_TABLE;
    const shown = all ? Array.from({ length: rows.count }, (_, row) => row) : [this.cursor.row];
    this.numbers.replaceChildren(...Array.from({ length: matrices }, (_, matrix) => this.table(matrix, shown)));
  }

  /**
   * @param {number} matrix
   * @param {number[]} shown rows
   */
  table(matrix, shown) {
    const { rows, columns, titles, form, scale } = this.picture;
    const all = Array.from({ length: columns.count }, (_, column) => column);
    const name = (/** @type {import("./words.js").Axis} */ axis, /** @type {number} */ index) =>
      nameOf(axis, index) || spokenOf(axis, index);
    const heads = all.map((column) => make("th", { scope: "col", textContent: name(columns, column) }));
    const line = (/** @type {number} */ row) =>
      make(
        "tr",
        {},
        make("th", { scope: "row", textContent: name(rows, row) }),
        ...all.map((column) => make("td", { textContent: said(form, valueAt(this.picture, { matrix, row, column })) })),
      );
    return make(
      "table",
      {},
      make("caption", { textContent: titles[matrix] || scale.title }),
      make("thead", {}, make("tr", {}, make("td", {}), ...heads)),
      make("tbody", {}, ...shown.map(line)),
    );
  }

  /** @param {"svg" | "png"} format */
  save(format) {
    const { width, height } = this.place;
    const { name, alt } = this.picture;
    return save(
      { width: Math.max(width, 420), height, paint: (/** @type {Pen} */ pen) => this.paint(pen) },
      { format, name, title: this.title.textContent, caption: alt, colours: this.colours },
    );
  }

  leave() {
    this.endVeil();
    this.watcher.disconnect();
  }
}
