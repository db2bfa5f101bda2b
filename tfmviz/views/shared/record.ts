// What a pass of a model has left behind: sites and their arrays, by the names of Python's record, such as
// "decoder.1.self_attn.pattern", from what Python packs (`pack` in tfmviz/views/shared) or a plain object. What is
// packed about one layer names its sites without that layer, and holds one head of each; its facts say which.

import type { Matrix } from "./arrays.ts";
import type { Texts } from "./elements.ts";

/** Numbers row by row. */
export type Site = { shape: number[]; data: ArrayLike<number> };

export type Sites = Record<string, Site>;

export type TextFacts = {
  title: string;
  texts: { target: Texts; source?: Texts; rows?: Texts };
  ids: number[];
  offsets: [number, number][];
  dropped: number;
};

/** Facts are what is no array: tokens, titles … Whoever reads a record says which it has. */
export type Plain<Facts = TextFacts> = { facts: Facts; sites: Sites };

export class SiteRecord<Facts = unknown> {
  facts: Facts;
  sites: Sites;

  constructor({ facts, sites }: Plain<Facts>) {
    this.facts = facts;
    this.sites = sites;
  }

  find(site: string): Site | undefined {
    const { layer } = this.facts as { layer?: string };
    const isOwn = layer && site.startsWith(`${layer}.`);
    return this.sites[site] ?? (isOwn ? this.sites[site.slice(layer.length + 1)] : undefined);
  }

  has(site: string) {
    return this.find(site) !== undefined;
  }

  at(site: string) {
    const found = this.find(site);
    if (!found) throw new Error(`${site} was not captured; there are ${Object.keys(this.sites).join(", ")}.`);
    return found;
  }

  /** A site of two axes; a vector is one row. */
  matrix(site: string) {
    const { shape, data } = this.at(site);
    return matrixOf(shape, data);
  }

  /** One head of a site (heads, rows, columns). Where several queries' heads share one, there are `heads` of these. */
  head(site: string, head: number, heads?: number) {
    const { shape, data } = this.at(site);
    if (shape.length < 3) return matrixOf(shape, data); // the only one there is
    const [count, rows, columns] = shape;
    const from = Math.floor((head * count) / (heads ?? count)) * rows * columns;
    const to = from + rows * columns;
    if (data instanceof Float32Array) return matrixOf([rows, columns], data.subarray(from, to));
    return matrixOf([rows, columns], Array.prototype.slice.call(data, from, to));
  }
}

function matrixOf(shape: number[], data: ArrayLike<number>): Matrix {
  const [rows, columns] = shape.length === 1 ? [1, shape[0]] : shape;
  return { rows, columns, values: data instanceof Float32Array ? data : Float32Array.from(data) };
}

export function recordOf<Facts>(source: Uint8Array | Plain<Facts>): SiteRecord<Facts> {
  if (!(source instanceof Uint8Array)) return new SiteRecord(source);
  const { header, data } = unframed<Facts & { arrays: Record<string, { shape: number[]; at: number }> }>(source);
  const { arrays, ...facts } = header;
  const sites: Sites = {};
  for (const [name, { shape, at }] of Object.entries(arrays)) {
    const size = shape.reduce((product, n) => product * n, 4);
    sites[name] = { shape, data: new Float32Array(data.slice(at, at + size).buffer) }; // begins where a float32 may
  }
  return new SiteRecord({ facts: facts as Facts, sites });
}

/** A header and data, as tfmviz/views/shared frames them. */
export function unframed<Header>(bytes: Uint8Array): { header: Header; data: Uint8Array } {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  return { header, data: bytes.subarray(4 + length) };
}

/** The bytes that a text in base64 stands for. `Uint8Array.from` takes 14 times as long: 8 seconds for 32 MB. */
export function bytesIn(text: string) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let n = 0; n < letters.length; n++) bytes[n] = letters.charCodeAt(n);
  return bytes;
}
