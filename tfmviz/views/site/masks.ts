// Masks: the model runs with the mask that is drawn, in all layers and heads or in one. What comes of it stands below.

import { type ComparisonEdit, editsOf } from "../live/comparison_source.ts";
import { fromBits, toBits } from "../masks/bits.ts";
import { Lab } from "../masks/view.tsx";
import { FOLLOWED_SITES, LONGEST_MASK } from "../shared/constants.ts";
import { make, optionsOf, put, select } from "../shared/elements.ts";
import { bytesIn } from "../shared/record.ts";
import { galleryOf } from "./gallery.ts";
import { nextWords } from "./word_rows.ts";

const LISTED = 6; // next words

/** The board stands in a shadow, what the mask does outside of it. */
tfmvizSite.add("masks", (site, parent) => {
  let asked: URLSearchParams | null = site.address; // until that is shown
  let start = ""; // the mask one started from
  let edit = ""; // the cells that differ from it, as text for the address
  let drawn = ""; // what the pictures below show: sentence, place and mask
  let length = 0; // tokens
  let own = ""; // the bits of the model's own mask

  /** The layer and the head that get the mask, "" for all. */
  const where = ["In layer", "In head"].map((label) => select(label, {}, runWithMask));
  const view = new Lab(parent, { onChange: () => void runWithMask() });
  view.node.append(make("p", {}, where[0].node, " ", where[1].node)); // below the board
  const asks = make("p", { className: "asked" });
  const [ofOwn, ofYours] = [1, 2].map(() => make("ol", { className: "words" }));
  const [withOwn, withYours] = ["With its own mask", "With your mask"].map((textContent) => make("p", { textContent }));
  const words = make("section", { className: "next", dataset: { part: "masks" } });
  words.append(asks, withOwn, ofOwn, withYours, ofYours);
  const heads = make("div", { dataset: { part: "masks" } });
  document.getElementById("parts")?.append(words, heads);
  const explorer = site.heads.explorerIn(heads, (place) => {
    const isOther = place.token !== site.place.token;
    site.place = { ...site.place, ...place };
    if (isOther) run();
    site.later();
  });

  function run() {
    const { model } = site;
    const { facts, sites } = site.trace(site.text, ["*.mask"]);
    const { shape, data } = sites[`${site.layer}.mask`];
    own = toBits({ rows: shape[0], columns: shape[1], open: Uint8Array.from(data) });
    for (const [n, count] of [model.config.n_layers, model.config.n_heads].entries()) {
      const { box } = where[n];
      if (box.options.length === count + 1) continue;
      const options = Array.from({ length: count }, (_, index) => [`${index}`, `${index}`]);
      box.replaceChildren(...optionsOf([["", "all"], ...options]));
      box.value = asked?.get(n ? "in_heads" : "in_layers") ?? "";
      if (box.selectedIndex < 0) box.value = "";
    }
    const { labels, tokens } = facts.texts.target;
    const { textContent, rows } = nextWords(site, LISTED);
    put(asks, { textContent });
    ofOwn.replaceChildren(...rows);
    const gallery = galleryOf(labels.length, {
      isDecoder: site.stack === "decoder",
      window: model.config.window ?? null,
    });
    drawn = "";
    view.show({ queries: labels, keys: labels, tokens, gallery });
    const [wanted, changes] = [asked?.get("start") ?? "", (asked?.get("edit") ?? "").slice(0, LONGEST_MASK)];
    asked = null;
    if (labels.length === length && !wanted) return runWithMask();
    length = labels.length;
    const from = gallery.find(({ id }) => id === (wanted || view.start)) ?? gallery[0];
    view.select({ start: from.id, bits: toBits(from.mask), sequence: view.sequence });
    if (changes) change(from.id, changes);
  }

  /** Changes cells as the address says, if it is for a mask of this shape. */
  async function change(id: string, text: string) {
    const side = length;
    try {
      const bytes = await streamed(text.replaceAll("-", "+").replaceAll("_", "/"), new DecompressionStream("deflate"));
      if (bytes.length !== Math.ceil(side ** 2 / 8) || length !== side) return;
      const changed = fromBits({ rows: side, columns: side, bits: btoa(String.fromCharCode(...bytes)) });
      const open = view.entry.mask.open.map((cell, n) => cell ^ changed.open[n]);
      view.select({ start: id, bits: toBits({ rows: side, columns: side, open }), sequence: view.sequence });
    } catch {
      // no mask: the one it started from stays
    }
  }

  /** After each touch: the pass with the drawn mask, if that is another one. */
  function runWithMask() {
    const { text, place, layer } = site;
    if (!view.mask || view.mask.rows !== length) return;
    const bits = view.edited() ?? "";
    const [inLayer, inHead] = where.map(({ box }) => box.value);
    const now = JSON.stringify([text, layer, place, bits, site.model.model, site.off, inLayer, inHead]);
    if (now === drawn) return;
    drawn = now;
    const { n_layers, n_heads } = site.model.config;
    const every = Array.from({ length: n_layers }, (_, n) => `${site.stack}.${n}.self_attn`);
    const layers = inLayer ? [every[Number(inLayer)]] : every;
    const heads = inHead ? Array.from({ length: n_heads }, (_, n) => n === Number(inHead)) : null;
    const edited: ComparisonEdit = { by: "masks", usual: [0, 0], layers, heads, tokens: length };
    const edits = bits === own ? [] : (editsOf(bits, edited, length) ?? []);
    site.heads.show(explorer, site.trace(text, FOLLOWED_SITES.explorer, { edits }));
    ofYours.replaceChildren(...nextWords(site, LISTED).rows);
    tell();
  }

  async function tell() {
    const { start: before, mask, entry } = view;
    const changed = { ...mask, open: mask.open.map((cell, n) => cell ^ entry.mask.open[n]) };
    start = entry.id;
    edit = changed.open.some(Boolean) ? await deflated(toBits(changed)) : "";
    if (before === view.start) site.later();
  }

  function said() {
    const [in_layers, in_heads] = where.map(({ box }) => box.value);
    return { start, edit, in_layers, in_heads };
  }

  return { run, said, views: [view, explorer] };
});

async function streamed(letters: string, way: CompressionStream | DecompressionStream) {
  return new Uint8Array(await new Response(new Blob([bytesIn(letters)]).stream().pipeThrough(way)).arrayBuffer());
}

/** Bits, in base64, as an address has them (`compact` in tfmviz/views/masks). */
async function deflated(bits: string) {
  const text = btoa(String.fromCharCode(...(await streamed(bits, new CompressionStream("deflate")))));
  return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
