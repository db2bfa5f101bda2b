// The bar above the pictures: kind of attention, layer, heads, filters, scale of shades, links.

/** @import { Attention, Kind } from "./payload.js" */
/** @import { Aggregate, State } from "./state.js" */
/** @import { Scale } from "./weights.js" */
/** @import { Place } from "./words.js" */
import { button, buttonOf, make, put, select } from "../shared/elements.js";
import { AGGREGATES, initial, SCALES } from "./state.js";
import { filterWords, kindName } from "./words.js";

const BEAT = 1000; // milliseconds a layer is shown for when playing
const FIRST_HELP = "Idle heads rest on the first token. Without it each row is made to sum to 1 again.";

/**
 * Takes a part of a new state; `rest` says that the reader's hand is still.
 * @typedef {(part: Partial<State>, how?: {rest?: boolean}) => void} Change
 */

/** @typedef {(kind: Kind, place: Place) => string} NameOf a head in words, with its verdict where that may be seen */

export class Controls {
  /** @type {State} */
  state = initial();
  count = 1; // heads of the layer
  /** @type {HTMLButtonElement[]} one for each head */
  chips = [];
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
    this.heads = this.makeHeads();
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
      this.scrubber.node,
      this.heads,
      this.aggregate.node,
    );
  }

  makeHeads() {
    const group = make("div", { className: "group heads", role: "group", ariaLabel: "Heads to show" });
    group.addEventListener("click", (event) => {
      const node = buttonOf(event);
      if (node) this.toggleHead(Number(node.dataset.head), event.shiftKey);
    });
    group.addEventListener("dblclick", (event) => {
      const node = buttonOf(event);
      if (node) this.solo(Number(node.dataset.head));
    });
    return group;
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
    this.change({ layer }, { rest: !this.timer });
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
    if (this.scrubber.layer === this.scrubber.last) this.change({ layer: 0 });
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

  /**
   * Shows a head or hides it; the last one cannot be hidden.
   * @param {number} head
   * @param {boolean} alone
   */
  toggleHead(head, alone) {
    if (alone) {
      this.solo(head);
      return;
    }
    const { heads } = this.state;
    const without = heads.filter((other) => other !== head);
    if (!heads.includes(head)) this.change({ heads: [...heads, head], aggregate: "heads" }, { rest: true });
    else if (without.length) this.change({ heads: without }, { rest: true });
  }

  /**
   * Shows one head alone; if it is alone already, all of them.
   * @param {number} head
   */
  solo(head) {
    const others = Array.from({ length: this.count }, (_, n) => n).filter((other) => other !== head);
    const isAlone = this.state.heads.length === 1 && this.state.heads[0] === head;
    this.change({ heads: isAlone ? [...others, head] : [head], aggregate: "heads" }, { rest: true });
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
   * @param {NameOf} nameOf
   */
  set(state, attention, nameOf) {
    this.state = state;
    const kind = attention.kinds[state.kind];
    const isSquare = attention.queries(state.kind) === attention.keys(state.kind);
    this.count = kind.heads;
    setOptions(this.kind.box, Object.entries(attention.kinds.map(kindName)), String(state.kind));
    this.kind.node.hidden = attention.kinds.length === 1;
    this.scrubber.set(state, kind.layers.length - 1);
    const aggregates = Object.entries(AGGREGATES).filter(([value]) => isSquare || value !== "rollout");
    setOptions(this.aggregate.box, aggregates, state.aggregate);
    this.setHeads(state, kind, nameOf);
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

  /**
   * @param {State} state
   * @param {Kind} kind
   * @param {NameOf} nameOf
   */
  setHeads(state, kind, nameOf) {
    for (const node of this.chips.splice(kind.heads)) node.remove();
    while (this.chips.length < kind.heads) {
      const head = this.chips.length;
      this.chips.push(this.heads.appendChild(button(String(head), { dataset: { head } })));
    }
    for (const [head, node] of this.chips.entries()) {
      const name = nameOf(kind, { layer: state.layer, head });
      put(node, {
        ariaPressed: String(state.aggregate === "heads" && state.heads.includes(head)),
        ariaLabel: name,
        title: `${name}. Click: on or off. Double click or Shift: alone, then all.`,
      });
    }
  }
}

/** The slider of the layers with its buttons. */
class Scrubber {
  layer = 0;
  last = 0;

  /** @param {Controls} controls */
  constructor(controls) {
    const { change } = controls;
    this.range = make("input", { type: "range", min: 0, step: 1, ariaLabel: "Layer" });
    this.range.oninput = () => change({ layer: Number(this.range.value) });
    this.range.onchange = () => change({}, { rest: true });
    this.output = make("output");
    const step = (/** @type {number} */ by) => () => controls.step(by);
    this.previous = button("◀", {
      ariaLabel: "Previous layer",
      title: "Previous layer (key [)",
      onclick: step(-1),
    });
    this.next = button("▶", { ariaLabel: "Next layer", title: "Next layer (key ])", onclick: step(1) });
    const playTitle = "Play through the layers (key p)";
    this.play = button("Play", { title: playTitle, onclick: () => controls.toggle() });
    this.node = make("div", { className: "group scrubber", role: "group", ariaLabel: "Layer" });
    this.node.append(this.previous, this.range, this.next, this.output, this.play);
  }

  /**
   * @param {State} state
   * @param {number} last
   */
  set({ layer, aggregate }, last) {
    this.layer = layer;
    this.last = last;
    put(this.range, { max: String(last) });
    put(this.range, { value: String(layer) });
    put(this.output, { textContent: `layer ${layer} of 0–${last}` });
    put(this.previous, { disabled: layer === 0 });
    put(this.next, { disabled: layer === last });
    this.node.classList.toggle("off", aggregate === "all");
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
