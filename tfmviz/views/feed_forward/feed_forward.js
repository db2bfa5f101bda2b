// One token on its way through a feed-forward layer. Pointing is answered here; a number that is chosen is reported,
// and Python answers with the sum behind it.

/** @import { Matrix } from "../shared/arrays.js" */
/** @import { Header, Sum } from "./explain.js" */
/** @import { Layout, Part, Place } from "./layout.js" */
/** @import { Scene } from "./paint.js" */
import { unpack } from "../shared/arrays.js";
import { fresh, Layer } from "../shared/canvas.js";
import { isDark } from "../shared/colours.js";
import { arrowOf, button, make } from "../shared/elements.js";
import { number } from "../shared/numbers.js";
import { save } from "../shared/picture.js";
import { toneColours } from "../shared/shades.js";
import { blockOf } from "../shared/sums.js";
import { account, nameOf, noun, numberAt } from "./explain.js";
import { isPart, layoutOf, moved, placeAt } from "./layout.js";
import { paintChoice, paintLayer, paintWeights } from "./paint.js";

const STILL = 120; // milliseconds without another key after which the choice is reported

export class FeedForward {
  /** @type {Header} */
  header;
  /** @type {Record<string, Matrix>} */
  arrays;
  /** @type {Layout} */
  layout;
  /** @type {Scene} */
  scene;
  /** @type {Place} */
  chosen = { part: "pre", index: 0 };
  /** @type {Place | null} */
  hovered = null;
  /** @type {Sum | null} */
  sum = null;
  drawing = new Layer();
  sequence = 0; // counts what was reported, so that an answer to an older report is known as such
  width = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  telling;

  /**
   * @param {HTMLElement} parent
   * @param {(selection: {at: string, sequence: number}) => void} report
   */
  constructor(parent, report) {
    this.report = report;
    this.canvas = make("canvas", { tabIndex: 0, role: "img" });
    this.tip = make("p", { className: "tip" });
    this.reason = make("h2");
    this.blocks = make("div", { className: "blocks" });
    this.live = make("p", { className: "unseen", role: "status" });
    this.table = make("div", { className: "table", tabIndex: 0, role: "group", ariaLabel: "The chosen vector" });
    const summary = make("summary", { textContent: "The chosen vector in numbers" });
    this.numbers = make("details", { ontoggle: () => this.writeOut() }, summary, this.table);
    /** @param {"svg" | "png"} format */
    const file = (format) => button(`Save as ${format.toUpperCase()}`, { onclick: () => this.save(format) });
    this.node = make(
      "div",
      { className: "view feed-forward", role: "group", ariaLabel: "One token through the feed-forward layer" },
      this.canvas,
      this.tip,
      make("section", { className: "why" }, this.reason, this.blocks),
      this.numbers,
      make("div", { className: "bar" }, file("svg"), file("png")),
      this.live,
    );
    this.listen();
    parent.append(this.node);
    this.watcher = new ResizeObserver(() => this.header && this.node.clientWidth !== this.width && this.draw());
    this.watcher.observe(this.node);
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("pointermove", (event) => event.pointerType !== "touch" && this.hover(this.placeOf(event)));
    canvas.addEventListener("pointerleave", () => this.hover(null));
    canvas.addEventListener("click", (event) => {
      const place = this.placeOf(event);
      if (place) this.choose(place);
    });
    canvas.addEventListener("keydown", (event) => {
      const arrow = arrowOf(event);
      if (!arrow) return;
      event.preventDefault();
      event.stopPropagation();
      this.choose(moved(this.layout, this.chosen, arrow));
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
  show(bytes) {
    const { header, arrays } = unpack(bytes);
    Object.assign(this, { header, arrays, hovered: null });
    this.chosen = this.fitted(this.chosen);
    this.draw();
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
  select({ sequence, at, sum }) {
    if (sequence < this.sequence) return;
    this.sequence = sequence;
    const [part, index] = at.split(".");
    if (isPart(part)) this.chosen = this.fitted({ part: /** @type {Part} */ (part), index: Number(index) });
    this.sum = sum;
    this.drawChoice();
    if (sequence) this.live.textContent = this.reason.textContent;
  }

  /** @param {Place} place */
  choose(place) {
    this.chosen = place;
    this.sum = null;
    this.hovered = null;
    this.drawChoice();
    this.sequence += 1; // from now on an answer to an older report is out of date
    clearTimeout(this.telling);
    const at = `${place.part}.${place.index}`;
    this.telling = setTimeout(() => this.report({ at, sequence: this.sequence }), STILL);
  }

  /** @param {Place | null} place */
  hover(place) {
    this.hovered = place;
    this.say();
  }

  /** Draws again if the page has turned dark or light. */
  followTheme() {
    if (this.header && isDark(this.node) !== this.scene.colours.isDark) this.draw();
  }

  /** Draws everything: other numbers, or another width. */
  draw() {
    this.width = this.node.clientWidth;
    if (!this.width) return; // another tab is open
    this.layout = layoutOf(this.arrays, this.width);
    const { header, arrays, layout } = this;
    this.scene = { header, arrays, layout, colours: toneColours(this.node) };
    this.drawChoice();
  }

  drawChoice() {
    const { scene, layout, arrays, header, chosen } = this;
    if (!scene) return;
    const context = fresh(this.canvas, layout.width, layout.height);
    const still = this.drawing.drawn(layout, [scene], (pen) => paintLayer(pen, scene));
    context.drawImage(still, 0, 0, layout.width, layout.height);
    paintChoice(context, scene, chosen);
    paintWeights(context, scene);
    const sum = this.sum?.of === header.of ? this.sum : null; // it may come before its vectors, or after the next
    const { title, blocks } = account({ header, arrays }, chosen, sum);
    this.reason.textContent = title;
    this.blocks.replaceChildren(...blocks.map(blockOf));
    const vectors = layout.boxes.map(({ part, length }) => `${nameOf(part, header)[0]} ${length}`).join(", ");
    const lengths = `The vectors of “${header.token}” with their lengths: ${vectors}.`;
    this.canvas.ariaLabel = `${lengths} Chosen: ${title}. Arrow keys move.`;
    this.say();
    this.writeOut();
  }

  /** Says what is pointed at, or else what to do. */
  say() {
    if (!this.hovered) {
      this.tip.textContent = "Point at a cell for its number; click it for its origin.";
      return;
    }
    const { part, index } = this.hovered;
    const value = number(numberAt(this.arrays, this.hovered));
    this.tip.textContent = `${nameOf(part, this.header)[0]}, ${noun(part)} ${index}: ${value}`;
  }

  /** Writes the chosen vector as a table, if the reader has opened it. */
  writeOut() {
    if (!this.numbers.open) return;
    const { part } = this.chosen;
    const cells = Array.from(this.arrays[part].values, (value, n) =>
      make("tr", {}, make("th", { scope: "row", textContent: String(n) }), make("td", { textContent: number(value) })),
    );
    const caption = make("caption", { textContent: nameOf(part, this.header)[0] });
    const heads = [noun(part), "value"].map((textContent) => make("th", { scope: "col", textContent }));
    this.table.replaceChildren(make("table", {}, caption, make("tr", {}, ...heads), ...cells));
  }

  /** @param {"svg" | "png"} format */
  save(format) {
    const { header, layout, scene, chosen } = this;
    /** @type {Scene["layout"]} */
    const { width, height } = layout;
    return save(
      {
        width,
        height,
        paint: (pen) => {
          paintLayer(pen, scene);
          paintChoice(pen, scene, chosen);
          paintWeights(pen, scene);
        },
      },
      {
        format,
        name: "feed-forward",
        title: `${header.title}, ${header.layer}, “${header.token}”`,
        caption: this.reason.textContent ?? "",
        colours: scene.colours,
      },
    );
  }

  leave() {
    clearTimeout(this.telling);
    this.watcher.disconnect();
  }
}
