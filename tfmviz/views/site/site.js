// The page that needs no server. Each key in the box runs the model here, and all pictures follow.

/** @import { Engine } from "../engine/engine.js" */
/** @import { Selection } from "../explorer/state.js" */
/** @import { Plain } from "../shared/record.js" */
/** @import { Parcel } from "../engine/fetching.js" */
import { engineOf, fetchEngine } from "../engine/fetching.js";
import { Explorer } from "../explorer/explorer.js";
import { button, make, put, select } from "../shared/elements.js";
import { barLength, perCent } from "../shared/numbers.js";

/**
 * `model` is what it is in an address, `parcel` how it gets here, `inside` the element of this page that holds it as
 * base64, if the page is one file.
 * @typedef {object} Model
 * @property {string} model
 * @property {string} name
 * @property {string} about
 * @property {Record<string, any>} config
 * @property {Parcel} [parcel]
 * @property {string} [inside]
 */

/** @typedef {{layer: string, head: number}} Head `layer` is the path of an attention layer */

const SITES = ["*.pattern", "*.mask"];
const LISTED = 8; // next words that are listed
const TYPED = 400; // milliseconds without a key until the address follows

const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));

class Site {
  /** @type {{text: string, models: Model[]}} */
  given = JSON.parse(String(byId("site").textContent));
  models = this.given.models;
  /** @type {Record<string, Promise<Engine>>} those that were asked for */
  engines = {};
  /** @type {Engine | null} */
  engine = null;
  /** @type {Head[]} */
  off = [];
  temperature = 1;
  holdsFirst = false; // whether the engine's last pass is that of the first box, whose words are listed
  n = 0; // of the pass that is shown
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  writing;

  constructor() {
    const address = new URLSearchParams(location.search);
    this.model = this.models.find(({ model }) => model === address.get("model")) ?? this.models[0];
    this.off = offFrom(address.get("off") ?? "");
    const text = address.get("text")?.trim() ? address.get("text") : this.given.text;
    this.box = make("textarea", { rows: 2, value: text, maxLength: 5000 });
    this.note = make("p", { className: "note", role: "status" });
    this.about = make("span", { className: "about" });
    this.words = make("ol", { className: "words" });
    this.asked = make("p", { className: "asked" });
    this.heads = make("div", { className: "off" });
    this.compare = make("details", {}, make("summary", { textContent: "Another sentence beside it" }));
    this.second = make("textarea", { rows: 2, value: address.get("b") || this.box.value, maxLength: 5000 });
    this.second.ariaLabel = "The other sentence";
    this.texts = [this.box.value, this.second.value.trim() ? this.second.value : this.box.value]; // last shown
    this.place = make("div", { className: "beside" });
    this.compare.append(this.second, this.place);
    this.compare.open = address.has("b");
    this.build();
    this.explorers = [byId("explorer"), this.place].map((parent, n) => this.explorer(parent, n));
    this.choose(this.model, address);
  }

  build() {
    const menu = select("Model", Object.fromEntries(this.models.map(({ model, name }) => [model, name])), (name) =>
      this.choose(/** @type {Model} */ (this.models.find(({ model }) => model === name))),
    );
    menu.box.ariaLabel = "Model";
    menu.box.value = this.model.model;
    const slider = make("input", { type: "range", min: "0.1", max: "2", step: "0.1", value: "1" });
    slider.ariaLabel = "Temperature";
    const told = make("output", { textContent: "1.0" });
    slider.oninput = () => {
      this.temperature = Number(slider.value);
      told.textContent = this.temperature.toFixed(1);
      this.listWords();
    };
    const label = make("label", { className: "sentence" }, "Your sentence: every key changes the pictures", this.box);
    for (const box of [this.box, this.second]) {
      box.addEventListener("input", (event) => {
        if (!(event instanceof InputEvent && event.isComposing)) this.run();
      });
      box.addEventListener("compositionend", () => this.run());
    }
    this.compare.addEventListener("toggle", () => this.run());
    byId("controls").append(make("div", { className: "line" }, menu.node, this.about), label, this.note);
    const next = make("section", { className: "next" }, this.asked, this.words);
    next.append(make("label", { className: "line" }, "Temperature", slider, told));
    byId("below").append(next, this.heads, this.compare);
  }

  /**
   * @param {HTMLElement} parent
   * @param {number} n
   */
  explorer(parent, n) {
    const report = (/** @type {Selection & {sequence: number}} */ selection) => {
      const other = this.explorers[1 - n];
      if (other.attention) other.select({ ...selection, sequence: other.sequence, first: null });
      this.listHeads();
      this.listWords();
      this.later();
    };
    return new Explorer(parent, { report });
  }

  /**
   * Goes to a model, once it is here.
   * @param {Model} model
   * @param {URLSearchParams} [address] what is chosen at first
   */
  async choose(model, address) {
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
      this.holdsFirst = false;
      this.say("");
      this.run();
      if (address) this.lookAt(address);
      this.later();
    } catch (error) {
      delete this.engines[model.model]; // so that it can be asked for again
      this.say(`${model.name} cannot be shown: ${error instanceof Error ? error.message : error}`);
    }
  }

  /** @param {URLSearchParams} address */
  lookAt(address) {
    const number = (/** @type {string} */ name) => {
      const text = address.get(name);
      return text !== null && /^\d{1,4}$/.test(text) ? Number(text) : null;
    };
    const [{ attention }] = this.explorers;
    const { name, layers } = attention.kinds[0];
    const strongest = layers.length - 1;
    const chosen = { kind: name, layer: number("layer") ?? strongest, head: number("head") ?? 0 };
    const look = (address.get("look") ?? "").slice(0, 300);
    const answer = { ...chosen, token: number("token"), to: number("to"), look, sequence: 0, first: null };
    this.explorers[0].select(answer);
    if (this.compare.open) this.explorers[1].select(answer);
    this.listHeads();
    this.listWords();
  }

  /** Runs the model on what stands in the boxes. */
  run() {
    if (!this.engine) return;
    const shown = this.compare.open ? [this.second, this.box] : [this.box]; // the first box last: its words are listed
    for (const box of shown) {
      const n = box === this.box ? 0 : 1;
      const typed = box.value.replaceAll("\r", "").replaceAll("\n", " ");
      if (typed.trim()) this.texts[n] = typed; // of an empty box the last text stays, with this model and these heads
      this.holdsFirst = false;
      try {
        const record = this.engine.trace(this.texts[n], { sites: SITES, edits: this.edits(), title: this.model.name });
        this.show(n, record);
        this.holdsFirst = n === 0;
        if (n === 0) this.say(leftOut(record));
      } catch (error) {
        this.say(error instanceof Error ? error.message : String(error));
      }
    }
    this.listHeads();
    this.listWords();
    this.later();
  }

  /**
   * @param {number} n
   * @param {Plain} record
   */
  show(n, record) {
    this.n += 1;
    const explorer = this.explorers[n];
    explorer.show({ ...record, facts: { ...record.facts, id: this.n } });
    const isWord = explorer.attention.queries(0).labels.map((label) => /[\p{L}\p{N}]/u.test(label));
    const first = isWord.lastIndexOf(true);
    if (first !== explorer.first) explorer.select({ ...explorer.selection(), sequence: explorer.sequence, first });
  }

  edits() {
    const there = this.off.filter(({ layer, head }) => {
      const [stack, n] = layer.split(".");
      const { config } = this.model;
      return stack === (config.architecture === "encoder-only" ? "encoder" : "decoder") &&
        Number(n) < config.n_layers && head < config.n_heads; // biome-ignore format: one condition
    });
    this.off = there;
    return there.map((head) => ({ kind: /** @type {const} */ ("AblateHead"), ...head }));
  }

  /** The head that is chosen in the explorer. */
  chosen() {
    const [explorer] = this.explorers;
    if (!explorer.attention) return null;
    const { kind, layer, head } = explorer.selection();
    const [stack, part] = kind.split(".");
    return { layer: `${stack}.${layer}.${part}`, head };
  }

  /** Which heads are off, and the button that switches the chosen one. */
  listHeads() {
    const chosen = this.chosen();
    if (!chosen) return;
    const isSame = (/** @type {Head} */ one) => one.layer === chosen.layer && one.head === chosen.head;
    const isOff = this.off.some(isSame);
    const act = button(`Switch head ${nameOf(chosen)} ${isOff ? "on" : "off"}`, {
      onclick: () => {
        this.off = isOff ? this.off.filter((one) => !isSame(one)) : [...this.off, chosen];
        this.run();
      },
    });
    const names = this.off.map(nameOf).join(", ");
    const all = button("All on", { hidden: !this.off.length, onclick: () => this.allOn() });
    const says = names ? `Off: ${names}. Its output is 0, in all pictures and words.` : "";
    this.heads.replaceChildren(
      act,
      all,
      make("span", {
        textContent: says.replace("Its output is", names.includes(",") ? "Their outputs are" : "Its output is"),
      }),
    );
  }

  allOn() {
    this.off = [];
    this.run();
  }

  /** The most probable words after the chosen token, or in the gap there. */
  listWords() {
    const [explorer] = this.explorers;
    if (!this.engine || !explorer.attention || !this.holdsFirst) return;
    const { tokens } = explorer.attention.queries(0);
    const fillsIn = this.model.config.architecture === "encoder-only";
    const at = explorer.selection().token ?? tokens.findIndex((token) => fillsIn && /^ ?_{3,}$/.test(token));
    const position = at < 0 || at >= tokens.length ? tokens.length - 1 : at;
    const best = this.engine.likeliest(position, LISTED, this.temperature);
    const read = tokens
      .slice(0, position + 1)
      .join("")
      .slice(-60);
    put(this.asked, { textContent: fillsIn ? `What may stand at token ${position}` : `What comes after “${read}”` });
    this.words.replaceChildren(
      ...best.map(([word, p]) => {
        const length = make("span", { className: "length", style: { width: barLength(p) } });
        const label = make("span", { className: "label", dir: "auto", textContent: word });
        return make("li", {}, label, make("span", { className: "track" }, length), perCent(p));
      }),
    );
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
    const [explorer] = this.explorers;
    if (!explorer.attention) return;
    const { layer, head, token, to, look } = explorer.selection();
    const said = new URLSearchParams({
      text: this.box.value,
      model: this.model.model,
      layer: `${layer}`,
      head: `${head}`,
    });
    if (token !== null) said.set("token", String(token));
    if (to !== null) said.set("to", String(to));
    if (look) said.set("look", look);
    if (this.off.length) said.set("off", this.off.map((one) => `${one.layer}.${one.head}`).join(" "));
    if (this.compare.open) said.set("b", this.second.value);
    history.replaceState(null, "", `?${said}`);
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

/** @param {Head} head */
const nameOf = ({ layer, head }) => `${layer.split(".")[1]}.${head}`;

/** @param {string} text of the address */
function offFrom(text) {
  const found = text.slice(0, 2000).matchAll(/\b((?:encoder|decoder)\.\d{1,3}\.self_attn)\.(\d{1,3})\b/g);
  return Array.from(found, ([, layer, head]) => ({ layer, head: Number(head) }));
}

/**
 * As the app says it.
 * @param {Plain} record
 */
function leftOut({ facts: { ids, dropped } }) {
  if (!dropped) return "";
  const last = dropped === 1 ? "last one was" : `last ${dropped} were`;
  return `It reads ${ids.length} tokens at a time; the ${last} left out.`;
}

const site = new Site();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const explorer of site.explorers) explorer.followLook();
});
