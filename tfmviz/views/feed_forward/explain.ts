// "Where does this number come from?": the arithmetic of one number of a feed-forward layer.

import type { Arrays } from "../shared/arrays.ts";
import { number, plus } from "../shared/numbers.ts";
import type { Tone } from "../shared/shades.ts";
import { addedTo, type Block, line, products, withBias } from "../shared/sums.ts";
import type { Part, Place } from "./paint.ts";

/** A sum of products as Python has worked it out; tfmviz/analysis/feed_forward.py describes it. */
export interface Sum {
  of: string; // the layer, token and text that it belongs to
  indices: number[];
  a: number[];
  b: number[];
  others: number;
  rest: number;
  total: number;
  bias: number;
}

export interface Header {
  title: string;
  of: string; // layer, token and text, as in a sum
  layer: string;
  f: string; // name of the function
  gated: boolean;
  preNorm: boolean;
  token: string; // as sentences name it
}

export const TONE: Record<Part, Tone> = {
  x: "x",
  gate: "k",
  pre: "score",
  post: "score",
  out: "v",
  before: "x",
  after: "x",
};

export function nameOf(part: Part, { f, gated, token }: Header): [name: string, words: string] {
  const names: Record<Part, [string, string]> = {
    x: [`x of ${token}`, "input"],
    gate: ["g = x W_gate + b", "gates"],
    pre: ["h = x W_in + b", "pre-activations"],
    post: [gated ? `${f}(g) · h` : `${f}(h)`, "activations"],
    out: ["+ out", ""],
    before: ["stream", ""],
    after: ["= stream", ""],
  };
  return names[part];
}

const noun = (part: Part) => (["gate", "pre", "post"].includes(part) ? "neuron" : "coordinate");

/** The sum is that of this number, if it is one and Python has answered. */
type Asked = { header: Header; arrays: Arrays; place: Place; sum: Sum | null };

export const account = (asked: Asked): { title: string; blocks: Block[] } => ({
  title: said(asked.header, asked.arrays, asked.place),
  blocks: WAYS[asked.place.part](asked),
});

export const said = (header: Header, arrays: Arrays, { part, index }: Place) =>
  `${nameOf(part, header)[0]}, ${noun(part)} ${index}: ${number(arrays[part].values[index])}`;

const WAYS: Record<Part, (asked: Asked) => Block[]> = {
  x: ({ header, arrays, place }) => [
    line`Coordinate ${place.index} of ${arrays.x.columns} of the layer's input for ${header.token}:
      ${header.preNorm ? "the normalised stream" : "the stream"}.`,
  ],
  gate: (asked) => summed(asked, ["x", "k"], "x times this column of W_gate"),
  pre: (asked) => summed(asked, ["x", "score"], "x times this column of W_in"),
  post: (asked) => (asked.header.gated ? gated(asked) : activated(asked)),
  out: (asked) => summed(asked, ["score", "v"], "Every neuron times its weight in W_out"),
  before: ({ header, place }) => [line`Coordinate ${place.index} of the stream of ${header.token} before this layer.`],
  after: ({ header, arrays: { before, out }, place: { index } }) =>
    addedTo(before.values[index], out.values[index], header.preNorm),
};

function summed({ arrays, place, sum }: Asked, [from, to]: [Tone, Tone], words: string): Block[] {
  if (!sum) return [line`…`];
  const list = products(sum.a, sum.b, [from, to], (n) => String(sum.indices[n]));
  const others = `and ${sum.others.toLocaleString("en")} smaller terms, together${plus(sum.rest)}`;
  const result = sum.total + sum.bias;
  const written = arrays[place.part].values[place.index];
  const isNormed = Math.abs(result - written) > 1e-3 * Math.max(1, Math.abs(result));
  return [
    line`${words}: ${(sum.indices.length + sum.others).toLocaleString("en")} products, added up.`,
    { terms: list, rest: sum.others ? others : undefined },
    withBias(sum.total, sum.bias),
    ...(isNormed ? [line`After the norm: ${number(written)}.`] : []),
  ];
}

function activated({ header: { f }, arrays, place }: Asked): Block[] {
  const [before, after] = [arrays.pre, arrays.post].map(({ values }) => values[place.index]);
  if (f === "ReLU") {
    const what = before > 0 ? "is positive and passes unchanged" : "is not positive and becomes 0";
    return [line`${number(before)} ${what}.`];
  }
  const factor = number(before ? after / before : 0);
  return [
    line`${f}(${number(before)}) = ${number(before)} × ${factor} = ${number(after)}`,
    line`The factor tends to 1 far above 0 and to 0 far below.`,
  ];
}

function gated({ header: { f }, arrays, place }: Asked): Block[] {
  const [gate, before, after] = [arrays.gate, arrays.pre, arrays.post].map(({ values }) => values[place.index]);
  const opened = before ? after / before : 0;
  return [
    line`${["k", `${f}(${number(gate)}) = ${number(opened)}`]}: how far the gate is open.`,
    line`${number(opened)} × ${number(before)} = ${number(after)}`,
  ];
}
