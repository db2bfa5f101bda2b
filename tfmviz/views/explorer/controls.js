// The bar beside the pictures: kind of attention, how many heads, means, filters, scale of shades, links.

/** @import { Attention } from "./payload.js" */
/** @import { Aggregate, State } from "./state.js" */
/** @import { Scale } from "./weights.js" */
import { button, make, put, select } from "../shared/elements.js";
import { AGGREGATES, initial, moved, SCALES } from "./state.js";
import { filterWords, kindName } from "./words.js";

const BEAT = 1000; // milliseconds a layer is shown for when playing
const FIRST_HELP = "Idle heads rest on the first token. Without it each row is made to sum to 1 again.";

/**
 * Takes a part of a new state; `rest` says that the reader's hand is still.
 * @typedef {(part: Partial<State>, how?: {rest?: boolean}) => void} Change
 */

export class Controls {
  /** @type {State} */
  state = initial();
  adds = false; // a click on a head shows it beside the others
  /** @type {ReturnType<typeof setInterval> | null} runs while the layers are played */
  timer = null;

  /**
   * @param {{change: Change, address: (() => string) | null}} options `address` of the page with what is chosen
   */
  constructor({ change, address }) {
    this.change = change;
    this.kind = select("Attention", {}, (value) =>
      change({ kind: Number(value), pin: null, to: null }, { rest: true }),
    );
    this.scrubber = new Scrubber(this);
    const title = "A click on a head then shows it beside the others, or no longer (or Shift and click)";
    this.add = button("Add heads", { ariaPressed: "false", title, onclick: () => this.setAdds(!this.adds) });
    this.aggregate = select("", AGGREGATES, (value) =>
      change({ aggregate: /** @type {Aggregate} */ (value) }, { rest: true }),
    );
    this.aggregate.box.ariaLabel = "What is shown";
    this.first = make("input", {
      type: "checkbox",
      onchange: () => change({ withoutFirst: this.first.checked }, { rest: true }),
    });
    this.top = this.slider({ min: 1, max: 100, step: 1 }, (value) => ({ top: value }));
    this.least = this.slider({ min: 0, max: 0.5, step: 0.01 }, (value) => ({ least: value }));
    this.scale = select("Shade", SCALES, (value) => change({ scale: /** @type {Scale} */ (value) }, { rest: true }));
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

  /** @param {boolean} adds */
  setAdds(adds) {
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

  /**
   * @param {{min: number, max: number, step: number}} range
   * @param {(value: number) => Partial<State>} part
   */
  slider(range, part) {
    const input = make("input", { type: "range", ...range });
    const output = make("output");
    input.oninput = () => this.change(part(Number(input.value)));
    input.onchange = () => this.change({}, { rest: true });
    /** @param {number} value */
    const set = (value) => {
      put(input, { value: String(value) });
      put(output, { textContent: String(value) });
    };
    return { node: make("span", { className: "slider" }, input, output), set };
  }

  /**
   * Goes to another layer. Returns whether there is one.
   * @param {number} by
   */
  step(by) {
    const layer = this.scrubber.layer + by;
    if (layer < 0 || layer > this.scrubber.last) return false;
    this.change(moved(this.state, by, this.scrubber.last), { rest: !this.timer });
    return true;
  }

  /**
   * Does what a key stands for. Returns whether it stands for anything.
   * @param {string} key
   */
  key(key) {
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

  /** @param {string} address */
  async copyLink(address) {
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

  /**
   * Shows a state.
   * @param {State} state
   * @param {Attention} attention
   */
  set(state, attention) {
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

  /** @param {Controls} controls */
  constructor(controls) {
    this.output = make("output");
    const step = (/** @type {number} */ by) => () => controls.step(by);
    this.previous = button("◀", { ariaLabel: "Previous layer", title: "Previous layer (key [)", onclick: step(-1) });
    this.next = button("▶", { ariaLabel: "Next layer", title: "Next layer (key ])", onclick: step(1) });
    this.play = button("Play", { title: "Play through the layers (key p)", onclick: () => controls.toggle() });
    this.steps = make("div", { className: "group" }, this.previous, this.output, this.next);
    this.node = make("div", { className: "group scrubber", role: "group", ariaLabel: "Layer" }, this.steps, this.play);
  }

  /**
   * @param {State} state
   * @param {number} last
   */
  set({ layer, aggregate }, last) {
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
 * @param {HTMLSelectElement} box
 * @param {string[][]} entries values and their texts
 * @param {string} value
 */
function setOptions(box, entries, value) {
  const wanted = entries.map(([key, text]) => `${key}=${text}`).join("\n");
  if (box.dataset.entries !== wanted) {
    box.dataset.entries = wanted;
    box.replaceChildren(...entries.map(([key, text]) => make("option", { value: key, textContent: text })));
  }
  put(box, { value });
}
