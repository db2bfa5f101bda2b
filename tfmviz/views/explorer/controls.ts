// The bar beside the pictures: kind of attention, heads or means, filters, scale of shades; what the colours mean.

import { RAMP } from "../shared/colours.ts";
import { button, make, optionsOf, put, select } from "../shared/elements.ts";
import type { Explorer } from "./explorer.ts";
import { AGGREGATES, type Aggregate, moved, SCALES, type State, UNFILTERED } from "./state.ts";
import { SCALES_OF_SHADE, type Scale } from "./weights.ts";
import { filterWords, kindName } from "./words.ts";

const BEAT = 1000; // milliseconds a layer is shown for when playing
const FIRST_HELP = "Idle heads park their attention on the first token. Without it, each row is renormalised.";
const TICKS = [0, 0.1, 0.25, 0.5, 1];

export class Controls {
  adds = false; // a click on a head shows it beside the others
  timer: ReturnType<typeof setInterval> | null = null; // runs while the layers are played

  kind = select("Attention", {}, (value) => this.choose({ kind: Number(value), pin: null, to: null }));
  add = button("Add heads", {
    ariaPressed: "false",
    title: "Each click then adds a head, or removes it (also Shift and click)",
    onclick: () => {
      this.adds = !this.adds;
      this.add.ariaPressed = String(this.adds);
    },
  });
  aggregate = select("", AGGREGATES, (value) => this.choose({ aggregate: value as Aggregate }));
  first = make("input", { type: "checkbox", onchange: () => this.choose({ withoutFirst: this.first.checked }) });
  top = this.slider([1, 100, 1], (value) => ({ top: value }));
  least = this.slider([0, 0.5, 0.01], (value) => ({ least: value }));
  scale = select("Shade", SCALES, (value) => this.choose({ scale: value as Scale }));
  order = select("Order of the heads", {}, (value) => this.choose({ order: value }));
  summary = make("summary");
  filters = make(
    "details",
    { className: "filters" },
    this.summary,
    make(
      "div",
      { className: "bar" },
      make("label", { title: FIRST_HELP }, this.first, " without the first token"),
      make("label", {}, "Keep the largest ", this.top.node, "% of each row"),
      make("label", {}, "Minimum weight ", this.least.node),
      this.scale.node,
      this.order.node,
      button("Reset", { onclick: () => this.choose(UNFILTERED) }),
    ),
  );
  ticks = make("div", { className: "ticks" });
  legend = legendOf(this.ticks);

  // Plays through the layers; where means are shown, no head says which layer, so here it is chosen.
  layer = make("output");
  previous = button("◀", {
    ariaLabel: "Previous layer",
    title: "Previous layer (key [)",
    onclick: () => this.step(-1),
  });
  next = button("▶", { ariaLabel: "Next layer", title: "Next layer (key ])", onclick: () => this.step(1) });
  play = button("Play", { title: "Play through the layers (key p)", onclick: () => this.toggle() });
  steps = make("div", { className: "group" }, this.previous, this.layer, this.next);
  scrubber = make("div", { className: "group scrubber", role: "group", ariaLabel: "Layer" }, this.steps, this.play);
  node = make("div", { className: "bar controls" }, this.kind.node, this.aggregate.node, this.add, this.scrubber);

  explorer: Explorer;

  constructor(explorer: Explorer) {
    this.explorer = explorer;
    this.aggregate.box.ariaLabel = "What is shown";
  }

  /** What is chosen in one step, after which the hand is still. */
  choose(part: Partial<State>) {
    this.explorer.change(part, { rest: true });
  }

  get last() {
    const { attention, state } = this.explorer;
    return attention.kinds[state.kind].layers.length - 1;
  }

  slider([min, max, step]: number[], part: (value: number) => Partial<State>) {
    const input = make("input", { type: "range", min, max, step });
    const output = make("output");
    input.oninput = () => this.explorer.change(part(Number(input.value)));
    input.onchange = () => this.choose({});
    const set = (value: number) => {
      put(input, { value: String(value) });
      put(output, { textContent: String(value) });
    };
    return { node: make("span", { className: "slider" }, input, output), set };
  }

  step(by: number) {
    const { explorer, last } = this;
    const layer = explorer.state.layer + by;
    if (layer < 0 || layer > last) return false;
    explorer.change(moved(explorer.state, by, last), { rest: !this.timer });
    return true;
  }

  key(key: string) {
    if (key === "[") this.step(-1);
    else if (key === "]") this.step(1);
    else if (key === "p") this.toggle();
    else return false;
    return true;
  }

  toggle() {
    if (this.timer) return this.stop();
    const { explorer, last } = this;
    if (explorer.state.layer === last) explorer.change(moved(explorer.state, -last, last));
    this.timer = setInterval(() => this.step(1) || this.stop(), BEAT);
    this.play.textContent = "Pause";
  }

  stop() {
    this.pause();
    this.choose({});
  }

  pause() {
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
    this.play.textContent = "Play";
  }

  setTicks(scale: Scale) {
    const tick = (weight: number) => {
      const textContent = scale === "row" && weight ? "the row's largest" : weight;
      return make("span", { textContent, style: { left: `${100 * SCALES_OF_SHADE[scale](weight, 1)}%` } });
    };
    this.ticks.replaceChildren(...(scale === "row" ? [0, 1] : TICKS).map(tick));
  }

  draw() {
    const { attention, state } = this.explorer;
    const { layer, aggregate } = state;
    const kind = attention.kinds[state.kind];
    const isSquare = attention.queries(state.kind) === attention.keys(state.kind);
    setOptions(this.kind.box, Object.entries(attention.kinds.map(kindName)), String(state.kind));
    this.kind.node.hidden = attention.kinds.length === 1;
    put(this.steps, { hidden: aggregate === "heads" || aggregate === "all" });
    put(this.scrubber, { hidden: aggregate === "all" || this.last === 0 });
    put(this.layer, { textContent: `layer ${layer}` });
    put(this.previous, { disabled: layer === 0 });
    put(this.next, { disabled: layer === this.last });
    const aggregates = Object.entries(AGGREGATES).filter(([value]) => isSquare || value !== "rollout");
    setOptions(this.aggregate.box, aggregates, aggregate);
    this.first.checked = state.withoutFirst;
    this.top.set(state.top);
    this.least.set(state.least);
    put(this.scale.box, { value: state.scale });
    const orders = Object.keys(kind.scores).map((name) => [name, name]);
    setOptions(this.order.box, [["place", "by layer"], ...orders], state.order);
    put(this.summary, { textContent: ["Filters and colours", filterWords(state)].filter(Boolean).join(": ") });
  }
}

/** Fills a menu with values and their texts, only when they differ, so that an open menu stays open. */
function setOptions(box: HTMLSelectElement, entries: string[][], value: string) {
  const wanted = entries.map(([key, text]) => `${key}=${text}`).join("\n");
  if (box.dataset.entries !== wanted) {
    box.dataset.entries = wanted;
    box.replaceChildren(...optionsOf(entries));
  }
  put(box, { value });
}

function legendOf(ticks: HTMLElement) {
  const background = `linear-gradient(to right, ${RAMP.map((rgb) => `rgb(${rgb.join(" ")})`).join(",")})`;
  const ramp = make("div", { className: "ramp", style: { background } });
  const scale = make("div", { className: "scale" }, make("span", { textContent: "attention" }), ramp, ticks);
  const entry = (name: string, text: string) =>
    make("span", { className: "legend-entry" }, make("span", { className: `swatch ${name}` }), text);
  const entries = [entry("masked-cell", "masked"), entry("looks", "attends to"), entry("looked", "attended to by")];
  return make("div", { className: "legend" }, scale, ...entries);
}
