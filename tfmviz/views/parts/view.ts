// The board of parts: every head, MLP and layer is a switch. Pictures follow it at once; the page around hears of it.

import { arrowOf, button, buttonOf, make, put } from "../shared/elements.ts";
import { component } from "../shared/meet.ts";
import { type Page, Shell } from "../shared/shell.ts";

type Part = [code: string, name: string];
type Parts = { columns: string[]; rows: { name: string; parts: (Part | null)[] }[]; done: string };

const MOST_NAMED = 6;

export class Board extends Shell {
  data: Parts | null = null;
  off: string[] = []; // codes
  isKnown = false; // what is off: Python or the reader has said it
  switches: (HTMLButtonElement | null)[][] = [];
  words = make("p", { role: "status" });
  table = make("table");

  constructor(parent: HTMLElement, page: Page) {
    super(page);
    const frame = make("div", { className: "frame" }, this.table);
    this.mount(parent, { className: "parts", ariaLabel: "Parts of the model" }, frame, this.words);
    this.table.addEventListener("click", (event) => this.turn(buttonOf(event)));
    this.table.addEventListener("keydown", (event) => this.move(event));
  }

  read(data: Parts) {
    const isSame = JSON.stringify(this.data?.rows) === JSON.stringify(data.rows);
    this.data = data;
    if (isSame) return; // the keyboard stays where it is
    const { columns, rows } = data;
    this.switches = rows.map(({ name, parts }) =>
      parts.map((part, n) => part && switchOf(part, n ? columns[n - 1] : name)),
    );
    const over = columns.map((textContent) => make("th", { scope: "col", textContent }));
    const lines = rows.map(({ name }, row) =>
      make(
        "tr",
        {},
        ...this.switches[row].map((node, n) =>
          make(n ? "td" : "th", n ? {} : { scope: "row" }, node ?? (n ? "" : name)),
        ),
      ),
    );
    this.table.replaceChildren(make("tr", {}, make("td"), ...over), ...lines);
    const [first] = this.table.getElementsByTagName("button");
    first.tabIndex = 0;
  }

  draw() {
    const all = this.data?.rows.flatMap(({ parts }) => parts.filter((part) => part !== null)) ?? [];
    const named = all.filter(([code]) => this.off.includes(code)).map(([, name]) => name);
    for (const node of this.switches.flat())
      if (node) put(node, { ariaChecked: String(!this.off.includes(`${node.dataset.code}`)) });
    const more = named.length > MOST_NAMED ? ` and ${named.length - MOST_NAMED} more` : "";
    const textContent = named.length
      ? `${this.data?.done}: ${named.slice(0, MOST_NAMED).join(", ")}${more}.`
      : "Everything is on.";
    put(this.words, { textContent });
  }

  turn(node: HTMLButtonElement | null) {
    if (!node) return;
    const code = `${node.dataset.code}`;
    const isOff = this.off.includes(code);
    this.off = isOff ? this.off.filter((one) => one !== code) : [...this.off, code].sort();
    this.isKnown = true;
    this.draw();
    this.tellChange();
  }

  /** Arrow keys lead to the next switch in a row or a column. */
  move(event: KeyboardEvent) {
    const arrow = arrowOf(event);
    const from = buttonOf(event);
    if (!arrow || !from) return;
    event.preventDefault();
    event.stopPropagation(); // the page's own shortcuts are not meant
    let row = this.switches.findIndex((line) => line.includes(from));
    let column = this.switches[row].indexOf(from);
    let next: HTMLButtonElement | null;
    do {
      row += arrow[0];
      column += arrow[1];
      next = this.switches[row]?.[column];
    } while (next === null);
    if (!next) return;
    from.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  chosen() {
    return { off: this.off.join() };
  }

  /** What is changed in a pass of the model; undefined until Python has said it. */
  edited() {
    return this.isKnown ? this.off.join() : undefined;
  }

  take({ off }: { off: string }) {
    this.off = off.split(",").filter(Boolean);
    this.isKnown = true;
    this.redraw();
  }
}

const switchOf = ([code, ariaLabel]: Part, textContent: string) =>
  button(textContent, { role: "switch", tabIndex: -1, ariaLabel, title: ariaLabel, dataset: { code } });

export default component((parent, page) => new Board(parent, page));
