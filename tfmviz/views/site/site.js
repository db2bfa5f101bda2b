// The page that needs no server. Each key in the box runs the model here, and all pictures follow. This script draws
// the heads; what stands below them, and each other part, is a script of its own, which comes when it is wanted.

/** @import { Engine } from "../engine/engine.js" */
/** @import { Edit } from "../engine/edits.js" */
/** @import { Plain } from "../shared/record.js" */
/** @import { Parcel } from "../engine/fetching.js" */
/** @import { Head } from "./heads.js" */
import { engineOf, fetchEngine } from "../engine/fetching.js";
import { button, make, put, roving, select } from "../shared/elements.js";
import { firstOf } from "../shared/first.js";
import { perCent } from "../shared/numbers.js";
import { Heads, offFrom } from "./heads.js";

/**
 * `model` is what it is in an address, `parcel` how it gets here, `scenes` where the picture of the whole model is
 * described. In a page of one file, both are ids of elements that hold them, the former as base64 in `inside`.
 * @typedef {object} Model
 * @property {string} model
 * @property {string} name
 * @property {string} about
 * @property {Record<string, any>} config
 * @property {string} scenes
 * @property {Parcel} [parcel]
 * @property {string} [inside]
 */

/**
 * A part of the page: what it draws, what the address asks of it, what it says there.
 * @typedef {object} Part
 * @property {() => void} run draws the sentence
 * @property {(address: URLSearchParams) => void} look
 * @property {() => Record<string, string>} said "" for what is left out
 * @property {{followLook: () => void}[]} views
 */

const TYPED = 400; // milliseconds without a key until the address follows

/** The parts by the names that pages have in the app's addresses. */
const PAGES = {
  explorer: "Heads",
  whole_model: "The whole model",
  step_by_step: "Step by step",
  masks: "Masks",
  positions_rope: "RoPE arrows",
};

/** @typedef {keyof typeof PAGES} PageName */

const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));

export class Site {
  /**
   * What stands in the page; `scripts` are none if it is one file.
   * @type {{text: string, models: Model[], parts: PageName[], scripts: Record<string, string>}}
   */
  given = JSON.parse(String(byId("site").textContent));
  models = this.given.models;
  /** @type {Record<string, Promise<Engine>>} those that were asked for */
  engines = {};
  /** @type {Engine | null} */
  engine = null;
  /** @type {Head[]} */
  off = [];
  place = { layer: 0, head: 0, token: /** @type {number | null} */ (null) };
  /** @type {PageName} */
  page = "explorer";
  /** @type {Partial<Record<PageName, Part>>} */
  parts = {};
  /** @type {Record<string, any> | null} of the last pass over the sentence */
  facts = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  writing;
  /** @type {Record<"layer" | "head", ReturnType<typeof select>>} */
  menus;
  /** @type {HTMLElement} */
  where;
  /** @type {HTMLElement} */
  tabs;

  constructor() {
    const address = new URLSearchParams(location.search);
    this.address = address;
    this.model = this.models.find(({ model }) => model === address.get("model")) ?? this.models[0];
    this.off = offFrom(address.get("off") ?? "");
    this.text = address.get("text")?.trim() ? String(address.get("text")) : this.given.text;
    const page = address.get("page") ?? "";
    this.page = this.given.parts.find((name) => name === page) ?? "explorer";
    this.box = make("textarea", { rows: 2, value: this.text, maxLength: 5000 });
    this.note = make("p", { className: "note", role: "status" });
    this.about = make("span", { className: "about" });
    this.build();
    this.heads = new Heads(this, byId("explorer"));
    this.heads.look(address);
    this.parts.explorer = this.heads;
    this.showPart();
    this.goTo(this.model, address);
  }

  build() {
    const named = Object.fromEntries(this.models.map(({ model, name }) => [model, name]));
    const menu = select("Model", named, (name) =>
      this.goTo(/** @type {Model} */ (this.models.find(({ model }) => model === name))),
    );
    menu.box.ariaLabel = "Model";
    menu.box.value = this.model.model;
    const number = (/** @type {"layer" | "head"} */ what) =>
      select(what === "layer" ? "Layer" : "Head", {}, (value) => this.choose({ [what]: Number(value) }));
    this.menus = { layer: number("layer"), head: number("head") };
    this.menus.layer.box.ariaLabel = "Layer";
    this.menus.head.box.ariaLabel = "Head";
    this.where = make("span", { className: "line" }, this.menus.layer.node, this.menus.head.node);
    const label = make("label", { className: "sentence" }, "Your sentence: every key changes the pictures", this.box);
    this.listen(this.box);
    this.tabs = make("div", { className: "tabs", role: "tablist", ariaLabel: "What to look at" });
    for (const page of this.given.parts) {
      this.tabs.append(button(PAGES[page], { role: "tab", dataset: { page }, onclick: () => this.open(page) }));
    }
    this.tabs.hidden = this.given.parts.length < 2;
    roving(this.tabs, () => 1);
    byId("controls").append(make("div", { className: "line" }, menu.node, this.where, this.about), label);
    byId("controls").append(this.note, this.tabs);
  }

  /** @param {HTMLTextAreaElement} box each key in which runs the model */
  listen(box) {
    box.addEventListener("input", (event) => {
      if (!(event instanceof InputEvent && event.isComposing)) this.run();
    });
    box.addEventListener("compositionend", () => this.run());
  }

  /** @param {PageName} page */
  open(page) {
    this.page = page;
    this.showPart();
    this.fetch(page === "explorer" ? "below" : page); // unless it is here
    this.run();
  }

  /**
   * Gets a script. It becomes one of those that stand in the page, which the page's policy allows by their digests.
   * @param {string} name
   */
  async fetch(name) {
    const at = this.given.scripts[name];
    if (!at) return;
    delete this.given.scripts[name]; // once
    try {
      const answer = await fetch(at);
      if (!answer.ok) throw new Error(answer.statusText);
      document.body.append(make("script", { type: "module", textContent: await answer.text() }));
    } catch (error) {
      this.given.scripts[name] = at;
      this.say(`This part cannot be shown: ${wordsOf(error)}`);
    }
  }

  /**
   * Adds a part of the page, in a shadow of its own: its styles were written for that.
   * @param {PageName} name
   * @param {(site: Site, parent: HTMLElement) => Part} makePart
   */
  add(name, makePart) {
    const host = make("div", { dataset: { part: name }, hidden: true });
    byId("parts").append(host);
    const root = host.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(/** @type {any} */ (globalThis).tfmvizStyle); // which stands before its script
    root.adoptedStyleSheets = [sheet];
    const inner = make("div");
    root.append(inner);
    const part = makePart(this, inner);
    part.look(this.address);
    this.parts[name] = part;
    this.showPart();
    if (this.page === name) this.run();
  }

  showPart() {
    for (const node of this.tabs.querySelectorAll("button")) {
      const isOpen = node.dataset.page === this.page;
      node.ariaSelected = String(isOpen);
      node.tabIndex = isOpen ? 0 : -1;
    }
    this.where.hidden = this.page === "explorer";
    for (const node of document.querySelectorAll("[data-part]")) {
      if (node instanceof HTMLElement) node.hidden = node.dataset.part !== this.page;
    }
  }

  /**
   * Goes to a model, once it is here.
   * @param {Model} model
   * @param {URLSearchParams} [address] what is chosen at first
   */
  async goTo(model, address) {
    clearTimeout(this.writing); // the address names a model once it is shown
    this.model = model;
    this.off = address ? this.off : [];
    put(this.about, { textContent: model.about });
    const loading = this.say(`${model.name} is on its way …`);
    const arrived = (/** @type {number} */ share) => {
      if (this.model === model) loading(`${model.name} is on its way: ${perCent(share)}`);
    };
    this.engines[model.model] ??= engineFor(model, arrived);
    try {
      const engine = await this.engines[model.model];
      if (this.model !== model) return; // another one was chosen meanwhile
      this.engine = engine;
      this.say("");
      this.fit(address);
      this.run();
    } catch (error) {
      delete this.engines[model.model]; // so that it can be asked for again
      this.say(`${model.name} cannot be shown: ${wordsOf(error)}`);
    }
  }

  /**
   * Chooses a layer and a head that this model has.
   * @param {URLSearchParams} [address]
   */
  fit(address) {
    const { n_layers, n_heads } = this.model.config;
    const number = (/** @type {string} */ name) => {
      const text = address?.get(name) ?? "";
      return /^\d{1,4}$/.test(text) ? Number(text) : null;
    };
    if (address) {
      this.place = { layer: number("layer") ?? n_layers - 1, head: number("head") ?? 0, token: number("token") };
    }
    const { layer, head } = this.place;
    this.place = { ...this.place, layer: Math.min(layer, n_layers - 1), head: Math.min(head, n_heads - 1) };
    for (const [{ box }, count] of /** @type {const} */ ([
      [this.menus.layer, n_layers],
      [this.menus.head, n_heads],
    ])) {
      const options = Array.from({ length: count }, (_, n) => make("option", { value: n, textContent: String(n) }));
      box.replaceChildren(...options);
    }
  }

  get stack() {
    return this.model.config.architecture === "encoder-only" ? "encoder" : "decoder";
  }

  /** The path of the chosen layer. */
  get layer() {
    return `${this.stack}.${this.place.layer}.self_attn`;
  }

  /** @param {HTMLTextAreaElement} box */
  oneLine(box) {
    return box.value.replaceAll("\r", "").replaceAll("\n", " ");
  }

  /** Runs the model on what stands in the box. */
  run() {
    if (!this.engine) return;
    const typed = this.oneLine(this.box);
    if (typed.trim()) this.text = typed; // of an empty box the last text stays, with this model and these heads
    this.menus.layer.box.value = String(this.place.layer);
    this.menus.head.box.value = String(this.place.head);
    try {
      this.parts[this.page]?.run();
      this.say(leftOut(this.facts));
    } catch (error) {
      this.say(wordsOf(error));
    }
    this.later();
  }

  /**
   * A pass over a text, with the heads that are off.
   * @param {string} text
   * @param {string[] | null} sites
   * @param {{edits?: Edit[], isOther?: boolean}} [more] of another text than the first box's nothing is said
   */
  trace(text, sites, { edits = [], isOther = false } = {}) {
    const engine = /** @type {Engine} */ (this.engine);
    const record = engine.trace(text, { sites, edits: [...this.edits(), ...edits], title: this.model.name });
    if (!isOther) this.facts = record.facts;
    return record;
  }

  /** The token to look at. */
  get token() {
    return firstOf(this.facts?.texts.target.tokens ?? [""], this.place.token, "", this.engine?.tokenizer.fillsGaps);
  }

  edits() {
    const { n_layers, n_heads } = this.model.config;
    this.off = this.off.filter(({ layer, head }) => {
      const [stack, n] = layer.split(".");
      return stack === this.stack && Number(n) < n_layers && head < n_heads;
    });
    return this.off.map((head) => ({ kind: /** @type {const} */ ("AblateHead"), ...head }));
  }

  /** @param {Partial<Site["place"]>} place */
  choose(place) {
    this.place = { ...this.place, ...place };
    this.run();
  }

  /**
   * @param {string} sentence
   * @returns {(sentence: string) => void} says the next one
   */
  say(sentence) {
    put(this.note, { textContent: sentence });
    return (next) => put(this.note, { textContent: next });
  }

  /** The address follows once the hand is still. */
  later() {
    clearTimeout(this.writing);
    this.writing = setTimeout(() => this.writeAddress(), TYPED);
  }

  writeAddress() {
    const part = this.parts[this.page];
    if (!part || !this.facts) return;
    const { layer, head, token } = this.place;
    const where = { text: this.box.value, model: this.model.model, layer: String(layer), head: String(head) };
    const address = new URLSearchParams({ ...(this.page === "explorer" ? {} : { page: this.page }), ...where });
    if (token !== null) address.set("token", String(token));
    for (const [name, value] of Object.entries(part.said())) if (value) address.set(name, value);
    try {
      history.replaceState(null, "", `?${address}`);
    } catch {
      // a notebook may show the page without an address of its own
    }
  }

  followLook() {
    for (const { views } of Object.values(this.parts)) for (const view of views) view.followLook();
  }
}

/**
 * @param {Model} model
 * @param {(share: number) => void} arrived from 0 to 1
 */
async function engineFor({ parcel, inside = "" }, arrived) {
  if (!parcel) return engineOf(Uint8Array.from(atob(String(byId(inside).textContent)), (c) => c.charCodeAt(0)));
  let n = 0;
  return fetchEngine(parcel, async (address) => {
    const answer = await fetch(address);
    n += 1;
    arrived(n / parcel.parts);
    return answer;
  });
}

const wordsOf = (/** @type {unknown} */ error) => (error instanceof Error ? error.message : String(error));

/**
 * As the app says it.
 * @param {Record<string, any> | null} facts
 */
function leftOut(facts) {
  if (!facts?.dropped) return "";
  const last = facts.dropped === 1 ? "last one was" : `last ${facts.dropped} were`;
  return `It reads ${facts.ids.length} tokens at a time; the ${last} left out.`;
}

const site = new Site();
/** @type {any} */ (globalThis).tfmvizSite = site; // for the other scripts
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => site.followLook());
const { engines, model, page } = site;
const afterPicture = () => requestAnimationFrame(() => setTimeout(() => site.fetch("below")));
if (page !== "explorer") site.fetch(page);
else engines[model.model].then(afterPicture, afterPicture);
