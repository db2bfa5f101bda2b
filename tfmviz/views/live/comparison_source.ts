// The reader's own browser as a source for pages where B is the same model with its pass changed: another mask, parts
// that are off, another sentence or head. Both passes run here; the pictures get what ui/head_comparison.py sends.

import type { HeadPair, Pair } from "../cells/head_pair.ts";
import type { Engine } from "../engine/engine.ts";
import type { Edit } from "../engine/tap.ts";
import { fromBits, rowCount } from "../masks/bits.ts";
import { endOf, largest, type Matrix, rowOf } from "../shared/arrays.ts";
import { LEAST_SHARE, MOST_FOLLOWED, NEXT_WORDS, PART_CODES } from "../shared/constants.ts";
import { firstOf } from "../shared/first.ts";
import { aTask } from "../shared/motion.ts";
import { decimal, perCent } from "../shared/numbers.ts";
import type { Sites } from "../shared/record.ts";
import type { Settings } from "../writing/decoding.ts";
import type { BrowserSource } from "./browser_source.ts";
import type { Shared } from "./differences.ts";
import { distancesOf, headOf, movedOf, pairsOf, sharedOf } from "./differences.ts";
import type { Source } from "./updater.ts";

/** How B's pass is changed, and by which view. */
export type ComparisonEdit = {
  by: string;
  usual?: Cell;
  rules?: Settings["rules"]; // of writing: what no slider says
  names?: Settings["names"];
  layers?: string[]; // that get a mask
  heads?: boolean[] | null; // that get it, null for all
  tokens?: number; // that it is for
  isOwn?: boolean; // it is the model's
  factor?: number | null; // of parts, unless that is no number
  other?: { layer: string; head: number };
};

/** A's or B's: what the model computed, and the head that is shown. */
type Pass = { tokens: string[]; labels: string[]; sites: Sites; probabilities: (token: number) => Float32Array };
type Cell = [query: number, key: number];
type Side = Pass & { pattern: Matrix; mask: Matrix };

/** What a view needs of the two passes besides the chosen layer. */
const NEEDS: Record<string, string[]> = { side_heads: ["*.pattern"], stream_change: ["*.resid_post"] };

/** @param own has the engines */
export function comparisonSource(own: BrowserSource): Source {
  let kept: { of: string; pass: Pass }[] = []; // the last two: one stays while the other is changed

  const sideOf = (engine: Engine, { text, layer, head }: Shown, sites: string[], edits: Edit[]): Side => {
    const of = JSON.stringify([text, sites, edits]);
    const pass = kept.find((one) => one.of === of)?.pass ?? run(engine, text, sites, edits);
    kept = [...kept.filter((one) => one.pass !== pass), { of, pass }].slice(-2);
    const [pattern, mask] = ["pattern", "mask"].map((site) => headOf(pass.sites, `${layer}.${site}`, head));
    return { ...pass, pattern, mask };
  };

  const trace: Source["trace"] = async (text, { page, parcel, opening, change = "", views, entered = text }) => {
    const { edited, layer, head } = page;
    const isTyped = text !== entered;
    if (!edited || !parcel || !views.every((view) => view in DRAWN)) return null;
    if (!isTyped && views.join() === "masks") return null; // that is where the hand is
    const other = { layer, head, text: edited.by === "b" ? change : text, ...edited.other };
    const engine = own.engine(parcel);
    if (!engine?.tokenizer.knows(text + other.text)) return null;
    const lengths = [text, other.text].map((one) => engine.encode(one).ids.length);
    const edits = edited.by === "b" ? [] : editsOf(change, edited, lengths[0]);
    if (!edits || Math.max(...lengths) > MOST_FOLLOWED) return null;
    const ofHeads = [layer, other.layer].flatMap((one) => [`${one}.pattern`, `${one}.mask`]);
    const sites = [...ofHeads, ...views.flatMap((view) => NEEDS[view] ?? [])];
    const sideOfA = sideOf(engine, { layer, head, text }, sites, []);
    await aTask(); // the first time, both passes are computed
    const sides = [sideOfA, sideOf(engine, other, sites, edits)];
    await aTask();
    const order = pairsOf(sides[0].tokens, sides[1].tokens);
    const { fillsGaps } = engine.tokenizer;
    const first = isTyped ? firstOf(sides[0].tokens, page.token, opening[text], fillsGaps) : null;
    const usual = first === null ? edited.usual : pairAt(sides[0], first);
    const [query, key] = page.token === null ? placeOf(sides, sharedOf(order), usual) : (usual ?? [0, 0]);
    const firstOfB = firstOf(sides[1].tokens, null, opening[other.text], fillsGaps);
    const blind = blindIn(change, edited, { layer, head }, lengths[0]);
    const seen = { sides, order, query, key, blind, words: engine.words, isTyped, firstOfB };
    const drawn = views.map((view) => [view, DRAWN[view](seen)]);
    return { typed: { first: query }, views: Object.fromEntries(drawn.filter(([, data]) => data)) };
  };
  return { trace };
}

type Shown = { text: string; layer: string; head: number };

function run(engine: Engine, text: string, wanted: string[], edits: Edit[]): Pass {
  const { facts, sites } = engine.trace(text, { sites: wanted, edits });
  const { last } = engine;
  const found: Map<number, Float32Array> = new Map();
  return {
    ...facts.texts.target,
    sites,
    probabilities: (token) => {
      const known = found.get(token) ?? engine.next(token, { pass: last }).probabilities;
      found.set(token, known);
      return known;
    },
  };
}

/** Where the reader has chosen no pair: the usual one, or that of the first row that clearly differs (`compare`). */
function placeOf([a, b]: Side[], shared: Shared[], usual: Cell = [0, 0]) {
  if (!shared.length) return usual;
  const moved = distancesOf(a.pattern, b.pattern, shared);
  const most = Math.max(...moved);
  const own = moved[shared.findIndex(([query]) => query === usual[0])];
  if (own > LEAST_SHARE || (own !== undefined && most <= LEAST_SHARE)) return usual;
  return pairAt(a, shared[moved.findIndex((share) => 2 * share >= most)][0]);
}

/** A query and the key that it gives most to. */
function pairAt({ pattern }: Side, query: number): Cell {
  const row = rowOf(pattern, query);
  return [query, row.indexOf(Math.max(...row))];
}

/** What each view is to show instead of what Python has sent last. */
type Seen = {
  sides: Side[];
  order: Pair[];
  query: number;
  key: number;
  blind: number[]; // rows of B whose softmax is 0/0
  words: string[];
  isTyped: boolean;
  firstOfB: number; // where B is looked at if it lacks A's token
};
const DRAWN: Record<string, (seen: Seen) => unknown> = {
  side_a: (seen) => pairOf(seen, 0),
  side_b: (seen) => pairOf(seen, 1),
  masks: ({ sides: [, { mask, labels, tokens }], isTyped }) =>
    isTyped && { queries: labels, keys: labels, tokens, mask: { ...mask, open: Uint8Array.from(mask.values) } },
  side_difference: (seen) => pairOf(seen, 0, true),
  side_heads: ({ sides: [a, b], order }) => {
    const shared = sharedOf(order);
    const rows = Object.keys(a.sites).filter((site) => site.endsWith(".pattern"));
    const means = rows.map((site) =>
      Array.from({ length: a.sites[site].shape[0] }, (_, head) =>
        meanOf(distancesOf(headOf(a.sites, site, head), headOf(b.sites, site, head), shared)),
      ),
    );
    const texts = means.map((row) => row.map((share) => decimal(100 * share, 0)));
    return { values: Float32Array.from(means.flat()), texts };
  },
  stream_change: ({ sides: [a, b] }) => {
    const rows = Object.keys(a.sites).filter((site) => site.endsWith(".resid_post"));
    const values = Float32Array.from(rows.flatMap((site) => movedOf(a.sites[site], b.sites[site])));
    const scale = { low: 0, high: endOf(values) };
    const spoken = a.labels.map((label, n) => `token ${n} “${label}”`);
    const columns = { title: "token", names: a.labels, spoken, boxed: [], places: null, count: spoken.length };
    return { values, scale, columns };
  },
  next_words: ({ sides, query, words }) => {
    const [old, now] = sides.map(({ probabilities }) => probabilities(query));
    const most = old.map((p, id) => Math.max(p, now[id]));
    return largest(most, NEXT_WORDS).map((id) => [words[id], old[id], perCent(old[id]), now[id], perCent(now[id])]);
  },
  predictions: ({ sides: [a], query, words }) => likeliest(a, query, words),
  predictions_b: ({ sides: [, b], order, query, words, firstOfB }) =>
    likeliest(b, order.find(([at]) => at === query)?.[1] ?? firstOfB, words),
};

function likeliest({ probabilities }: Side, token: number, words: string[]) {
  const found = probabilities(token);
  return largest(found, NEXT_WORDS).map((id) => [words[id], found[id], perCent(found[id])]);
}

/** One head of A or B, or both for B − A, of which the view makes its picture as it does of Python's. */
function pairOf(
  { sides, order, query, key, blind }: Seen,
  n: 0 | 1,
  isDifference = false,
): { pair: Partial<HeadPair> } {
  const heads = sides.map((side) => ({ queries: side.labels, keys: side.labels, values: maskedOf(side) }));
  const other = isDifference ? heads[1] : null;
  return { pair: { head: heads[n], other, queries: order, keys: order, cell: [query, key], blind } };
}

/** The chosen head's attention, NaN where its mask forbids the look. */
const maskedOf = ({ pattern, mask }: Side) => pattern.values.map((share, n) => (mask.values[n] ? share : Number.NaN));

const meanOf = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

// What the reader changes by hand, as edits of a pass: those that ui/masks and ui/switch_off make of it in Python.

const { encoder, decoder, mlp, layer: whole } = PART_CODES;
const CODE = new RegExp(`^([${decoder}${encoder}])([${mlp}${whole}]?)(\\d+)(?:\\.(\\d+))?$`);

/** Null where only Python knows: the mask has another length, or no factor says what a part becomes. */
export function editsOf(
  change: string,
  { by, layers = [], heads, tokens, isOwn, factor }: ComparisonEdit,
  length: number,
): Edit[] | null {
  if (by === "masks" && tokens !== length) return isOwn ? [] : null; // its own mask has every length
  if (by === "masks") return masked(change, layers, heads, length);
  if (typeof factor !== "number") return null;
  const codes = change.split(",").filter(Boolean);
  return codes.flatMap((code) => scaled(code, factor));
}

/** A row that sees nothing looks at itself: a softmax over no key is 0/0. */
function masked(bits: string, layers: string[], heads: boolean[] | null | undefined, length: number): Edit[] {
  const drawn = fromBits({ rows: length, columns: length, bits });
  const mask = Array.from({ length }, (_, row) => {
    const cells = Array.from(drawn.open.subarray(row * length, (row + 1) * length), Boolean);
    return cells.includes(true) ? cells : cells.map((_, column) => row === column);
  });
  return layers.map((layer) => ({ kind: "SetMask", layer, mask, heads }));
}

/** The rows of a head for which nothing is open in the mask that is drawn. */
export function blindIn(
  bits: string,
  { by, layers = [], heads, tokens }: ComparisonEdit,
  { layer, head }: { layer: string; head: number },
  length: number,
) {
  if (by !== "masks" || tokens !== length || !layers.includes(layer) || heads?.[head] === false) return [];
  const drawn = fromBits({ rows: length, columns: length, bits });
  return Array.from({ length }, (_, row) => row).filter((row) => !rowCount(drawn, row));
}

function scaled(code: string, factor: number): Edit[] {
  const [, letter, kind, index, head] = CODE.exec(code) ?? [];
  if (!index) throw new Error(`${code} is no part.`);
  const layer = `${letter === encoder ? "encoder" : "decoder"}.${index}`;
  const scale = (site: string, which: number | null = null) =>
    ({ kind: "Scale", site: `${layer}.${site}`, factor, head: which }) as Edit;
  if (kind === mlp) return [scale("mlp.out")];
  if (kind === whole) return [scale("self_attn.out"), scale("mlp.out")];
  return [scale("self_attn.z", Number(head))];
}
