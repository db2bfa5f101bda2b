// One token on its way through a feed-forward layer. Pointing is answered here; a number that is chosen is reported,
// and Python answers with the sum behind it.

import { type Arrays, unpack } from "../shared/arrays.ts";
import { fresh, Layer, type Pen } from "../shared/canvas.ts";
import { make, takenArrow, within } from "../shared/elements.ts";
import { plainSite } from "../shared/quoted.ts";
import { blockOf } from "../shared/sums.ts";
import { component, DEBOUNCE_MS, type Page, ViewBase } from "../shared/view_base.ts";
import { account, type Header, nameOf, type Sum, said, TONE } from "./explain.ts";
import type { Layout, Part, Place } from "./paint.ts";
import { layoutOf, moved, paintChoice, paintLayer, paintWeights, placeAt } from "./paint.ts";

class FeedForward extends ViewBase {
  header!: Header; // from the first `read` on, as the arrays
  arrays!: Arrays;
  layout!: Layout; // from the first drawing on
  place: Place = { part: "pre", index: 0 };
  hovered: Place | null = null;
  sum: Sum | null = null;
  drawing = new Layer();

  canvas = make("canvas", { tabIndex: 0, role: "img" });
  tip = make("p", { className: "tip" });
  reason = make("h2");
  blocks = make("div", { className: "blocks" });

  constructor(parent: HTMLElement, page: Page) {
    super(parent, page);
    const { canvas } = this;
    const look = { className: "feed-forward", ariaLabel: "One token through the feed-forward layer" };
    const why = make("section", { className: "why" }, this.reason, this.blocks);
    this.mount(look, this.bar(), canvas, this.tip, why);
    canvas.onpointermove = (event) => event.pointerType !== "touch" && this.hover(this.placeOf(event));
    canvas.onpointerleave = () => this.hover(null);
    canvas.onclick = (event) => {
      const place = this.placeOf(event);
      if (place) this.choose(place, 0);
    };
    canvas.onkeydown = (event) => {
      const arrow = takenArrow(event);
      if (arrow) this.choose(moved(this.layout, this.place, arrow));
    };
  }

  placeOf(event: MouseEvent) {
    const box = this.canvas.getBoundingClientRect();
    return placeAt(this.layout, event.clientX - box.left, event.clientY - box.top);
  }

  read(bytes: Uint8Array) {
    const { header, arrays } = unpack<Header>(bytes);
    Object.assign(this, { header, arrays, hovered: null });
    this.place = this.fitted(this.place);
  }

  fitted({ part, index }: Place): Place {
    const own = this.arrays[part] ? part : "pre";
    return { part: own, index: within(index || 0, this.arrays[own].columns) };
  }

  /** `at` is "pre.117", the sum that behind this number. */
  take({ sequence, at, sum }: { sequence: number; at: string; sum: Sum | null }) {
    const [part, index] = at.split(".");
    if (Object.hasOwn(TONE, part)) this.place = this.fitted({ part: part as Part, index: Number(index) });
    this.sum = sum;
    this.drawChoice();
    if (sequence) this.say(this.reason.textContent);
  }

  chosen() {
    return { at: `${this.place.part}.${this.place.index}` };
  }

  choose(place: Place, delay: number = DEBOUNCE_MS) {
    Object.assign(this, { place, sum: null, hovered: null });
    this.drawChoice();
    this.notify(delay);
  }

  hover(place: Place | null) {
    this.hovered = place;
    this.point();
  }

  draw() {
    this.layout = layoutOf(this.arrays, this.width);
    this.drawChoice();
  }

  drawChoice() {
    const { layout, arrays, header, place } = this;
    if (!layout) return;
    const context = fresh(this.canvas, layout.width, layout.height);
    const still = this.drawing.drawn(layout, [layout], (pen) => paintLayer(pen, this));
    context.drawImage(still, 0, 0, layout.width, layout.height);
    paintChoice(context, this);
    paintWeights(context, this);
    const sum = this.sum?.of === header.of ? this.sum : null; // it may come before its vectors, or after the next
    const { title, blocks } = account({ header, arrays, place, sum });
    this.reason.textContent = title;
    this.blocks.replaceChildren(...blocks.map(blockOf));
    const vectors = layout.boxes.map(({ part, length }) => `${nameOf(part, header)[0]} ${length}`).join(", ");
    const lengths = `The vectors of ${header.token} and their sizes: ${vectors}.`;
    this.canvas.ariaLabel = `${lengths} Chosen: ${title}. Arrow keys move.`;
    this.point();
  }

  point() {
    const idle = "Hover over a cell for its value; click it to see how it was computed.";
    this.tip.textContent = this.hovered ? said(this.header, this.arrays, this.hovered) : idle;
  }

  figure() {
    const { width, height } = this.layout;
    const paint = (pen: Pen) => {
      paintLayer(pen, this);
      paintChoice(pen, this);
      paintWeights(pen, this);
    };
    const { title, layer, token } = this.header;
    const caption = this.reason.textContent ?? "";
    const name = "feed-forward";
    return { width, height, paint, name, title: `${title}, ${plainSite(layer)}, ${token}`, caption };
  }

  values() {
    const rows = this.layout.boxes.flatMap(({ part }) =>
      Array.from(this.arrays[part].values, (value, n) => [nameOf(part, this.header)[0], n, value]),
    );
    return { title: this.figure().title, columns: ["vector", "number", "value"], rows };
  }
}

export default component((parent, page) => new FeedForward(parent, page));
