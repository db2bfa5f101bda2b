// "Where does this number come from?": the arithmetic of one number of a feed-forward layer.

/** @import { Matrix } from "../shared/arrays.js" */
/** @import { Tone } from "../shared/shades.js" */
/** @import { Block, Term, Toned } from "../shared/sums.js" */
/** @import { Part, Place } from "./layout.js" */
import { number, plus } from "../shared/numbers.js";
import { line } from "../shared/sums.js";

/**
 * A sum of products as Python has worked it out; tfmviz/analysis/feed_forward.py describes it.
 * @typedef {object} Sum
 * @property {string} of the layer, token and text that it belongs to
 * @property {number[]} indices
 * @property {number[]} a
 * @property {number[]} b
 * @property {number} others
 * @property {number} rest
 * @property {number} total
 * @property {number} bias
 */

/**
 * What is known of the layer and the token.
 * @typedef {object} Header
 * @property {string} title
 * @property {string} of layer, token and text, as in a sum
 * @property {string} layer
 * @property {string} f name of the function
 * @property {boolean} gated
 * @property {boolean} preNorm
 * @property {string} token as sentences name it
 */

/** @type {Record<Part, Tone>} */
export const TONE = { x: "x", gate: "k", pre: "score", post: "score", out: "v", before: "x", after: "x" };

/**
 * What a vector is called in the picture.
 * @param {Part} part
 * @param {Header} header
 * @returns {[name: string, words: string]}
 */
export function nameOf(part, { f, gated, token }) {
  /** @type {Record<Part, [string, string]>} */
  const names = {
    x: [`x of ${token}`, "what the layer reads"],
    gate: ["g = x W_gate + b", "gates"],
    pre: ["h = x W_in + b", "before the function"],
    post: [gated ? `${f}(g) · h` : `${f}(h)`, "neurons"],
    out: ["+ out", ""],
    before: ["stream", ""],
    after: ["= stream", ""],
  };
  return names[part];
}

/** @type {(part: Part) => string} */
export const noun = (part) => (["gate", "pre", "post"].includes(part) ? "neuron" : "number");

/**
 * @param {Record<string, Matrix>} arrays
 * @param {Place} place
 */
export const numberAt = (arrays, { part, index }) => arrays[part].values[index];

/**
 * @param {{header: Header, arrays: Record<string, Matrix>}} layer
 * @param {Place} place
 * @param {Sum | null} sum of this number, if it is one and Python has answered
 * @returns {{title: string, blocks: Block[]}}
 */
export function account({ header, arrays }, place, sum) {
  const [name] = nameOf(place.part, header);
  const title = `${name}, ${noun(place.part)} ${place.index}: ${number(numberAt(arrays, place))}`;
  return { title, blocks: WAYS[place.part]({ header, arrays, place, sum }) };
}

/** @typedef {{header: Header, arrays: Record<string, Matrix>, place: Place, sum: Sum | null}} Asked */

/** @type {Record<Part, (asked: Asked) => Block[]>} */
const WAYS = {
  x: ({ header, arrays, place }) => [
    line(
      `Number ${place.index} of ${arrays.x.columns} that the layer reads for ${header.token}: `,
      header.preNorm ? "the stream after the norm." : "the stream.",
    ),
  ],
  gate: (asked) => summed(asked, ["x", "k"], "x times the gate's column of W_gate"),
  pre: (asked) => summed(asked, ["x", "score"], "x times the neuron's column of W_in"),
  post: (asked) => (asked.header.gated ? gated(asked) : activated(asked)),
  out: (asked) => summed(asked, ["score", "v"], "Every neuron times its weight in W_out"),
  before: ({ header, place }) => [line(`Number ${place.index} of the stream of ${header.token} before this layer.`)],
  after: ({ header, arrays, place }) => {
    const [before, out] = [arrays.before.values[place.index], arrays.out.values[place.index]];
    return [
      line(`stream ${number(before)}${plus(out)} = ${number(before + out)}`),
      ...(header.preNorm ? [] : [line("Then the sum goes through a norm.")]),
    ];
  },
};

/**
 * @param {Asked} asked
 * @param {[Tone, Tone]} tones
 * @param {string} words
 * @returns {Block[]}
 */
function summed({ arrays, place, sum }, [from, to], words) {
  if (!sum) return [line("…")];
  const list = sum.indices.map((index, n) => {
    /** @type {Toned[]} */
    const numbers = [
      [from, number(sum.a[n])],
      [to, `× ${number(sum.b[n])}`],
      ["", `= ${number(sum.a[n] * sum.b[n])}`],
    ];
    return { head: String(index), numbers, value: sum.a[n] * sum.b[n] };
  });
  const rest = sum.others
    ? `and ${sum.others.toLocaleString("en")} smaller terms that make${plus(sum.rest)}`
    : undefined;
  const result = sum.total + sum.bias;
  const written = numberAt(arrays, place);
  const isNormed = Math.abs(result - written) > 1e-3 * Math.max(1, Math.abs(result));
  return [
    line(`${words}: ${(sum.indices.length + sum.others).toLocaleString("en")} products, added up.`),
    { terms: list, rest },
    line(`sum ${number(sum.total)}${plus(sum.bias)} (bias) = ${number(result)}`),
    ...(isNormed ? [line(`After the norm: ${number(written)}.`)] : []),
  ];
}

/**
 * @param {Asked} asked
 * @returns {Block[]}
 */
function activated({ header: { f }, arrays, place }) {
  const [before, after] = [arrays.pre, arrays.post].map(({ values }) => values[place.index]);
  if (f === "ReLU") {
    return [
      line(
        before > 0
          ? `${number(before)} is above 0 and passes as it is.`
          : `${number(before)} is not above 0 and becomes 0.`,
      ),
    ];
  }
  const factor = number(before ? after / before : 0);
  return [
    line(`${f}(${number(before)}) = ${number(before)} × ${factor} = ${number(after)}`),
    line("The factor is near 1 far above 0 and near 0 far below."),
  ];
}

/**
 * @param {Asked} asked
 * @returns {Block[]}
 */
function gated({ header: { f }, arrays, place }) {
  const [gate, before, after] = [arrays.gate, arrays.pre, arrays.post].map(({ values }) => values[place.index]);
  const opened = before ? after / before : 0;
  return [
    line(["k", `${f}(${number(gate)}) = ${number(opened)}`], ": how far the gate is open."),
    line(`${number(opened)} × ${number(before)} = ${number(after)}`),
  ];
}
