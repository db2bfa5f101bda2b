// The attention of a sentence: all kinds, layers and heads, from a record of sites or from the bytes that
// tfmviz/views/payload.py writes and describes, which hold the same in a twelfth of the room.

/** @import { Texts } from "../shared/elements.js" */
/** @import { Plain } from "../shared/record.js" */
/** @import { Pattern } from "./weights.js" */
import { unframed } from "../shared/framed.js";
import { OfSites } from "./of_sites.js";
import { meanOf, rollout } from "./weights.js";

const CODES = 1023;
const LARGEST_SCALE = 255;
const KEPT = 64; // decoded heads held at once

/** @typedef {[kind: string, score: number | null] | []} Verdict */

/**
 * One layer: its name, the index of its mask, and where its heads' weights or their thumbnails begin.
 * @typedef {{name: string, mask: number, heads?: number[], thumbnails?: number}} Layer
 */

/**
 * One kind of attention; scores and verdicts are per layer, per head.
 * @typedef {object} Kind
 * @property {string} name
 * @property {"source" | "target" | "rows"} queries
 * @property {"source" | "target"} keys
 * @property {number} heads
 * @property {Layer[]} layers
 * @property {Record<string, (number | null)[][]>} scores
 * @property {Verdict[][]} verdicts
 * @property {Verdict[][]} repeats
 * @property {number[][][]} [unused] per layer, head and row what goes to no token, where heads have a sink
 * @property {string[][]} [said] what a head does, in sentences that follow its name
 */

/** @typedef {number | "mean" | "all" | "rollout"} What a head, or several as one */

/** @typedef {{rows: number, columns: number, values: Uint8Array}} Tile */

/** @typedef {{shape: [number, number], at: number}} MaskEntry */

/**
 * @typedef {object} Header
 * @property {string} title
 * @property {number} id
 * @property {Record<string, string>} words
 * @property {{target: Texts, source?: Texts, rows?: Texts}} texts
 * @property {Kind[]} kinds
 * @property {MaskEntry[]} masks
 */

export class Attention {
  /** @param {Uint8Array | Plain} source */
  constructor(source) {
    this.source = source instanceof Uint8Array ? new Packed(source) : new OfSites(source, Mask);
    const { title, id, texts, kinds, words } = this.source.facts;
    this.title = title;
    this.id = id;
    this.texts = texts;
    this.kinds = kinds;
    this.words = words;
    this.whole = this.source.isWhole;
    /** @type {Map<string, Pattern<Mask>>} */
    this.decoded = new Map();
    /** @type {Map<string, Pattern<Mask>>} */
    this.fetched = new Map();
  }

  /** @param {number} kind */
  queries(kind) {
    return /** @type {Texts} */ (this.texts[this.kinds[kind].queries]);
  }

  /** @param {number} kind */
  keys(kind) {
    return /** @type {Texts} */ (this.texts[this.kinds[kind].keys]);
  }

  /**
   * @param {number} kind
   * @param {number} layer
   */
  mask(kind, layer) {
    return this.source.mask(this.kinds[kind].layers[layer]);
  }

  /**
   * The name under which weights of a long text are asked for.
   * @param {number} kind
   * @param {number} layer
   * @param {What} what
   */
  keyOf(kind, layer, what) {
    return `${this.kinds[kind].layers[layer].name}/${what}`;
  }

  /**
   * Takes weights that arrive later, for a long text. Returns whether they are new.
   * @param {Uint8Array} bytes
   */
  take(bytes) {
    const { header, data } = unframed(bytes);
    if (header.id !== this.id) return false; // they belong to another sentence
    /** @type {{key: string, mask: MaskEntry, at: number}[]} */
    const heads = header.heads.filter((/** @type {{key: string}} */ { key }) => !this.fetched.has(key));
    for (const { key, mask: entry, at } of heads) {
      const mask = Mask.read(entry, data);
      this.fetched.set(key, { mask, weights: weightsOf(data, at, mask) });
    }
    return heads.length > 0;
  }

  /**
   * The weights of a head, or of several as one; null while they have not arrived.
   * @param {number} kind
   * @param {number} layer
   * @param {What} what
   * @returns {Pattern<Mask> | null}
   */
  matrix(kind, layer, what) {
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

  /**
   * @param {number} kind
   * @param {number} layer
   * @param {What} what
   * @returns {Pattern<Mask>}
   */
  compute(kind, layer, what) {
    const { layers } = this.kinds[kind];
    /** @param {number} l */
    const meanHead = (l) => ({ mask: this.mask(kind, l), weights: meanOf(this.heads(kind, l)) });
    if (what === "mean") return meanHead(layer);
    if (what === "all") {
      const means = layers.map((_, l) => meanHead(l));
      return { mask: Mask.union(means.map(({ mask }) => mask)), weights: meanOf(means.map(({ weights }) => weights)) };
    }
    if (what === "rollout") {
      const below = layers.slice(0, layer + 1).map((_, l) => meanHead(l));
      const { weights, reached } = rollout(below, this.mask(kind, layer).rows);
      return { mask: new Mask(this.mask(kind, layer), reached), weights };
    }
    const mask = this.mask(kind, layer);
    return { mask, weights: this.source.weights(layers[layer], what, mask) };
  }

  /**
   * @param {number} kind
   * @param {number} layer
   */
  heads(kind, layer) {
    const { heads, layers } = this.kinds[kind];
    const mask = this.mask(kind, layer);
    return Array.from({ length: heads }, (_, head) => this.source.weights(layers[layer], head, mask));
  }

  /**
   * What every head of a kind gives from a query to a key, the most first; without heads whose mask forbids the look.
   * @param {number} kind
   * @param {{row: number, column: number}} cell
   */
  linking(kind, { row, column }) {
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
   * @param {number} kind
   * @param {number} layer
   * @param {number} head
   * @param {number} side
   * @returns {Tile}
   */
  tile(kind, layer, head, side) {
    return this.source.tile(this.kinds[kind].layers[layer], head, this.mask(kind, layer), side);
  }
}

/** Attention as tfmviz/views/payload.py packs it. */
class Packed {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    /** @type {{header: Header, data: Uint8Array}} */
    const { header, data } = unframed(bytes);
    this.facts = header;
    this.data = data;
    this.masks = header.masks.map((entry) => Mask.read(entry, data));
    this.isWhole = header.kinds.every((kind) => kind.layers.every((layer) => layer.heads));
  }

  /** @param {Layer} layer */
  mask({ mask }) {
    return this.masks[mask];
  }

  /**
   * @param {Layer} layer
   * @param {number} head
   * @param {Mask} mask
   */
  weights({ heads }, head, mask) {
    return weightsOf(this.data, /** @type {number[]} */ (heads)[head], mask);
  }

  /**
   * @param {Layer} layer
   * @param {number} head
   * @param {Mask} mask
   * @param {number} side
   * @returns {Tile}
   */
  tile({ heads, thumbnails }, head, mask, side) {
    if (heads) return pooled(this.data, heads[head], mask, Math.min(side, mask.rows), Math.min(side, mask.columns));
    const rows = Math.min(64, mask.rows);
    const columns = Math.min(64, mask.columns);
    const at = /** @type {number} */ (thumbnails) + head * rows * columns;
    const values = this.data.subarray(at, at + rows * columns);
    return smaller({ rows, columns, values }, Math.min(side, rows), Math.min(side, columns));
  }
}

/** Which cells may be looked at: `cells` lists their flat indices in order, `allowed` answers for one. */
export class Mask {
  /**
   * @param {{rows: number, columns: number}} shape
   * @param {Uint8Array} allowed
   */
  constructor({ rows, columns }, allowed) {
    this.rows = rows;
    this.columns = columns;
    this.allowed = allowed;
    /** @type {number[]} */
    const cells = [];
    for (let i = 0; i < allowed.length; i++) if (allowed[i]) cells.push(i);
    this.cells = Uint32Array.from(cells);
    this.rowOf = this.cells.map((cell) => Math.floor(cell / columns));
    /** @type {Map<string, Uint32Array>} */
    this.places = new Map();
    /** @type {Uint8Array | null} 1 where the reader's filters leave out what a mask allows */
    this.left = null;
  }

  /**
   * @param {MaskEntry} entry
   * @param {Uint8Array} data
   */
  static read({ shape: [rows, columns], at }, data) {
    const allowed = new Uint8Array(rows * columns);
    for (let i = 0; i < allowed.length; i++) allowed[i] = (data[at + (i >> 3)] >> (7 - (i & 7))) & 1;
    return new Mask({ rows, columns }, allowed);
  }

  /** @param {Mask[]} masks */
  static union(masks) {
    const allowed = masks[0].allowed.map((_, i) => (masks.some((mask) => mask.allowed[i]) ? 1 : 0));
    return new Mask(masks[0], allowed);
  }

  /**
   * The same without the cells that filters have left without their weight.
   * @param {Float32Array} before
   * @param {Float32Array} after
   */
  without(before, after) {
    const left = this.allowed.map((isAllowed, cell) => Number(isAllowed && before[cell] > 0 && after[cell] === 0));
    if (!left.some(Boolean)) return this;
    const mask = new Mask(
      this,
      this.allowed.map((isAllowed, cell) => Number(isAllowed && !left[cell])),
    );
    mask.left = left;
    return mask;
  }

  /**
   * For every allowed cell its place in a picture of `rows` × `columns`.
   * @param {number} rows
   * @param {number} columns
   */
  placesIn(rows, columns) {
    const key = `${rows}x${columns}`;
    let places = this.places.get(key);
    if (!places) {
      /** @param {number} cell */
      const place = (cell) =>
        Math.floor((Math.floor(cell / this.columns) * rows) / this.rows) * columns +
        Math.floor(((cell % this.columns) * columns) / this.columns);
      places = this.cells.map(place);
      this.places.set(key, places);
    }
    return places;
  }
}

/**
 * The three parts of a head: scales per row, upper 8 bits and lower 2 bits of its codes.
 * @param {Uint8Array} data
 * @param {number} at
 * @param {Mask} mask
 */
function parts(data, at, { rows, cells }) {
  const upper = at + rows;
  return {
    scales: data.subarray(at, upper),
    upper: data.subarray(upper, upper + cells.length),
    lower: data.subarray(upper + cells.length),
  };
}

/**
 * @param {Uint8Array} data
 * @param {number} at
 * @param {Mask} mask
 */
function weightsOf(data, at, mask) {
  const { scales, upper, lower } = parts(data, at, mask);
  const weights = new Float32Array(mask.rows * mask.columns);
  const { cells, rowOf } = mask;
  for (let n = 0; n < cells.length; n++) {
    const code = (upper[n] << 2) | ((lower[n >> 2] >> (2 * (n & 3))) & 3);
    weights[cells[n]] = (code * scales[rowOf[n]]) / (CODES * LARGEST_SCALE);
  }
  return weights;
}

/**
 * A head's tile of `rows` × `columns`, made from its codes' upper bits.
 * @param {Uint8Array} data
 * @param {number} at
 * @param {Mask} mask
 * @param {number} rows
 * @param {number} columns
 * @returns {Tile}
 */
function pooled(data, at, mask, rows, columns) {
  const { scales, upper } = parts(data, at, mask);
  const { rowOf } = mask;
  const places = mask.placesIn(rows, columns);
  const largest = new Int32Array(rows * columns).fill(-1);
  for (let n = 0; n < places.length; n++) {
    const value = upper[n] * scales[rowOf[n]];
    if (value > largest[places[n]]) largest[places[n]] = value;
  }
  return {
    rows,
    columns,
    values: Uint8Array.from(largest, (value) => (value < 0 ? 255 : Math.round(254 * Math.sqrt(value / 65025)))),
  };
}

/**
 * A tile made smaller.
 * @param {Tile} tile
 * @param {number} rows
 * @param {number} columns
 * @returns {Tile}
 */
function smaller(tile, rows, columns) {
  if (rows === tile.rows && columns === tile.columns) return tile;
  const values = new Uint8Array(rows * columns).fill(255);
  tile.values.forEach((value, i) => {
    const place =
      Math.floor((Math.floor(i / tile.columns) * rows) / tile.rows) * columns +
      Math.floor(((i % tile.columns) * columns) / tile.columns);
    if (value !== 255 && (values[place] === 255 || value > values[place])) values[place] = value;
  });
  return { rows, columns, values };
}
