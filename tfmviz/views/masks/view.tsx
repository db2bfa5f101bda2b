// The gallery and the grid. Every touch is answered here; the page around gets the mask when a gesture is done.

import { render } from "preact";
import { fresh, type Pen } from "../shared/canvas.ts";
import { arrowOf, make, reached, rove } from "../shared/elements.ts";
import { joinsOf } from "../shared/kinds.ts";
import { Named } from "../shared/named.tsx";
import { perCent } from "../shared/numbers.ts";
import { quoted } from "../shared/quoted.ts";
import { component, ViewBase } from "../shared/view_base.ts";
import type { Bits, Brush, Mask, Place } from "./bits.ts";
import * as bits from "./bits.ts";
import { Board, paintMask } from "./board.ts";

/** A mask of the gallery, and as Python sends it. It is usable if its shape is the sentence's. */
type Entry = { id: string; title: string; words: string; usable: boolean; mask: Mask };
type Sent = Omit<Entry, "mask"> & Bits;

type Texts = { queries: string[]; keys: string[]; tokens: string[] };

const BRUSHES: Brush[] = ["cell", "row", "column", "diagonal"];
const BRUSH_KEYS: Record<string, Brush> = { " ": "cell", Enter: "cell", r: "row", c: "column", d: "diagonal" };
const KEYS_HELP = "Arrow keys move, Space changes the cell, R the row, C the column, D the diagonal, U undoes.";
const HIDES = "Click a word to hide it";
const TYPED = "Press Enter to edit the mask of this sentence.";
const TILE = 26;
const MOST_UNDO = 200;
const MOST_NAMED = 6; // rows that see nothing

const isLike = (one: Mask, other: Mask) => one.rows === other.rows && one.columns === other.columns;

export class Lab extends ViewBase {
  mask!: Mask; // from the first `read` on
  entries: Entry[] = [];
  texts: Texts = { queries: [], keys: [], tokens: [] };
  start = ""; // the mask one started from
  brush: Brush = "cell";
  past: { start: string; mask: Mask }[] = [];
  gesture: { brush: Brush; value: number; place: Place } | null = null;
  hovered: Place | null = null;

  board = new Board(this);
  gallery = make("div", { className: "gallery", role: "group", ariaLabel: "Masks to start from", onkeydown: rove });
  sentence = make("div", { className: "sentence", role: "group", ariaLabel: HIDES, onkeydown: rove });
  tools = make("div", { className: "tools" });
  below = make("div", { className: "below" });
  node = this.mount(
    { className: "lab", ariaLabel: "Mask laboratory" },
    this.gallery,
    make("div", { className: "bar" }, this.tools, this.bar()),
    this.sentence,
    this.board.node,
    this.below,
  );

  /** Takes another gallery, for another sentence or model; while a sentence is being typed, its mask alone. */
  read({ queries, keys, tokens, gallery, mask }: Texts & { gallery?: (Sent | Entry)[]; mask?: Mask }) {
    const texts = { queries, keys, tokens };
    if (JSON.stringify(texts) !== JSON.stringify(this.texts)) this.past = [];
    this.texts = texts;
    if (gallery) this.entries = gallery.map((one) => ("mask" in one ? one : { ...one, mask: bits.fromBits(one) }));
    if (mask && !isLike(mask, this.entry.mask)) {
      const own = this.entry.id;
      this.entries = this.entries.map((one) => (one.id === own ? { ...one, mask } : { ...one, usable: false }));
    }
    if (mask) this.mask = bits.copyOf(mask);
  }

  take({ start, bits: drawn }: { start: string; bits: string }) {
    this.start = start;
    const { rows, columns } = this.entry.mask;
    const mask = bits.fromBits({ rows, columns, bits: drawn });
    if (bits.toBits(mask) !== drawn) return; // of a longer or shorter sentence than the one that is being typed
    this.mask = mask;
    this.redraw();
  }

  chosen() {
    return { start: this.entry.id, bits: this.bits };
  }

  /** What is changed in a pass of the model; undefined until Python has said it. */
  edited() {
    return this.typed || !this.mask ? undefined : this.bits;
  }

  get bits() {
    return this.mask ? bits.toBits(this.mask) : "";
  }

  get entry() {
    const usable = this.entries.filter((entry) => entry.usable);
    return usable.find(({ id }) => id === this.start) ?? usable[0];
  }

  begin(id: string) {
    this.remember();
    this.start = id;
    this.turnTo(bits.copyOf(this.entry.mask), `${this.entry.title}:`);
  }

  turnTo(mask: Mask, said: string) {
    this.mask = mask;
    this.redraw();
    this.say(`${said} ${this.counted}`);
    this.notify(0);
  }

  remember() {
    this.past = [...this.past, { start: this.start, mask: bits.copyOf(this.mask) }].slice(-MOST_UNDO);
  }

  undo() {
    const last = this.past.pop();
    if (!last || last.mask.open.length !== this.entry.mask.open.length) return;
    this.start = last.start;
    this.turnTo(last.mask, "Undone.");
  }

  hold(brush: Brush) {
    this.brush = brush;
    this.drawMask();
  }

  /** A gesture begins: if the first cells are open it closes, otherwise it opens all that it touches. */
  press(place: Place, chosen: Brush = this.brush) {
    if (this.typed) return; // Python has not heard of this sentence
    this.touch();
    this.remember();
    const brush = place.row < 0 ? "column" : place.column < 0 ? "row" : chosen;
    this.gesture = { brush, value: bits.gestureOf(this.mask, brush, bits.touched(this.mask, brush, place)), place };
    this.drag(place);
  }

  drag(place: Place) {
    if (!this.gesture) return;
    const { brush, value } = this.gesture;
    if ((brush !== "column" && place.row < 0) || (brush !== "row" && place.column < 0)) return; // on the labels
    const cells = bits.touched(this.mask, brush, place);
    for (const n of bits.changedBy(this.entry.mask, brush, value, cells)) this.mask.open[n] = value;
    this.gesture.place = place;
    this.later(() => this.drawMask());
  }

  finish() {
    if (!this.gesture) return;
    const { brush, value, place } = this.gesture;
    this.gesture = null;
    this.say(`${bits.gestureWords(brush, value)}. ${this.told(place)}`);
    this.notifyChange();
  }

  /** The browser has taken the finger for scrolling: nothing was meant. */
  cancel() {
    if (!this.gesture) return;
    this.gesture = null;
    this.mask = (this.past.pop() as { mask: Mask }).mask;
    this.later(() => this.drawMask());
    this.notify();
  }

  toggle(column: number) {
    this.press({ row: -1, column });
    this.finish();
    this.point(null);
  }

  point(place: Place | null) {
    this.hovered = place;
    this.later(() => this.drawMask());
  }

  draw() {
    const tile = ({ id, title, usable, mask }: Entry, n: number) => {
      const cell = TILE / Math.max(mask.rows, mask.columns);
      const open = perCent(bits.countOf(mask) / mask.open.length);
      const paint = (node: HTMLCanvasElement | null) => {
        if (node) paintMask(fresh(node, mask.columns * cell, mask.rows * cell), mask, cell, this.colours);
      };
      return (
        <button
          type="button"
          key={id}
          ref={reached(n === 0)}
          disabled={!usable}
          data-mask={id}
          aria-pressed={id === this.entry.id}
          title={`${open} open. ${usable ? "Start from this" : "Another shape"}`}
          onClick={() => this.begin(id)}
        >
          <canvas ref={paint} />
          <strong>{title}</strong>
        </button>
      );
    };
    render(this.entries.map(tile), this.gallery);
    if (!this.mask || !isLike(this.mask, this.entry.mask)) return; // the page's choice is on its way
    this.board.measure(this.width, this.colours);
    this.drawMask();
  }

  drawMask() {
    this.board.draw(this.colours, this.hovered);
    const { rows, columns } = this.mask;
    this.board.canvas.ariaLabel = `Mask of ${rows} queries and ${columns} keys. ${KEYS_HELP}`;
    const { title, words } = this.entry;
    const { queries } = this.texts;
    const help = this.typed ? TYPED : "Blue: visible. Grey: masked. Click a word or a cell to change it.";
    const brushes = BRUSHES.map((brush) => (
      <button
        type="button"
        key={brush}
        data-brush={brush}
        aria-pressed={brush === this.brush}
        onClick={() => this.hold(brush)}
      >
        {brush}
      </button>
    ));
    render(
      <>
        <div class="brushes" role="group" aria-label="What a click changes">
          {brushes}
        </div>
        <button type="button" disabled={!this.past.length} onClick={() => this.undo()}>
          Undo
        </button>
        <button type="button" onClick={() => this.begin(this.start)}>
          Start again
        </button>
      </>,
      this.tools,
    );
    const isWrittenOut = this.below.querySelector("details")?.open; // row by row, in words
    const sees = (row: number) => <li key={row}>{`${quoted(queries, row)} sees ${bits.ranges(this.mask, row)}`}</li>;
    render(
      <>
        <p class="tip">{this.hovered ? this.told(this.hovered) : help}</p>
        <p class="count">
          {this.counted} <strong>{this.warning}</strong>
        </p>
        <p class="about">
          <strong>{title}.</strong> {words}
        </p>
        <details class="words" onToggle={() => this.drawMask()}>
          <summary>The mask in words</summary>
          <ol start={0} tabIndex={0}>
            {isWrittenOut && [...queries.keys()].map(sees)}
          </ol>
        </details>
      </>,
      this.below,
    );
    // Of the words a pressed one is seen by nobody, though it was in the mask one started from.
    const isSeen = ({ rows, columns, open }: Mask, column: number) =>
      Array.from({ length: rows }, (_, row) => open[row * columns + column]).includes(bits.OPEN);
    const joins = joinsOf(this.texts.tokens);
    const word = (key: string, n: number) => (
      <button
        type="button"
        key={n}
        class={joins[n]}
        ref={reached(n === 0)}
        aria-pressed={isSeen(this.entry.mask, n) && !isSeen(this.mask, n)}
        onClick={() => this.toggle(n)}
        onPointerEnter={() => this.point({ row: -1, column: n })}
        onPointerLeave={() => this.point(null)}
      >
        <Named label={key} />
      </button>
    );
    render(this.texts.keys.map(word), this.sentence);
    this.page.onChange?.();
  }

  get counted() {
    const { rows, columns, open } = this.mask;
    const allowed = bits.countOf(this.mask);
    const work = `${perCent(allowed / open.length)} of the work of full attention`;
    return `${allowed} of ${rows} × ${columns} = ${open.length} cells are visible: ${work}.`;
  }

  get warning() {
    const empty = [...this.texts.queries.keys()].filter((row) => bits.rowCount(this.mask, row) === 0);
    const named = `${empty.slice(0, MOST_NAMED).join(", ")}${empty.length > MOST_NAMED ? " …" : ""}`;
    return empty.length ? `Row ${named} sees no key: its softmax is 0/0.` : "";
  }

  told({ row, column }: Place) {
    const { queries, keys } = this.texts;
    if (row < 0) return `Key ${column} “${keys[column]}”: click to hide or show it.`;
    const who = `Query ${row} “${queries[row]}”`;
    if (column < 0) return `${who} sees ${bits.rowCount(this.mask, row)} keys.`;
    const may = this.mask.open[row * this.mask.columns + column] ? "can" : "cannot";
    return `${who} ${may} attend to key ${column} “${keys[column]}”.`;
  }

  key(event: KeyboardEvent) {
    const isCommand = event.ctrlKey || event.metaKey;
    const arrow = arrowOf(event);
    const brush = BRUSH_KEYS[event.key];
    const isUndo = event.key === "u" || (event.key === "z" && isCommand);
    if (event.altKey || (isCommand && !isUndo) || !(arrow || brush || isUndo)) return;
    event.preventDefault();
    event.stopPropagation(); // the page's own shortcuts are not meant
    if (isUndo) return this.undo();
    const { board } = this;
    if (arrow) {
      board.cursor = board.within({ row: board.cursor.row + arrow[0], column: board.cursor.column + arrow[1] });
      this.say(this.told(board.cursor));
      this.hovered = null;
    } else {
      this.press(board.cursor, brush);
      this.finish();
    }
    this.drawMask();
  }

  figure() {
    const { board, colours } = this;
    const { title } = this.entry;
    const paint = (pen: Pen) => board.paint(pen, colours);
    const caption = `Rows are queries, columns keys. Blue: visible. ${this.counted}`;
    const { width, height } = board.place;
    return { width: Math.max(width, 420), height, paint, name: "mask", title, caption };
  }

  values() {
    const { queries, keys } = this.texts;
    const { open, columns } = this.mask;
    const rows = queries.map((label, i) => [`${i} ${label}`, ...open.slice(i * columns, (i + 1) * columns)]);
    const title = `${this.entry.title}: 1 visible, 0 masked`;
    return { title, columns: ["query", ...keys.map((label, j) => `${j} ${label}`)], rows };
  }
}

export default component((parent, page) => new Lab(parent, page));
