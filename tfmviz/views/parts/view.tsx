// The board of parts: every head, MLP and layer is a switch. Pictures follow it at once; the page around hears of it.

import { render } from "preact";
import { buttonOf, make, takenArrow } from "../shared/elements.ts";
import { component, ViewBase } from "../shared/view_base.ts";

type Part = [code: string, name: string];
type Parts = { columns: string[]; rows: { name: string; parts: (Part | null)[] }[]; done: string };

const MOST_NAMED = 6;

export class Board extends ViewBase {
  data!: Parts; // from the first `show` on
  off: string[] = []; // codes
  isKnown = false; // what is off: Python or the reader has said it
  at: string | undefined; // the switch that Tab reaches, the first if none
  body = make("div", { onkeydown: (event) => this.move(event) });
  node = this.mount({ className: "parts", ariaLabel: "Parts of the model" }, this.body);

  draw() {
    const { columns, rows, done } = this.data;
    const parts = rows.flatMap((row) => row.parts.filter((part) => part !== null));
    const named = parts.filter(([code]) => this.off.includes(code)).map(([, name]) => name);
    const more = named.length > MOST_NAMED ? ` and ${named.length - MOST_NAMED} more` : "";
    const at = parts.find(([code]) => code === this.at) ?? parts[0];
    const switchOf = (part: Part, text: string) => (
      <button
        type="button"
        role="switch"
        tabIndex={part === at ? 0 : -1}
        aria-checked={!this.off.includes(part[0])}
        aria-label={part[1]}
        title={part[1]}
        data-code={part[0]}
        onClick={() => this.turn(part[0])}
      >
        {text}
      </button>
    );
    const layerOf = ({ name, parts: [layer, ...others] }: Parts["rows"][number]) => (
      <div key={name} class="layer" role="group" aria-label={name}>
        {layer ? switchOf(layer, name) : <span>{name}</span>}
        {others.map((part, n) => (part ? switchOf(part, columns[n]) : <span key={columns[n]} />))}
      </div>
    );
    render(
      <>
        <div class="strip">{rows.map(layerOf)}</div>
        <p role="status">
          {named.length ? `${done}: ${named.slice(0, MOST_NAMED).join(", ")}${more}.` : "Every part is on."}
        </p>
      </>,
      this.body,
    );
  }

  turn(code: string) {
    const isOff = this.off.includes(code);
    this.off = isOff ? this.off.filter((one) => one !== code) : [...this.off, code].sort();
    this.isKnown = true;
    this.draw();
    this.notifyChange();
  }

  /** Arrow keys lead to the next switch of a layer, or to the same of the next layer. */
  move(event: KeyboardEvent) {
    const from = buttonOf(event);
    const arrow = from && takenArrow(event);
    if (!arrow) return;
    const rows = [...this.body.querySelectorAll(".layer")].map(({ children }) =>
      [...children].map((child) => (child instanceof HTMLButtonElement ? child : null)),
    );
    let row = rows.findIndex((line) => line.includes(from));
    let column = rows[row].indexOf(from);
    do {
      row += arrow[0];
      column += arrow[1];
    } while (rows[row]?.[column] === null);
    const to = rows[row]?.[column];
    if (!to) return;
    this.at = to.dataset.code;
    this.draw();
    to.focus();
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

export default component((parent, page) => new Board(parent, page));
