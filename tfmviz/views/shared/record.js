// What a pass of a model has left behind: sites and their arrays, by the names of Python's record, such as
// "decoder.1.self_attn.pattern". A view reads them here and never knows who computed them.
//
// A record is made of what Python packs (`pack` in tfmviz/views/shared), or of a plain object. What is packed about one
// layer names its sites without that layer, and holds one head of each; its facts say which.

/** @import { Matrix } from "./arrays.js" */
import { unframed } from "./framed.js";

/** @typedef {{shape: number[], data: ArrayLike<number>}} Site numbers row by row */

/** @typedef {Record<string, Site>} Sites */

/** @typedef {{facts: Record<string, any>, sites: Sites}} Plain facts are what is no array: tokens, titles … */

export class SiteRecord {
  /** @param {Plain} plain */
  constructor({ facts, sites }) {
    this.facts = facts;
    this.sites = sites;
  }

  /** @param {string} site */
  find(site) {
    const { layer } = this.facts;
    return this.sites[site] ?? (site.startsWith(`${layer}.`) ? this.sites[site.slice(layer.length + 1)] : undefined);
  }

  /** @param {string} site */
  has(site) {
    return this.find(site) !== undefined;
  }

  /**
   * A site as it is.
   * @param {string} site
   */
  at(site) {
    const found = this.find(site);
    if (!found) throw new Error(`${site} was not captured; there are ${Object.keys(this.sites).join(", ")}.`);
    return found;
  }

  /**
   * A site of two axes; a vector is one row.
   * @param {string} site
   */
  matrix(site) {
    const { shape, data } = this.at(site);
    return matrixOf(shape, data);
  }

  /**
   * One head of a site (heads, rows, columns). Where several queries' heads share one, `heads` says how many there are.
   * @param {string} site
   * @param {number} head
   * @param {number} [heads]
   */
  head(site, head, heads) {
    const { shape, data } = this.at(site);
    if (shape.length < 3) return matrixOf(shape, data); // the only one there is
    const [count, rows, columns] = shape;
    const from = Math.floor((head * count) / (heads ?? count)) * rows * columns;
    const to = from + rows * columns;
    if (data instanceof Float32Array) return matrixOf([rows, columns], data.subarray(from, to));
    return matrixOf([rows, columns], Array.prototype.slice.call(data, from, to));
  }
}

/**
 * @param {number[]} shape
 * @param {ArrayLike<number>} data
 * @returns {Matrix}
 */
function matrixOf(shape, data) {
  const [rows, columns] = shape.length === 1 ? [1, shape[0]] : shape;
  return { rows, columns, values: data instanceof Float32Array ? data : Float32Array.from(data) };
}

/**
 * @param {Uint8Array | Plain} source
 * @returns {SiteRecord}
 */
export function recordOf(source) {
  if (!(source instanceof Uint8Array)) return new SiteRecord(source);
  const { header, data } = unframed(source);
  const { arrays, ...facts } = header;
  /** @type {Sites} */
  const sites = {};
  for (const [name, { shape, at }] of Object.entries(arrays)) {
    const size = shape.reduce((/** @type {number} */ product, /** @type {number} */ n) => product * n, 4);
    sites[name] = { shape, data: new Float32Array(data.slice(at, at + size).buffer) }; // begins where a float32 may
  }
  return new SiteRecord({ facts, sites });
}
