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

export type SiteRecord<Facts = unknown> = ReturnType<typeof recordOf<Facts>>;

export function recordOf<Facts>(source: Uint8Array | Plain<Facts>) {
  const { facts, sites } = source instanceof Uint8Array ? unpacked<Facts>(source) : source;
  const { layer } = facts as { layer?: string };
  const find = (site: string): Site | undefined =>
    sites[site] ?? (layer && site.startsWith(`${layer}.`) ? sites[site.slice(layer.length + 1)] : undefined);
  const at = (site: string) => {
    const found = find(site);
    if (!found) throw new Error(`${site} was not captured; there are ${Object.keys(sites).join(", ")}.`);
    return found;
  };
  return {
    facts,
    sites,
    at,
    has: (site: string) => find(site) !== undefined,

    /** A site of two axes; a vector is one row. */
    matrix(site: string) {
      const { shape, data } = at(site);
      return matrixOf(shape, data);
    },

    /** One head of a site (heads, rows, columns). Where query heads share one, there are `heads` of them. */
    head(site: string, head: number, heads?: number) {
      const { shape, data } = at(site);
      if (shape.length < 3) return matrixOf(shape, data); // the only one there is
      const [count, rows, columns] = shape;
      const from = Math.floor((head * count) / (heads ?? count)) * rows * columns;
      const to = from + rows * columns;
      if (data instanceof Float32Array) return matrixOf([rows, columns], data.subarray(from, to));
      return matrixOf([rows, columns], Array.prototype.slice.call(data, from, to));
    },
  };
}

function matrixOf(shape: number[], data: ArrayLike<number>): Matrix {
  const [rows, columns] = shape.length === 1 ? [1, shape[0]] : shape;
  return { rows, columns, values: data instanceof Float32Array ? data : Float32Array.from(data) };
}

function unpacked<Facts>(source: Uint8Array): Plain<Facts> {
  const { header, data } = unframed<Facts & { arrays: Record<string, { shape: number[]; at: number }> }>(source);
  const { arrays, ...facts } = header;
  const sites: Sites = {};
  for (const [name, { shape, at }] of Object.entries(arrays)) {
    const size = shape.reduce((product, n) => product * n, 4);
    sites[name] = { shape, data: new Float32Array(data.slice(at, at + size).buffer) }; // begins where a float32 may
  }
  return { facts: facts as Facts, sites };
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
