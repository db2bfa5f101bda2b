// A table of words, one row a token, one column a stage. Every touch is answered here; the page gets the chosen cell.

/** @import { Page } from "../shared/shell.js" */
import { bytesOf, css, inkOn, inkOnRgb } from "../shared/colours.js";
import { figureOf } from "../shared/drawn.js";
import { button, buttonOf, make, roving } from "../shared/elements.js";
import { quoted } from "../shared/quoted.js";
import { Shell } from "../shared/shell.js";

/**
 * What Python sends; tfmviz/views/lens/__init__.py describes it.
 * @typedef {object} Data
 * @property {string[]} columns
 * @property {string[]} rows
 * @property {string[][]} texts
 * @property {string[][]} notes
 * @property {number[][]} shades
 * @property {"share" | "amount"} scale
 * @property {[what: string, low: string, high: string]} legend
 */

/** @typedef {{row: number, column: number}} Place */

export class Lens extends Shell {
  /** @type {Data | null} */
  data = null;
  /** @type {Place | null} */
  place = null;

  /**
   * @param {HTMLElement} parent
   * @param {Page} page
   */
  constructor(parent, page) {
    super(page);
    this.table = make("table", {});
    this.scroller = make(
      "div",
      { className: "scroller", tabIndex: 0, role: "region", ariaLabel: "Logit lens" },
      this.table,
    );
    this.legend = make("p", { className: "legend" });
    this.tip = make("p", { className: "tip" });
    this.mount(parent, { className: "lens" }, this.bar(), this.legend, this.scroller, this.tip);
    this.listen();
  }

  listen() {
    roving(this.table, () => this.data?.columns.length ?? 1);
    this.table.addEventListener("click", (event) => {
      const place = placeOf(event);
      if (place) this.pick(place);
    });
    for (const name of ["pointerover", "focusin"]) {
      this.table.addEventListener(name, (event) => this.point(placeOf(event)));
    }
    this.table.addEventListener("pointerleave", () => this.point(null));
  }

  /** @param {Data} data */
  read(data) {
    this.data = data;
  }

  /** @param {Place} place */
  take({ row, column }) {
    this.place = { row, column };
    this.mark();
    this.bringIntoView();
  }

  chosen() {
    return { token: this.place?.row, stage: this.place?.column };
  }

  /** @param {Place} place */
  pick(place) {
    this.place = place;
    this.mark();
    this.tell(0);
  }

  draw() {
    const { data } = this;
    if (!data) return;
    const heads = ["token", ...data.columns].map((textContent) => make("th", { scope: "col", textContent }));
    const body = data.rows.map((name, row) => {
      const head = make("th", { scope: "row", dir: "auto", textContent: name, title: `Token ${row}` });
      return make("tr", {}, head, ...data.columns.map((_, column) => this.cell(data, { row, column })));
    });
    this.table.replaceChildren(make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...body));
    this.paintLegend(data);
    this.mark();
  }

  /**
   * @param {Data} data
   * @param {Place} place
   */
  cell(data, { row, column }) {
    const [background, color] = this.shadeOf(data, data.shades[row][column]);
    const node = button(data.texts[row][column], {
      tabIndex: -1,
      dir: "auto",
      dataset: { row, column },
      style: { background, color },
      ariaLabel: sentence(data, { row, column }),
    });
    return make("td", {}, node);
  }

  /**
   * The colour of a shade, and of text on it.
   * @param {Data} data
   * @param {number} shade
   */
  shadeOf({ scale }, shade) {
    if (scale === "share") return [css(Math.sqrt(shade)), inkOn(Math.sqrt(shade))];
    const rgb = amountColour(shade, this.colours.roles);
    return [`rgb(${rgb.join(" ")})`, inkOnRgb(rgb)];
  }

  /** @param {Data} data */
  paintLegend(data) {
    const [what, low, high] = data.legend;
    const stops = Array.from({ length: 9 }, (_, n) => this.shadeOf(data, n / 8)[0]);
    const ramp = make("span", {
      className: "ramp",
      style: { background: `linear-gradient(90deg, ${stops.join(",")})` },
    });
    this.legend.replaceChildren(`${what}: ${low} `, ramp, ` ${high}`);
  }

  /** The row of the table that is chosen. */
  get line() {
    return this.place && this.table.tBodies[0]?.rows[this.place.row];
  }

  /**
   * The button of a cell; none where a shorter text has no such cell.
   * @param {Place} place
   */
  nodeAt({ row, column }) {
    return this.table.tBodies[0]?.rows[row]?.cells[column + 1]?.querySelector("button");
  }

  mark() {
    if (!this.data || !this.place) return;
    for (const node of this.table.querySelectorAll("button"))
      Object.assign(node, { ariaPressed: "false", tabIndex: -1 });
    for (const node of this.table.querySelectorAll(".chosen")) node.className = "";
    const node = this.nodeAt(this.place);
    if (!this.line || !node) return;
    this.line.className = "chosen";
    Object.assign(node, { ariaPressed: "true", tabIndex: 0 });
    this.point(null);
  }

  /** Of a long text the chosen row may lie beyond the table's edge. */
  bringIntoView() {
    if (!this.line) return;
    const { offsetTop, offsetHeight } = this.line;
    const { scrollTop, clientHeight } = this.scroller;
    const isInView = offsetTop >= scrollTop && offsetTop + offsetHeight <= scrollTop + clientHeight;
    if (!isInView) this.scroller.scrollTop = offsetTop - clientHeight / 2;
  }

  /**
   * Says what a cell shows, or the chosen one.
   * @param {Place | null} pointed
   */
  point(pointed) {
    const place = pointed ?? this.place;
    const node = place && this.nodeAt(place);
    if (node) this.tip.textContent = node.ariaLabel;
  }

  figure() {
    return figureOf(this.table);
  }

  titles() {
    return { name: "logit-lens", title: "Logit lens", caption: this.legend.textContent ?? "" };
  }

  values() {
    const { columns, rows, texts } = /** @type {Data} */ (this.data);
    const lines = rows.map((name, row) => [String(row), name, ...texts[row]]);
    return { title: "Logit lens", columns: ["position", "token", ...columns], rows: lines };
  }
}

/**
 * The colour of an amount, from little to much, as the figures draw lengths.
 * @param {number} shade
 * @param {Record<string, string>} roles
 */
export function amountColour(shade, roles) {
  const [low, middle, high] = [roles.little, roles.middling, roles.much].map(bytesOf);
  const [from, to, part] = shade < 0.5 ? [low, middle, 2 * shade] : [middle, high, 2 * shade - 1];
  return from.map((value, i) => Math.round(value + (to[i] - value) * part));
}

/**
 * The cell that an event happened on, null beside the cells.
 * @param {Event} event
 * @returns {Place | null}
 */
function placeOf(event) {
  const node = buttonOf(event);
  return node && { row: Number(node.dataset.row), column: Number(node.dataset.column) };
}

/**
 * @param {Data} data
 * @param {Place} place
 */
const sentence = ({ rows, columns, notes }, { row, column }) =>
  `${quoted(rows, row)}, ${columns[column]}: ${notes[row][column]}`;
