// The attention of a sentence: all kinds, layers and heads, from a record of sites or from the bytes that
// tfmviz/views/payload.py writes and describes, which hold the same in a twelfth of the room.

import { CODE_STEPS, SCALE_STEPS, TILE_MASKED, TILE_STEPS } from "../shared/constants.ts";
import type { Texts } from "../shared/elements.ts";
import { unframed } from "../shared/framed.ts";
import type { Plain, TextFacts } from "../shared/record.ts";
import { OfSites } from "./of_sites.ts";
import { meanOf, type Pattern, rollout } from "./weights.ts";

const KEPT = 64; // decoded heads held at once

type Verdict = [kind: string, score: number | null] | [];

/** One layer: its name, the index of its mask, and where its heads' weights or their thumbnails begin. */
export type Layer = { name: string; mask: number; heads?: number[]; thumbnails?: number };

/** One kind of attention; scores and verdicts are per layer, per head. */
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

/** a head, or several as one */
export type What = number | "mean" | "all" | "rollout";

/** The share of a part's attention that goes to another: per layer, head, from, to. */
export type Between = { parts: string[]; shares: number[][][][] };

export type Tile = { rows: number; columns: number; values: Uint8Array };

type MaskEntry = { shape: [number, number]; at: number };

export type Header = Pick<TextFacts, "title" | "texts"> & { id: number; words: Record<string, string>; kinds: Kind[] };

/** What there is to know of a record of sites. */
export type Given = Pick<Header, "title" | "texts"> & Partial<Header>;

/** Heads of a long text that come when they are asked for. */
type Later = { id: number; heads: { key: string; mask: MaskEntry; at: number }[] };

export class Attention {
  source: OfSites | Packed;
  whole: boolean;
  decoded: Map<string, Pattern<Mask>> = new Map();
  fetched: Map<string, Pattern<Mask>> = new Map();

  title!: string; // these are the source's
  id!: number;
  texts!: TextFacts["texts"];
  kinds!: Kind[];
  words!: Record<string, string>;

  constructor(source: Uint8Array | Plain<Given>) {
    this.source = source instanceof Uint8Array ? new Packed(source) : new OfSites(source, Mask);
    this.whole = this.source.isWhole;
    const { title, id, texts, kinds, words } = this.source.facts;
    Object.assign(this, { title, id, texts, kinds, words });
  }

  queries(kind: number) {
    return this.texts[this.kinds[kind].queries] as Texts;
  }

  keys(kind: number) {
    return this.texts[this.kinds[kind].keys] as Texts;
  }

  mask(kind: number, layer: number) {
    return this.source.mask(this.kinds[kind].layers[layer]);
  }

  /** The name under which weights of a long text are asked for. */
  keyOf(kind: number, layer: number, what: What) {
    return `${this.kinds[kind].layers[layer].name}/${what}`;
  }

  /** Takes weights that arrive later, for a long text. Returns whether they are new. */
  take(bytes: Uint8Array) {
    const { header, data } = unframed<Later>(bytes);
    if (header.id !== this.id) return false; // they belong to another sentence
    const heads = header.heads.filter(({ key }) => !this.fetched.has(key));
    for (const { key, mask: entry, at } of heads) {
      const mask = Mask.read(entry, data);
      this.fetched.set(key, { mask, weights: weightsOf(data, at, mask) });
    }
    return heads.length > 0;
  }

  /** The weights of a head, or of several as one; null while they have not arrived. */
  matrix(kind: number, layer: number, what: What): Pattern<Mask> | null {
    const key = this.keyOf(kind, layer, what);
    if (!this.whole) return this.fetched.get(key) ?? null;
    const known = this.decoded.get(key);
    if (known) return known;
    const [oldest] = this.decoded.keys();
    if (this.decoded.size >= KEPT) this.decoded.delete(oldest);
    const made = this.compute(kind, layer, what);
    this.decoded.set(key, made);
    return made;
  }

  compute(kind: number, layer: number, what: What): Pattern<Mask> {
    const { layers } = this.kinds[kind];
    const mask = this.mask(kind, layer);
    const meanHead = (l: number) => ({ mask: this.mask(kind, l), weights: meanOf(this.heads(kind, l)) });
    if (what === "mean") return meanHead(layer);
    if (what === "all") {
      const means = layers.map((_, l) => meanHead(l));
      return { mask: Mask.union(means.map(({ mask }) => mask)), weights: meanOf(means.map(({ weights }) => weights)) };
    }
    if (what === "rollout") {
      const below = layers.slice(0, layer + 1).map((_, l) => meanHead(l));
      const { weights, reached } = rollout(below, mask.rows);
      return { mask: new Mask(mask, reached), weights };
    }
    return { mask, weights: this.source.weights(layers[layer], what, mask) };
  }

  heads(kind: number, layer: number) {
    const { heads, layers } = this.kinds[kind];
    const mask = this.mask(kind, layer);
    return Array.from({ length: heads }, (_, head) => this.source.weights(layers[layer], head, mask));
  }

  /**
   * What every head of a kind gives from a query to a key, the most first; without heads whose mask forbids the look.
   */
  linking(kind: number, { row, column }: { row: number; column: number }) {
    const { heads, layers } = this.kinds[kind];
    const found = layers.flatMap((_, layer) => {
      const mask = this.mask(kind, layer);
      const cell = row * mask.columns + column;
      if (!mask.allowed[cell]) return [];
      const weights = this.heads(kind, layer);
      return Array.from({ length: heads }, (_, head) => ({ layer, head, weight: weights[head][cell] }));
    });
    return found.sort((a, b) => b.weight - a.weight);
  }

  /**
   * A small picture of a head, at most `side` cells across: round(254 √weight) of the largest weight that each cell
   * stands for, 255 where all are masked. So a bright cell never disappears.
   */
  tile(kind: number, layer: number, head: number, side: number): Tile {
    return this.source.tile(this.kinds[kind].layers[layer], head, this.mask(kind, layer), side);
  }
}

/** Attention as tfmviz/views/payload.py packs it. */
class Packed {
  facts: Header;
  data: Uint8Array<ArrayBufferLike>;
  masks: Mask[];
  isWhole: boolean;

  constructor(bytes: Uint8Array) {
    const { header, data } = unframed<Header & { masks: MaskEntry[] }>(bytes);
    this.facts = header;
    this.data = data;
    this.masks = header.masks.map((entry) => Mask.read(entry, data));
    this.isWhole = header.kinds.every((kind) => kind.layers.every((layer) => layer.heads));
  }

  mask({ mask }: Layer) {
    return this.masks[mask];
  }

  weights({ heads }: Layer, head: number, mask: Mask) {
    return weightsOf(this.data, (heads as number[])[head], mask);
  }

  tile({ heads, thumbnails }: Layer, head: number, mask: Mask, side: number): Tile {
    if (heads) {
      const { scales, upper } = parts(this.data, heads[head], mask);
      return mask.tile(side, (n) => (upper[n] * scales[mask.rowOf[n]]) / LARGEST_PRODUCT);
    }
    const [rows, columns] = [Math.min(64, mask.rows), Math.min(64, mask.columns)];
    const at = (thumbnails as number) + head * rows * columns;
    const values = this.data.subarray(at, at + rows * columns);
    return smaller({ rows, columns, values }, Math.min(side, rows), Math.min(side, columns));
  }
}

/** Which cells may be looked at: `cells` lists their flat indices in order, `allowed` answers for one. */
export class Mask {
  rows: number;
  columns: number;
  allowed: Uint8Array;
  cells: Uint32Array<ArrayBuffer>;
  rowOf: Uint32Array<ArrayBuffer>;
  places: Map<string, Uint32Array> = new Map();
  left: Uint8Array | null = null; // 1 where the reader's filters leave out what a mask allows

  constructor({ rows, columns }: Shape, allowed: Uint8Array) {
    this.rows = rows;
    this.columns = columns;
    this.allowed = allowed;
    const cells: number[] = [];
    for (let i = 0; i < allowed.length; i++) if (allowed[i]) cells.push(i);
    this.cells = Uint32Array.from(cells);
    this.rowOf = this.cells.map((cell) => Math.floor(cell / columns));
  }

  static read({ shape: [rows, columns], at }: MaskEntry, data: Uint8Array) {
    const allowed = new Uint8Array(rows * columns);
    for (let i = 0; i < allowed.length; i++) allowed[i] = (data[at + (i >> 3)] >> (7 - (i & 7))) & 1;
    return new Mask({ rows, columns }, allowed);
  }

  static union(masks: Mask[]) {
    const allowed = masks[0].allowed.map((_, i) => (masks.some((mask) => mask.allowed[i]) ? 1 : 0));
    return new Mask(masks[0], allowed);
  }

  /** The same without the cells that filters have left without their weight. */
  without(before: Float32Array, after: Float32Array) {
    const left = this.allowed.map((isAllowed, cell) => Number(isAllowed && before[cell] > 0 && after[cell] === 0));
    if (!left.some(Boolean)) return this;
    const allowed = this.allowed.map((isAllowed, cell) => Number(isAllowed && !left[cell]));
    return Object.assign(new Mask(this, allowed), { left });
  }

  /** See `Attention.tile`; `weight` is that of the allowed cell number n. */
  tile(side: number, weight: (n: number) => number): Tile {
    const [rows, columns] = [Math.min(side, this.rows), Math.min(side, this.columns)];
    const places = this.placesIn(rows, columns);
    const largest = new Float64Array(rows * columns).fill(-1);
    for (let n = 0; n < places.length; n++) largest[places[n]] = Math.max(largest[places[n]], weight(n));
    const values = Uint8Array.from(largest, (most) =>
      most < 0 ? TILE_MASKED : Math.round(TILE_STEPS * Math.sqrt(most)),
    );
    return { rows, columns, values };
  }

  /** For every allowed cell its place in a picture of `rows` × `columns`. */
  placesIn(rows: number, columns: number) {
    const key = `${rows}x${columns}`;
    const places = this.places.get(key) ?? this.cells.map((cell) => placeOf(cell, this, { rows, columns }));
    this.places.set(key, places);
    return places;
  }
}

type Shape = { rows: number; columns: number };

/** Where a cell lies in a picture of another shape. */
const placeOf = (cell: number, from: Shape, to: Shape) =>
  Math.floor((Math.floor(cell / from.columns) * to.rows) / from.rows) * to.columns +
  Math.floor(((cell % from.columns) * to.columns) / from.columns);

/** The three parts of a head: scales per row, upper 8 bits and lower 2 bits of its codes. */
function parts(data: Uint8Array, at: number, { rows, cells }: Mask) {
  const upper = at + rows;
  return {
    scales: data.subarray(at, upper),
    upper: data.subarray(upper, upper + cells.length),
    lower: data.subarray(upper + cells.length),
  };
}

function weightsOf(data: Uint8Array, at: number, mask: Mask) {
  const { scales, upper, lower } = parts(data, at, mask);
  const weights = new Float32Array(mask.rows * mask.columns);
  const { cells, rowOf } = mask;
  for (let n = 0; n < cells.length; n++) {
    const code = (upper[n] << 2) | ((lower[n >> 2] >> (2 * (n & 3))) & 3);
    weights[cells[n]] = (code * scales[rowOf[n]]) / (CODE_STEPS * SCALE_STEPS);
  }
  return weights;
}

const LARGEST_PRODUCT = (CODE_STEPS >> 2) * SCALE_STEPS; // of the upper bits of a code and a scale

/** A tile made smaller. */
function smaller(tile: Tile, rows: number, columns: number): Tile {
  if (rows === tile.rows && columns === tile.columns) return tile;
  const values = new Uint8Array(rows * columns).fill(TILE_MASKED);
  tile.values.forEach((value, i) => {
    const place = placeOf(i, tile, { rows, columns });
    if (value !== TILE_MASKED && (values[place] === TILE_MASKED || value > values[place])) values[place] = value;
  });
  return { rows, columns, values };
}
