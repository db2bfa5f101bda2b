// A picture of a few cells as a Streamlit component. The first cell that is touched says whether a gesture draws or
// rubs out; the page around gets the picture when the gesture is done.

import { fresh, type Pen, setPen } from "../shared/canvas.ts";
import { INKS } from "../shared/constants.ts";
import { arrowOf, button, isChord, make, within } from "../shared/elements.ts";
import { component, type Page, ViewBase } from "../shared/view_base.ts";

const LARGEST = 40;
const ROUND = 2;
const HELP = "Draw with the pointer, or move with the arrow keys and change a cell with Space.";

class Picture extends ViewBase {
  side = 0;
  patch = 1;
  title = "";
  cells: number[] = [];
  cell = 1;
  at = 0; // the cell that the keyboard is on
  gesture: { ink: number; before: number[] } | null = null;

  canvas = make("canvas", { tabIndex: 0, role: "application" });

  constructor(parent: HTMLElement, page: Page) {
    super(parent, page);
    this.canvas.onpointerdown = (event) => {
      const n = this.cellAt(event);
      if (n === null) return;
      this.canvas.setPointerCapture(event.pointerId);
      this.begin(n);
    };
    this.canvas.onpointermove = (event) => {
      const n = this.gesture && this.cellAt(event);
      if (n !== null) this.ink(n);
    };
    this.canvas.onpointerup = () => this.finish();
    this.canvas.onpointercancel = () => this.cancel();
    this.canvas.onkeydown = (event) => this.key(event);
    this.canvas.onblur = this.canvas.onfocus = () => this.later();
    const clear = button("Clear", { onclick: () => this.clear() });
    const bar = make("div", { className: "bar" }, clear, this.bar());
    this.mount({ className: "drawing", ariaLabel: "Picture" }, bar, this.canvas);
  }

  read({ side, patch, title }: { side: number; patch: number; title: string }) {
    Object.assign(this, { side, patch, title });
  }

  take({ cells }: { cells: string }) {
    this.cells = fromText(cells);
    this.redraw();
  }

  chosen() {
    return { cells: toText(this.cells) };
  }

  draw() {
    if (this.cells.length !== this.side ** 2) return; // the page's choice is on its way
    this.cell = Math.floor(Math.min(LARGEST, (this.width - 2 * ROUND) / this.side));
    const size = this.cell * this.side + 2 * ROUND;
    const pen = fresh(this.canvas, size, size);
    this.paint(pen);
    if (this.canvas.matches(":focus-visible")) {
      const [x, y] = this.corner(this.at);
      setPen(pen, { strokeStyle: this.colours.accent, lineWidth: 3 });
      pen.strokeRect(x, y, this.cell, this.cell);
    }
    this.canvas.ariaLabel = `${this.title}. ${HELP}`;
  }

  paint(pen: Pen) {
    const { cell, side, patch, colours } = this;
    pen.fillStyle = colours.text;
    for (const [n, ink] of this.cells.entries()) {
      const [x, y] = this.corner(n);
      pen.globalAlpha = ink / DARKEST;
      pen.fillRect(x, y, cell, cell);
    }
    setPen(pen, { globalAlpha: 1, strokeStyle: colours.looks });
    for (let n = 0; n <= side; n++) {
      pen.lineWidth = n % patch ? 0.3 : 1.5;
      pen.strokeRect(ROUND + n * cell, ROUND, 0, side * cell);
      pen.strokeRect(ROUND, ROUND + n * cell, side * cell, 0);
    }
  }

  corner(n: number): [number, number] {
    return [ROUND + (n % this.side) * this.cell, ROUND + Math.floor(n / this.side) * this.cell];
  }

  cellAt(event: PointerEvent) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - ROUND) / this.cell);
    const row = Math.floor((event.clientY - box.top - ROUND) / this.cell);
    const isInside = Math.min(row, column) >= 0 && Math.max(row, column) < this.side;
    return isInside ? row * this.side + column : null;
  }

  begin(n: number) {
    this.touch();
    this.gesture = { ink: drawn(this.cells[n]), before: [...this.cells] };
    this.ink(n);
  }

  ink(n: number) {
    if (!this.gesture) return;
    this.at = n;
    this.cells[n] = this.gesture.ink;
    this.later();
  }

  finish() {
    if (!this.gesture) return;
    this.gesture = null;
    this.notify(0);
  }

  /** The browser has taken the finger: nothing was meant. */
  cancel() {
    if (!this.gesture) return;
    this.cells = this.gesture.before;
    this.gesture = null;
    this.later();
    this.notify();
  }

  clear() {
    this.cells = this.cells.map(() => 0);
    this.later();
    this.say("Every cell is empty.");
    this.notify(0);
  }

  key(event: KeyboardEvent) {
    const arrow = arrowOf(event);
    if (isChord(event) || !(arrow || event.key === " " || event.key === "Enter")) return;
    event.preventDefault();
    event.stopPropagation(); // the page's own shortcuts are not meant
    const { at, side } = this;
    if (arrow) this.at = within(Math.floor(at / side) + arrow[0], side) * side + within((at % side) + arrow[1], side);
    else {
      this.begin(at);
      this.finish();
    }
    this.later();
    this.say(`Row ${Math.floor(this.at / side)}, column ${this.at % side}: ${this.cells[this.at]} of ${DARKEST}.`);
  }

  figure() {
    const size = this.cell * this.side + 2 * ROUND;
    const drawn = { width: Math.max(size, 420), height: size, paint: (pen: Pen) => this.paint(pen) };
    return { ...drawn, name: "picture", title: this.title, caption: "Heavy lines separate the patches." };
  }

  values() {
    const { side, cells } = this;
    const rows = Array.from({ length: side }, (_, i) => [String(i), ...cells.slice(i * side, (i + 1) * side)]);
    return { title: this.title, columns: ["row", ...Array.from({ length: side }, (_, j) => String(j))], rows };
  }
}

export const DARKEST = INKS.length - 1;

export const fromText = (text: string) => [...text].map((digit) => INKS.indexOf(digit));

export const toText = (cells: number[]) => cells.map((cell) => INKS[cell]).join("");

/** What a gesture leaves that begins on this cell: ink, or nothing where there is mostly ink. */
export const drawn = (cell: number) => (2 * cell > DARKEST ? 0 : DARKEST);

export default component((parent, page) => new Picture(parent, page));
