// Attention stage by stage. Every touch is answered here; the page around is told when the hand is still.

import { largest, rowOf } from "../shared/arrays.ts";
import { button, isChord, listen, make, tokenButtons, within } from "../shared/elements.ts";
import { becoming } from "../shared/motion.ts";
import { plainSite } from "../shared/quoted.ts";
import { blockOf, toned } from "../shared/sums.ts";
import type { Values } from "../shared/table.ts";
import { component, type Link, type Page, placeOfToken, tokenAtPlace, ViewBase } from "../shared/view_base.ts";
import { seen } from "../shared/where.ts";
import { explain } from "./explain.ts";
import { type Cell, Grid, type Size, sideBySide } from "./grid.ts";
import { type Axis, type Head, headOf, isMatrix, type MatrixId, type Selection } from "./head.ts";
import { chainOf, isLater, type Stage, signOf, stagesOf } from "./stages.ts";

const NARROW = 620;
const BESIDE = 150; // pixels for a matrix beside the one in focus
const SIZES: Size[] = ["large", "small", "later"]; // what is in focus first
const SIGN = 84; // pixels for a sign between two matrices

// Where the arrow keys have another meaning than to change the stage.
const ELSEWHERE = [
  "input, textarea, select, canvas, .tokens, [contenteditable=true], [role=slider], [role=tab], [role=radio]",
  "[role=combobox], [role=listbox], [role=dialog]",
].join(", ");

/** What a view beside this one shows; tokens go by their places. */
interface Seen {
  stage?: string; // that is chosen
  part?: Partial<Selection>; // that is chosen
  id?: MatrixId | null; // of the matrix whose number is explained
  over?: { id: MatrixId; part: Partial<Selection> } | null; // what is pointed at
}

export class Steps extends ViewBase {
  head!: Head; // from the first `read` on
  stages: Stage[] = [];
  stage = "sentence";
  selection: Selection = { query: 0, key: 0, dim: 0, wide: 0, concat: 0 };
  explained: MatrixId | null = null; // the matrix whose number is explained, if it is not the stage's own
  hovered: { id: MatrixId; part: Partial<Selection> } | null = null; // the cell that is pointed at
  grids: Grid[] = [];
  main: MatrixId | null = null; // in focus in the last drawing

  list = make("ol", { className: "stages", ariaLabel: "Stages" });
  back = button("← Back", { className: "step", onclick: () => this.step(-1) });
  next = button("Next →", { className: "step next", onclick: () => this.step(1) });
  count = make("span", { className: "count" });
  words = make("span", { className: "words" });
  tokens = make("div", { className: "tokens", role: "group", ariaLabel: "The sentence. Choose the query." });
  chain = make("div", { className: "picture chain" });
  picture = make("div", { className: "picture" });
  reason = make("h2");
  blocks = make("div", { className: "blocks" });
  why = make("section", { className: "why" }, this.reason, this.blocks);
  tools = this.bar();

  constructor(parent: HTMLElement, page: Page) {
    super(parent, page);
    this.back.title = this.next.title = "or the keys ← →";
    const look = { className: "steps", ariaLabel: "Attention, stage by stage" };
    const way = make("div", { className: "way" }, this.back, this.list, this.next);
    const say = make("p", { className: "say" }, this.count, " ", this.words);
    const focus = make("div", { className: "focus" }, this.picture, this.why);
    this.mount(look, way, say, this.tokens, this.chain, this.tools, focus);
    listen(this.tokens, (query) => this.choose({ query }));
    const onKey = (event: KeyboardEvent) => this.key(event);
    document.addEventListener("keydown", onKey);
    this.atEnd(() => document.removeEventListener("keydown", onKey));
  }

  read(bytes: Uint8Array) {
    const before = this.head;
    this.head = headOf(bytes, this.typed && before);
    const { queries } = this.head;
    const isSame = before && before.queries.join("\n") === queries.join("\n");
    this.selection = isSame ? this.fitted(this.selection) : this.first(this.typed?.first);
    this.stages = stagesOf(this.head);
    tokenButtons(this.tokens, { labels: queries, tokens: this.head.tokens }, this.selection.query);
    const entry = ({ id, short }: Stage, n: number) =>
      button(short, { dataset: { stage: id }, title: `Stage ${n + 1}`, onclick: () => this.go(id) });
    this.list.replaceChildren(...this.stages.map((stage, n) => make("li", {}, entry(stage, n))));
  }

  /** What is chosen at first: the last token asks, and what it looks at most is its key. */
  first(query: number = this.head.counts.query - 1): Selection {
    return { query, key: this.strongestKey(query), dim: 0, wide: 0, concat: this.head.head * this.head.dim };
  }

  strongestKey(query: number) {
    return largest(rowOf(this.head.arrays.pattern, query), 1)[0];
  }

  fitted(selection: Selection): Selection {
    const fit = ([axis, count]: [string, number]) => [axis, within(selection[axis as Axis] || 0, count)];
    return Object.fromEntries(Object.entries(this.head.counts).map(fit));
  }

  /** `at` is the explained matrix and the selection: "matrix.key.dim.wide.concat". */
  take({ stage, token, at }: { stage: string; token: number | null; at: string }) {
    const before = JSON.stringify([this.selection, this.stage, this.explained]);
    const [matrix, ...indices] = at.split(".");
    const [key, dim, wide, concat] = indices.map(Number);
    const last = this.head.counts.query - 1;
    const first = this.first(Math.min(token ?? this.selection.query, last));
    const isKnown = !Number.isNaN(key); // else the token that is looked at is missing here
    this.selection = this.fitted(at ? { ...first, key: isKnown ? key : first.key, dim, wide, concat } : first);
    this.stage = stage;
    this.explained = isMatrix(matrix) && this.isDrawn(matrix) ? matrix : null;
    if (JSON.stringify([this.selection, this.stage, this.explained]) !== before) this.redraw();
  }

  chosen() {
    const { query, key, dim, wide, concat } = this.selection;
    const at = [this.explained ?? "", key, dim, wide, concat].join(".");
    return { stage: this.current.id, token: query, at };
  }

  isDrawn(id: MatrixId) {
    const { items, chain, main } = this.current;
    return items.includes(id) || (chain === true && chainOf(this.head).includes(id) && !isLater(id, main));
  }

  get current() {
    return this.stages.find(({ id }) => id === this.stage) ?? this.stages[0];
  }

  step(by: number) {
    const stage = this.stages[this.stages.indexOf(this.current) + by];
    if (stage) this.go(stage.id);
  }

  go(stage: string) {
    if (this.link.follows && this.notifyLinked({ stage })) return; // the other one goes there, and this one with it
    this.stage = stage;
    this.explained = null;
    this.redraw();
    this.say(`${this.count.textContent} ${this.words.textContent}`);
    this.notify();
    this.notifyLinked({ stage });
  }

  /** Without the matrix whose cell was chosen another token asks, with its own key. */
  choose(part: Partial<Selection>, id: MatrixId | null = null) {
    if (this.link.follows && this.notifyLinked({ part: named(this.link, part), id })) return;
    const key = id === null && part.query !== undefined ? { key: this.strongestKey(part.query) } : {};
    this.selection = { ...this.selection, ...part, ...key };
    this.hovered = null;
    this.explained = id ?? this.explained;
    this.drawSelection();
    this.say(this.reason.textContent);
    this.notify();
    this.notifyLinked({ part: named(this.link, this.selection), id: this.explained });
  }

  /** A matrix by its name ("A", "softmax") or its key ("share"), its row or its cell; else a word of the stage. */
  locate(...names: string[]) {
    const [name, ...cell] = names;
    const isNamed = ({ id, matrix }: Grid) => [id, matrix.name, matrix.title].includes(name);
    const found = this.grids.filter(isNamed).sort((one, other) => SIZES.indexOf(one.size) - SIZES.indexOf(other.size));
    if (!found.length) return super.locate(...names);
    return cell.length ? found[0].locate(cell) : seen(found[0].canvas);
  }

  mirror(seen: Seen) {
    super.mirror(seen);
    const { stage, part, id = null, over } = seen;
    const { follows } = this.link;
    if (over !== undefined) {
      const pointed = over && this.isDrawn(over.id) ? this.own(over.part) : null;
      this.hovered = over && pointed && { id: over.id, part: pointed };
      this.later(() => this.drawSelection());
    }
    if (stage !== undefined) {
      const isHere = this.stages.some(({ id }) => id === stage);
      if (isHere && follows) {
        Object.assign(this, { stage, explained: null });
        this.redraw();
      } else if (isHere) this.go(stage);
      return isHere;
    }
    const chosen = part && this.own(part);
    if (!chosen) return false;
    if (!follows) this.choose(id === null ? { query: chosen.query } : chosen, id);
    else {
      const explained = id && this.isDrawn(id) ? id : null;
      Object.assign(this, { selection: this.fitted({ ...this.selection, ...chosen }), explained, hovered: null });
      this.drawSelection();
    }
    return true;
  }

  /** With the positions of tokens here; null if the query is missing. A view that follows replaces a missing key. */
  own(part: Partial<Selection>): Partial<Selection> | null {
    const { link, selection } = this;
    const query = part.query === undefined ? selection.query : tokenAtPlace(link, part.query, ["query"])?.position;
    const key = part.key === undefined ? selection.key : tokenAtPlace(link, part.key, ["key"])?.position;
    if (query === undefined || (key === undefined && !link.follows)) return null;
    return { ...part, query, key: key ?? this.strongestKey(query) };
  }

  hover(id: MatrixId, cell: Cell | null) {
    this.hovered = cell && { id, part: this.head.selectionAt(id, cell) };
    this.later(() => this.drawSelection());
    this.notifyLinked({ over: this.hovered && { id, part: named(this.link, this.hovered.part) } });
  }

  draw() {
    const stage = this.current;
    const place = this.stages.indexOf(stage);
    this.count.textContent = `Stage ${place + 1} of ${this.stages.length}: ${stage.short}.`;
    this.back.disabled = place === 0;
    this.next.disabled = place === this.stages.length - 1;
    for (const node of this.list.querySelectorAll("button"))
      node.ariaCurrent = node.dataset.stage === stage.id ? "step" : null;
    const mainOf = (id: MatrixId | null) => this.grids.find((grid) => grid.id === id && grid.size === "large")?.canvas;
    const before = this.main;
    this.main = stage.main;
    const old = stage.chain && before !== stage.main ? mainOf(before) : undefined; // scores become shares
    const draw = () => {
      this.layOut(stage);
      this.drawSelection();
      return mainOf(stage.main);
    };
    if (old) becoming(old, draw);
    else draw();
  }

  layOut(stage: Stage) {
    const root = this.node.getRootNode();
    const active = root instanceof ShadowRoot || root instanceof Document ? root.activeElement : null;
    const focused = active instanceof HTMLElement ? active.dataset.matrix : undefined;
    const isNarrow = this.width < NARROW;
    const link = isNarrow ? this.width / 3 - 12 : Math.min(112, (this.width - 300) / 5);
    const isAlone = stage.main === null; // the sentence's own picture: every word of 64 is named
    const tall = isAlone ? Math.max(460, 80 + 12 * Math.min(64, this.head.counts.query)) : 385;
    const height = stage.items.includes("\n") ? 150 : tall;
    // How wide each matrix may be. Those with a column for every key get twice the room of others.
    const { items, main } = stage;
    const weight = (id: MatrixId) => (this.head.matrix(id).axes.columns === "key" ? 2 : 1);
    const end = items.indexOf("\n");
    const line = items.slice(0, end < 0 ? items.length : end).filter(isMatrix);
    const free = (this.width - SIGN * (line.length - 1)) / line.reduce((sum, id) => sum + weight(id), 0);
    const roomFor = (id: MatrixId) => {
      if (stage.chain) return id === main ? Math.min(400, this.width) : isNarrow ? this.width : BESIDE;
      return isNarrow ? this.width : free * weight(id);
    };
    this.grids = [];
    const chain = stage.chain ? chainOf(this.head) : [];
    const empty = chain.findIndex((item) => isMatrix(item) && isLater(item, main));
    const isShort = isNarrow && empty > 0; // a phone has no room for what is still empty, nor its sign
    this.chain.replaceChildren(
      ...chain.slice(0, isShort ? empty - 1 : chain.length).map((item) => {
        if (!isMatrix(item)) return sign(signOf(this.head, item));
        return this.grid(item, isLater(item, stage.main) ? "later" : "small", link, link);
      }),
    );
    this.picture.replaceChildren(
      ...stage.items.map((item) => (isMatrix(item) ? this.grid(item, "large", roomFor(item), height) : sign(item))),
    );
    for (const { id, node } of this.grids) node.classList.toggle("main", id === stage.main);
    this.grids.find(({ id, size }) => id === focused && size === "large")?.canvas.focus();
  }

  grid(id: MatrixId, size: Size, width: number, height: number) {
    const hover = (cell: Cell | null) => this.hover(id, cell);
    const pick = (cell: Cell) => this.choose(this.head.selectionAt(id, cell), id);
    const grid = new Grid(this.head, id, size, hover, pick);
    grid.measure(width, height, this.colours, this.width < NARROW);
    this.grids.push(grid);
    return grid.node;
  }

  drawSelection() {
    const stage = this.current;
    const shown = { ...this.selection, ...this.hovered?.part };
    this.words.replaceChildren(...stage.words(this.head, shown).map(toned));
    const tokens = this.tokens.querySelectorAll("button");
    for (const [at, node] of tokens.entries()) {
      node.ariaPressed = String(at === shown.query);
      node.classList.toggle("is-key", !this.head.crossing && at === shown.key && stage.main !== null);
    }
    const asks = tokens[shown.query];
    if (!this.hovered) this.tokens.scrollTop = asks.offsetTop - this.tokens.offsetTop - this.tokens.clientHeight / 2;
    for (const grid of this.grids) {
      grid.draw(shown, this.colours);
      grid.readout.hidden = stage.main === null; // nothing is explained yet
    }
    const id = this.hovered?.id ?? this.explained ?? stage.main;
    for (const node of [this.why, this.tools]) node.hidden = !id;
    if (!id) return;
    const { title, blocks } = explain(this.head, id, shown);
    const question = make("span", { className: "aside", textContent: "How was this computed? " });
    this.reason.replaceChildren(question, title);
    this.blocks.replaceChildren(...blocks.map(blockOf));
  }

  key(event: KeyboardEvent) {
    const by = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    if (!by || !this.width || event.defaultPrevented || event.shiftKey || isChord(event)) return;
    const [target] = event.composedPath();
    if (target instanceof Element && target.closest(ELSEWHERE)) return;
    event.preventDefault();
    this.step(by);
  }

  figure() {
    const { title, layer, head } = this.head;
    const caption = `${this.words.textContent} ${this.reason.textContent}`;
    const { id, short } = this.current;
    const large = this.grids.filter(({ size }) => size === "large");
    const titles = { name: `attention-${id}`, title: `${title}, ${plainSite(layer)} head ${head}: ${short}`, caption };
    return { ...sideBySide(large, this.colours), ...titles };
  }

  values(): Values {
    const { head } = this;
    const matrix = head.matrix((this.explained ?? this.current.main) as MatrixId);
    const { axes, rows, columns, name, title } = matrix;
    const named = (axis: Axis, n: number) => [n, head.labels(axis)[n]].join(" ").trim();
    const lines = Array.from({ length: rows }, (_, row) => [named(axes.rows, row), ...rowOf(matrix, row)]);
    const heads = Array.from({ length: columns }, (_, column) => named(axes.columns, column));
    return { title: `${name} ${title}`.trim(), columns: ["row", ...heads], rows: lines };
  }
}

/** A sign between two matrices, or a new line. */
const sign = (text: string) =>
  text === "\n" ? make("div", { className: "break" }) : make("span", { className: "sign", textContent: text });

const named = (link: Link, part: Partial<Selection>) => ({
  ...part,
  query: placeOfToken(link, "query", part.query),
  key: placeOfToken(link, "key", part.key),
});

export default component((parent, page) => new Steps(parent, page));
