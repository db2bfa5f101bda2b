// The bar beside the pictures: kind of attention, how many heads, means, filters, scale of shades, links.

import { button, make, put, select } from "../shared/elements.ts";
import type { Attention } from "./payload.ts";
import { AGGREGATES, type Aggregate, initial, moved, SCALES, type State } from "./state.ts";
import type { Scale } from "./weights.ts";
import { filterWords, kindName } from "./words.ts";

const BEAT = 1000; // milliseconds a layer is shown for when playing
const FIRST_HELP = "Idle heads rest on the first token. Without it each row is made to sum to 1 again.";

/** Takes a part of a new state; `rest` says that the reader's hand is still. */
type Change = (part: Partial<State>, how?: { rest?: boolean }) => void;

export class Controls {
  state: State = initial();
  adds = false; // a click on a head shows it beside the others
  timer: ReturnType<typeof setInterval> | null = null; // runs while the layers are played

  change: Change;
  kind: { box: HTMLSelectElement; node: HTMLLabelElement };
  scrubber: Scrubber;
  add: HTMLButtonElement;
  aggregate: { box: HTMLSelectElement; node: HTMLLabelElement };
  first: HTMLInputElement;
  top: { node: HTMLSpanElement; set: (value: number) => void };
  least: { node: HTMLSpanElement; set: (value: number) => void };
  scale: { box: HTMLSelectElement; node: HTMLLabelElement };
  order: { box: HTMLSelectElement; node: HTMLLabelElement };
  summary: HTMLElement;
  filters: HTMLDetailsElement;
  link: HTMLButtonElement;
  node: HTMLDivElement;

  /** @param options `address` of the page with what is chosen */
  constructor({ change, address }: { change: Change; address: (() => string) | null }) {
    this.change = change;
    this.kind = select("Attention", {}, (value) =>
      change({ kind: Number(value), pin: null, to: null }, { rest: true }),
    );
    this.scrubber = new Scrubber(this);
    const title = "A click on a head then shows it beside the others, or no longer (or Shift and click)";
    this.add = button("Add heads", { ariaPressed: "false", title, onclick: () => this.setAdds(!this.adds) });
    this.aggregate = select("", AGGREGATES, (value) => change({ aggregate: value as Aggregate }, { rest: true }));
    this.aggregate.box.ariaLabel = "What is shown";
    this.first = make("input", {
      type: "checkbox",
      onchange: () => change({ withoutFirst: this.first.checked }, { rest: true }),
    });
    this.top = this.slider({ min: 1, max: 100, step: 1 }, (value) => ({ top: value }));
    this.least = this.slider({ min: 0, max: 0.5, step: 0.01 }, (value) => ({ least: value }));
    this.scale = select("Shade", SCALES, (value) => change({ scale: value as Scale }, { rest: true }));
    this.order = select("Order of the heads", {}, (value) => change({ order: value }, { rest: true }));
    this.summary = make("summary");
    this.filters = this.makeFilters();
    this.link = button("Copy link", {
      className: "link",
      hidden: !address,
      onclick: () => address && this.copyLink(address()),
    });
    this.node = make(
      "div",
      { className: "bar controls" },
      this.kind.node,
      this.aggregate.node,
      this.add,
      this.scrubber.node,
    );
  }

  setAdds(adds: boolean) {
    this.adds = adds;
    this.add.ariaPressed = String(adds);
  }

  makeFilters() {
    const { withoutFirst, top, least, scale, order, aggregate } = initial();
    const reset = button("Reset", {
      onclick: () => this.change({ withoutFirst, top, least, scale, order, aggregate }, { rest: true }),
    });
    return make(
      "details",
      { className: "filters" },
      this.summary,
      make(
        "div",
        { className: "bar" },
        make("label", { title: FIRST_HELP }, this.first, " without the first token"),
        make("label", {}, "Keep the largest, ", this.top.node, "% of a row"),
        make("label", {}, "Least weight ", this.least.node),
        this.scale.node,
        this.order.node,
        reset,
      ),
    );
  }

  slider(range: { min: number; max: number; step: number }, part: (value: number) => Partial<State>) {
    const input = make("input", { type: "range", ...range });
    const output = make("output");
    input.oninput = () => this.change(part(Number(input.value)));
    input.onchange = () => this.change({}, { rest: true });
    const set = (value: number) => {
      put(input, { value: String(value) });
      put(output, { textContent: String(value) });
    };
    return { node: make("span", { className: "slider" }, input, output), set };
  }

  /** Goes to another layer. Returns whether there is one. */
  step(by: number) {
    const layer = this.scrubber.layer + by;
    if (layer < 0 || layer > this.scrubber.last) return false;
    this.change(moved(this.state, by, this.scrubber.last), { rest: !this.timer });
    return true;
  }

  /** Does what a key stands for. Returns whether it stands for anything. */
  key(key: string) {
    if (key === "[") this.step(-1);
    else if (key === "]") this.step(1);
    else if (key === "p") this.toggle();
    else return false;
    return true;
  }

  /** Starts or stops playing. */
  toggle() {
    if (this.timer) {
      this.stop();
      return;
    }
    const { layer, last } = this.scrubber;
    if (layer === last) this.change(moved(this.state, -last, last));
    this.timer = setInterval(() => this.step(1) || this.stop(), BEAT);
    this.scrubber.play.textContent = "Pause";
  }

  stop() {
    this.pause();
    this.change({}, { rest: true });
  }

  /** Plays no longer, and says nothing of it. */
  pause() {
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
    this.scrubber.play.textContent = "Play";
  }

  async copyLink(address: string) {
    try {
      await navigator.clipboard.writeText(address);
      this.link.textContent = "Copied";
    } catch {
      window.prompt("Copy this address:", address); // without a secure connection there is no clipboard
    }
    setTimeout(() => {
      this.link.textContent = "Copy link";
    }, 2000);
  }

  /** Shows a state. */
  set(state: State, attention: Attention) {
    this.state = state;
    const kind = attention.kinds[state.kind];
    const isSquare = attention.queries(state.kind) === attention.keys(state.kind);
    setOptions(this.kind.box, Object.entries(attention.kinds.map(kindName)), String(state.kind));
    this.kind.node.hidden = attention.kinds.length === 1;
    this.scrubber.set(state, kind.layers.length - 1);
    const aggregates = Object.entries(AGGREGATES).filter(([value]) => isSquare || value !== "rollout");
    setOptions(this.aggregate.box, aggregates, state.aggregate);
    this.first.checked = state.withoutFirst;
    this.top.set(state.top);
    this.least.set(state.least);
    put(this.scale.box, { value: state.scale });
    setOptions(
      this.order.box,
      [["place", "by layer"], ...Object.keys(kind.scores).map((name) => [name, name])],
      state.order,
    );
    put(this.summary, { textContent: ["Filters and colours", filterWords(state)].filter(Boolean).join(": ") });
  }
}

/** Plays through the layers; where means are shown, no head says which layer, so here it is chosen. */
class Scrubber {
  layer = 0;
  last = 0;

  previous: HTMLButtonElement;
  next: HTMLButtonElement;
  play: HTMLButtonElement;
  steps: HTMLDivElement;
  node: HTMLDivElement;
  output = make("output");

  constructor(controls: Controls) {
    const step = (by: number) => () => controls.step(by);
    this.previous = button("◀", { ariaLabel: "Previous layer", title: "Previous layer (key [)", onclick: step(-1) });
    this.next = button("▶", { ariaLabel: "Next layer", title: "Next layer (key ])", onclick: step(1) });
    this.play = button("Play", { title: "Play through the layers (key p)", onclick: () => controls.toggle() });
    this.steps = make("div", { className: "group" }, this.previous, this.output, this.next);
    this.node = make("div", { className: "group scrubber", role: "group", ariaLabel: "Layer" }, this.steps, this.play);
  }

  set({ layer, aggregate }: State, last: number) {
    this.layer = layer;
    this.last = last;
    put(this.steps, { hidden: aggregate === "heads" || aggregate === "all" });
    put(this.node, { hidden: aggregate === "all" || last === 0 });
    put(this.output, { textContent: `layer ${layer}` });
    put(this.previous, { disabled: layer === 0 });
    put(this.next, { disabled: layer === last });
  }
}

/**
 * Fills a menu, only when its entries differ, so that an open menu stays open.
 * @param entries values and their texts
 */
function setOptions(box: HTMLSelectElement, entries: string[][], value: string) {
  const wanted = entries.map(([key, text]) => `${key}=${text}`).join("\n");
  if (box.dataset.entries !== wanted) {
    box.dataset.entries = wanted;
    box.replaceChildren(...entries.map(([key, text]) => make("option", { value: key, textContent: text })));
  }
  put(box, { value });
}
