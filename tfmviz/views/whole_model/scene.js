// The picture as Python sends it, and what is asked of its columns.

/** @import { Says } from "./follow.js" */

/**
 * What Python sends; tfmviz/views/whole_model/scene.py describes a column.
 * @typedef {object} Scene
 * @property {string} title
 * @property {"model" | "block" | "head"} zoom
 * @property {boolean} [beside] another one, so that nothing is opened from here
 * @property {string} layer
 * @property {number} head
 * @property {Lane[]} lanes
 * @property {number} total parameters of the model
 * @property {number} numbers that a vector is drawn with, at most
 * @property {number} width numbers that it has
 */

/**
 * What the page around says.
 * @typedef {object} Answer
 * @property {number} sequence
 * @property {string} layer
 * @property {number} head
 * @property {number | null} token null: the one that is followed already
 * @property {Says} says
 * @property {Record<string, string>} [address] model and text
 * @property {Record<string, string>} [kinds]
 * @property {Record<string, string>} [pages]
 */

/**
 * @typedef {object} Lane
 * @property {string} stack
 * @property {string} title
 * @property {string} note
 * @property {string[]} tokens
 * @property {Column[]} columns
 * @property {{ids: number[], size: number}} [oneHot]
 * @property {{title: string, by: string, values: string[]}} [marks]
 */

/**
 * @typedef {object} Column
 * @property {string} id
 * @property {string} kind
 * @property {string} title
 * @property {string[]} lines
 * @property {string} words
 * @property {[page: string, settings: Record<string, string>][]} links
 * @property {number[]} shape
 * @property {string} matrix
 * @property {"strips" | "pattern" | "words"} [image]
 * @property {number} [parameters]
 * @property {{kind: string, lines: string[], onStream?: boolean}[]} [parts]
 * @property {{layer: string, count: number, thumbs: string, writes: string}} [heads]
 * @property {string} [reads]
 * @property {{kind: string, label: string, values: string}[]} [bars]
 * @property {string[]} [from]
 * @property {string[]} [labels]
 * @property {string} [allowed]
 * @property {string} [logits]
 * @property {boolean} [says]
 * @property {boolean} [crosses]
 * @property {boolean} [apart]
 * @property {{zoom: "block" | "head", layer: string, head?: number}} [opens]
 */

/** @typedef {{kind: string, label: string}} Row of the band of amounts */

/**
 * The first box of a lane: its tokens, and what they are for the model.
 * @param {Lane} lane
 * @param {number} size of the vocabulary
 * @returns {Column}
 */
export const entrance = (lane, size) => ({
  id: `${lane.stack}.tokens`,
  kind: "embed",
  title: "tokens",
  lines: ["one-hot"],
  shape: [lane.tokens.length, size],
  matrix: "",
  links: [],
  words: `${written(size)} numbers for each token: a 1 at its place in the vocabulary, else 0.`,
});

/** @param {Column} column */
export const hasBypass = (column) => (column.parts ?? []).some(({ kind }) => kind === "add");

/** @param {number} count */
export const written = (count) => count.toLocaleString("en");

/** @type {(rows: Row[], column: Column) => Row[]} what is written below a column where one stands below the other */
export const onPhone = (rows, column) =>
  rows.filter(({ kind }) => kind !== "sure" && column.image !== "words" && hasRow(column, kind));

/**
 * Whether a column says something of this kind in the band of amounts.
 * @param {Column} column
 * @param {string} kind
 */
export function hasRow(column, kind) {
  if (kind === "says" || kind === "sure") return Boolean(column.says) || column.image === "words";
  if (kind === "length") return column.image === "strips";
  return (column.bars ?? []).some((bar) => bar.kind === kind);
}
