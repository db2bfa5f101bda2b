// A table of words, one row a token, one column a stage. Every touch is answered here; the page gets the chosen cell.

import { render } from "preact";
import { between, bytesOf, painted, probable } from "../shared/colours.ts";
import { figureOf } from "../shared/drawn.ts";
import { buttonOf, fadeEnd, make, reached, rove } from "../shared/elements.ts";
import { joinsOf } from "../shared/kinds.ts";
import { Head, Named } from "../shared/named.tsx";
import { quoted } from "../shared/quoted.ts";
import { component, type Page, ViewBase } from "../shared/view_base.ts";

/** What Python sends: names, and for every row a list with an entry a column. A shade is a probability, drawn in teal,
 * or an amount from 0 to 1, drawn from faint to strong; `legend` labels the ends of the scale. */
interface Data {
  columns: string[];
  rows: string[];
  tokens: string[];
  texts: string[][];
  notes: string[][];
  shades: number[][];
  scale: "share" | "amount";
  legend: [what: string, low: string, high: string];
}

type Place = { row: number; column: number };

export class Lens extends ViewBase {
  data!: Data; // from the first `show` on
  place: Place | null = null;

  scroller = make("div", { className: "scroller", tabIndex: 0, role: "region", ariaLabel: "Logit lens" });
  legend = make("p", { className: "legend" });
  tip = make("p", { className: "tip" });

  constructor(parent: HTMLElement, page: Page) {
    super(parent, page);
    this.scroller.onscroll = () => fadeEnd(this.scroller);
    this.mount({ className: "lens" }, this.bar(), this.legend, this.scroller, this.tip);
  }

  take({ row, column }: Place) {
    this.place = { row, column };
    this.redraw();
    // Of a long text the chosen row may lie beyond the table's edge.
    const line = this.scroller.querySelector<HTMLElement>(".chosen");
    if (!line) return;
    const { offsetTop, offsetHeight } = line;
    const { scrollTop, clientHeight } = this.scroller;
    const isInView = offsetTop >= scrollTop && offsetTop + offsetHeight <= scrollTop + clientHeight;
    if (!isInView) this.scroller.scrollTop = offsetTop - clientHeight / 2;
    const cell = line.querySelector("[aria-pressed=true]")?.closest("td");
    const beyond = cell ? cell.offsetLeft + cell.offsetWidth - this.scroller.clientWidth : 0;
    if (beyond > this.scroller.scrollLeft) this.scroller.scrollLeft = beyond; // a phone shows the answer first
  }

  chosen() {
    return { token: this.place?.row, stage: this.place?.column };
  }

  pick(place: Place | null) {
    if (!place) return;
    this.place = place;
    this.draw();
    this.notify(0);
  }

  draw() {
    const { data } = this;
    const chosen = this.place && this.has(this.place) ? this.place : null;
    const cell = (row: number, column: number) => {
      const isChosen = row === chosen?.row && column === chosen.column;
      return (
        <td key={column}>
          <button
            type="button"
            ref={reached(isChosen)}
            dir="auto"
            data-row={row}
            data-column={column}
            style={this.shadeOf(data.shades[row][column])}
            aria-label={sentence(data, { row, column })}
            aria-pressed={isChosen}
          >
            <Named label={data.texts[row][column]} />
          </button>
        </td>
      );
    };
    const joins = joinsOf(data.tokens);
    const line = (name: string, row: number) => (
      <tr key={row} class={row === chosen?.row ? "chosen" : ""}>
        <th scope="row" dir="auto" title={`Token ${row}`} class={joins[row]}>
          <Named label={name} />
        </th>
        {data.columns.map((_, column) => cell(row, column))}
      </tr>
    );
    const point = (event: Event) => this.point(placeOf(event));
    render(
      <table
        onKeyDown={(event) => rove(event, data.columns.length)}
        onClick={(event) => this.pick(placeOf(event))}
        onPointerOver={point}
        onFocusIn={point}
        onPointerLeave={() => this.point(null)}
      >
        <Head names={["token", ...data.columns]} />
        <tbody>{data.rows.map(line)}</tbody>
      </table>,
      this.scroller,
    );
    const [what, low, high] = data.legend;
    const stops = Array.from({ length: 9 }, (_, n) => this.shadeOf(n / 8).background);
    const background = `linear-gradient(90deg, ${stops.join(",")})`;
    render([`${what}: ${low} `, <span key="ramp" class="ramp" style={{ background }} />, ` ${high}`], this.legend);
    this.point(null);
    fadeEnd(this.scroller);
  }

  shadeOf(shade: number) {
    const { roles } = this.colours;
    return painted(this.data.scale === "share" ? probable(shade, roles) : amountColour(shade, roles));
  }

  /** A shorter text may have no such cell. */
  has({ row, column }: Place) {
    return row < this.data.rows.length && column < this.data.columns.length;
  }

  point(pointed: Place | null) {
    const place = pointed ?? this.place;
    if (place && this.has(place)) this.tip.textContent = sentence(this.data, place);
  }

  figure() {
    const figure = figureOf(this.scroller.firstElementChild as HTMLElement);
    return { ...figure, name: "logit-lens", title: "Logit lens", caption: this.legend.textContent ?? "" };
  }

  values() {
    const { columns, rows, texts } = this.data;
    const lines = rows.map((name, row) => [String(row), name, ...texts[row]]);
    return { title: "Logit lens", columns: ["position", "token", ...columns], rows: lines };
  }
}

/** The colour of an amount, from little to much, as the figures draw lengths. */
export const amountColour = (shade: number, roles: Record<string, string>) =>
  between([roles.little, roles.middling, roles.much].map(bytesOf), shade);

function placeOf(event: Event): Place | null {
  const node = buttonOf(event);
  return node && { row: Number(node.dataset.row), column: Number(node.dataset.column) };
}

const sentence = ({ rows, columns, notes }: Data, { row, column }: Place) =>
  `${quoted(rows, row)}, ${columns[column]}: ${notes[row][column]}`;

export default component((parent, page) => new Lens(parent, page));
