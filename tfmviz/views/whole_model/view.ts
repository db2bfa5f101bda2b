// The whole model, a block or a head on the reader's sentence. Pointing, following and playing are answered here; the
// page around is told what was chosen, and sends another picture when a part is opened.

import { type Arrays, unpack } from "../shared/arrays.ts";
import { fresh, measured, type Pen } from "../shared/canvas.ts";
import { LETTER_SIZE } from "../shared/constants.ts";
import { arrowOf, button, buttonOf, hear, inPixels, make, roving, select, within } from "../shared/elements.ts";
import { plainSite } from "../shared/quoted.ts";
import type { Plain } from "../shared/record.ts";
import { component, DEBOUNCE_MS, type Page, placeOfToken, tokenAtPlace, ViewBase } from "../shared/view_base.ts";
import { Brush } from "./brush.ts";
import { follow, type Says } from "./follow.ts";
import { type Found, layOut, type Placed, partOf, type Rect, vectorAt } from "./layout.ts";
import { Painter, tileOf } from "./paint.ts";
import type { Answer, Around, Column, Scene } from "./scene.ts";
import { aboutBox, aboutVector, captionOf, hrefOf, kindOf, putWords, summary, tableOf } from "./words.ts";

const PLAY = "▶ Play";
const BEAT = 1200; // milliseconds that a column is shown while it plays

type Token = { stack: string; row: number };

export type Opening = { zoom: Scene["zoom"]; layer?: string; head?: number };

/** What a view beside this one shows. Tokens go by their places, columns by their names. */
interface Seen {
  token?: number; // that is chosen
  delay?: number;
  over?: { token?: number; column?: string } | null; // what is pointed at
  box?: string | null; // that is pointed at
  stage?: string | null; // the column that plays
  opening?: Opening;
}

export class Whole extends ViewBase {
  scene!: Scene; // from the first `read` on, as the token
  arrays: Arrays = {};
  painter = new Painter({});
  placed: Placed = { isStrip: false, width: 0, height: 0, lanes: [] };
  scale = 1; // of the picture: larger where letters are
  token!: Token; // the one that is followed
  hovered: Found | null = null;
  hoveredBox: string | null = null;
  pinned: string | null = null; // the box that was clicked
  stage: number | null = null; // the column that plays
  beat: ReturnType<typeof setInterval> | undefined;
  says: Says = {};
  where = { layer: "", head: 0 };
  opening: Opening["zoom"] | null = null;
  around: Around = { address: {}, kinds: {}, pages: {} };

  zooms = make("div", { className: "zooms", role: "group", ariaLabel: "Zoom" });
  follows = select("Follow", {}, (value) => {
    const [stack, row] = value.split(".");
    this.choose({ stack, row: Number(row) });
  });
  plays = button(PLAY, { onclick: () => (this.beat ? this.pause() : this.play()) });
  controls = make("div", { className: "bar" }, this.zooms, this.follows.node);
  tip = make("div", { className: "tip" });
  base = make("canvas", { role: "img" });
  over = make("canvas", { className: "followed", ariaHidden: "true" });
  hits = make("div", { className: "hits", role: "group", ariaLabel: "Parts of the model" });
  picture = make("div", { className: "stage" }, this.base, this.over, this.hits);
  legend = make("p", { className: "legend" });

  constructor(parent: HTMLElement, page: Page) {
    super(parent, page);
    const back = button("← Back", { onclick: () => this.step(-1) });
    const next = button("Next →", { onclick: () => this.step(1) });
    this.controls.append(make("div", { className: "steps" }, back, next, this.plays), this.bar());
    const properties = { className: "whole", ariaLabel: "The whole model" };
    this.mount(properties, this.controls, this.tip, this.picture, this.legend);
    this.atEnd(() => this.pause());
    this.picture.addEventListener("pointermove", (event) => {
      if (event.pointerType !== "touch" && !buttonOf(event)) this.hover(this.vectorAt(event));
    });
    this.picture.addEventListener("pointerleave", () => this.hover(null));
    this.picture.addEventListener("click", (event) => {
      const found = buttonOf(event) ? null : this.vectorAt(event);
      if (found) this.choose({ stack: found.stack, row: found.row }, 0);
    });
    hear(this.hits, ["pointerover", "focusin"], (event) => {
      const node = buttonOf(event);
      if (!node) return;
      this.hovered = null;
      this.hoveredBox = node.dataset.id ?? null;
      this.drawFollowed();
      this.notifyLinked({ box: this.hoveredBox });
    });
    this.hits.addEventListener("keydown", (event) => this.move(event));
    roving(this.hits, () => 0);
  }

  read(source: Uint8Array | Plain<Scene>) {
    const { header, arrays } = unpack(source);
    const isOther = header.zoom !== this.scene?.zoom || header.layer !== this.scene?.layer;
    Object.assign(this, { scene: header, arrays, hovered: null });
    this.painter = new Painter(arrays);
    if (isOther) {
      this.pause();
      this.stage = this.pinned = this.hoveredBox = null;
    }
    const token = this.typed && { stack: this.where.layer.split(".")[0], row: this.typed.first };
    if (this.typed) this.says = this.typed.says as Says;
    this.token = this.fitted(token ?? this.token ?? { stack: "decoder", row: Number.POSITIVE_INFINITY });
    this.fillBar();
  }

  /** @param answer at the start, and when the page's own controls were used */
  take({ layer, head, token, says, address = {}, kinds = {}, pages = {} }: Answer) {
    Object.assign(this, { says, where: { layer, head }, around: { address, kinds, pages }, opening: null });
    const before = this.token.stack;
    this.token = this.fitted({ stack: layer.split(".")[0], row: token ?? this.token.row });
    this.fillBar();
    if (before !== this.token.stack) this.redraw();
    else this.drawFollowed();
  }

  chosen() {
    const zoom = this.opening ?? this.scene.zoom;
    return { zoom, layer: this.layer, head: this.where.head, token: this.token.row };
  }

  fitted(token: Token): Token {
    const { lanes } = this.scene;
    const { stack, tokens } = lanes.find((lane) => lane.stack === token.stack) ?? lanes[lanes.length - 1];
    return { stack, row: within(token.row, tokens.length) };
  }

  /** The tokens to follow, and what can be zoomed to, unless the controls of a view beside this one do for both. */
  fillBar() {
    const { lanes, zoom, beside = false } = this.scene;
    const stacks = [...new Map(lanes.map((lane) => [lane.stack, lane])).values()];
    const groups = stacks.map(({ stack, tokens }) => {
      const nodes = tokens.map((text, n) => make("option", { value: `${stack}.${n}`, textContent: `${n} ${text}` }));
      return stacks.length > 1 ? [make("optgroup", { label: stack }, ...nodes)] : nodes;
    });
    this.follows.box.replaceChildren(...groups.flat());
    const { layer, head } = this.where;
    const names = { model: "Whole model", block: `Layer ${layer.split(".")[1] ?? ""}`, head: `Head ${head}` };
    this.zooms.hidden = beside;
    this.controls.classList.toggle("led", beside && this.link.follows === true);
    const entries = Object.entries(names) as [Scene["zoom"], string][];
    const entry = ([name, text]: (typeof entries)[number]) =>
      button(text, { ariaPressed: String(name === zoom), onclick: () => this.open({ zoom: name }) });
    this.zooms.replaceChildren(...entries.map(entry));
    this.follows.box.value = `${this.token.stack}.${this.token.row}`;
  }

  choose(token: Token, delay: number = DEBOUNCE_MS) {
    const seen = { token: placeOfToken(this.link, token.stack, token.row), delay };
    if (this.link.follows && this.notifyLinked(seen)) return; // the other one chooses it here, too
    this.followToken(token);
    this.say(this.words().text);
    this.notify(delay);
    this.notifyLinked(seen);
  }

  followToken(token: Token) {
    const before = this.token.stack;
    Object.assign(this, { token, says: {}, pinned: null, hovered: null, hoveredBox: null });
    this.follows.box.value = `${token.stack}.${token.row}`;
    if (before === token.stack) this.drawFollowed();
    else this.redraw();
  }

  mirror(seen: Seen) {
    super.mirror(seen);
    const { token, delay, over, box, stage, opening } = seen;
    if (opening) this.open(opening);
    if (over !== undefined) {
      const found = tokenAtPlace(this.link, over?.token);
      const lane = this.scene.lanes.find(({ stack }) => stack === found?.text);
      const place = this.columns.find(({ column }) => column.id === over?.column) ?? null;
      this.hovered = found && lane ? { stack: found.text, row: found.position, lane, place } : null;
      this.later(() => this.drawFollowed());
    }
    if (box !== undefined) {
      this.hoveredBox = box;
      this.drawFollowed();
    }
    if (stage !== undefined) this.showStage(this.columns.findIndex(({ column }) => column.id === stage));
    const found = tokenAtPlace(this.link, token);
    if (!found) return false;
    const own = { stack: found.text, row: found.position };
    if (this.link.follows) this.followToken(own);
    else this.choose(own, delay);
    return true;
  }

  open({ zoom, layer = this.where.layer, head = this.where.head }: Opening) {
    if (this.link.follows) return this.notifyLinked({ opening: { zoom, layer, head } });
    this.where = { layer, head };
    this.opening = zoom;
    this.token = { stack: layer.split(".")[0], row: this.token.row };
    this.notify(0);
  }

  // The chosen layer, or the one of its number in the stack in which the followed token is.
  get layer() {
    const [stack, index] = this.where.layer.split(".");
    const own = `${this.token.stack}.${index}.self_attn`;
    return stack !== this.token.stack && kindOf(own, this.around.kinds) ? own : this.where.layer;
  }

  get columns() {
    return this.placed.lanes.flatMap((lane) => lane.columns);
  }

  step(by: number) {
    const last = this.columns.length - 1;
    const to = (this.stage ?? (by > 0 ? -1 : last + 1)) + by;
    if (to < 0 || to > last) this.pause();
    this.showStage(to);
    this.say(this.words().text);
    this.notifyLinked({ stage: this.pinned });
  }

  /** @param to the number of a column; of none, if there is no such column */
  showStage(to: number) {
    this.pinned = this.columns[to]?.column.id ?? null;
    this.stage = this.pinned === null ? null : to;
    this.hoveredBox = null;
    this.drawBase();
    this.drawFollowed();
  }

  play() {
    this.plays.textContent = "❚❚ Pause";
    this.beat = setInterval(() => this.step(1), BEAT);
    this.step(1);
  }

  pause() {
    clearInterval(this.beat);
    this.beat = undefined;
    this.plays.textContent = PLAY;
  }

  /** @param event up and down go from token to token, left and right (`roving`) from box to box */
  move(event: KeyboardEvent) {
    const [down] = arrowOf(event) ?? [0];
    if (down) this.choose(this.fitted({ ...this.token, row: this.token.row + down }));
  }

  vectorAt(event: MouseEvent) {
    const { left, top } = this.picture.getBoundingClientRect();
    return vectorAt(this.placed, (event.clientX - left) / this.scale, (event.clientY - top) / this.scale);
  }

  hover(found: Found | null) {
    this.hovered = found;
    if (found) this.hoveredBox = null; // else it stays, so that the pointer can go to its links
    this.later(() => this.drawFollowed());
    this.notifyLinked({
      over: found && { token: placeOfToken(this.link, found.stack, found.row), column: found.place?.column.id },
    });
  }

  draw() {
    const { font, letters } = this.colours;
    this.scale = letters / LETTER_SIZE;
    this.hits.style.scale = String(this.scale);
    const measure = (text: string, isBold = false) =>
      measured(text, `${isBold ? "bold " : ""}${LETTER_SIZE}px ${font}`).width;
    const [width, tall] = [this.width / this.scale, innerHeight / this.scale];
    this.placed = layOut(this.scene, width, measure, this.token.stack, tall);
    this.picture.style.height = `${this.placed.height * this.scale}px`;
    this.legend.textContent = captionOf(this.scene, this.placed.isStrip);
    this.base.ariaLabel = summary(this.scene);
    this.drawBase();
    // Buttons over a box and its heads, for pointer, keyboard and screen reader. They have no look of their own.
    const hits = this.columns.flatMap(({ column, box }) => {
      const { layer, count } = (!this.scene.beside && column.heads) || { layer: "", count: 0 };
      const open = (head: number) => () => this.open({ zoom: "head", layer, head });
      const heads = Array.from({ length: count }, (_, head) =>
        hit(`${column.id}/${head}`, tileOf(column, box, head), `Open head ${head}`, open(head)),
      );
      return [hit(column.id, box, aboutBox(column), () => this.press(column)), ...heads];
    });
    this.hits.replaceChildren(...hits);
    this.hits.getElementsByTagName("button")[0].tabIndex = 0;
    this.drawFollowed();
  }

  drawBase() {
    this.painter.paint(this.brushOn(this.base), this.placed, this.stage);
  }

  brushOn(canvas: HTMLCanvasElement) {
    const context = fresh(canvas, this.placed.width * this.scale, this.placed.height * this.scale);
    context.scale(this.scale, this.scale);
    return new Brush(context, this.colours);
  }

  drawFollowed() {
    if (!this.placed.width) return;
    follow(this.brushOn(this.over), this.placed, this.arrays, this.followed());
    const { text, column } = this.words();
    putWords(this.tip, text, column ? this.links(column) : []);
  }

  followed() {
    const { token, hovered } = this;
    const shown = hovered ?? token;
    const says = shown.stack === token.stack && shown.row === token.row ? this.says : {};
    return { token: shown, says, stage: this.stage, box: this.hoveredBox ?? this.pinned };
  }

  /** What the line above the picture says, and of which part. */
  words(): { text: string; column?: Column } {
    const { hovered, arrays } = this;
    if (hovered?.place) {
      const { place, row, lane } = hovered;
      return { text: aboutVector(place.column, arrays, row, lane.tokens) };
    }
    const id = (this.hoveredBox ?? this.pinned)?.split("/")[0];
    const column = this.columns.find((place) => place.column.id === id)?.column;
    const token = hovered ?? this.token;
    const lane = this.scene.lanes.find(
      ({ stack, columns }) => stack === token.stack && columns.includes(column ?? columns[0]),
    );
    if (column && (this.stage === null || !lane || !column.matrix)) return { text: aboutBox(column), column };
    if (!lane) return { text: "" };
    const shown = column ?? lane.columns[lane.columns.length - 1];
    return { text: aboutVector(shown, arrays, token.row, lane.tokens), column };
  }

  links({ links }: Column) {
    const { address, kinds, pages } = this.around;
    const where = { ...this.where, token: this.token.row };
    return links
      .filter(([page]) => pages[page])
      .map(([page, set]) =>
        make("a", { href: hrefOf(page, address, { ...where, ...set }, kinds), textContent: pages[page] }),
      );
  }

  press(column: Column) {
    this.pinned = column.id;
    if (column.opens && !this.scene.beside) this.open(column.opens);
    else this.drawFollowed();
  }

  locate(...names: string[]) {
    const found = partOf(this.placed, names);
    if (!found) return super.locate(...names);
    const { left, top } = this.base.getBoundingClientRect();
    const [x, y, width, height] = [found.x, found.y, found.width, found.height].map((one) => one * this.scale);
    return { left: left + x, top: top + y, width, height, letters: this.colours.letters };
  }

  figure() {
    const { placed, scene } = this;
    const paint = (pen: Pen) => {
      const brush = new Brush(pen, this.colours);
      this.painter.paint(brush, placed, this.stage);
      follow(brush, placed, this.arrays, this.followed());
    };
    const { title, zoom, layer, head } = scene;
    const part = plainSite(layer);
    const what = { model: "the whole model", block: part, head: `${part} head ${head}` }[zoom];
    const caption = captionOf(scene, placed.isStrip);
    return { ...placed, paint, name: `${title}-${zoom}`, title: `${title}: ${what}`, caption };
  }

  values() {
    const lanes = this.scene.lanes.filter(({ stack }) => stack === this.token.stack);
    return tableOf(lanes, this.arrays, this.token.row, this.says);
  }
}

function hit(id: string, { x, y, width, height }: Rect, ariaLabel: string, onclick: () => void) {
  const style = inPixels({ left: x, top: y, width, height });
  return button("", { tabIndex: -1, ariaLabel, dataset: { id }, style, onclick });
}

export default component((parent, page) => new Whole(parent, page));
