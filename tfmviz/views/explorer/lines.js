// The head view: queries on the left, keys on the right, a line for every weight.

/** @import { Pen } from "../shared/canvas.js" */
/** @import { Colours } from "../shared/colours.js" */
/** @import { Texts } from "../shared/elements.js" */
/** @import { Drawn } from "./frame.js" */
/** @import { Focus } from "./state.js" */
/** @typedef {Colours & {heads: string[]}} HeadColours of several heads one each */
/** @import { Line, Pattern, Scale } from "./weights.js" */
import { fresh } from "../shared/canvas.js";
import { listen, Marks, make, roving, tokenButtons } from "../shared/elements.js";
import { share } from "../shared/numbers.js";
import { rowMaxima, SCALES_OF_SHADE, strongest } from "./weights.js";

const MOST = 1000; // lines drawn at once; of one token all are
const MANY = 300; // lines from which on they are thin: a pixel's width is drawn several times as fast
const BARS = 84; // pixels beside the tokens for the bars per head and the number
const NUMBER = 34;
const FAINTEST = 0.08; // opacity that can still be seen
const APART = 2;
const SIDES = /** @type {const} */ (["query", "key"]);

export class Lines {
  /** @type {HeadColours} */
  colours;
  /** @type {Texts[]} of queries and keys */
  texts = [];
  /** @type {Marks[]} */
  marks = [];
  rowHeight = 25;
  /** @type {Pattern[]} drawn over one another */
  patterns = [];
  /** @type {Scale} */
  scale = "root";
  /** @type {Float64Array[]} */
  maxima = [];
  /** @type {Line[]} */
  strongest = [];
  /** @type {Focus | null} */
  focus = null;
  /** @type {{width: number, height: number, top: number} | null} what is in sight */
  seen = null;
  isStale = true; // something other than the focus has changed since the last drawing

  /** @param {{hover: (focus: Focus | null) => void, pick: (focus: Focus) => void}} listener */
  constructor({ hover, pick }) {
    this.canvas = make("canvas", { ariaHidden: "true" });
    this.columns = SIDES.map((side) => {
      const group = make("div", { className: `column ${side}`, role: "group" });
      roving(group, () => 1);
      listen(group, { hover: (at) => hover(at === null ? null : { side, at }), pick: (at) => pick({ side, at }) });
      return group;
    });
    const [queries, keys] = this.columns;
    queries.ariaLabel = "Queries: the tokens that look";
    keys.ariaLabel = "Keys: the tokens that are looked at";
    this.between = make("div", { className: "between" }, this.canvas);
    this.scroller = make("div", { className: "scroller lines-picture" }, queries, this.between, keys);
    this.scroller.addEventListener("scroll", () => this.refresh());
    this.note = make("p", { className: "hint" });
    this.node = make("div", {}, this.scroller, this.note);
  }

  /** @type {(queries: Texts, keys: Texts) => void} takes other tokens */
  label(queries, keys) {
    this.texts = [queries, keys];
    const longest = Math.max(queries.labels.length, keys.labels.length);
    this.rowHeight = Math.max(longest <= 24 ? 25 : longest <= 64 ? 20 : 17, this.colours.least + 5);
    this.scroller.style.setProperty("--row", `${this.rowHeight}px`);
    this.marks = this.columns.map((group, n) => new Marks(tokenButtons(group, this.texts[n], 0)));
    this.seen = null;
    this.isStale = true;
  }

  /**
   * Takes other heads or filters; `draw` then draws them.
   * @param {Pattern[]} patterns
   * @param {Scale} scale
   */
  show(patterns, scale) {
    this.isStale = true;
    this.patterns = patterns;
    this.scale = scale;
    this.maxima = patterns.map(rowMaxima);
    const { found, left } = strongest(patterns, MOST);
    this.strongest = found;
    const [shown, others] = [MOST, left].map((count) => count.toLocaleString("en"));
    const note = left ? `The ${shown} strongest lines; point at a token for the other ${others}.` : "";
    if (this.note.textContent !== note) this.note.textContent = note;
  }

  /**
   * Draws all lines, or only those of the token in focus.
   * @param {Focus | null} focus
   * @param {Focus | null} pinned
   */
  draw(focus, pinned) {
    const isSame = focus?.side === this.focus?.side && focus?.at === this.focus?.at;
    this.focus = focus;
    for (const [n, side] of SIDES.entries()) {
      this.marks[n].set(focus?.side === side ? focus.at : null, pinned?.side === side ? pinned.at : null);
    }
    if (this.isStale || !isSame) this.redraw();
  }

  /** Another part is in sight. */
  refresh() {
    this.seen = null;
    if (this.patterns.length) this.redraw();
  }

  redraw() {
    this.isStale = false;
    // The sizes are read only when they may have changed, because reading them makes the browser lay out the page.
    this.seen ??= {
      width: this.between.clientWidth,
      height: this.scroller.clientHeight,
      top: this.scroller.scrollTop,
    };
    const context = fresh(this.canvas, this.seen.width, this.seen.height);
    context.translate(0, -this.seen.top);
    this.paint(context, this.seen.width, this.colours);
  }

  /**
   * @param {Pen} pen
   * @param {number} width
   * @param {Colours} colours
   */
  paint(pen, width, colours) {
    const { focus } = this;
    const [from, to] = [focus?.side === "key" ? BARS : 6, focus?.side === "query" ? width - BARS : width - 6];
    const lines = focus ? this.linesOf(focus) : this.strongest;
    pen.lineWidth = focus ? 2.5 : lines.length > MANY ? 1 : 1.5;
    const last = this.patterns.length - 1;
    for (const line of lines) {
      const { n, row, column } = line;
      const aside = (n - last / 2) * APART; // lines of several heads lie side by side
      pen.strokeStyle = this.colourOf(n, focus);
      pen.globalAlpha = this.opacityOf(line);
      pen.beginPath(); // one path for many lines takes several times as long
      pen.moveTo(from, this.middle(row) + aside);
      pen.lineTo(to, this.middle(column) + aside);
      pen.stroke();
    }
    pen.globalAlpha = 1;
    if (focus) this.paintBars(pen, lines, { focus, width, colours });
  }

  /**
   * Beside every token of the other side: a bar per head, and the mean of the heads as a number.
   * @param {Pen} pen
   * @param {Line[]} lines
   * @param {{focus: Focus, width: number, colours: Colours}} options
   */
  paintBars(pen, lines, { focus, width, colours }) {
    const other = focus.side === "query" ? "column" : "row";
    const n = this.patterns.length;
    const slot = (BARS - NUMBER - 6) / n;
    const left = focus.side === "query" ? width - BARS + 4 : 4 + NUMBER;
    /** @type {Map<number, number>} */
    const means = new Map();
    for (const line of lines) {
      pen.fillStyle = this.colourOf(line.n, focus);
      means.set(line[other], (means.get(line[other]) ?? 0) + line.weight / n);
      pen.globalAlpha = this.opacityOf(line);
      const top = this.middle(line[other]) - this.rowHeight / 2 + 3;
      pen.fillRect(left + line.n * slot, top, Math.max(slot - 1, 1), this.rowHeight - 6);
    }
    pen.globalAlpha = 1;
    pen.fillStyle = colours.text;
    pen.font = this.font(colours);
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    const right = focus.side === "query" ? width - 4 : NUMBER;
    for (const [at, mean] of means) pen.fillText(share(mean), right, this.middle(at));
  }

  /**
   * All lines of one token.
   * @param {Focus} focus
   * @returns {Line[]}
   */
  linesOf({ side, at }) {
    return this.patterns.flatMap(({ mask: { rows, columns }, weights }, n) => {
      const count = side === "query" ? columns : rows;
      return Array.from({ length: count }, (_, other) => {
        const [row, column] = side === "query" ? [at, other] : [other, at];
        return { n, row, column, weight: weights[row * columns + column] };
      }).filter(({ weight }) => weight > 0);
    });
  }

  /**
   * @param {number} n which of the heads
   * @param {Focus | null} focus
   */
  colourOf(n, focus) {
    const { heads, looked, looks } = this.colours;
    if (this.patterns.length > 1) return heads[n % heads.length];
    return focus?.side === "key" ? looked : looks;
  }

  /** @param {Line} line */
  opacityOf({ n, row, weight }) {
    return Math.max(FAINTEST, SCALES_OF_SHADE[this.scale](weight, this.maxima[n][row]));
  }

  /** @param {number} position */
  middle(position) {
    return (position + 0.5) * this.rowHeight;
  }

  /** @param {Colours} colours */
  font(colours) {
    return `${Math.max(colours.least, Math.min(14, this.rowHeight - 3))}px ${colours.font}`;
  }

  /** @type {Drawn["figure"]} the whole view with its tokens, however much of it is in sight */
  figure(colours) {
    const [side, between] = [130, 320];
    const rows = Math.max(...this.texts.map(({ labels }) => labels.length));
    /** @param {Pen} pen */
    const paint = (pen) => {
      pen.font = this.font(colours);
      pen.textBaseline = "middle";
      pen.fillStyle = colours.text;
      for (const [n, { labels }] of this.texts.entries()) {
        pen.textAlign = n ? "left" : "right";
        const x = n ? side + between + 6 : side - 6;
        for (const [i, label] of labels.entries()) pen.fillText(label, x, this.middle(i));
      }
      pen.save();
      pen.translate(side, 0);
      this.paint(pen, between, colours);
      pen.restore();
    };
    return { width: 2 * side + between, height: rows * this.rowHeight, paint };
  }
}
