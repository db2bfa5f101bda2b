// Masks: the model runs with the mask that is drawn, in all layers and heads or in one. What comes of it stands below.

import type { Explorer } from "../explorer/explorer.ts";
import type { Edited } from "../live/changed.ts";
import { editsOf } from "../live/editing.ts";
import { fromBits, toBits } from "../masks/bits.ts";
import { Lab } from "../masks/lab.ts";
import { FOLLOWED_SITES, LONGEST_MASK } from "../shared/constants.ts";
import { make, put, select } from "../shared/elements.ts";
import { galleryOf } from "./gallery.ts";
import type { Site } from "./site.ts";
import { positionOf, questionOf, wordRows } from "./word_rows.ts";

const LISTED = 6; // next words

class MasksPart {
  places = ["", ""]; // the layer and the head that the address asks for, until there is a model
  asked: { start: string; edit: string } = { start: "", edit: "" }; // what the address asks for, until that is shown
  start = ""; // the mask one started from
  edit = ""; // the cells that differ from it, as text for the address
  drawn = ""; // what the pictures below show: sentence, place and mask
  length = 0; // tokens
  position = 0; // of the token after which words are listed
  isOwn = (_bits: string) => false; // whether that is the model's own mask

  site: Site;
  where: ReturnType<typeof select>[]; // the layer and the head that get the mask, "" for all
  view: Lab;
  asks: HTMLParagraphElement;
  own: HTMLOListElement;
  yours: HTMLOListElement;
  explorer: Explorer;
  views: (Explorer | Lab)[];

  /** @param parent in a shadow; what the mask does stands outside of it */
  constructor(site: Site, parent: HTMLElement) {
    this.site = site;
    this.where = [select("In layer", {}, () => this.runWithMask()), select("In head", {}, () => this.runWithMask())];
    this.view = new Lab(parent, { touched: () => void this.runWithMask() });
    this.view.node.append(make("p", {}, this.where[0].node, " ", this.where[1].node)); // below the board
    this.asks = make("p", { className: "asked" });
    this.own = make("ol", { className: "words" });
    this.yours = make("ol", { className: "words" });
    const [own, yours] = ["With its own mask", "With your mask"].map((textContent) => make("p", { textContent }));
    const words = make("section", { className: "next", dataset: { part: "masks" } });
    words.append(this.asks, own, this.own, yours, this.yours);
    const heads = make("div", { dataset: { part: "masks" } });
    document.getElementById("parts")?.append(words, heads);
    this.explorer = site.heads.explorerIn(heads, (place) => {
      const isOther = place.token !== site.place.token;
      site.place = { ...site.place, ...place };
      if (isOther) this.run();
      site.later();
    });
    this.views = [this.view, this.explorer];
  }

  look(address: URLSearchParams) {
    this.asked = { start: address.get("start") ?? "", edit: (address.get("edit") ?? "").slice(0, LONGEST_MASK) };
    this.places = ["in_layers", "in_heads"].map((name) => address.get(name) ?? "");
  }

  run() {
    const { site, view } = this;
    const { engine, model } = site;
    if (!engine) return;
    const { facts, sites } = site.trace(site.text, ["*.mask"]);
    const own = sites[`${site.layer}.mask`].data;
    const [rows, columns] = sites[`${site.layer}.mask`].shape;
    const bits = toBits({ rows, columns, open: Uint8Array.from(own) });
    this.isOwn = (drawn) => drawn === bits;
    this.fill([model.config.n_layers, model.config.n_heads]);
    const { labels, tokens } = facts.texts.target;
    const { fillsGaps } = engine.tokenizer;
    this.position = positionOf(tokens, site.place.token, fillsGaps);
    put(this.asks, { textContent: questionOf(tokens, this.position, fillsGaps) });
    const gallery = galleryOf(labels.length, { isDecoder: site.stack === "decoder", window: model.config.window });
    this.own.replaceChildren(...wordRows(engine.likeliest(this.position, LISTED)));
    this.drawn = "";
    const entries = gallery.map(({ mask, ...said }) => ({
      ...said,
      rows: mask.rows,
      columns: mask.columns,
      bits: toBits(mask),
    }));
    view.show({ queries: labels, keys: labels, gallery: entries });
    const { start, edit } = this.asked;
    this.asked = { start: "", edit: "" };
    if (labels.length === this.length && !start) return this.runWithMask();
    this.length = labels.length;
    const from = gallery.find(({ id }) => id === (start || view.start)) ?? gallery[0];
    view.select({ start: from.id, bits: toBits(from.mask), sequence: view.sequence });
    if (edit) this.change(from.id, edit);
  }

  /**
   * Gives both menus what this model has.
   * @param counts of layers and of heads
   */
  fill(counts: number[]) {
    for (const [n, { box }] of this.where.entries()) {
      if (box.options.length === counts[n] + 1) continue;
      const options = ["", ...Array.from({ length: counts[n] }, (_, index) => String(index))];
      box.replaceChildren(...options.map((value) => make("option", { value, textContent: value || "all" })));
      box.value = options.includes(this.places[n]) ? this.places[n] : "";
      this.places[n] = "";
    }
  }

  /** Changes cells as the address says, if it is for a mask of this shape. */
  async change(start: string, edit: string) {
    const { view, length } = this;
    try {
      const bytes = await inflated(edit);
      if (bytes.length !== Math.ceil(length ** 2 / 8) || this.length !== length) return;
      const changed = fromBits({ rows: length, columns: length, bits: btoa(String.fromCharCode(...bytes)) });
      const open = view.entry.mask.open.map((cell, n) => cell ^ changed.open[n]);
      view.select({ start, bits: toBits({ rows: length, columns: length, open }), sequence: view.sequence });
    } catch {
      // no mask: the one it started from stays
    }
  }

  /** After each touch: the pass with the drawn mask, if that is another one. */
  runWithMask() {
    const { site, view } = this;
    const { engine, text, place, layer } = site;
    if (!engine || !view.mask || view.mask.rows !== this.length) return;
    const bits = view.edited() ?? "";
    const [inLayer, inHead] = this.where.map(({ box }) => box.value);
    const drawn = JSON.stringify([text, layer, place, bits, site.model.model, site.off, inLayer, inHead]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const { n_layers, n_heads } = site.model.config;
    const every = Array.from({ length: n_layers }, (_, n) => `${site.stack}.${n}.self_attn`);
    const layers = inLayer ? [every[Number(inLayer)]] : every;
    const heads = inHead ? Array.from({ length: n_heads }, (_, n) => n === Number(inHead)) : null;
    const edited: Edited = { by: "masks", usual: [0, 0], layers, heads, tokens: this.length };
    const edits = this.isOwn(bits) ? [] : (editsOf(bits, edited, this.length) ?? []);
    site.heads.show(this.explorer, site.trace(text, FOLLOWED_SITES.explorer, { edits }));
    this.yours.replaceChildren(...wordRows(engine.likeliest(this.position, LISTED)));
    this.tell();
  }

  async tell() {
    const { start, mask, entry } = this.view;
    const changed = { ...mask, open: mask.open.map((cell, n) => cell ^ entry.mask.open[n]) };
    this.start = entry.id;
    this.edit = changed.open.some(Boolean) ? await deflated(toBits(changed)) : "";
    if (start === this.view.start) this.site.later();
  }

  said() {
    const { start, edit } = this;
    const [in_layers, in_heads] = this.where.map(({ box }) => box.value);
    return { start, edit, in_layers, in_heads };
  }
}

/**
 * Bits as an address has them (`compact` in tfmviz/views/masks).
 * @param bits in base64
 */
async function deflated(bits: string) {
  const bytes = Uint8Array.from(atob(bits), (character) => character.charCodeAt(0));
  const packed = await new Response(
    new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate")),
  ).arrayBuffer();
  const text = btoa(String.fromCharCode(...new Uint8Array(packed)));
  return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

async function inflated(text: string) {
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) =>
    character.charCodeAt(0),
  );
  const whole = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(whole).arrayBuffer());
}

tfmvizSite.add("masks", (site, parent) => new MasksPart(site, parent));
