// The attention of one sentence: all heads, one layer's heads as lines, one head as a matrix, the sentence shaded.
// Every touch is answered here; the page around is told when the reader's hand is still.

import { isChord, make } from "../shared/elements.ts";
import { veil } from "../shared/guessing.ts";
import { bytesIn, type Plain } from "../shared/record.ts";
import { DEBOUNCE_MS, type Page, ViewBase } from "../shared/view_base.ts";
import { Controls } from "./controls.ts";
import { Frame } from "./frame.ts";
import { Lines } from "./lines.ts";
import { type Linking, Links } from "./links.ts";
import { type Cell, Matrix } from "./matrix.ts";
import { Overview } from "./overview.ts";
import { type Attention, attentionOf, type Given, type Mask, unionOf, type What, without } from "./payload.ts";
import type { Focus, Selection, State } from "./state.ts";
import { clickedOn, fitted, fromLook, initial, isSame, MOST_HEADS, pairOf, picked, toLook, withHead } from "./state.ts";
import { Strip, weightsBeside } from "./strip.ts";
import { filtered, meanOf, type Pattern } from "./weights.ts";
import { cellSentence, firstWords, headName, headWords, type Place, sentence, shownName, unusedOf } from "./words.ts";

const PATIENCE = 8000; // milliseconds until weights that have not arrived are asked for again, then twice as long

/** `first`: the token to look at until one is pinned, null for the last; `details`: base64; `links`: of a long text. */
type Answer = Selection & { sequence: number; first: number | null; details?: string | null; links?: Asked };
type Asked = { row: number; column: number; heads: Linking[] } | null;

export class Explorer extends ViewBase {
  attention!: Attention; // from the first `read` on
  state = initial();
  hover: Focus | null = null; // the token that is pointed at
  cell: Cell | null = null; // the matrix's cell that is pointed at
  preview: Place | null = null; // the head that is pointed at
  first: number | null = null; // see `Answer`
  links: Asked | undefined = null; // see `Answer`
  told: string | null = null; // what a click on a token has told
  asked = ""; // the pair that stands below the sentence, with the heads shown
  missing: string[] = []; // keys of weights that have not arrived
  asking: ReturnType<typeof setTimeout> | undefined; // asks for them again
  picture: Pattern<Mask> | null = null; // what the matrix shows
  name = "";
  labelled: number | null = null; // the kind of attention whose tokens are on the page
  isCrossing = false; // one text looks at another
  hasChanged = false;

  controls: Controls;
  strips = [new Strip("key", this), new Strip("query", this)];
  overview = new Overview(this);
  ranking = new Links((place) => this.choose(place));
  lines = new Lines(this);
  matrix = new Matrix(
    (cell) => this.pointAtCell(cell),
    (cell) => this.change(picked(this.state, cell), { rest: true }),
  );
  frame: Frame;

  constructor(parent: HTMLElement, page: Page = {}) {
    super(parent, page);
    this.controls = new Controls(this);
    this.frame = new Frame(this);
    const { panels, inWords, tip } = this.frame;
    this.mount({ className: "explorer", ariaLabel: "Attention explorer" }, panels, inWords, tip);
    this.node.addEventListener("keydown", (event) => this.key(event));
    this.atEnd(veil(this.node, () => this.redraw()));
    this.atEnd(() => {
      this.controls.pause();
      clearTimeout(this.asking);
    });
  }

  read(source: Uint8Array | Plain<Given>) {
    const before = this.attention;
    this.attention = attentionOf(source);
    const isSame = this.typed || JSON.stringify(before?.texts) === JSON.stringify(this.attention.texts);
    if (this.typed) this.first = this.typed.first; // what is pinned stays where it is
    this.state = fitted(isSame ? this.state : { ...this.state, pin: null, to: null }, this.attention);
    Object.assign(this, { hover: null, cell: null, preview: null, picture: null });
  }

  /** An answer to an older report is out of date, except for the weights in it. */
  select(answer: Answer) {
    const { first, details } = answer;
    this.links = answer.links;
    const hasArrived = details && this.attention.take(bytesIn(details));
    const before = JSON.stringify(this.state);
    const hasMoved = first !== this.first;
    this.first = first;
    super.select(answer);
    if (!this.width) return; // another tab is open
    if (hasArrived || JSON.stringify(this.state) !== before) this.draw();
    else if (hasMoved || answer.links) this.drawFocus();
  }

  take({ kind, layer, head, token, to, look }: Answer) {
    const { heads, ...said } = fromLook(look, layer);
    const others = heads.filter((place) => !isSame(place, { layer, head }));
    const answered: State = {
      ...this.state,
      ...said,
      heads: [...(others.length < heads.length ? others : []), { layer, head }],
      layer,
      kind: Math.max(0, this.attention.kinds.map(({ name }) => name).indexOf(kind)),
      pin: token === null ? said.pin : { side: "query", at: token },
      to,
    };
    this.state = fitted(answered, this.attention);
  }

  chosen(): Selection & { wanted: string[] } {
    const { kind, heads, pin, to } = this.state;
    const { layer, head } = heads[heads.length - 1];
    const { name, queries } = this.attention.kinds[kind];
    const token = pin?.side === "query" && queries !== "source" ? pin.at : null;
    const look = toLook(token === null ? this.state : { ...this.state, pin: null });
    return { kind: name, layer, head, token, to, look, wanted: this.missing };
  }

  get isPlaying() {
    return this.controls.timer !== null;
  }

  change(part: Partial<State>, { rest = false }: { rest?: boolean } = {}) {
    this.state = fitted({ ...this.state, ...part }, this.attention);
    this.told = null;
    if ("layer" in part || "heads" in part || "kind" in part) this.preview = null;
    this.draw("order" in part || "scale" in part || "kind" in part);
    this.notify(rest ? 0 : DEBOUNCE_MS);
  }

  still() {
    if (this.cell && "keyboard" in this.cell) return; // its sentence stands
    this.say(this.told ?? this.frame.headline.textContent);
  }

  choose({ layer, head }: Place, adds = false) {
    const place = { layer, head };
    this.change(adds ? withHead(this.state, place) : { heads: [place], aggregate: "heads" }, { rest: true });
  }

  pin(focus: Focus) {
    const { rows, allowed, columns } = this.attention.mask(this.state.kind, this.state.layer);
    const mayLook = (i: number, j: number) => i < rows && allowed[i * columns + j] === 1;
    this.change(clickedOn(this.state, focus, mayLook, this.isCrossing), { rest: true });
    this.told = this.state.to === null ? this.frame.spoken.textContent : this.ranking.spoken;
    this.say(this.told);
  }

  drawPair() {
    const pair = pairOf(this.state);
    const { kind, heads, aggregate } = this.state;
    const asked = JSON.stringify([pair, kind, aggregate === "heads" && heads, this.attention.id, this.links]);
    if (asked === this.asked) return;
    this.asked = asked;
    if (!pair) return this.ranking.ask();
    const { links } = this;
    const isKnown = links?.row === pair.row && links.column === pair.column;
    const found = this.attention.isWhole ? this.attention.linking(kind, pair) : isKnown ? links.heads : null;
    this.ranking.showPair(pair, this.texts(), found, aggregate === "heads" ? heads : []);
  }

  point(focus: Focus | null) {
    this.hover = focus;
    this.cell = null;
    this.soon();
  }

  pointAtCell(cell: Cell | null) {
    this.cell = cell;
    this.hover = cell && { side: "query", at: cell.row };
    const { tip } = this.frame;
    tip.hidden = !cell || "keyboard" in cell;
    const text = cell && this.picture && cellSentence(this.picture, cell, this.texts());
    if (cell && "keyboard" in cell) this.say(text);
    else if (cell) {
      const { left, top, width } = this.node.getBoundingClientRect();
      tip.textContent = text;
      tip.style.top = `${cell.y - top + 18}px`;
      tip.style.left = `${Math.max(0, Math.min(cell.x - left + 12, width - tip.offsetWidth - 4))}px`;
    }
    this.soon();
  }

  showPreview(place: Place | null) {
    const { attention, state } = this;
    const isThere = place && (attention.isWhole || attention.matrix(state.kind, place.layer, place.head));
    this.preview = isThere ? place : null;
    this.soon(true);
  }

  /** Draws once before the next frame, however many touches come until then; `selection`: other heads, too. */
  soon(selection = false) {
    this.hasChanged ||= selection;
    this.later(() => {
      if (this.hasChanged) this.draw(false);
      else this.drawFocus();
      this.hasChanged = false;
    });
  }

  palette() {
    const style = getComputedStyle(this.node);
    const heads = Array.from({ length: MOST_HEADS }, (_, n) => style.getPropertyValue(`--head-${n}`).trim());
    const colours = { ...super.palette(), heads };
    for (const view of [this.overview, this.lines, this.matrix]) view.colours = colours;
    this.labelled = null; // sizes may have changed
    return colours;
  }

  texts() {
    const { kind } = this.state;
    return { queries: this.attention.queries(kind), keys: this.attention.keys(kind) };
  }

  draw(withOverview = true) {
    const { attention, preview, state } = this;
    // A head that is pointed at is shown in place of the chosen one.
    const view: State = preview ? { ...state, layer: preview.layer, heads: [preview], aggregate: "heads" } : state;
    const kind = attention.kinds[view.kind];
    this.label(view.kind);
    const nameOf = this.colours.areVeiled ? headName : headWords;
    this.controls.draw();
    if (withOverview) {
      this.controls.setTicks(view.scale);
      this.overview.draw(attention, view, (place) => nameOf(kind, place));
    }
    this.overview.mark(this.state);
    this.ranking.showParts(kind.between, view);
    const said = this.colours.areVeiled ? "" : firstWords(kind, this.texts().keys);
    this.frame.say(view, kind, attention.words, said, Boolean(this.page.report));
    const patterns = this.patterns(view);
    this.node.classList.toggle("waiting", !patterns);
    clearTimeout(this.asking);
    if (!patterns && !this.preview) {
      this.notify(0);
      this.askAgain(PATIENCE);
    }
    if (!patterns) return;
    const [first] = patterns;
    const weights = patterns.length === 1 ? first.weights : meanOf(patterns.map((pattern) => pattern.weights));
    const masks = patterns.map((pattern) => pattern.mask);
    const mask = masks.every((one) => one === first.mask) ? first.mask : unionOf(masks);
    this.picture = { mask, weights, unused: unusedOf(kind, view) };
    this.name = shownName(kind, view);
    this.lines.show(patterns, view.scale);
    this.matrix.show(this.picture, view.scale, this.name);
    this.drawFocus();
    this.writeOut();
  }

  /** An answer may be lost on its way. More and more seldom: who asks again loses their turn on a busy server. */
  askAgain(delay: number) {
    this.asking = setTimeout(() => {
      this.notify(0, {});
      this.askAgain(2 * delay);
    }, delay);
  }

  /** The patterns of a state without what the filters leave out; null while some have not arrived. */
  patterns(view: State): Pattern<Mask>[] | null {
    const { attention } = this;
    const { kind, layer, heads, aggregate } = view;
    const all: { layer: number; what: What }[] =
      aggregate === "heads" ? heads.map((place) => ({ ...place, what: place.head })) : [{ layer, what: aggregate }];
    const found = all.map((one) => attention.matrix(kind, one.layer, one.what));
    this.missing = all.filter((_, n) => !found[n]).map((one) => attention.keyOf(kind, one.layer, one.what));
    if (this.missing.length) return null;
    return found.flatMap((pattern) => {
      if (!pattern) return [];
      const kept = filtered(pattern, view);
      return { mask: without(pattern.mask, pattern.weights, kept), weights: kept };
    });
  }

  /** Puts the tokens of a kind of attention on the page. Where a text looks at itself, one strip shows both sides. */
  label(kind: number) {
    if (this.labelled === kind) return;
    this.labelled = kind;
    const { queries, keys } = this.texts();
    this.lines.label(queries, keys);
    this.matrix.label(queries, keys);
    const [keyStrip, queryStrip] = this.strips;
    this.isCrossing = queries !== keys;
    keyStrip.side = this.isCrossing ? "key" : "query";
    queryStrip.node.hidden = !this.isCrossing;
    if (!this.isCrossing) return keyStrip.label(keys, "", "The sentence. Choose a token to see what it attends to.");
    keyStrip.label(keys, "keys", "The text attended to");
    queryStrip.label(queries, "queries", "The text that attends. Choose a token to see what it attends to.");
  }

  drawFocus() {
    if (!this.picture) return;
    const focus = this.hover ?? this.state.pin;
    const texts = this.texts();
    const last = texts.queries.labels.length - 1;
    const shown: Focus = focus ?? { side: "query", at: Math.min(this.first ?? last, last) };
    this.lines.draw(focus, this.state.pin);
    this.matrix.draw(focus, this.cell ?? pairOf(this.state));
    this.drawPair();
    const weights = weightsBeside(this.picture, shown, this.state.scale);
    const [keyStrip, queryStrip] = this.strips;
    const isOnKeys = !this.isCrossing || shown.side === "query";
    const { pin, to } = this.state;
    keyStrip.shade(isOnKeys ? weights : null, shown, pin, to);
    if (this.isCrossing) queryStrip.shade(isOnKeys ? null : weights, shown, pin, null);
    this.frame.spoken.textContent = sentence(this.picture, shown, texts);
  }

  writeOut() {
    const { picture } = this;
    if (!this.frame.inWords.open || !picture) return;
    const texts = this.texts();
    const said = texts.queries.labels.map((_, at) => sentence(picture, { side: "query", at }, texts));
    this.frame.rows.replaceChildren(...said.map((textContent) => make("li", { textContent })));
  }

  locate(...names: string[]) {
    return (this.picture && this.matrix.locate(names)) ?? super.locate(...names);
  }

  key(event: KeyboardEvent) {
    if (isChord(event) || (event.target instanceof Element && event.target.matches("select"))) return;
    if (event.key === "Escape") this.change({ pin: null, to: null }, { rest: true });
    else if (!this.controls.key(event.key)) return;
    event.preventDefault();
    event.stopPropagation(); // the page's own shortcuts are not meant
  }
}
