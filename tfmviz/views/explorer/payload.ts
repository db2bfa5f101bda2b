// The attention of a sentence: all kinds, layers and heads, from a record of sites or from the bytes that
// tfmviz/views/payload.py writes and describes, which hold the same in a twelfth of the room.

import { CODE_STEPS, SCALE_STEPS, TILE_MASKED, TILE_STEPS } from "../shared/constants.ts";
import type { Texts } from "../shared/elements.ts";
import { type Plain, recordOf, type TextFacts, unframed } from "../shared/record.ts";
import { meanOf, type Pattern, rollout } from "./weights.ts";

const KEPT = 64; // decoded heads held at once

type Verdict = [kind: string, score: number | null] | [];

/** One layer: its name, the index of its mask, and where its heads' weights or their thumbnails begin. */
export type Layer = { name: string; mask: number; heads?: number[]; thumbnails?: number };

export interface Kind {
  name: string;
  queries: "source" | "target" | "rows";
  keys: "source" | "target";
  heads: number;
  layers: Layer[];
  scores: Record<string, (number | null)[][]>;
  verdicts: Verdict[][];
  repeats: Verdict[][];
  unused?: number[][][]; // per layer, head and row what goes to no token, where rows sum to less than 1
  said?: string[][]; // what a head does, in sentences that follow its name
  between?: Between; // where the text has parts
}

export type What = number | "mean" | "all" | "rollout";

/** The share of a part's attention that goes to another: per layer, head, from, to. */
export type Between = { parts: string[]; shares: number[][][][] };

export type Tile = { rows: number; columns: number; values: Uint8Array };

type MaskEntry = { shape: [number, number]; at: number };

export type Header = Pick<TextFacts, "title" | "texts"> & { id: number; words: Record<string, string>; kinds: Kind[] };

export type Given = Pick<Header, "title" | "texts"> & Partial<Header>;

type Later = { id: number; heads: { key: string; mask: MaskEntry; at: number }[] };

/** Where the weights are; all of them, if it is whole. */
export type Source = {
  facts: Header;
  isWhole: boolean;
  mask: (layer: Layer) => Mask;
  weights: (layer: Layer, head: number, mask: Mask) => Float32Array;
  thumbnail?: (layer: Layer, head: number, mask: Mask) => Tile; // unless it is whole
};

export type Attention = ReturnType<typeof attentionOf>;

export function attentionOf(given: Uint8Array | Plain<Given>) {
  const source = given instanceof Uint8Array ? packedIn(given) : fromRecord(given);
  const { isWhole, facts } = source;
  const { texts, kinds } = facts;
  const patterns: Map<string, Pattern<Mask>> = new Map(); // decoded, or fetched
  const ownMask = (kind: number, layer: number) => source.mask(kinds[kind].layers[layer]);
  const keyOf = (kind: number, layer: number, what: What) => `${kinds[kind].layers[layer].name}/${what}`;
  const headsOf = (kind: number, layer: number) => {
    const { heads, layers } = kinds[kind];
    const mask = ownMask(kind, layer);
    return Array.from({ length: heads }, (_, head) => source.weights(layers[layer], head, mask));
  };

  const compute = (kind: number, layer: number, what: What): Pattern<Mask> => {
    const { layers } = kinds[kind];
    const mask = ownMask(kind, layer);
    const meanHead = (l: number) => ({ mask: ownMask(kind, l), weights: meanOf(headsOf(kind, l)) });
    if (what === "mean") return meanHead(layer);
    if (what === "all") {
      const means = layers.map((_, l) => meanHead(l));
      return { mask: unionOf(means.map(({ mask }) => mask)), weights: meanOf(means.map(({ weights }) => weights)) };
    }
    if (what === "rollout") {
      const below = layers.slice(0, layer + 1).map((_, l) => meanHead(l));
      const { weights, reached } = rollout(below, mask.rows);
      return { mask: maskOf(mask, reached), weights };
    }
    return { mask, weights: source.weights(layers[layer], what, mask) };
  };

  return {
    ...facts,
    isWhole,
    mask: ownMask,
    keyOf,
    queries: (kind: number) => texts[kinds[kind].queries] as Texts,
    keys: (kind: number) => texts[kinds[kind].keys] as Texts,

    /** Takes weights that arrive later, for a long text. Returns whether they are new. */
    take(bytes: Uint8Array) {
      const { header, data } = unframed<Later>(bytes);
      if (header.id !== facts.id) return false; // they belong to another sentence
      const heads = header.heads.filter(({ key }) => !patterns.has(key));
      for (const { key, mask: entry, at } of heads) {
        const mask = readMask(entry, data);
        patterns.set(key, { mask, weights: weightsOf(data, at, mask) });
      }
      return heads.length > 0;
    },

    /** The weights of a head, or of several as one; null while they have not arrived. */
    matrix(kind: number, layer: number, what: What) {
      const key = keyOf(kind, layer, what);
      const known = patterns.get(key) ?? null;
      if (known || !isWhole) return known;
      const [oldest] = patterns.keys();
      if (patterns.size >= KEPT) patterns.delete(oldest);
      const made = compute(kind, layer, what);
      patterns.set(key, made);
      return made;
    },

    /** What every head of a kind gives from a query to a key, the most first; without those whose mask forbids it. */
    linking(kind: number, { row, column }: { row: number; column: number }) {
      const found = kinds[kind].layers.flatMap((_, layer) => {
        const mask = ownMask(kind, layer);
        const cell = row * mask.columns + column;
        if (!mask.allowed[cell]) return [];
        return headsOf(kind, layer).map((weights, head) => ({ layer, head, weight: weights[cell] }));
      });
      return found.sort((a, b) => b.weight - a.weight);
    },

    /** A small picture of a head: round(254 √w) of the largest weight w of each part, 255 where all are masked. */
    tile(kind: number, layer: number, head: number, side: number): Tile {
      const own = kinds[kind].layers[layer];
      const mask = ownMask(kind, layer);
      if (!isWhole && source.thumbnail) return smaller(source.thumbnail(own, head, mask), side);
      return tileOf(mask, side, source.weights(own, head, mask));
    },
  };
}

function packedIn(bytes: Uint8Array): Source {
  const { header, data } = unframed<Header & { masks: MaskEntry[] }>(bytes);
  const masks = header.masks.map((entry) => readMask(entry, data));
  return {
    facts: header,
    isWhole: header.kinds.every((kind) => kind.layers.every((layer) => layer.heads)),
    mask: ({ mask }) => masks[mask],
    weights: ({ heads = [] }, head, mask) => weightsOf(data, heads[head], mask),
    thumbnail({ thumbnails = 0 }, head, mask) {
      const [rows, columns] = [Math.min(64, mask.rows), Math.min(64, mask.columns)];
      const at = thumbnails + head * rows * columns;
      return { rows, columns, values: data.subarray(at, at + rows * columns) };
    },
  };
}

export type Mask = ReturnType<typeof maskOf>;

/**
 * Which cells may be looked at: `cells` lists their flat indices in order, `allowed` answers for one; `left` is 1 where
 * the reader's filters leave out what a mask allows.
 */
export function maskOf({ rows, columns }: Shape, allowed: Uint8Array, left: Uint8Array | null = null) {
  const found: number[] = [];
  for (let i = 0; i < allowed.length; i++) if (allowed[i]) found.push(i);
  const cells = Uint32Array.from(found);
  const rowOf = cells.map((cell) => Math.floor(cell / columns));
  const places: Map<string, Uint32Array> = new Map(); // of every allowed cell in a smaller picture
  return { rows, columns, allowed, left, cells, rowOf, places };
}

function readMask({ shape: [rows, columns], at }: MaskEntry, data: Uint8Array) {
  const allowed = new Uint8Array(rows * columns);
  for (let i = 0; i < allowed.length; i++) allowed[i] = (data[at + (i >> 3)] >> (7 - (i & 7))) & 1;
  return maskOf({ rows, columns }, allowed);
}

export const unionOf = (masks: Mask[]) =>
  maskOf(
    masks[0],
    masks[0].allowed.map((_, i) => Number(masks.some((mask) => mask.allowed[i]))),
  );

/** A mask without the cells that filters have left without their weight. */
export function without(mask: Mask, before: Float32Array, after: Float32Array) {
  const left = mask.allowed.map((isAllowed, cell) => Number(isAllowed && before[cell] > 0 && after[cell] === 0));
  if (!left.some(Boolean)) return mask;
  const allowed = mask.allowed.map((isAllowed, cell) => Number(isAllowed && !left[cell]));
  return maskOf(mask, allowed, left);
}

/** See `attentionOf`. */
function tileOf(mask: Mask, side: number, weights: Float32Array): Tile {
  const { cells, places: known } = mask;
  const [rows, columns] = [Math.min(side, mask.rows), Math.min(side, mask.columns)];
  const key = `${rows}x${columns}`;
  const places = known.get(key) ?? cells.map((cell) => placeOf(cell, mask, { rows, columns }));
  known.set(key, places);
  const largest = new Float64Array(rows * columns).fill(-1);
  for (let n = 0; n < places.length; n++) largest[places[n]] = Math.max(largest[places[n]], weights[cells[n]]);
  const code = (most: number) => (most < 0 ? TILE_MASKED : Math.round(TILE_STEPS * Math.sqrt(most)));
  return { rows, columns, values: Uint8Array.from(largest, code) };
}

type Shape = { rows: number; columns: number };

const placeOf = (cell: number, from: Shape, to: Shape) =>
  Math.floor((Math.floor(cell / from.columns) * to.rows) / from.rows) * to.columns +
  Math.floor(((cell % from.columns) * to.columns) / from.columns);

/** A head's scales of its rows, the upper 8 bits of its codes, and their lower 2 bits stand one after another. */
function weightsOf(data: Uint8Array, at: number, { rows, columns, cells, rowOf }: Mask) {
  const scales = data.subarray(at, at + rows);
  const upper = data.subarray(at + rows, at + rows + cells.length);
  const lower = data.subarray(at + rows + cells.length);
  const weights = new Float32Array(rows * columns);
  for (let n = 0; n < cells.length; n++) {
    const code = (upper[n] << 2) | ((lower[n >> 2] >> (2 * (n & 3))) & 3);
    weights[cells[n]] = (code * scales[rowOf[n]]) / (CODE_STEPS * SCALE_STEPS);
  }
  return weights;
}

function smaller(tile: Tile, side: number): Tile {
  const [rows, columns] = [Math.min(side, tile.rows), Math.min(side, tile.columns)];
  if (rows === tile.rows && columns === tile.columns) return tile;
  const values = new Uint8Array(rows * columns).fill(TILE_MASKED);
  tile.values.forEach((value, i) => {
    const place = placeOf(i, tile, { rows, columns });
    if (value !== TILE_MASKED && (values[place] === TILE_MASKED || value > values[place])) values[place] = value;
  });
  return { rows, columns, values };
}

/** Every site "STACK.LAYER.PART.pattern" is a layer of the kind "STACK.PART". */
const PATTERN = /^(encoder|decoder)\.(\d+)\.(self_attn|cross_attn)\.pattern$/;

export function fromRecord(plain: Plain<Given>): Source {
  const record = recordOf(plain);
  const masks: Map<string, Mask> = new Map();
  return {
    facts: { id: 0, words: {}, kinds: kindsOf(plain), ...plain.facts },
    isWhole: true,
    mask({ name }) {
      const known = masks.get(name);
      if (known) return known;
      const { rows, columns, values } = record.head(`${name}.mask`, 0);
      const made = maskOf({ rows, columns }, Uint8Array.from(values));
      masks.set(name, made);
      return made;
    },
    weights: ({ name }, head) => record.head(`${name}.pattern`, head).values as Float32Array,
  };
}

/** The kinds of attention there are, each with its layers in order. Nobody has judged their heads. */
function kindsOf({ facts, sites }: Plain<Given>): Kind[] {
  const layers: Map<string, string[]> = new Map();
  for (const site of Object.keys(sites)) {
    const [, stack, , part] = PATTERN.exec(site) ?? [];
    if (stack) layers.set(`${stack}.${part}`, [...(layers.get(`${stack}.${part}`) ?? []), site]);
  }
  const indexOf = (site: string) => Number(site.split(".")[1]);
  return [...layers].map(([name, found]) => {
    const crosses = name === "decoder.cross_attn";
    const own = name.startsWith("encoder") && facts.texts.source ? "source" : "target";
    const heads = sites[found[0]].shape[0];
    const none = found.map(() => Array.from({ length: heads }, () => [] as []));
    const ordered = found.sort((a, b) => indexOf(a) - indexOf(b));
    return {
      name,
      queries: crosses && facts.texts.rows ? "rows" : own,
      keys: crosses ? "source" : own,
      heads,
      layers: ordered.map((site) => ({ name: site.slice(0, -".pattern".length), mask: 0 })),
      scores: {},
      verdicts: none,
      repeats: none,
    };
  });
}
