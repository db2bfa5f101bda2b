// One token on its way through a feed-forward layer. Pointing is answered here; a number that is chosen is reported,
// and Python answers with the sum behind it.

/** @import { Matrix } from "../shared/arrays.js" */
/** @import { Pen } from "../shared/canvas.js" */
/** @import { Page } from "../shared/shell.js" */
/** @import { Colours } from "../shared/colours.js" */
/** @import { Header, Sum } from "./explain.js" */
/** @import { Layout, Part, Place } from "./layout.js" */
/** @import { Scene } from "./paint.js" */
import { unpack } from "../shared/arrays.js";
import { fresh, Layer } from "../shared/canvas.js";
import { arrowOf, make } from "../shared/elements.js";
import { number } from "../shared/numbers.js";
import { Shell, STILL } from "../shared/shell.js";
import { plainSite } from "../shared/sites.js";
import { blockOf } from "../shared/sums.js";
import { account, nameOf, noun, numberAt } from "./explain.js";
import { isPart, layoutOf, moved, placeAt } from "./layout.js";
import { paintChoice, paintLayer, paintWeights } from "./paint.js";

export class FeedForward extends Shell {
  /** @type {Header} */
  header;
  /** @type {Record<string, Matrix>} */
  arrays;
  /** @type {Layout} */
  layout;
  /** @type {Scene} */
  scene;
  /** @type {Place} */
  place = { part: "pre", index: 0 };
  /** @type {Place | null} */
  hovered = null;
  /** @type {Sum | null} */
  sum = null;
  drawing = new Layer();

  /**
   * @param {HTMLElement} parent
   * @param {Page} page
   */
  constructor(parent, page) {
    super(page);
    this.canvas = make("canvas", { tabIndex: 0, role: "img" });
    this.tip = make("p", { className: "tip" });
    this.reason = make("h2");
    this.blocks = make("div", { className: "blocks" });
    this.mount(
      parent,
      { className: "feed-forward", ariaLabel: "One token through the feed-forward layer" },
      this.bar(),
      this.canvas,
      this.tip,
      make("section", { className: "why" }, this.reason, this.blocks),
    );
    this.listen();
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("pointermove", (event) => event.pointerType !== "touch" && this.hover(this.placeOf(event)));
    canvas.addEventListener("pointerleave", () => this.hover(null));
    canvas.addEventListener("click", (event) => {
      const place = this.placeOf(event);
      if (place) this.choose(place, 0);
    });
    canvas.addEventListener("keydown", (event) => {
      const arrow = arrowOf(event);
      if (!arrow) return;
      event.preventDefault();
      event.stopPropagation();
      this.choose(moved(this.layout, this.place, arrow));
    });
  }

  /** @param {MouseEvent} event */
  placeOf(event) {
    const box = this.canvas.getBoundingClientRect();
    return placeAt(this.layout, event.clientX - box.left, event.clientY - box.top);
  }

  /**
   * Takes another sentence, model, layer or token.
   * @param {Uint8Array} bytes
   */
  read(bytes) {
    const { header, arrays } = unpack(bytes);
    Object.assign(this, { header, arrays, hovered: null });
    this.place = this.fitted(this.place);
  }

  /**
   * @param {Place} place
   * @returns {Place}
   */
  fitted({ part, index }) {
    const own = this.arrays[part] ? part : "pre";
    return { part: own, index: Math.min(this.arrays[own].columns - 1, Math.max(0, index || 0)) };
  }

  /**
   * Takes what the page around has chosen, with the sum behind that number.
   * @param {{sequence: number, at: string, sum: Sum | null}} answer `at` is "pre.117"
   */
  take({ sequence, at, sum }) {
    const [part, index] = at.split(".");
    if (isPart(part)) this.place = this.fitted({ part: /** @type {Part} */ (part), index: Number(index) });
    this.sum = sum;
    this.drawChoice();
    if (sequence) this.say(this.reason.textContent);
  }

  chosen() {
    return { at: `${this.place.part}.${this.place.index}` };
  }

  /**
   * @param {Place} place
   * @param {number} [delay]
   */
  choose(place, delay = STILL) {
    this.place = place;
    this.sum = null;
    this.hovered = null;
    this.drawChoice();
    this.tell(delay);
  }

  /** @param {Place | null} place */
  hover(place) {
    this.hovered = place;
    this.point();
  }

  draw() {
    this.layout = layoutOf(this.arrays, this.width);
    const { header, arrays, layout, colours } = this;
    this.scene = { header, arrays, layout, colours };
    this.drawChoice();
  }

  drawChoice() {
    const { scene, layout, arrays, header, place } = this;
    if (!scene) return;
    const context = fresh(this.canvas, layout.width, layout.height);
    const still = this.drawing.drawn(layout, [scene], (pen) => paintLayer(pen, scene));
    context.drawImage(still, 0, 0, layout.width, layout.height);
    paintChoice(context, scene, place);
    paintWeights(context, scene);
    const sum = this.sum?.of === header.of ? this.sum : null; // it may come before its vectors, or after the next
    const { title, blocks } = account({ header, arrays }, place, sum);
    this.reason.textContent = title;
    this.blocks.replaceChildren(...blocks.map(blockOf));
    const vectors = layout.boxes.map(({ part, length }) => `${nameOf(part, header)[0]} ${length}`).join(", ");
    const lengths = `The vectors of ${header.token} with their lengths: ${vectors}.`;
    this.canvas.ariaLabel = `${lengths} Chosen: ${title}. Arrow keys move.`;
    this.point();
  }

  /** Says what is pointed at, or else what to do. */
  point() {
    if (!this.hovered) {
      this.tip.textContent = "Point at a cell for its number; click it for its origin.";
      return;
    }
    const { part, index } = this.hovered;
    const value = number(numberAt(this.arrays, this.hovered));
    this.tip.textContent = `${nameOf(part, this.header)[0]}, ${noun(part)} ${index}: ${value}`;
  }

  figure() {
    const { layout, scene, place } = this;
    /** @param {Pen} pen */
    const paint = (pen) => {
      paintLayer(pen, scene);
      paintChoice(pen, scene, place);
      paintWeights(pen, scene);
    };
    return { width: layout.width, height: layout.height, paint };
  }

  titles() {
    const { title, layer, token } = this.header;
    const caption = this.reason.textContent ?? "";
    return { name: "feed-forward", title: `${title}, ${plainSite(layer)}, ${token}`, caption };
  }

  values() {
    const rows = this.layout.boxes.flatMap(({ part }) =>
      Array.from(this.arrays[part].values, (value, n) => [nameOf(part, this.header)[0], n, value]),
    );
    return { title: this.titles().title, columns: ["vector", "number", "value"], rows };
  }
}
