// The gallery and the grid. Every touch is answered here; the page around gets the mask when a gesture is done.

/** @import { Colours } from "../shared/colours.js" */
/** @import { Bits, Brush, Mask, Place } from "./bits.js" */
import { fresh } from "../shared/canvas.js";
import { coloursOf, isDark } from "../shared/colours.js";
import { arrowOf, button, make, roving } from "../shared/elements.js";
import { perCent } from "../shared/numbers.js";
import { save } from "../shared/picture.js";
import { copyOf, countOf, fromBits, gestureOf, gestureWords, ranges, rowCount, toBits, touched } from "./bits.js";
import { Board, paintMask } from "./board.js";

/**
 * A mask of the gallery as Python sends it, and with the mask itself. It is usable if its shape is the sentence's.
 * @typedef {{id: string, title: string, words: string, usable: boolean} & Bits} Sent
 * @typedef {Sent & {mask: Mask}} Entry
 */

/** @type {Brush[]} */
const BRUSHES = ["cell", "row", "column", "diagonal"];
/** @type {Record<string, Brush>} */
const BRUSH_KEYS = { " ": "cell", Enter: "cell", r: "row", c: "column", d: "diagonal" };
const KEYS_HELP = "Arrow keys move, Space changes the cell, R the row, C the column, D the diagonal, U undoes.";
const TILE = 48;
const MOST_UNDO = 200;
const MOST_NAMED = 6; // rows that see nothing

export class Lab {
  /** @type {Colours} */
  colours;
  /** @type {Mask} */
  mask;
  /** @type {Entry[]} */
  entries = [];
  texts = { queries: /** @type {string[]} */ ([]), keys: /** @type {string[]} */ ([]) };
  start = ""; // the mask one started from
  /** @type {Brush} */
  brush = "cell";
  /** @type {{start: string, mask: Mask}[]} */
  past = [];
  /** @type {{brush: Brush, value: number, place: Place} | null} */
  gesture = null;
  /** @type {Place | null} */
  hovered = null;
  /** @type {number | null} */
  frameRequest = null;
  width = 0;
  sequence = 0; // counts what was reported, so that an answer to an older report is known as such

  /**
   * @param {HTMLElement} parent
   * @param {(selection: {start: string, bits: string, sequence: number}) => void} report
   */
  constructor(parent, report) {
    this.report = report;
    this.gallery = make("div", { className: "gallery", role: "group", ariaLabel: "Masks to start from" });
    roving(this.gallery, () => 1);
    this.about = make("p", { className: "about" });
    this.brushes = BRUSHES.map((brush) => button(brush, { dataset: { brush }, onclick: () => this.take(brush) }));
    this.undoButton = button("Undo", { onclick: () => this.undo() });
    this.count = make("p", { className: "count" });
    this.board = new Board({
      start: (place) => this.press(place),
      drag: (place) => this.drag(place),
      end: () => this.finish(),
      key: (event) => this.key(event),
      hover: (place) => this.point(place),
    });
    this.tip = make("p", { className: "tip" });
    this.live = make("p", { className: "unseen", role: "status" });
    this.rows = make("ol", { start: 0, tabIndex: 0 });
    const summary = make("summary", { textContent: "The mask in words" });
    this.words = make("details", { className: "words", ontoggle: () => this.writeOut() }, summary, this.rows);
    this.node = make(
      "div",
      { className: "view lab", role: "group", ariaLabel: "Mask laboratory" },
      this.gallery,
      this.bar(),
      this.board.node,
      this.tip,
      this.count,
      this.about,
      this.words,
      this.files(),
      this.live,
    );
    parent.append(this.node);
    this.watcher = new ResizeObserver(() => this.mask && this.node.clientWidth !== this.width && this.layOut());
    this.watcher.observe(this.node);
  }

  bar() {
    const again = button("Start again", { onclick: () => this.begin(this.start) });
    return make(
      "div",
      { className: "bar" },
      make("div", { className: "brushes", role: "group", ariaLabel: "What a click changes" }, ...this.brushes),
      this.undoButton,
      again,
    );
  }

  files() {
    /** @param {"svg" | "png"} format */
    const file = (format) => button(`Save as ${format.toUpperCase()}`, { onclick: () => this.save(format) });
    return make("div", { className: "bar files" }, file("svg"), file("png"));
  }

  /**
   * Takes another gallery, for another sentence or model.
   * @param {{queries: string[], keys: string[], gallery: Sent[]}} data
   */
  show({ queries, keys, gallery }) {
    const texts = { queries, keys };
    if (JSON.stringify(texts) !== JSON.stringify(this.texts)) this.past = [];
    this.texts = texts;
    this.entries = gallery.map((entry) => ({ ...entry, mask: fromBits(entry) }));
    this.gallery.replaceChildren(...this.entries.map((entry, n) => this.tile(entry, n)));
    // For a sentence of the same length the page's choice may be the one before, word for word; it does not come again.
    const { rows, columns } = this.entry.mask;
    if (this.mask?.rows === rows && this.mask.columns === columns) this.layOut();
  }

  /**
   * @param {Entry} entry
   * @param {number} n
   */
  tile({ id, title, usable, mask }, n) {
    const allowed = countOf(mask);
    return make(
      "button",
      {
        type: "button",
        tabIndex: n ? -1 : 0,
        disabled: !usable,
        dataset: { mask: id },
        onclick: () => this.begin(id),
        title: usable ? "Start from this mask" : "Only to look at: another shape",
      },
      make("canvas", {}),
      make("strong", { textContent: title }),
      make("small", { textContent: `${perCent(allowed / mask.open.length)} open` }),
    );
  }

  /**
   * Takes what the page around has chosen.
   * @param {{sequence: number, start: string, bits: string}} answer
   */
  select({ sequence, start, bits }) {
    if (sequence < this.sequence) return;
    this.sequence = sequence;
    this.start = start;
    const { rows, columns } = this.entry.mask;
    this.mask = fromBits({ rows, columns, bits });
    this.layOut();
  }

  /** The mask of the gallery that one started from, or the first that is usable. */
  get entry() {
    const usable = this.entries.filter((entry) => entry.usable);
    return usable.find(({ id }) => id === this.start) ?? usable[0];
  }

  /**
   * Starts from a mask of the gallery.
   * @param {string} id
   */
  begin(id) {
    this.remember();
    this.start = id;
    this.mask = copyOf(this.entry.mask);
    this.layOut();
    this.say(`${this.entry.title}: ${this.count.textContent}`);
    this.tell();
  }

  remember() {
    this.past = [...this.past, { start: this.start, mask: copyOf(this.mask) }].slice(-MOST_UNDO);
  }

  undo() {
    const last = this.past.pop();
    if (!last || last.mask.open.length !== this.entry.mask.open.length) return;
    this.start = last.start;
    this.mask = last.mask;
    this.layOut();
    this.say(`Undone. ${this.count.textContent}`);
    this.tell();
  }

  /** @param {Brush} brush */
  take(brush) {
    this.brush = brush;
    this.draw();
  }

  /**
   * A gesture begins: if the first cells are open it closes, otherwise it opens all that it touches.
   * @param {Place} place
   * @param {Brush} [chosen]
   */
  press(place, chosen = this.brush) {
    this.sequence += 1; // from now on an answer to an older report is out of date
    this.remember();
    const brush = place.row < 0 ? "column" : place.column < 0 ? "row" : chosen;
    this.gesture = { brush, value: gestureOf(this.mask, touched(this.mask, brush, place)), place };
    this.drag(place);
  }

  /** @param {Place} place */
  drag(place) {
    if (!this.gesture) return;
    const { brush, value } = this.gesture;
    if ((brush !== "column" && place.row < 0) || (brush !== "row" && place.column < 0)) return; // on the labels
    for (const n of touched(this.mask, brush, place)) this.mask.open[n] = value;
    this.gesture.place = place;
    this.later();
  }

  finish() {
    if (!this.gesture) return;
    const { brush, value, place } = this.gesture;
    this.gesture = null;
    this.say(`${gestureWords(brush, value)}. ${this.sentence(place)}`);
    this.tell();
  }

  /** @param {Place | null} place */
  point(place) {
    this.hovered = place;
    this.later();
  }

  later() {
    this.frameRequest ??= requestAnimationFrame(() => {
      this.frameRequest = null;
      this.draw();
    });
  }

  tell() {
    this.sequence += 1;
    this.report({ start: this.entry.id, bits: toBits(this.mask), sequence: this.sequence });
  }

  /** Draws again if the page has turned dark or light. */
  followTheme() {
    if (this.mask && String(isDark(this.node)) !== this.node.dataset.dark) this.layOut();
  }

  layOut() {
    this.node.dataset.dark = String(isDark(this.node));
    this.colours = coloursOf(this.node);
    const canvases = this.gallery.querySelectorAll("canvas");
    for (const [n, { mask }] of this.entries.entries()) {
      const cell = TILE / Math.max(mask.rows, mask.columns);
      paintMask(fresh(canvases[n], mask.columns * cell, mask.rows * cell), mask, cell, this.colours);
    }
    this.setBoard();
    this.width = this.node.clientWidth;
    this.board.measure(this.width, this.colours);
    this.draw();
  }

  setBoard() {
    const { open } = this.entry.mask;
    const changed = this.mask.open.map((cell, n) => cell ^ open[n]);
    this.board.show(this.mask, this.texts, changed);
  }

  draw() {
    this.setBoard();
    const { id, title, words } = this.entry;
    for (const node of this.gallery.querySelectorAll("button")) node.ariaPressed = String(node.dataset.mask === id);
    for (const node of this.brushes) node.ariaPressed = String(node.dataset.brush === this.brush);
    this.about.replaceChildren(make("strong", { textContent: `${title}. ` }), words);
    this.drawCount();
    this.undoButton.disabled = !this.past.length;
    this.board.draw(this.colours, this.hovered);
    const { rows, columns } = this.mask;
    this.board.canvas.ariaLabel = `Mask of ${rows} queries and ${columns} keys. ${KEYS_HELP}`;
    const help = "Blue may look, grey may not. Click or drag, also on labels.";
    this.tip.textContent = this.hovered ? this.sentence(this.hovered) : help;
    this.writeOut();
  }

  drawCount() {
    const { mask } = this;
    const { rows, columns, open } = mask;
    const allowed = countOf(mask);
    const work = `${perCent(allowed / open.length)} of the work of full attention`;
    const empty = Array.from({ length: rows }, (_, row) => row).filter((row) => rowCount(mask, row) === 0);
    const named = `${empty.slice(0, MOST_NAMED).join(", ")}${empty.length > MOST_NAMED ? " …" : ""}`;
    const warning = empty.length ? `Row ${named} sees nothing: its softmax is 0/0.` : "";
    this.count.replaceChildren(
      `${allowed} of ${rows} × ${columns} = ${open.length} cells are open: ${work}. `,
      make("strong", { textContent: warning }),
    );
  }

  /** @param {Place} place */
  sentence({ row, column }) {
    const { queries, keys } = this.texts;
    if (row < 0) return `Key ${column} “${keys[column]}”, the whole column.`;
    const who = `Query ${row} “${queries[row]}”`;
    if (column < 0) return `${who} sees ${rowCount(this.mask, row)} keys.`;
    const may = this.mask.open[row * this.mask.columns + column] ? "may" : "may not";
    return `${who} ${may} look at key ${column} “${keys[column]}”.`;
  }

  /** Writes the mask row by row, if the reader has opened it. */
  writeOut() {
    if (!this.words.open || !this.mask) return;
    const rows = this.texts.queries.map((label, i) => `“${label}” sees ${ranges(this.mask, i)}`);
    this.rows.replaceChildren(...rows.map((textContent) => make("li", { textContent })));
  }

  /** @param {string} text */
  say(text) {
    this.live.textContent = text;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const isCommand = event.ctrlKey || event.metaKey;
    const arrow = arrowOf(event);
    const brush = BRUSH_KEYS[event.key];
    const isUndo = event.key === "u" || (event.key === "z" && isCommand);
    if (event.altKey || (isCommand && !isUndo) || !(arrow || brush || isUndo)) return;
    event.preventDefault();
    event.stopPropagation(); // the page's own shortcuts are not meant
    if (isUndo) this.undo();
    else if (arrow) this.moveCursor(arrow);
    else {
      this.press(this.board.cursor, brush);
      this.finish();
      this.draw();
    }
  }

  /** @param {[number, number]} arrow */
  moveCursor([down, across]) {
    const { board } = this;
    board.cursor = board.within({ row: board.cursor.row + down, column: board.cursor.column + across });
    this.say(this.sentence(board.cursor));
    this.hovered = null;
    this.draw();
  }

  /** @param {"svg" | "png"} format */
  save(format) {
    const { board, colours } = this;
    const width = Math.max(board.width, 420);
    const caption = `Rows are queries, columns keys; blue may look. ${this.count.textContent}`;
    return save(
      { width, height: board.height, paint: (pen) => board.paint(pen, colours) },
      { format, name: "mask", title: this.entry.title, caption, colours },
    );
  }

  leave() {
    this.watcher.disconnect();
  }
}
