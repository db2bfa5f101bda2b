// A table whose rows can be chosen, and sentences with marked words. All of it becomes text, never HTML.

import { figureOf } from "../shared/drawn.ts";
import { button, fadeEnd, make, named } from "../shared/elements.ts";
import { barLength } from "../shared/numbers.ts";
import { parted } from "../shared/parted.ts";
import { isNumeric, numberIn, orderOf } from "../shared/table.ts";
import { component, ViewBase } from "../shared/view_base.ts";

interface Table {
  caption: string;
  columns: string[];
  rows: string[][];
  shares: number[];
  has_ground: boolean;
  picked: number | null;
  about: string;
  low: boolean;
  sortable: boolean;
  sentences: [before: string, marked: string, after: string][];
}

class Counts extends ViewBase {
  data!: Table; // from the first `read` on
  body = make("div");
  node = this.mount({ className: "counts" }, this.body, this.bar());
  sorted = { column: -1, isUp: false }; // -1: the rows stand as they come

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
    const look = { className: data.low ? "low scroller" : "scroller", onscroll: () => this.edges() };
    // On a phone a table may be wider than the screen. If it has no buttons, the keyboard scrolls the table itself.
    const hasButtons = data.picked !== null || data.sortable;
    const region = hasButtons ? {} : { tabIndex: 0, role: "region", ariaLabel: data.caption };
    const scroller = make("div", { ...look, ...region }, table(data, this));
    const focused = this.body.querySelector(":focus");
    const { row, column } = focused instanceof HTMLElement ? focused.dataset : {};
    this.body.replaceChildren(
      make("p", { textContent: data.caption }),
      scroller,
      make("p", { className: "more" }),
      make("p", { className: "about", role: "status", textContent: data.about }),
      make("ol", { hidden: !data.sentences.length }, ...data.sentences.map(sentence)),
    );
    const again = this.body.querySelector(`button[data-row="${row}"], button[data-column="${column}"]`);
    if (again instanceof HTMLElement) again.focus();
    if (data.low) wholeRows(scroller);
    this.edges();
  }

  // Says what the edges of the scroller hide.
  edges() {
    const [scroller, more] = this.body.querySelectorAll<HTMLElement>(".scroller, .more");
    const { bottom } = scroller.getBoundingClientRect();
    const rows = [...scroller.querySelectorAll("tbody tr")];
    const below = this.data.low ? rows.filter((row) => row.getBoundingClientRect().bottom > bottom + 1).length : 0;
    fadeEnd(scroller);
    more.hidden = below === 0;
    more.textContent = below === 1 ? "1 more row" : `${below} more rows`;
  }

  figure() {
    return { ...figureOf(this.body), name: "table", title: this.data.caption, caption: "" };
  }

  values() {
    const { caption, columns, rows } = this.data;
    return { title: caption, columns, rows: rows.map(([name, ...cells]) => [name, ...cells.map(numberIn)]) };
  }
}

/** Ends the scroller below the last row that it can show whole. */
function wholeRows(scroller: HTMLElement) {
  const { top, bottom } = scroller.getBoundingClientRect();
  const bottoms = [...scroller.querySelectorAll("tbody tr")].map((row) => row.getBoundingClientRect().bottom);
  const last = bottoms.filter((end) => end <= bottom).at(-1);
  if (last && last !== bottoms.at(-1)) scroller.style.maxHeight = `${last - top}px`;
}

const LONG = 24; // characters: longer words wrap

function table(data: Table, view: Counts) {
  const { caption, columns, rows, shares, picked } = data;
  const { column: by, isUp } = view.sorted;
  const hasBars = (column: number) => shares.length > 0 && column === columns.length - 1;
  const longest = columns.map((_, n) => Math.max(...rows.map((row) => row[n].length)));
  const kinds = columns.map((_, n) => {
    if (hasBars(n)) return "bar";
    if (n === 0 || isNumeric(rows.map((row) => row[n]))) return "";
    return longest[n] > LONG ? "words long" : "words";
  });
  const head = columns.map((title, n) => {
    const canSort = data.sortable && (n === 0 || rows.some((row) => typeof numberIn(row[n]) === "number"));
    if (!title) return make("td", { className: kinds[n] }); // above names that need none
    if (!canSort) return make("th", { scope: "col", textContent: parted(title), className: kinds[n] });
    const arrow = n === by ? (isUp ? " ↑" : " ↓") : "";
    const sort = button(parted(title) + arrow, { dataset: { column: n }, onclick: () => view.sortBy(n) });
    const ariaSort = n === by ? (isUp ? "ascending" : "descending") : "none";
    return make("th", { scope: "col", className: kinds[n], ariaSort }, sort);
  });
  const body = (by < 0 ? rows.map((_, n) => n) : orderOf(rows, by, isUp)).map((row) => {
    const [name, ...numbers] = rows[row];
    const chosen = row === picked;
    const label = named(name);
    const choice = button("", { ariaPressed: String(chosen), dataset: { row }, onclick: () => view.page.pick?.(row) });
    choice.append(label);
    const cells = numbers.map((text, n) => {
      const number = make("span", { textContent: text });
      const cell = make("td", { className: kinds[n + 1] }, number);
      if (hasBars(n + 1)) {
        number.style.minWidth = `${longest[n + 1]}ch`;
        cell.style.setProperty("--share", barLength(shares[row]));
      }
      return cell;
    });
    const first = make("th", { scope: "row" }, picked === null ? label : choice);
    return make("tr", { className: chosen ? "picked" : "" }, first, ...cells);
  });
  const parts = [make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body)];
  return make("table", { ariaLabel: caption, className: data.has_ground ? "grounded" : "" }, ...parts);
}

const sentence = ([before, marked, after]: Table["sentences"][number]) =>
  make("li", { dir: "auto" }, before, make("mark", { textContent: marked }), after);

export default component((parent, page) => new Counts(parent, page));
