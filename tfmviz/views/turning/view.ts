// A query and a key that turn with their positions. Every touch is answered here; the page keeps it in the address.

import type { Matrix } from "../shared/arrays.ts";
import { figureOf } from "../shared/drawn.ts";
import { listen, make, optionsOf, put, select, within } from "../shared/elements.ts";
import { gliding } from "../shared/motion.ts";
import { decimal, number, tiny } from "../shared/numbers.ts";
import { type Plain, recordOf } from "../shared/record.ts";
import { component, type Page, ViewBase } from "../shared/view_base.ts";
import { angleBetween, lengthOf, type Pair, pairsOf, products, total, turned } from "./pairs.ts";
import { paintCurves, paintDial } from "./pictures.ts";

const TITLE = "A query and a key that turn with their positions";
const SMALL = 42;
const LARGE = 300;
const REACHES = [16, 32, 64, 128, 256, 512]; // distances that the curve shows, at least as many as there are tokens

/** theta in radians per position, and the last position that the sliders offer */
type Shown = { tokens: string[]; theta: number[]; last: number };

/** q and k before and after turning, (len, d_head) */
type Vectors = Shown & Record<"q" | "k" | "rot_q" | "rot_k", Matrix>;

type TurningFacts = Shown & { layer: string; head: number };

type Chosen = { query: number; key: number; pair: number; i: number; j: number };

/** q · k of each pair and of the whole head */
type Product = { i: number; j: number; each: number[]; whole: number };

export class Turning extends ViewBase {
  vectors!: Vectors; // from the first `read` on
  choice!: Chosen; // from the first `take` on
  seen?: Chosen; // the same, on its way there
  stop = () => {};
  q: Pair[] = []; // of the chosen query, before turning
  k: Pair[] = []; // of the chosen key
  curves = { whole: [] as number[], each: [] as number[][] }; // products at every distance
  anchor: Product = { i: 0, j: 0, each: [], whole: 0 }; // where moving both together began

  menus = {
    query: select("Query q:", {}, (value) => this.choose({ query: Number(value) })),
    key: select("Key k:", {}, (value) => this.choose({ key: Number(value) })),
  };
  sliders = {
    i: slider("i, position of q", (i) => this.move({ i })),
    j: slider("j, position of k", (j) => this.move({ j })),
    both: slider("both together", (earlier) => this.moveBoth(earlier)),
  };
  dial = make("canvas", { role: "img" });
  says = ["", "", "strong", "kept", "aside"].map((className) => make("p", { className }));
  dials = make("div", { className: "dials", role: "group", ariaLabel: "Choose a pair of coordinates." });
  curve = make("canvas", { role: "img" });

  constructor(parent: HTMLElement, page: Page) {
    super(parent, page);
    const sliders = Object.values(this.sliders).map(({ node }) => node);
    const says = make("div", { className: "says" }, ...this.says);
    const beside = make("div", { className: "beside" }, ...sliders, says);
    const whole = make("span", { className: "whole", textContent: "q · k: whole head" });
    const pair = make("span", { className: "single", textContent: "this pair" });
    const where = " at every distance; the line marks the sliders' distance";
    this.mount(
      { className: "turning", ariaLabel: TITLE },
      make("div", { className: "bar" }, this.menus.query.node, this.menus.key.node, this.bar()),
      make("div", { className: "stage" }, make("figure", {}, this.dial), beside),
      make("p", { className: "aside", textContent: "All pairs, the fastest first; click one." }),
      this.dials,
      make("p", { className: "legend" }, whole, pair, where),
      this.curve,
    );
    const across = () => Math.max(1, Math.floor(this.dials.clientWidth / (SMALL + 12)));
    listen(this.dials, (pair) => this.choose({ pair }), undefined, across);
  }

  read(source: Uint8Array | Plain<TurningFacts>) {
    const before = this.vectors;
    this.vectors = vectorsOf(source);
    const { tokens, theta } = this.vectors;
    const entries = tokens.map((label, n) => [`${n}`, `${n} “${label}”`]);
    for (const { box } of Object.values(this.menus)) box.replaceChildren(...optionsOf(entries));
    const number = (pair: number) => make("small", { textContent: pair });
    this.dials.replaceChildren(...theta.map((_, n) => make("button", { type: "button" }, make("canvas"), number(n))));
    if (!this.choice) return; // the first choice is on its way
    const isSame = before.tokens.join("\n") === tokens.join("\n") && before.theta.length === theta.length;
    this.place(isSame ? this.choice : {});
  }

  /** @param answer `turn` is "key.pair.i.j" or empty */
  take({ token, turn }: { token: number | null; turn: string }) {
    const [key, pair, i, j] = turn ? turn.split(".").map(Number) : [];
    const wanted = this.fitted({ query: token ?? undefined, key, pair, i, j });
    if (JSON.stringify(wanted) === JSON.stringify(this.choice)) return;
    this.place(wanted);
    this.redraw();
  }

  chosen() {
    if (!this.choice) return {};
    const { query, key, pair, i, j } = this.choice;
    return { token: query, turn: [key, pair, i, j].join(".") };
  }

  /** A choice that fits the data. By default the last token asks the one before it, with the pair that varies most. */
  fitted({ query, key, pair, i, j }: Partial<Chosen>): Chosen {
    const { tokens, theta, last } = this.vectors;
    const q = within(query ?? tokens.length, tokens.length);
    const k = within(key ?? q - 1, tokens.length);
    const m = within(pair ?? this.decisive(q, k), theta.length);
    return { query: q, key: k, pair: m, i: within(i ?? q, last + 1), j: within(j ?? k, last + 1) };
  }

  /** The pair whose product varies most over the distances of the sentence. */
  decisive(query: number, key: number) {
    const { tokens, q, k, theta } = this.vectors;
    const [ofQ, ofK] = [pairsOf(q, query), pairsOf(k, key)];
    const all = tokens.map((_, distance) => products(ofQ, ofK, theta, distance, 0));
    const ranges = theta.map((_, m) => Math.max(...all.map((row) => row[m])) - Math.min(...all.map((row) => row[m])));
    return ranges.indexOf(Math.max(...ranges));
  }

  place(wanted: Partial<Chosen>) {
    const chosen = this.fitted(wanted);
    const { q, k, theta, last } = this.vectors;
    this.choice = chosen;
    this.q = pairsOf(q, chosen.query);
    this.k = pairsOf(k, chosen.key);
    const distances = Array.from({ length: 2 * last + 1 }, (_, n) => n - last);
    const all = distances.map((d) => products(this.q, this.k, theta, Math.max(d, 0), Math.max(-d, 0)));
    this.curves = { whole: all.map(total), each: theta.map((_, m) => all.map((row) => row[m])) };
    this.anchor = this.productAt(chosen);
  }

  productAt({ i, j }: { i: number; j: number }): Product {
    const each = products(this.q, this.k, this.vectors.theta, i, j);
    return { i, j, each, whole: total(each) };
  }

  /** Chooses a pair, or other tokens; these stand again where they do in the sentence. */
  choose(part: Partial<Chosen>) {
    const { query, key, pair, i, j } = { ...this.choice, ...part };
    if ("pair" in part) this.choice = this.fitted({ query, key, pair, i, j });
    else this.place({ query, key, pair });
    this.draw();
    this.still();
    this.notify();
  }

  move(part: { i?: number; j?: number }) {
    this.choice = { ...this.choice, ...part };
    this.anchor = this.productAt(this.choice); // from here on both may move together
    this.turn();
  }

  /** @param earlier the smaller of the two positions */
  moveBoth(earlier: number) {
    const { i, j } = this.choice;
    const by = earlier - Math.min(i, j);
    this.choice = { ...this.choice, i: i + by, j: j + by };
    this.turn();
  }

  turn() {
    this.notify();
    this.later();
  }

  still() {
    this.say(this.sentences().slice(0, 4).join(" "));
  }

  draw() {
    if (!this.choice) return;
    this.setControls();
    this.turnDials();
    for (const [n, textContent] of this.sentences().entries()) put(this.says[n], { textContent });
    this.dial.ariaLabel = `Circle with two arrows: ${degrees(angleBetween(...this.arrows()))} from k to q.`;
    this.drawCurve();
  }

  drawCurve() {
    const { i, j, pair } = this.choice;
    const { tokens, last } = this.vectors;
    const longest = Math.max(tokens.length, Math.abs(i - j));
    const reach = Math.min(last, REACHES.find((distance) => distance >= longest) ?? last);
    const part = (values: number[]) => values.slice(last - reach, last + reach + 1);
    const single = { values: part(this.curves.each[pair]), colour: this.colours.accent, thick: 2 };
    const whole = { values: part(this.curves.whole), colour: this.colours.text, thick: 3 };
    const [width, height, at] = [this.width, 190, i - j];
    paintCurves(this.curve, [single, whole], { width, height, reach, at, colours: this.colours });
    const [ofPair, ofHead] = [single, whole].map(({ values }) => number(values[at + reach]));
    this.curve.ariaLabel = `At distance ${at} q · k is ${ofHead} for the whole head, ${ofPair} for pair ${pair}.`;
  }

  setControls() {
    const { last } = this.vectors;
    const { query, key, i, j } = this.choice;
    const { sliders, menus } = this;
    menus.query.box.value = String(query);
    menus.key.box.value = String(key);
    sliders.i.set(i, last, String(i));
    sliders.j.set(j, last, String(j));
    sliders.both.set(Math.min(i, j), last - Math.abs(i - j), `${i}, ${j}`);
    sliders.both.range.ariaValueText = `i ${i}, j ${j}`;
  }

  turnDials() {
    const { seen, choice: chosen } = this;
    const from = seen?.query === chosen.query && seen.key === chosen.key ? seen : chosen;
    this.stop();
    this.stop = gliding([from.i, from.j], [chosen.i, chosen.j], ([i, j]) => {
      this.seen = { ...chosen, i, j };
      this.drawDials(this.seen);
    });
  }

  drawDials({ i, j, pair }: Chosen) {
    const { theta } = this.vectors;
    for (const [m, node] of this.dials.querySelectorAll("button").entries()) {
      const canvas = node.querySelector("canvas");
      const [q, k] = [turned(this.q[m], i * theta[m]), turned(this.k[m], j * theta[m])];
      if (canvas) paintDial(canvas, { size: SMALL, q, k, colours: this.colours });
      node.ariaPressed = String(m === pair);
      node.tabIndex = m === pair ? 0 : -1;
      node.ariaLabel = `Pair ${m}, ${number(theta[m])} radians a position`;
      const before = { q: this.q[m], k: this.k[m] };
      const size = Math.min(LARGE, this.width);
      if (m === pair) paintDial(this.dial, { size, q, k, before, colours: this.colours });
    }
  }

  /** The chosen pair of the query and of the key, turned. */
  arrows(): [q: Pair, k: Pair] {
    const { pair, i, j } = this.choice;
    const rate = this.vectors.theta[pair];
    return [turned(this.q[pair], i * rate), turned(this.k[pair], j * rate)];
  }

  /** What is said of the pair, of the head, of moving both, and of the sentence. */
  sentences() {
    const { theta, rot_q, rot_k } = this.vectors;
    const { query, key, pair, i, j } = this.choice;
    const { each, whole } = this.productAt({ i, j });
    const rate = theta[pair];
    const [q, k] = this.arrows();
    const lengths = `${number(lengthOf(q))} × ${number(lengthOf(k))} × cos(${degrees(angleBetween(q, k))})`;
    const inModel = total(products(pairsOf(rot_q, query), pairsOf(rot_k, key), theta, 0, 0));
    return [
      `Pair ${pair}, θ = ${number(rate)}: q turns by i θ = ${degrees(i * rate)}, k by j θ = ${degrees(j * rate)}.`,
      `This pair: |q| |k| cos(angle) = ${lengths} = ${number(each[pair])}`,
      `All ${theta.length} pairs: q · k = ${number(whole)}`,
      this.keptWords(i - this.anchor.i, whole),
      `In the sentence, at ${query} and ${key}: q · k = ${number(inModel)}.`,
    ];
  }

  keptWords(by: number, whole: number) {
    if (!by) return "Move both with the third slider: q · k does not change.";
    const [moved, before, now] = [decimal(by, 0, { sign: true }), number(this.anchor.whole), number(whole)];
    const difference = tiny(Math.abs(whole - this.anchor.whole));
    return `Both moved by ${moved}: q · k was ${before} and is ${now}, a difference of ${difference}.`;
  }

  figure() {
    const caption = this.sentences().slice(0, 3).join(" ");
    return { ...figureOf(this.node), name: "turning", title: TITLE, caption };
  }

  values() {
    const { last, theta } = this.vectors;
    const { whole, each } = this.curves;
    const rows = whole.map((value, n) => [n - last, value, ...each.map((values) => values[n])]);
    const columns = ["distance", "whole head", ...theta.map((_, m) => `pair ${m}`)];
    return { title: "q · k by distance", columns, rows };
  }
}

export function vectorsOf(source: Uint8Array | Plain<TurningFacts>): Vectors {
  const record = recordOf(source);
  const { layer, head, tokens, theta, last } = record.facts;
  const heads = record.at(`${layer}.q`).shape[0];
  const of = (name: string) => record.head(`${layer}.${name}`, head, heads);
  return { tokens, theta, last, q: of("q"), k: of("k"), rot_q: of("rot_q"), rot_k: of("rot_k") };
}

function slider(text: string, act: (value: number) => void) {
  const range = make("input", { type: "range", min: 0, step: 1, ariaLabel: text });
  range.oninput = () => act(Number(range.value));
  const output = make("output");
  const set = (value: number, max: number, written: string) => {
    range.max = String(max);
    range.value = String(value);
    output.textContent = written;
  };
  const node = make("label", { className: "slider" }, make("span", { textContent: text }), range, output);
  return { range, node, set };
}

const degrees = (angle: number) => `${decimal((angle * 180) / Math.PI, 1)}°`;

export default component((parent, page) => new Turning(parent, page));
