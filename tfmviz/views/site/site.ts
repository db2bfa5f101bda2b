// The page that needs no server: each key in the box runs the model here. This script draws the header, the choices and
// the heads; what stands below them, and each other part, is a script that comes when it is wanted.

import type { Engine } from "../engine/engine.ts";
import type { Edit } from "../engine/tap.ts";
import type { Config } from "../engine/transformer.ts";
import { engineOf, fetchEngine, type ModelBundle } from "../engine/view.ts";
import { type Group, Header } from "../frame/header.tsx";
import { type Keys, keysList, OPENS } from "../keys/list.ts";
import { inOneLine } from "../live/updater.ts";
import { MOST_TYPED, SITE_PARTS } from "../shared/constants.ts";
import { hearTyping, make, optionsOf, put, select } from "../shared/elements.ts";
import { firstOf } from "../shared/first.ts";
import { perCent } from "../shared/numbers.ts";
import { bytesIn, type TextFacts } from "../shared/record.ts";
import { Heads, offFrom } from "./heads.ts";

/** In a page of one file, `inside` and `scenes` are ids of the elements that hold them, the former as base64. */
export interface Model {
  model: string; // in an address
  name: string;
  about: string;
  examples: string[];
  config: Pick<Config, "architecture" | "n_layers" | "n_heads" | "window">;
  scenes: string; // where the picture of the whole model is described
  parcel?: ModelBundle; // how it gets here
  inside?: string;
}

interface Part {
  run: (engine: Engine) => void; // draws the sentence
  said: () => Record<string, string>; // "" for what is left out
  views: { followLook: () => void }[];
}

declare global {
  var tfmvizSite: Site; // for the other scripts
  var tfmvizStyle: string; // stands before each script that draws in a shadow
}

const TYPED = 400; // milliseconds without a key until the address follows

export type PageName = keyof typeof SITE_PARTS;

const byId = (id: string) => document.getElementById(id) as HTMLElement;

export class Site {
  /** What stands in the page; `scripts` are none if it is one file. */
  given: { text: string; models: Model[]; parts: PageName[]; scripts: Record<string, string> } = JSON.parse(
    String(byId("site").textContent),
  );
  models = this.given.models;
  engines: Record<string, Promise<Engine>> = {}; // those that were asked for
  engine: Engine | null = null;
  place = { layer: 0, head: 0, token: null as number | null };
  parts: Partial<Record<PageName, Part>> = {};
  facts: TextFacts | null = null; // of the last pass over the sentence
  writing: ReturnType<typeof setTimeout> | undefined;
  menus = {
    model: select("Model", {}, (name) => this.goTo(this.models.find(({ model }) => model === name) as Model)),
    try: select("Try", {}, (text) => {
      this.box.value = text; // one of the model's own sentences
      this.menus.try.box.value = "";
      this.choose({ token: null });
    }),
    layer: select("Layer", {}, (value) => this.choose({ layer: Number(value) })),
    head: select("Head", {}, (value) => this.choose({ head: Number(value) })),
  };
  where = make("span", { className: "line" }, this.menus.layer.node, this.menus.head.node);

  address = new URLSearchParams(location.search);
  model = this.models.find(({ model }) => model === this.address.get("model")) ?? this.models[0];
  off = offFrom(this.address.get("off") ?? "");
  text = this.address.get("text")?.trim() ? String(this.address.get("text")) : this.given.text;
  page = this.given.parts.find((name) => name === this.address.get("page")) ?? "explorer";
  box = make("textarea", { rows: 1, value: this.text, maxLength: MOST_TYPED });
  note = make("p", { className: "note", role: "status" });
  showTitle: (page: PageName) => void;
  heads: Heads;

  constructor() {
    const { address } = this;
    this.project(address.get("projector") === "1");
    this.showTitle = headerOf(this, byId("frame"));
    const { model, try: tried } = this.menus;
    model.box.append(...optionsOf(this.models.map(({ model, name }) => [model, name])));
    model.box.value = this.model.model;
    this.box.ariaLabel = "Your sentence: the figures change as you type";
    hearTyping(this.box, () => this.run()); // each key runs the model
    byId("controls").append(make("div", { className: "line" }, this.box, tried.box, model.box, this.where), this.note);
    this.heads = new Heads(this, byId("explorer"));
    this.parts.explorer = this.heads;
    this.showPart();
    this.goTo(this.model, address);
  }

  get isProjected() {
    return document.documentElement.hasAttribute("data-projector");
  }

  /** Larger letters, and the header out of sight. */
  project(on: boolean) {
    document.documentElement.toggleAttribute("data-projector", on);
    this.followLook();
    this.later();
  }

  open(page: PageName) {
    this.page = page;
    this.showPart();
    this.fetch(page === "explorer" ? "below" : page); // unless it is here
    this.run();
  }

  /** Gets a script. It becomes one of those that stand in the page, which the page's policy allows by their digests. */
  async fetch(name: string) {
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

  /** Adds a part of the page, in a shadow of its own: its styles were written for that. */
  add(name: PageName, makePart: (site: Site, parent: HTMLElement) => Part) {
    const host = make("div", { dataset: { part: name } });
    byId("parts").append(host);
    const inner = make("div");
    shadowOf(host).append(inner);
    this.parts[name] = makePart(this, inner);
    this.showPart();
    if (this.page === name) this.run();
  }

  showPart() {
    this.showTitle(this.page);
    this.where.hidden = this.page === "explorer";
    for (const node of document.querySelectorAll("[data-part]")) {
      if (node instanceof HTMLElement) node.hidden = !this.engine || node.dataset.part !== this.page;
    }
  }

  /** Goes to a model, once it is here; the address says what is chosen at first. */
  async goTo(model: Model, address?: URLSearchParams) {
    clearTimeout(this.writing); // the address names a model once it is shown
    this.model = model;
    this.off = address ? this.off : [];
    const tries = model.examples.map((text) => [text, text]);
    this.menus.try.box.replaceChildren(...optionsOf([["", "Try …"], ...tries]));
    put(this.menus.try.box, { hidden: !model.examples.length });
    this.say(`${model.name} is loading …`);
    const arrived = (share: number) => {
      if (this.model === model) this.say(`${model.name} is loading: ${perCent(share)}`);
    };
    this.engines[model.model] ??= engineFor(model, arrived);
    try {
      const engine = await this.engines[model.model];
      if (this.model !== model) return; // another one was chosen meanwhile
      this.engine = engine;
      this.say("");
      put(byId("about"), { textContent: `${model.name}. ${model.about} It runs in your browser.` });
      this.showPart();
      this.fit(address);
      this.run();
    } catch (error) {
      delete this.engines[model.model]; // so that it can be asked for again
      this.say(`${model.name} cannot be shown: ${wordsOf(error)}`);
    }
  }

  fit(address?: URLSearchParams) {
    const { n_layers, n_heads } = this.model.config;
    const number = (name: string) => {
      const text = address?.get(name) ?? "";
      return /^\d{1,4}$/.test(text) ? Number(text) : null;
    };
    if (address)
      this.place = { layer: number("layer") ?? n_layers - 1, head: number("head") ?? 0, token: number("token") };
    const { layer, head } = this.place;
    this.place = { ...this.place, layer: Math.min(layer, n_layers - 1), head: Math.min(head, n_heads - 1) };
    const upTo = (count: number) => optionsOf(Array.from({ length: count }, (_, n) => [`${n}`, `${n}`]));
    this.menus.layer.box.replaceChildren(...upTo(n_layers));
    this.menus.head.box.replaceChildren(...upTo(n_heads));
  }

  get stack() {
    return this.model.config.architecture === "encoder-only" ? "encoder" : "decoder";
  }

  get layer() {
    return `${this.stack}.${this.place.layer}.self_attn`;
  }

  run() {
    if (!this.engine) return;
    const typed = inOneLine(this.box.value);
    if (typed.trim()) this.text = typed; // of an empty box the last text stays, with this model and these heads
    this.menus.layer.box.value = String(this.place.layer);
    this.menus.head.box.value = String(this.place.head);
    try {
      this.parts[this.page]?.run(this.engine);
      this.say(leftOut(this.facts));
    } catch (error) {
      this.say(wordsOf(error));
    }
    this.later();
  }

  /** A pass over a text, with the heads that are off. Of another one than the first box's nothing is said. */
  trace(text: string, sites: string[] | null, more: { edits?: Edit[]; isOther?: boolean } = {}) {
    const { edits = [], isOther = false } = more;
    const engine = this.engine as Engine;
    const record = engine.trace(text, { sites, edits: [...this.edits(), ...edits], title: this.model.name });
    if (!isOther) this.facts = record.facts;
    return record;
  }

  get token() {
    return firstOf(this.facts?.texts.target.tokens ?? [""], this.place.token, "", this.engine?.tokenizer.fillsGaps);
  }

  edits() {
    const { n_layers, n_heads } = this.model.config;
    this.off = this.off.filter(({ layer, head }) => {
      const [stack, n] = layer.split(".");
      return stack === this.stack && Number(n) < n_layers && head < n_heads;
    });
    return this.off.map(({ layer, head }) => ({ kind: "Scale" as const, site: `${layer}.z`, factor: 0, head }));
  }

  choose(place: Partial<Site["place"]>) {
    this.place = { ...this.place, ...place };
    this.run();
  }

  /** What a part reports of which the address alone hears, but for the token. */
  chooses = ({ token }: { token: number | null }) => {
    if (token !== this.token) this.place = { ...this.place, token };
    this.later();
  };

  say(sentence: string) {
    put(this.note, { textContent: sentence });
  }

  later() {
    clearTimeout(this.writing);
    this.writing = setTimeout(() => this.writeAddress(), TYPED);
  }

  /** What all pages of the site have in common, as addresses hold it. */
  kept(page: PageName) {
    const { layer, head, token } = this.place;
    const where = { text: this.box.value, model: this.model.model, layer: String(layer), head: String(head) };
    const address = new URLSearchParams({ ...(page === "explorer" ? {} : { page }), ...where });
    if (token !== null) address.set("token", String(token));
    if (this.isProjected) address.set("projector", "1");
    return address;
  }

  /** Returns the address, which is that of what is seen. */
  writeAddress() {
    const part = this.parts[this.page];
    if (!part || !this.facts) return location.href;
    const address = this.kept(this.page);
    for (const [name, value] of Object.entries(part.said())) if (value) address.set(name, value);
    try {
      history.replaceState(null, "", `?${address}`);
    } catch {
      // a notebook may show the page without an address of its own
    }
    return location.href;
  }

  followLook() {
    for (const { views } of Object.values(this.parts)) for (const view of views) view.followLook();
  }
}

const KEYS: Keys = [
  ["f", "projector mode on or off"],
  ["?", "this list"],
  ["[ and ]", "previous and next layer (heads)"],
  ["p", "play through the layers (heads)"],
  ["arrows", "move within the selected figure"],
  ["Escape", "release the keyboard from a figure or text box"],
];

const pageOf = (address: string) => (new URLSearchParams(address).get("page") ?? "explorer") as PageName;

/** Puts the header on the page. Returns what says in it which part is open. */
function headerOf(site: Site, host: HTMLElement) {
  const root = shadowOf(host, String(document.querySelector("style")?.textContent)); // has what all views share
  const project = () => site.project(!site.isProjected);
  const keys = keysList({}, ({ key }) => key === "f" && project());
  keys.list(KEYS);
  const header = new Header(root, {
    kept: (address) => `?${site.kept(pageOf(address))}`,
    go: (address) => site.open(pageOf(address)),
    shared: location.protocol === "about:" ? null : () => site.writeAddress(), // a notebook's page has no address
    says: "the link holds your sentence, the model and all settings.",
    tools: [
      ["Projector", "Larger letters, no header (key F)", project],
      ["?", OPENS, keys.open],
    ],
  });
  root.append(keys.dialog);
  const entries = [["tfmviz", "?"], ...site.given.parts.map((page) => [SITE_PARTS[page], `?page=${page}`])];
  const groups: Group[] = entries.map(([title, address]) => ({ name: "", short: "", pages: [[title, address, ""]] }));
  return (page: PageName) => header.show(SITE_PARTS[page], groups);
}

/** The shadow of an element, with the styles of the script that asks for it, and those that are `shared`. */
function shadowOf(host: HTMLElement, shared = "") {
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(shared + tfmvizStyle);
  root.adoptedStyleSheets = [sheet];
  return root;
}

async function engineFor({ parcel, inside = "" }: Model, arrived: (share: number) => void) {
  if (!parcel) return engineOf(bytesIn(String(byId(inside).textContent)));
  let n = 0;
  return fetchEngine(parcel, async (address) => {
    const answer = await fetch(address);
    n += 1;
    arrived(n / parcel.parts);
    return answer;
  });
}

const wordsOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

function leftOut(facts: TextFacts | null) {
  if (!facts?.dropped) return "";
  const last = facts.dropped === 1 ? "last one was" : `last ${facts.dropped} were`;
  return `It reads ${facts.ids.length} tokens at a time; the ${last} left out.`;
}

const site = new Site();
globalThis.tfmvizSite = site;
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => site.followLook());
const { engines, model, page } = site;
const afterPicture = () => requestAnimationFrame(() => setTimeout(() => site.fetch("below")));
if (page !== "explorer") site.fetch(page);
else engines[model.model].then(afterPicture, afterPicture);
