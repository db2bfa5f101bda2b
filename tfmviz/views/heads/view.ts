// A map of heads: each is a button where two measurements put it. Pointer and keyboard show the head's picture on the
// reader's sentence; a click chooses the head.

import { ticks } from "../cells/words.ts";
import { fresh, measured } from "../shared/canvas.ts";
import { css } from "../shared/colours.ts";
import { figureOf } from "../shared/drawn.ts";
import { button, make, within } from "../shared/elements.ts";
import { hatch } from "../shared/hatch.ts";
import { component, type Page, ViewBase } from "../shared/view_base.ts";

type Scale = { title: string; low: number; high: number };
type Point = { name: string; about: string; x: number; y: number; kind: string; word: string } & Sent;
type Sent = { rows: number; cells: string };
type Heads = { caption: string; axes: [Scale, Scale]; points: Point[]; chosen: number };

const LONGER_SIDE = 240; // pixels of the longer side
const LEVELS_OF_CELL = 9;
const HUES = ["looks", "looked", "v", "mlp", "below", "position"]; // of kinds of heads, in the order they come in
const MOST_TICKS = 6;
const DOT = 7; // pixels from the middle of a point to where its name may begin

class HeadMap extends ViewBase {
  data!: Heads; // from the first `show` on
  at = -1;
  buttons: HTMLButtonElement[] = []; // one for each point
  caption = make("p");
  key = make("p", { className: "key" });
  plot = make("div", { className: "plot" });
  picture = make("canvas");
  name = make("strong");
  about = make("p", { className: "about" });
  aside = make("div", { className: "aside" }, this.name, this.picture, this.about);
  body = make("div", { className: "body" }, this.plot, this.aside);

  constructor(parent: HTMLElement, page: Page) {
    super(parent, page);
    const properties = { className: "heads", ariaLabel: "Map of heads" };
    this.mount(properties, this.caption, this.key, this.body, this.bar());
    this.plot.addEventListener("keydown", (event) => this.move(event));
    this.plot.addEventListener("pointerleave", () => this.look(this.data.chosen));
  }

  read(data: Heads) {
    this.data = data;
    this.at = data.chosen;
  }

  draw() {
    const { caption, axes, points, chosen } = this.data;
    const focused = this.buttons.findIndex((node) => node.matches(":focus"));
    this.caption.textContent = caption;
    const kinds = [...new Set(points.map(({ kind }) => kind))].filter(Boolean);
    const hued = <Node extends HTMLElement>(node: Node, kind: string) => {
      node.style.setProperty("--hue", `var(--${HUES[kinds.indexOf(kind) % HUES.length] ?? "plain"})`);
      return node;
    };
    const keyOf = (kind: string) => make("span", { textContent: kind || "no claim", className: kind && "held" });
    this.key.replaceChildren(...[...kinds, ""].map((kind) => hued(keyOf(kind), kind)));
    this.buttons = points.map((point, n) => hued(this.button(point, n, n === Math.max(chosen, 0)), point.kind));
    this.plot.replaceChildren(...axes.flatMap(axisOf), ...this.buttons);
    this.placeNames();
    this.buttons[focused]?.focus();
    this.look(this.at);
  }

  button(point: Point, n: number, isFirst: boolean) {
    const [x, y] = this.data.axes.map((axis, k) => along(k ? point.y : point.x, axis));
    return button(point.word, {
      className: point.kind && "held",
      ariaLabel: `${point.name}. ${point.about}`,
      ariaPressed: String(n === this.data.chosen),
      tabIndex: isFirst ? 0 : -1,
      style: { left: `${x}%`, bottom: `${y}%` },
      onclick: () => this.page.pick?.(n),
      onpointerenter: () => this.look(n),
      onfocus: () => this.look(n),
    });
  }

  /** A name stands right or left of its point, where it touches no other point or name; else it is left out. */
  placeNames() {
    const { axes, points, chosen } = this.data;
    const { clientWidth, clientHeight } = this.plot;
    const taken = points.map(({ x, y }) => {
      const [left, up] = [(along(x, axes[0]) * clientWidth) / 100, (along(y, axes[1]) * clientHeight) / 100];
      return { left: left - DOT, right: left + DOT, low: up - DOT, high: up + DOT };
    });
    const order = points.map((_, n) => n).sort((a, b) => Number(b === chosen) - Number(a === chosen));
    for (const n of order) {
      const { left, right, low, high } = taken[n];
      const wide = measured(points[n].word, `${this.colours.letters}px ${this.colours.font}`).width + 2;
      const sides = [right, left - wide].map((from) => ({ left: from, right: from + wide, low, high }));
      const free = sides.findIndex((side) => !taken.some((other, m) => m !== n && touch(side, other)));
      if (free < 0) this.buttons[n].textContent = "";
      else if (points[n].word) taken.push(sides[free]);
      this.buttons[n].classList.toggle("left", free === 1);
    }
  }

  move(event: KeyboardEvent) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const { points } = this.data;
    const order = points.map((_, n) => n).sort((a, b) => points[a].x - points[b].x || a - b);
    const from = order.indexOf(this.buttons.indexOf(event.target as HTMLButtonElement));
    this.buttons[order[within(from + step, order.length)]].focus();
  }

  look(n: number) {
    this.at = n;
    const point = this.data.points[n];
    this.name.textContent = point?.name ?? "";
    this.about.textContent = point?.about ?? "";
    const columns = point?.rows ? point.cells.length / point.rows : 0;
    this.picture.hidden = !columns;
    if (!columns) return;
    const size = Math.max(1, Math.floor(LONGER_SIDE / Math.max(point.rows, columns)));
    const pen = fresh(this.picture, columns * size, point.rows * size);
    for (let cell = 0; cell < point.cells.length; cell++) {
      const digit = point.cells[cell];
      pen.fillStyle = digit === " " ? this.colours.masked : css(Number(digit) / LEVELS_OF_CELL);
      pen.fillRect((cell % columns) * size, Math.floor(cell / columns) * size, size, size);
    }
    const sheet = { rows: point.rows, columns, wide: size, high: size };
    hatch(pen, sheet, this.colours, (row, column) => point.cells[row * columns + column] === " ");
  }

  figure() {
    return { ...figureOf(this.body), name: "heads", title: "Map of heads", caption: this.data.caption };
  }

  values() {
    const { axes, points } = this.data;
    const rows = points.map(({ name, x, y, about }) => [name, x, y, about]);
    return { title: "Map of heads", columns: ["head", ...axes.map(({ title }) => title), "about"], rows };
  }
}

type Box = { left: number; right: number; low: number; high: number };

const touch = (a: Box, b: Box) => a.left < b.right && b.left < a.right && a.low < b.high && b.low < a.high;

const along = (value: number, { low, high }: Scale) => (100 * (value - low)) / (high - low || 1);

const axisOf = (axis: Scale, n: number) => [
  make("span", { className: `title axis${n}`, textContent: axis.title }),
  ...ticks({ ...axis, ticks: "decimal" }, MOST_TICKS).map(({ value, text }) => {
    const place = { [n ? "bottom" : "left"]: `${along(value, axis)}%` };
    return make("span", { className: `tick axis${n}`, textContent: text, style: place });
  }),
];

export default component((parent, page) => new HeadMap(parent, page));
