// A table of words, one row a token, one column a stage. Every touch is answered here; the page gets the chosen cell.

import { bytesOf, css, inkOn, inkOnRgb } from "../shared/colours.ts";
import { figureOf } from "../shared/drawn.ts";
import { button, buttonOf, make, roving } from "../shared/elements.ts";
import { quoted } from "../shared/quoted.ts";
import { type Page, Shell } from "../shared/shell.ts";

/** What Python sends; tfmviz/views/lens/__init__.py describes it. */
interface Data {
  columns: string[];
  rows: string[];
  texts: string[][];
  notes: string[][];
  shades: number[][];
  scale: "share" | "amount";
  legend: [what: string, low: string, high: string];
}

type Place = { row: number; column: number };

export class Lens extends Shell {
  data: Data | null = null;
  place: Place | null = null;

  table = make("table", {});
  scroller = make("div", { className: "scroller", tabIndex: 0, role: "region", ariaLabel: "Logit lens" }, this.table);
  legend = make("p", { className: "legend" });
  tip = make("p", { className: "tip" });

  constructor(parent: HTMLElement, page: Page) {
    super(page);
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

  read(data: Data) {
    this.data = data;
  }

  take({ row, column }: Place) {
    this.place = { row, column };
    this.mark();
    this.bringIntoView();
  }

  chosen() {
    return { token: this.place?.row, stage: this.place?.column };
  }

  pick(place: Place) {
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

  cell(data: Data, { row, column }: Place) {
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

  /** The colour of a shade, and of text on it. */
  shadeOf({ scale }: Data, shade: number) {
    if (scale === "share") return [css(Math.sqrt(shade)), inkOn(Math.sqrt(shade))];
    const rgb = amountColour(shade, this.colours.roles);
    return [`rgb(${rgb.join(" ")})`, inkOnRgb(rgb)];
  }

  paintLegend(data: Data) {
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

  /** The button of a cell; none where a shorter text has no such cell. */
  nodeAt({ row, column }: Place) {
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

  /** Says what a cell shows, or the chosen one. */
  point(pointed: Place | null) {
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
    const { columns, rows, texts } = this.data as Data;
    const lines = rows.map((name, row) => [String(row), name, ...texts[row]]);
    return { title: "Logit lens", columns: ["position", "token", ...columns], rows: lines };
  }
}

/** The colour of an amount, from little to much, as the figures draw lengths. */
export function amountColour(shade: number, roles: Record<string, string>) {
  const [low, middle, high] = [roles.little, roles.middling, roles.much].map(bytesOf);
  const [from, to, part] = shade < 0.5 ? [low, middle, 2 * shade] : [middle, high, 2 * shade - 1];
  return from.map((value, i) => Math.round(value + (to[i] - value) * part));
}

/** The cell that an event happened on, null beside the cells. */
function placeOf(event: Event): Place | null {
  const node = buttonOf(event);
  return node && { row: Number(node.dataset.row), column: Number(node.dataset.column) };
}

const sentence = ({ rows, columns, notes }: Data, { row, column }: Place) =>
  `${quoted(rows, row)}, ${columns[column]}: ${notes[row][column]}`;
