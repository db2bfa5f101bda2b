// One head as a heat map: rows are queries, columns keys. The canvas is as large as what is in sight, and is drawn
// again as the reader scrolls, so a zoomed map of 512 tokens costs no more than a small one. Two layers keep what
// seldom changes, the texts around the map and the map itself; only the marks are drawn each time.

import { BRACKET, type Bracketed, bracketed, paintBrackets } from "../shared/bytes.ts";
import {
  clip,
  fitsInto,
  fresh,
  Layer,
  measured,
  type Pen,
  setPen,
  strokes,
  upwards,
  widest,
} from "../shared/canvas.ts";
import { type Colours, css, inkOn, packedShade, pixels } from "../shared/colours.ts";
import { hear, make, type Texts, takenArrow, within } from "../shared/elements.ts";
import { hatch } from "../shared/hatch.ts";
import { fading } from "../shared/motion.ts";
import { across, type Names, reach, SLANT, thinned, writeName, writeToken } from "../shared/names.ts";
import { share, shortShare } from "../shared/numbers.ts";
import type { Figure } from "../shared/picture.ts";
import { cellOf } from "../shared/where.ts";
import type { Mask } from "./payload.ts";
import type { Focus } from "./state.ts";
import { type Pattern, rowMaxima, rowSums, SCALES_OF_SHADE, type Scale } from "./weights.ts";

const AXIS = 22; // pixels for an axis title
const SUMS = 46;
const LETTERS = 13; // pixels
const LARGEST_CELL = 46;
const TALLEST = 640;
const SMALLEST_CELL = 17; // of a map that is to be seen whole
const WIDEST_LABEL = 112;
const VECTOR = 5000; // cells that an SVG file holds one by one

export type Place = { row: number; column: number };

/** where the pointer is, in the window too */
type PointedCell = Place & { x: number; y: number };

export type Cell = PointedCell | (Place & { keyboard: true });

/** The part of the map that is in sight: its size, and how far it is scrolled under the labels. */
type View = { width: number; height: number; x: number; y: number };

export class Matrix {
  colours!: Colours; // the explorer gives them before it draws
  texts!: Record<"queries" | "keys", Bracketed>; // from the first `label` on
  pattern: Pattern<Mask> | null = null;
  drawn: Pattern<Mask> | null = null; // the last one
  scale: Scale = "root";
  sums: string[] = []; // how the sum of each row is written
  focus: Focus | null = null;
  at: Place | null = null;
  cursor: Place | null = null;
  shape: string | null = null; // rows and columns that the sizes were found for
  seen: View | null = null;
  zoom = 1;
  names: { beside: { step: number; size: number }; above: Names } = {
    beside: { step: 1, size: LETTERS },
    above: { step: 1, size: LETTERS, isSlanted: false, room: 0 },
  };
  left = 0;
  top = 0;
  after = SUMS; // pixels right of the cells
  cell = 1;
  numbers = 0; // pixels of the letters in the cells

  range = make("input", { type: "range", min: 0, max: 4, step: 0.1, value: 0, ariaLabel: "Zoom of the matrix" });
  zooming = make("label", { className: "zoom" }, "zoom ", this.range);
  canvas = make("canvas", { ariaHidden: "true" });
  image = make("canvas");
  textLayer = new Layer();
  mapLayer = new Layer();
  spacer = make("div", { className: "spacer" }, this.canvas);
  node = make("div", { className: "scroller matrix-picture", tabIndex: 0, role: "application" }, this.spacer);

  constructor(hover: (cell: Cell | null) => void, pick: (cell: Place) => void) {
    const { node, range } = this;
    range.oninput = () => this.zoomTo(2 ** Number(range.value));
    node.addEventListener("scroll", () => this.refresh());
    node.addEventListener("pointermove", (event) => hover(this.cellAt(event)));
    hear(node, ["pointerleave", "focusout"], () => hover(null));
    node.addEventListener("keydown", (event) => this.move(event, hover, pick));
    node.addEventListener("click", (event) => {
      const cell = this.cellAt(event);
      if (cell) pick(cell);
    });
    const zoom = (event: WheelEvent) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoomTo(this.zoom * Math.exp(-event.deltaY / 300));
    };
    node.addEventListener("wheel", zoom, { passive: false });
  }

  label(queries: Texts, keys: Texts): void {
    this.texts = { queries: bracketed(queries), keys: bracketed(keys) };
    this.cursor = null;
    this.shape = null;
  }

  show(pattern: Pattern<Mask>, scale: Scale, name: string) {
    Object.assign(this, { pattern, scale });
    const sums = pattern.mask.cells.length ? rowSums(pattern).map(share) : [];
    if (sums.join() !== this.sums.join()) this.sums = sums; // the same array stands for the same texts
    const help = "Arrow keys move, Enter pins the query.";
    this.node.ariaLabel = `${name}: rows are queries, columns are keys. ${help}`;
    const { columns, rows, allowed } = pattern.mask;
    const [shade, maxima] = [SCALES_OF_SHADE[scale], rowMaxima(pattern)];
    const shown = (n: number) => packedShade(shade(pattern.weights[n], maxima[Math.floor(n / columns)]));
    this.image = pixels(columns, rows, (n) => (allowed[n] ? shown(n) : this.colours.maskedPacked));
    const shape = `${rows}x${columns}`;
    if (shape !== this.shape) this.measure(pattern);
    this.shape = shape;
  }

  measure({ mask: { rows, columns } }: Pattern) {
    const { least, font } = this.colours;
    const { queries, keys } = this.texts;
    const letters = { letters: Math.max(LETTERS, least), least };
    const measure = (text: string, size: number) => measured(text, `${size}px ${font}`).width;
    const roomFor = ({ runs }: Bracketed, names: number) => AXIS + (runs.length ? BRACKET : 0) + names;
    this.left = roomFor(queries, Math.min(WIDEST_LABEL, widest(queries.labels, `${letters.letters}px ${font}`)) + 8);
    const fit = (cell: number) => {
      const above = across(keys.labels, cell, measure, letters, WIDEST_LABEL);
      this.names = { beside: thinned(cell, letters), above };
      this.after = Math.max(SUMS, reach([...keys.labels].reverse(), cell, measure, above, WIDEST_LABEL));
      this.top = roomFor(keys, above.room);
      const free = this.node.clientWidth - this.left - this.after - 2;
      const whole = Math.max(SMALLEST_CELL, (roomBelow(this.node) - this.top) / rows);
      return Math.min(LARGEST_CELL, whole, Math.max(free / columns, 1)) * this.zoom;
    };
    this.cell = fit(fit(fit(LARGEST_CELL))); // the names need room, too
    this.spacer.style.width = `${this.left + this.cell * columns + this.after}px`;
    this.spacer.style.height = `${this.top + this.cell * rows + 6}px`;
    this.node.style.height = `${Math.min(TALLEST, this.top + this.cell * rows + 8)}px`;
    this.seen = null;
  }

  zoomTo(zoom: number) {
    if (!this.pattern) return;
    const before = this.zoom;
    this.zoom = Math.min(16, Math.max(1, zoom));
    const { scrollLeft, scrollTop } = this.node;
    this.measure(this.pattern);
    this.node.scrollTo((scrollLeft * this.zoom) / before, (scrollTop * this.zoom) / before);
    this.redraw();
    this.range.value = String(Math.log2(this.zoom));
  }

  draw(focus: Focus | null, cell: Place | null) {
    this.focus = focus;
    this.at = cell;
    this.redraw();
  }

  refresh() {
    this.seen = null;
    this.redraw();
  }

  redraw() {
    const { node, colours, pattern } = this;
    if (!pattern) return;
    // The sizes are read only when they may have changed, because reading them makes the browser lay out the page.
    this.seen ??= { width: node.clientWidth, height: node.clientHeight, x: node.scrollLeft, y: node.scrollTop };
    const view = this.seen;
    if (!view.width || !view.height) this.seen = null; // it is not on the page now; its first size will draw it
    if (!this.seen) return;
    const around = [view, this.left, this.top, this.cell, this.names, this.sums, colours, devicePixelRatio, this.texts];
    const texts = this.textLayer.drawn(view, around, (pen) => this.paintTexts(pen, view, colours));
    const map = this.mapLayer.drawn(view, [...around, pattern, this.scale], (pen) => {
      pen.drawImage(texts, 0, 0, view.width, view.height);
      this.within(pen, view, () => this.paintCells(pen, pattern, view, colours));
    });
    fading(this.canvas, this.drawn !== pattern && !view.x && !view.y, () => {
      const context = fresh(this.canvas, view.width, view.height);
      context.imageSmoothingEnabled = false;
      context.drawImage(map, 0, 0, view.width, view.height);
      this.within(context, view, () => this.paintMarks(context, colours));
    });
    this.drawn = pattern;
  }

  /** Draws in the coordinates of the map, and nothing beside it. */
  within(pen: Pen, view: View, paint: () => void) {
    pen.save();
    clip(pen, this.left, this.top, this.rightOf(view) - this.left, view.height - this.top);
    pen.translate(this.left - view.x, this.top - view.y);
    paint();
    pen.restore();
  }

  rightOf({ width, x }: View) {
    return Math.min(width - this.after, this.left + this.texts.keys.labels.length * this.cell - x);
  }

  partOf(view: View): Part {
    const { left, top, cell, texts } = this;
    return {
      rows: span(view.y, view.height - top, cell, texts.queries.labels.length),
      columns: span(view.x, this.rightOf(view) - left, cell, texts.keys.labels.length),
    };
  }

  paintTexts(pen: Pen, view: View, colours: Colours) {
    const { left, top, cell } = this;
    const right = this.rightOf(view);
    const { rows, columns } = this.partOf(view);
    const { beside, above } = this.names;
    const font = `${beside.size}px ${colours.font}`;
    setPen(pen, { fillStyle: colours.text, font, textBaseline: "middle", textAlign: "right" });
    pen.save();
    clip(pen, 0, top, view.width, view.height - top);
    for (let i = Math.ceil(rows[0] / beside.step) * beside.step; i < rows[1]; i += beside.step) {
      const middle = top + (i + 0.5) * cell - view.y;
      writeToken(pen, this.texts.queries.labels[i], [left - 5, middle], beside.size);
      if (this.sums.length) pen.fillText(this.sums[i], right + SUMS - 4, middle);
    }
    const axis = { edge: AXIS + BRACKET, cell, size: beside.size, colour: colours.text };
    paintBrackets(pen, this.texts.queries.runs, "left", { ...axis, from: top - view.y });
    pen.restore();
    pen.save();
    clip(pen, left, 0, view.width - left, top);
    pen.font = `${above.size}px ${colours.font}`;
    for (let j = Math.ceil(columns[0] / above.step) * above.step; j < columns[1]; j += above.step) {
      const x = left + (j + 0.5) * cell - view.x;
      const longest = Math.min(WIDEST_LABEL, (view.width - x) / SLANT);
      writeName(pen, this.texts.keys.labels[j], { x, y: top, side: "above", longest }, above);
    }
    paintBrackets(pen, this.texts.keys.runs, "above", { ...axis, from: left - view.x });
    pen.restore();
    setPen(pen, { font: `${colours.letters}px ${colours.font}`, textAlign: "left" });
    pen.fillText("key (attended to) →", left, AXIS / 2);
    pen.textAlign = "right";
    pen.fillText("sum", right + SUMS - 4, top - 10);
    upwards(pen, "← query (attending)", AXIS / 2, top);
  }

  paintCells(pen: Pen, pattern: Pattern, view: View, colours: Colours) {
    const { rows, columns } = pattern.mask;
    const { cell, scale } = this;
    const part = this.partOf(view);
    const { areVeiled } = colours;
    pen.imageSmoothingEnabled = false;
    if (areVeiled || (pen.isVector && rows * columns <= VECTOR))
      eachCell(pattern, part, scale, ({ row, column, shade }) => {
        pen.fillStyle = shade === null ? colours.masked : areVeiled ? colours.soft : css(shade);
        pen.fillRect(column * cell, row * cell, cell, cell);
      });
    else pen.drawImage(this.image, 0, 0, columns * cell, rows * cell);
    hatch(pen, { ...part, wide: cell, high: cell }, colours, (i, j) => !pattern.mask.allowed[i * columns + j]);
    if (cell >= 9) paintGrid(pen, part, cell, areVeiled ? colours.grid : colours.ground);
    if (areVeiled) return;
    const letters = Math.max(colours.least, Math.min(15, cell * 0.38));
    pen.font = `${letters}px ${colours.font}`;
    this.numbers = fitsInto(pen, "1.0", cell) ? letters : 0;
    if (!this.numbers) return;
    setPen(pen, { textAlign: "center", textBaseline: "middle" });
    eachCell(pattern, part, scale, ({ row, column, shade, weight }) => {
      if (shade === null) return;
      pen.fillStyle = inkOn(shade);
      pen.fillText(shortShare(weight), (column + 0.5) * cell, (row + 0.5) * cell);
    });
  }

  paintMarks(pen: Pen, colours: Colours): void {
    const { cell, focus, at, texts } = this;
    pen.lineWidth = 3;
    pen.strokeStyle = focus?.side === "key" ? colours.looked : colours.looks;
    if (focus?.side === "query") pen.strokeRect(0, focus.at * cell, texts.keys.labels.length * cell, cell);
    if (focus?.side === "key") pen.strokeRect(focus.at * cell, 0, cell, texts.queries.labels.length * cell);
    pen.strokeStyle = colours.accent;
    if (at) pen.strokeRect(at.column * cell, at.row * cell, cell, cell);
  }

  cellAt(event: MouseEvent): PointedCell | null {
    if (!this.pattern) return null;
    const { rows, columns } = this.pattern.mask;
    const box = this.node.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const row = Math.floor((y - this.top + this.node.scrollTop) / this.cell);
    const column = Math.floor((x - this.left + this.node.scrollLeft) / this.cell);
    const isInside = x >= this.left && y >= this.top && row >= 0 && column >= 0 && row < rows && column < columns;
    return isInside ? { row, column, x: event.clientX, y: event.clientY } : null;
  }

  /** A cell by the names of its query and its key; of one name the query's row. */
  locate(names: string[]) {
    const { left, top, cell, seen, texts } = this;
    const corner = { x: left - (seen?.x ?? 0), y: top - (seen?.y ?? 0), wide: cell, high: cell };
    const lattice = { ...corner, rows: texts.queries.labels, columns: texts.keys.labels };
    return cellOf(this.canvas, lattice, names, this.numbers);
  }

  move(event: KeyboardEvent, hover: (cell: Cell | null) => void, pick: (cell: Place) => void) {
    if (!this.pattern) return;
    const { rows, columns } = this.pattern.mask;
    const arrow = takenArrow(event);
    if (event.key === "Enter" && this.cursor) pick(this.cursor);
    if (!arrow) return;
    const from = this.cursor ?? { row: rows - 1, column: -arrow[1] };
    this.cursor = { row: within(from.row + arrow[0], rows), column: within(from.column + arrow[1], columns) };
    const { node, cell, left, top, after, cursor } = this;
    node.scrollLeft = revealed(node.scrollLeft, cursor.column, node.clientWidth - left - after, cell);
    node.scrollTop = revealed(node.scrollTop, cursor.row, node.clientHeight - top, cell);
    hover({ ...cursor, keyboard: true });
  }

  /** The whole map, at most so large that a picture of it can be made. */
  figure(colours: Colours): Figure {
    const { pattern } = this;
    if (!pattern) return { width: 0, height: 0, paint: () => {} };
    const { rows, columns } = pattern.mask;
    const shown = this.cell;
    const cell = Math.min(shown, 4000 / Math.max(rows, columns));
    const [width, height] = [this.left + columns * cell + this.after, this.top + rows * cell + 2];
    const view = { width, height, x: 0, y: 0 };
    const paint = (pen: Pen) => {
      this.cell = cell;
      this.within(pen, view, () => {
        this.paintCells(pen, pattern, view, colours);
        this.paintMarks(pen, colours);
      });
      this.paintTexts(pen, view, colours);
      this.cell = shown;
    };
    return { width, height, paint };
  }
}

const LEFT_FREE = 12; // pixels

/** Pixels of the window below an element's upper edge with the page at its top; all where it begins too far down. */
export function roomBelow(element: Element) {
  let top = element.getBoundingClientRect().top;
  let node = element.parentNode;
  while (node) {
    if (node instanceof Element) top += node.scrollTop;
    node = node instanceof ShadowRoot ? node.host : node.parentNode;
  }
  return innerHeight - LEFT_FREE - (top > 0.7 * innerHeight ? 0 : top);
}

/** of a map, from and to */
type Part = { rows: [number, number]; columns: [number, number] };

/** null where masked */
type Shaded = { row: number; column: number; weight: number; shade: number | null };

export function eachCell(pattern: Pattern, { rows, columns }: Part, scale: Scale, visit: (cell: Shaded) => void) {
  const { mask, weights } = pattern;
  const maxima = rowMaxima(pattern);
  for (let row = rows[0]; row < rows[1]; row++)
    for (let column = columns[0]; column < columns[1]; column++) {
      const weight = weights[row * mask.columns + column];
      const isAllowed = mask.allowed[row * mask.columns + column];
      visit({ row, column, weight, shade: isAllowed ? SCALES_OF_SHADE[scale](weight, maxima[row]) : null });
    }
}

function paintGrid(pen: Pen, { rows, columns }: Part, cell: number, colour: string) {
  const [top, bottom, left, right] = [...rows, ...columns].map((edge) => edge * cell);
  const edges = ([from, to]: [number, number]) => Array.from({ length: to - from + 1 }, (_, n) => (from + n) * cell);
  const lines = [...edges(rows).map((y) => [left, y, right, y]), ...edges(columns).map((x) => [x, top, x, bottom])];
  strokes(pen, { strokeStyle: colour, lineWidth: 1 }, ...lines);
}

/** Which cells can be seen along one axis, from and to, where the map is scrolled by `offset`. */
const span = (offset: number, room: number, cell: number, count: number): [number, number] => [
  Math.max(0, Math.floor(offset / cell)),
  Math.min(count, Math.ceil((offset + room) / cell)),
];

/** How far the map is scrolled once a row or column is in sight; `offset` before. */
const revealed = (offset: number, at: number, room: number, cell: number) =>
  Math.min(Math.max(offset, (at + 1) * cell - room), at * cell);
