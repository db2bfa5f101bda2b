// The head view: queries on the left, keys on the right, a line for every weight.

import { fresh, type Pen, setPen, strokes } from "../shared/canvas.ts";
import type { Colours } from "../shared/colours.ts";
import { listen, make, mark, put, type Texts, tokenButtons } from "../shared/elements.ts";
import { fading } from "../shared/motion.ts";
import { writeToken } from "../shared/names.ts";
import { share } from "../shared/numbers.ts";
import type { Figure } from "../shared/picture.ts";
import type { Focus, Listener } from "./state.ts";
import { cellsBeside, type Line, type Pattern, rowMaxima, SCALES_OF_SHADE, type Scale, strongest } from "./weights.ts";

const MOST = 1000; // lines drawn at once; of one token all are
const MANY = 300; // lines from which on they are thin: a pixel's width is drawn several times as fast
const BARS = 84; // pixels beside the tokens for the bars per head and the number
const NUMBER = 34;
const FAINTEST = 0.08; // opacity that can still be seen
const APART = 2;
const SIDES = ["query", "key"] as const;

export class Lines {
  colours!: Colours & { heads: string[] }; // the explorer gives them before it draws
  texts: Texts[] = []; // of queries and keys
  buttons: HTMLButtonElement[][] = [];
  rowHeight = 25;
  patterns: Pattern[] = []; // drawn over one another
  scale: Scale = "root";
  maxima: number[][] = [];
  strongest: Line[] = [];
  focus: Focus | null = null;
  seen: { width: number; height: number; top: number } | null = null; // what is in sight
  isStale = true; // something other than the focus has changed since the last drawing

  columns = SIDES.map((side) => make("div", { className: `column ${side}`, role: "group" }));
  canvas = make("canvas", { ariaHidden: "true" });
  between = make("div", { className: "between" }, this.canvas);
  scroller = make("div", { className: "scroller lines-picture" }, this.columns[0], this.between, this.columns[1]);
  note = make("p", { className: "hint" });
  node = make("div", {}, this.scroller, this.note);

  constructor(listener: Listener) {
    this.columns[0].ariaLabel = "Queries";
    this.columns[1].ariaLabel = "Keys";
    for (const [n, side] of SIDES.entries()) {
      const hover = (at: number | null) => listener.point(at === null ? null : { side, at });
      listen(this.columns[n], (at) => listener.pin({ side, at }), hover);
    }
    this.scroller.addEventListener("scroll", () => this.refresh());
  }

  label(queries: Texts, keys: Texts): void {
    this.texts = [queries, keys];
    const longest = Math.max(queries.labels.length, keys.labels.length);
    this.rowHeight = Math.max(longest <= 24 ? 25 : longest <= 64 ? 20 : 17, this.colours.least + 5);
    this.scroller.style.setProperty("--row", `${this.rowHeight}px`);
    this.buttons = this.columns.map((group, n) => tokenButtons(group, this.texts[n], 0));
    this.seen = null;
    this.isStale = true;
  }

  show(patterns: Pattern[], scale: Scale) {
    this.isStale = true;
    this.patterns = patterns;
    this.scale = scale;
    this.maxima = patterns.map(rowMaxima);
    const { found, left } = strongest(patterns, MOST);
    this.strongest = found;
    const [shown, others] = [MOST, left].map((count) => count.toLocaleString("en"));
    const note = left ? `The ${shown} strongest lines; hover over a token for the other ${others}.` : "";
    put(this.note, { textContent: note });
  }

  draw(focus: Focus | null, pinned: Focus | null) {
    const isSame = focus?.side === this.focus?.side && focus?.at === this.focus?.at;
    this.focus = focus;
    for (const [n, side] of SIDES.entries()) {
      mark(this.buttons[n], focus?.side === side ? focus.at : null, pinned?.side === side ? pinned.at : null);
    }
    if (this.isStale || !isSame) this.redraw();
  }

  refresh() {
    this.seen = null;
    if (this.patterns.length) this.redraw();
  }

  redraw() {
    const isOther = this.isStale;
    this.isStale = false;
    // The sizes are read only when they may have changed, because reading them makes the browser lay out the page.
    this.seen ??= { width: this.between.clientWidth, height: this.scroller.clientHeight, top: this.scroller.scrollTop };
    const { width, height, top } = this.seen;
    fading(this.canvas, isOther, () => {
      const context = fresh(this.canvas, width, height);
      context.translate(0, -top);
      this.paint(context, width, this.colours);
    });
  }

  paint(pen: Pen, width: number, colours: Colours) {
    const { focus } = this;
    const [from, to] = [focus?.side === "key" ? BARS : 6, focus?.side === "query" ? width - BARS : width - 6];
    const linesOf = ({ mask, weights }: Pattern, n: number, focus: Focus): Line[] =>
      cellsBeside(mask, focus).flatMap(({ cell, ...place }) => ({ n, ...place, weight: weights[cell] }));
    const all = focus ? this.patterns.flatMap((pattern, n) => linesOf(pattern, n, focus)) : this.strongest;
    const lines = all.filter(({ weight }) => weight > 0);
    pen.lineWidth = focus ? 2.5 : lines.length > MANY ? 1 : 1.5;
    const last = this.patterns.length - 1;
    for (const line of lines) {
      const { n, row, column } = line;
      const aside = (n - last / 2) * APART; // lines of several heads lie side by side
      const look = { strokeStyle: this.colourOf(n, focus), globalAlpha: this.opacityOf(line) };
      // One path for many lines takes several times as long.
      strokes(pen, look, [from, this.middle(row) + aside, to, this.middle(column) + aside]);
    }
    pen.globalAlpha = 1;
    if (!focus) return;
    // Beside every token of the other side: a bar per head, and the mean of the heads as a number.
    const other = focus.side === "query" ? "column" : "row";
    const n = this.patterns.length;
    const slot = (BARS - NUMBER - 6) / n;
    const left = focus.side === "query" ? width - BARS + 4 : 4 + NUMBER;
    const means: Map<number, number> = new Map();
    for (const line of lines) {
      pen.fillStyle = this.colourOf(line.n, focus);
      means.set(line[other], (means.get(line[other]) ?? 0) + line.weight / n);
      pen.globalAlpha = this.opacityOf(line);
      const top = this.middle(line[other]) - this.rowHeight / 2 + 3;
      pen.fillRect(left + line.n * slot, top, Math.max(slot - 1, 1), this.rowHeight - 6);
    }
    setPen(pen, { globalAlpha: 1, fillStyle: colours.text, font: this.font(colours) });
    setPen(pen, { textBaseline: "middle", textAlign: "right" });
    const right = focus.side === "query" ? width - 4 : NUMBER;
    for (const [at, mean] of means) pen.fillText(share(mean), right, this.middle(at));
  }

  colourOf(n: number, focus: Focus | null) {
    const { heads, looked, looks } = this.colours;
    if (this.patterns.length > 1) return heads[n % heads.length];
    return focus?.side === "key" ? looked : looks;
  }

  opacityOf({ n, row, weight }: Line) {
    return Math.max(FAINTEST, SCALES_OF_SHADE[this.scale](weight, this.maxima[n][row]));
  }

  middle(position: number) {
    return (position + 0.5) * this.rowHeight;
  }

  font(colours: Colours) {
    return `${Math.max(colours.least, Math.min(14, this.rowHeight - 3))}px ${colours.font}`;
  }

  figure(colours: Colours): Figure {
    const [side, between] = [130, 320];
    const rows = Math.max(...this.texts.map(({ labels }) => labels.length));
    const paint = (pen: Pen) => {
      setPen(pen, { font: this.font(colours), textBaseline: "middle", fillStyle: colours.text });
      for (const [n, { labels }] of this.texts.entries()) {
        pen.textAlign = n ? "left" : "right";
        const x = n ? side + between + 6 : side - 6;
        for (const [i, label] of labels.entries()) writeToken(pen, label, [x, this.middle(i)], this.rowHeight / 2);
      }
      pen.save();
      pen.translate(side, 0);
      this.paint(pen, between, colours);
      pen.restore();
    };
    return { width: 2 * side + between, height: rows * this.rowHeight, paint };
  }
}
