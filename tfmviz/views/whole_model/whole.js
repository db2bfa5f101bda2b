// The whole model, a block or a head on the reader's sentence. Pointing, following and playing are answered here; the
// page around is told what was chosen, and sends another picture when a part is opened.

/** @import { Matrix } from "../shared/arrays.js" */
/** @import { Pen } from "../shared/canvas.js" */
/** @import { Palette } from "./brush.js" */
/** @import { Says } from "./follow.js" */
/** @import { Found, Placed } from "./layout.js" */
/** @import { Answer, Column, Lane, Scene } from "./scene.js" */
import { unpack } from "../shared/arrays.js";
import { fresh, measured } from "../shared/canvas.js";
import { coloursOf, isDark } from "../shared/colours.js";
import { arrowOf, button, buttonOf, make, roving } from "../shared/elements.js";
import { save } from "../shared/picture.js";
import { Bar } from "./bar.js";
import { Brush, LETTERS } from "./brush.js";
import { follow } from "./follow.js";
import { hitsOf } from "./hits.js";
import { layOut, vectorAt } from "./layout.js";
import { Painter } from "./paint.js";
import { aboutBox, aboutVector, captionOf, hrefOf, kindOf, say, summary, tableOf } from "./words.js";

const STILL = 250; // milliseconds without a touch after which the page around is told which token is followed
const BEAT = 1200; // milliseconds that a column is shown while it plays

/** @typedef {{stack: string, row: number}} Token */

/** @typedef {{zoom: "model" | "block" | "head", layer?: string, head?: number}} Opening */

export class Whole {
  /** @type {Scene | null} */
  scene = null;
  /** @type {Record<string, Matrix>} */
  arrays = {};
  painter = new Painter({});
  /** @type {Placed} */
  placed = { isStrip: false, width: 0, height: 0, lanes: [] };
  /** @type {Palette} */
  colours;
  dark = false;
  width = 0;
  scale = 1; // of the picture: larger where letters are
  /** @type {Token | null} the one that is followed */
  token = null;
  /** @type {Found | null} */
  hovered = null;
  /** @type {string | null} */
  hoveredBox = null;
  /** @type {string | null} the box that was clicked */
  pinned = null;
  /** @type {number | null} the column that plays */
  stage = null;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  beat;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  telling;
  /** @type {number | null} */
  frameRequest = null;
  /** @type {Says} */
  says = {};
  chosen = { layer: "", head: 0 };
  /** @type {Opening["zoom"] | null} */
  opening = null;
  /** @type {Record<"address" | "kinds" | "pages", Record<string, string>>} */
  around = { address: {}, kinds: {}, pages: {} };
  sequence = 0; // counts what was reported, so that an answer to an older report is known as such

  /**
   * @param {HTMLElement} parent
   * @param {(selection: {zoom: string, layer: string, head: number, token: number, sequence: number}) => void} report
   */
  constructor(parent, report) {
    this.report = report;
    this.bar = new Bar({
      open: (zoom) => this.open({ zoom }),
      choose: (token) => this.choose(token),
      step: (by) => this.step(by),
      play: () => (this.beat ? this.pause() : this.play()),
    });
    this.tip = make("div", { className: "tip" });
    this.live = make("p", { className: "unseen", role: "status" });
    this.base = make("canvas", { role: "img" });
    this.over = make("canvas", { className: "over", ariaHidden: "true" });
    this.hits = make("div", { className: "hits", role: "group", ariaLabel: "Parts of the model" });
    this.picture = make("div", { className: "stage" }, this.base, this.over, this.hits);
    this.legend = make("p", { className: "legend" });
    const label = "All parts for this token";
    this.table = make("div", { className: "table scroller", tabIndex: 0, role: "group", ariaLabel: label });
    const title = make("summary", { textContent: "The picture in numbers" });
    this.numbers = make("details", { className: "numbers", ontoggle: () => this.writeOut() }, title, this.table);
    this.node = make(
      "div",
      { className: "view whole", role: "group", ariaLabel: "The whole model" },
      this.bar.node,
      this.tip,
      this.picture,
      this.legend,
      this.numbers,
      make(
        "div",
        { className: "bar" },
        button("Save as SVG", { onclick: () => this.save("svg") }),
        button("Save as PNG", { onclick: () => this.save("png") }),
      ),
      this.live,
    );
    this.listen();
    parent.append(this.node);
    this.watcher = new ResizeObserver(() => this.node.clientWidth !== this.width && this.draw());
    this.watcher.observe(this.node);
  }

  listen() {
    this.picture.addEventListener("pointermove", (event) => {
      if (event.pointerType !== "touch" && !buttonOf(event)) this.hover(this.vectorAt(event));
    });
    this.picture.addEventListener("pointerleave", () => this.hover(null));
    this.picture.addEventListener("click", (event) => {
      const found = buttonOf(event) ? null : this.vectorAt(event);
      if (found) this.choose({ stack: found.stack, row: found.row });
    });
    for (const name of ["pointerover", "focusin"]) {
      this.hits.addEventListener(name, (event) => this.pointAtBox(buttonOf(event)));
    }
    this.hits.addEventListener("keydown", (event) => this.move(event));
    roving(this.hits, () => 0);
  }

  /** @param {Uint8Array} bytes another sentence, model or zoom */
  show(bytes) {
    const { header, arrays } = unpack(bytes);
    const isOther = header.zoom !== this.scene?.zoom || header.layer !== this.scene?.layer;
    Object.assign(this, { scene: header, arrays, hovered: null });
    this.painter = new Painter(arrays);
    if (isOther) {
      this.stop();
      this.pinned = this.hoveredBox = null;
    }
    this.token = this.fitted(this.token ?? { stack: "decoder", row: Number.POSITIVE_INFINITY });
    this.fillBar();
    this.draw();
  }

  /** @param {Answer} answer at the start, and when the page's own controls were used */
  select({ sequence, layer, head, token, says, address = {}, kinds = {}, pages = {} }) {
    if (sequence < this.sequence) return;
    Object.assign(this, { sequence, says, chosen: { layer, head }, around: { address, kinds, pages } });
    const before = this.token?.stack;
    this.token = this.fitted({ stack: layer.split(".")[0], row: token });
    this.fillBar();
    if (before !== this.token.stack) this.draw();
    else this.drawFollowed();
  }

  /** @type {(token: Token) => Token} the nearest that there is */
  fitted(token) {
    const lane = this.laneOf(token.stack) ?? this.scene?.lanes.at(-1);
    if (!lane) return token;
    return { stack: lane.stack, row: Math.min(lane.tokens.length - 1, Math.max(0, token.row)) };
  }

  /** @type {(stack: string | undefined) => Lane | undefined} */
  laneOf(stack) {
    return this.scene?.lanes.find((lane) => lane.stack === stack);
  }

  fillBar() {
    if (this.scene) this.bar.fill(this.scene, this.chosen);
    if (this.token) this.bar.follow(this.token);
  }

  /** @param {Token} token */
  choose(token) {
    const before = this.token?.stack;
    Object.assign(this, { token, says: {}, pinned: null, hovered: null, hoveredBox: null });
    this.bar.follow(token);
    if (before === token.stack) this.drawFollowed();
    else this.draw();
    this.live.textContent = this.words().text;
    this.tell(STILL);
  }

  /** @param {Opening} opening a part, whose picture the page around answers with */
  open({ zoom, layer = this.chosen.layer, head = this.chosen.head }) {
    this.chosen = { layer, head };
    this.opening = zoom;
    this.token = { stack: layer.split(".")[0], row: this.token?.row ?? 0 };
    this.tell(0);
  }

  /** @param {number} delay */
  tell(delay) {
    this.sequence += 1; // from now on an answer to an older report is out of date
    clearTimeout(this.telling);
    this.telling = setTimeout(() => {
      const zoom = this.opening ?? this.scene?.zoom ?? "model";
      this.opening = null;
      const { row } = this.token ?? { row: 0 };
      this.report({ zoom, layer: this.layer, head: this.chosen.head, token: row, sequence: this.sequence });
    }, delay);
  }

  // The chosen layer, or the one of its number in the stack in which the followed token is.
  get layer() {
    const [stack, index] = this.chosen.layer.split(".");
    const own = `${this.token?.stack}.${index}.self_attn`;
    return stack !== this.token?.stack && kindOf(own, this.around.kinds) ? own : this.chosen.layer;
  }

  get columns() {
    return this.placed.lanes.flatMap((lane) => lane.columns);
  }

  /** @param {number} by how many columns to go on */
  step(by) {
    const last = this.columns.length - 1;
    const to = (this.stage ?? (by > 0 ? -1 : last + 1)) + by;
    if (to < 0 || to > last) this.stop();
    else this.stage = to;
    this.pinned = this.stage === null ? null : this.columns[this.stage].column.id;
    this.hoveredBox = null;
    this.drawBase();
    this.drawFollowed();
    this.live.textContent = this.words().text;
  }

  play() {
    this.bar.showPlaying(true);
    this.beat = setInterval(() => this.step(1), BEAT);
    this.step(1);
  }

  pause() {
    clearInterval(this.beat);
    this.beat = undefined;
    this.bar.showPlaying(false);
  }

  stop() {
    this.pause();
    this.stage = null;
  }

  /** @param {KeyboardEvent} event up and down go from token to token, left and right (`roving`) from box to box */
  move(event) {
    const [down] = arrowOf(event) ?? [0];
    if (down && this.token) this.choose(this.fitted({ ...this.token, row: this.token.row + down }));
  }

  /** @param {MouseEvent} event */
  vectorAt(event) {
    const { left, top } = this.picture.getBoundingClientRect();
    return vectorAt(this.placed, (event.clientX - left) / this.scale, (event.clientY - top) / this.scale);
  }

  /** @param {Found | null} found */
  hover(found) {
    this.hovered = found;
    if (found) this.hoveredBox = null; // else it stays, so that the pointer can go to its links
    this.frameRequest ??= requestAnimationFrame(() => {
      this.frameRequest = null;
      this.drawFollowed();
    });
  }

  /** @param {HTMLElement | null} node */
  pointAtBox(node) {
    if (!node) return;
    this.hovered = null;
    this.hoveredBox = node.dataset.id ?? null;
    this.drawFollowed();
  }

  // Draws again if the page has turned dark or light.
  followTheme() {
    if (isDark(this.node) !== this.dark) this.draw();
  }

  draw() {
    if (!this.scene || !this.node.clientWidth) return;
    this.dark = isDark(this.node);
    this.node.dataset.dark = String(this.dark);
    const faint = getComputedStyle(this.node).getPropertyValue("--faint").trim();
    this.colours = { ...coloursOf(this.node), faint };
    this.width = this.node.clientWidth;
    const { font, letters } = this.colours;
    this.scale = letters / LETTERS;
    this.hits.style.scale = String(this.scale);
    /** @type {(text: string, isBold?: boolean) => number} */
    const measure = (text, isBold = false) => measured(text, `${isBold ? "bold " : ""}${LETTERS}px ${font}`).width;
    this.placed = layOut(this.scene, this.width / this.scale, measure, this.token?.stack ?? "");
    this.picture.style.height = `${this.placed.height * this.scale}px`;
    this.legend.textContent = captionOf(this.scene);
    this.base.ariaLabel = summary(this.scene);
    this.drawBase();
    const open = (/** @type {string} */ layer, /** @type {number} */ head) => this.open({ zoom: "head", layer, head });
    const nodes = hitsOf(this.columns, (column) => this.press(column), this.scene.zoom === "blocks" ? null : open);
    this.hits.replaceChildren(...nodes);
    this.drawFollowed();
  }

  drawBase() {
    this.painter.paint(this.brushOn(this.base), this.placed, this.stage);
  }

  /** @param {HTMLCanvasElement} canvas */
  brushOn(canvas) {
    const context = fresh(canvas, this.placed.width * this.scale, this.placed.height * this.scale);
    context.scale(this.scale, this.scale);
    return new Brush(context, this.colours, this.dark);
  }

  drawFollowed() {
    if (!this.token || !this.placed.width) return;
    follow(this.brushOn(this.over), this.placed, this.arrays, this.followed(this.token));
    const { text, column } = this.words();
    say(this.tip, text, column ? this.links(column) : []);
    this.writeOut();
  }

  /** @param {Token} token */
  followed(token) {
    const shown = this.hovered ?? token;
    const says = shown.stack === token.stack && shown.row === token.row ? this.says : {};
    return { token: shown, says, stage: this.stage, box: this.hoveredBox ?? this.pinned };
  }

  /** @returns {{text: string, column?: Column}} what the line above the picture says, and of which part */
  words() {
    const { hovered, arrays } = this;
    if (hovered?.place) {
      const { place, row, lane } = hovered;
      return { text: aboutVector(place.column, arrays, row, lane.tokens[row]) };
    }
    const id = (this.hoveredBox ?? this.pinned)?.split("/")[0];
    const column = this.columns.find((place) => place.column.id === id)?.column;
    const token = hovered ?? this.token;
    const lane = this.scene?.lanes.find(
      ({ stack, columns }) => stack === token?.stack && columns.includes(column ?? columns[0]),
    );
    if (column && (this.stage === null || !lane || !column.matrix)) return { text: aboutBox(column), column };
    if (!lane || !token) return { text: "" };
    const shown = column ?? lane.columns[lane.columns.length - 1];
    return { text: aboutVector(shown, arrays, token.row, lane.tokens[token.row]), column };
  }

  /** @param {Column} column */
  links({ links }) {
    const { address, kinds, pages } = this.around;
    const where = { ...this.chosen, token: this.token?.row };
    return links
      .filter(([page]) => pages[page])
      .map(([page, set]) =>
        make("a", { href: hrefOf(page, address, { ...where, ...set }, kinds), textContent: pages[page] }),
      );
  }

  /** @param {Column} column */
  press(column) {
    this.pinned = column.id;
    if (column.opens) this.open(column.opens);
    else this.drawFollowed();
  }

  writeOut() {
    if (!this.numbers.open || !this.scene || !this.token) return;
    const { stack, row } = this.token;
    const lanes = this.scene.lanes.filter((lane) => lane.stack === stack);
    this.table.replaceChildren(...lanes.map((lane) => tableOf(lane, this.arrays, row, this.says)));
  }

  /** @param {"svg" | "png"} format */
  save(format) {
    const { scene, token, placed } = this;
    if (!scene || !token) return;
    const { title, zoom, layer, head } = scene;
    const what = { model: "the whole model", blocks: "two blocks", block: layer, head: `${layer}, head ${head}` }[zoom];
    const { width, height } = placed;
    /** @param {Pen} pen */
    const paint = (pen) => {
      const brush = new Brush(pen, this.colours, this.dark);
      this.painter.paint(brush, placed, this.stage);
      follow(brush, placed, this.arrays, this.followed(token));
    };
    const names = { name: `${title}-${zoom}`, title: `${title}: ${what}`, caption: captionOf(scene) };
    return save({ width, height, paint }, { format, ...names, colours: this.colours });
  }

  leave() {
    this.stop();
    clearTimeout(this.telling);
    this.watcher.disconnect();
  }
}
