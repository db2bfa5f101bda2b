// A table whose rows can be chosen, and sentences with marked words. All of it becomes text, never HTML.

import { figureOf } from "../shared/drawn.ts";
import { button, make } from "../shared/elements.ts";
import { component } from "../shared/meet.ts";
import { barLength } from "../shared/numbers.ts";
import { type Page, Shell } from "../shared/shell.ts";
import { numberIn, orderOf } from "../shared/table.ts";

interface Table {
  caption: string;
  columns: string[];
  rows: string[][];
  shares: number[];
  has_ground: boolean;
  spared: number[];
  picked: number | null;
  about: string;
  low: boolean;
  texts: boolean;
  sortable: boolean;
  sentences: [before: string, marked: string, after: string][];
}

class Counts extends Shell {
  data!: Table; // from the first `read` on
  body = make("div");
  sorted = { column: -1, isUp: false }; // -1: the rows stand as they come

  constructor(parent: HTMLElement, page: Page) {
    super(page);
    this.mount(parent, { className: "counts" }, this.body, this.bar());
  }

  read(data: Table) {
    if (data.caption !== this.data?.caption) this.sorted = { column: -1, isUp: false };
    this.data = data;
  }

  // Largest first, then smallest first, then as they came.
  sortBy(column: number) {
    const { column: before, isUp } = this.sorted;
    if (column !== before) this.sorted = { column, isUp: column === 0 };
    else if (isUp === (column === 0)) this.sorted = { column, isUp: !isUp };
    else this.sorted = { column: -1, isUp: false };
    this.draw();
  }

  draw() {
    const { data } = this;
    const focused = this.body.querySelector(":focus");
    const { row, column } = focused instanceof HTMLElement ? focused.dataset : {};
    this.body.replaceChildren(
      make("p", { textContent: data.caption }),
      make("div", { className: data.low ? "low scroller" : "scroller", ...region(data) }, table(data, this)),
      make("p", { className: "about", role: "status", textContent: data.about }),
      make("ol", { hidden: !data.sentences.length }, ...data.sentences.map(sentence)),
    );
    const again = this.body.querySelector(`button[data-row="${row}"], button[data-column="${column}"]`);
    if (again instanceof HTMLElement) again.focus();
  }

  figure() {
    return { ...figureOf(this.body), name: "table", title: this.data.caption, caption: "" };
  }

  values() {
    const { caption, columns, rows } = this.data;
    return { title: caption, columns, rows: rows.map(([name, ...cells]) => [name, ...cells.map(numberIn)]) };
  }
}

/** On a phone a table may be wider than the screen. If it has no buttons, the keyboard scrolls the table itself. */
const region = ({ caption, picked, sortable }: Table) =>
  picked === null && !sortable ? { tabIndex: 0, role: "region", ariaLabel: caption } : {};

function table(data: Table, view: Counts) {
  const { caption, columns, rows, shares, spared, picked, texts } = data;
  const { column: by, isUp } = view.sorted;
  const kind = (column: number) => (spared.includes(column) ? "spared" : "");
  const head = columns.map((title, n) => {
    const canSort = data.sortable && (n === 0 || rows.some((row) => typeof numberIn(row[n]) === "number"));
    if (!title) return make("td", { className: kind(n) }); // above names that need none
    if (!canSort) return make("th", { scope: "col", textContent: title, className: kind(n) });
    const arrow = n === by ? (isUp ? " ↑" : " ↓") : "";
    const sort = button(title + arrow, { dataset: { column: n }, onclick: () => view.sortBy(n) });
    const ariaSort = n === by ? (isUp ? "ascending" : "descending") : "none";
    return make("th", { scope: "col", className: kind(n), ariaSort }, sort);
  });
  const body = (by < 0 ? rows.map((_, n) => n) : orderOf(rows, by, isUp)).map((row) => {
    const [name, ...numbers] = rows[row];
    const chosen = row === picked;
    const label = make("span", { textContent: name, dir: "auto" });
    const choice = button("", { ariaPressed: String(chosen), dataset: { row }, onclick: () => view.page.pick?.(row) });
    choice.append(label);
    const cells = numbers.map((text, n) => make("td", { textContent: text, className: kind(n + 1) }));
    const last = cells.at(-1);
    if (shares.length && last) last.style.setProperty("--share", barLength(shares[row]));
    const first = make("th", { scope: "row" }, picked === null ? label : choice);
    return make("tr", { className: chosen ? "picked" : "" }, first, ...cells);
  });
  const bars = data.has_ground ? "shares grounded" : "shares";
  const className = texts ? "texts" : shares.length ? bars : "";
  return make(
    "table",
    { ariaLabel: caption, className },
    make("thead", {}, make("tr", {}, ...head)),
    make("tbody", {}, ...body),
  );
}

function sentence([before, marked, after]: [before: string, marked: string, after: string]) {
  return make("li", { dir: "auto" }, before, make("mark", { textContent: marked }), after);
}

export default component((parent, page) => new Counts(parent, page));
