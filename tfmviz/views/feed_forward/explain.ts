// "Where does this number come from?": the arithmetic of one number of a feed-forward layer.

import type { Arrays } from "../shared/arrays.ts";
import { number, plus } from "../shared/numbers.ts";
import type { Tone } from "../shared/shades.ts";
import { addedTo, type Block, line, products, withBias } from "../shared/sums.ts";
import type { Part, Place } from "./layout.ts";

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

/** What is known of the layer and the token. */
export interface Header {
  title: string;
  of: string; // layer, token and text, as in a sum
  layer: string;
  f: string; // name of the function
  gated: boolean;
  preNorm: boolean;
  /** as sentences name it */
  token: string;
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

/** What a vector is called in the picture. */
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

export const noun = (part: Part) => (["gate", "pre", "post"].includes(part) ? "neuron" : "coordinate");

export const numberAt = (arrays: Arrays, { part, index }: Place) => arrays[part].values[index];

/** @param sum of this number, if it is one and Python has answered */
export function account(
  { header, arrays }: { header: Header; arrays: Arrays },
  place: Place,
  sum: Sum | null,
): { title: string; blocks: Block[] } {
  const [name] = nameOf(place.part, header);
  const title = `${name}, ${noun(place.part)} ${place.index}: ${number(numberAt(arrays, place))}`;
  return { title, blocks: WAYS[place.part]({ header, arrays, place, sum }) };
}

type Asked = { header: Header; arrays: Arrays; place: Place; sum: Sum | null };

const WAYS: Record<Part, (asked: Asked) => Block[]> = {
  x: ({ header, arrays, place }) => [
    line(
      `Coordinate ${place.index} of ${arrays.x.columns} of the layer's input for ${header.token}: `,
      header.preNorm ? "the normalised stream." : "the stream.",
    ),
  ],
  gate: (asked) => summed(asked, ["x", "k"], "x times this column of W_gate"),
  pre: (asked) => summed(asked, ["x", "score"], "x times this column of W_in"),
  post: (asked) => (asked.header.gated ? gated(asked) : activated(asked)),
  out: (asked) => summed(asked, ["score", "v"], "Every neuron times its weight in W_out"),
  before: ({ header, place }) => [
    line(`Coordinate ${place.index} of the stream of ${header.token} before this layer.`),
  ],
  after: ({ header, arrays: { before, out }, place: { index } }) =>
    addedTo(before.values[index], out.values[index], header.preNorm),
};

function summed({ arrays, place, sum }: Asked, [from, to]: [Tone, Tone], words: string): Block[] {
  if (!sum) return [line("…")];
  const list = products(sum.a, sum.b, [from, to], (n) => String(sum.indices[n]));
  const rest = sum.others
    ? `and ${sum.others.toLocaleString("en")} smaller terms, together${plus(sum.rest)}`
    : undefined;
  const result = sum.total + sum.bias;
  const written = numberAt(arrays, place);
  const isNormed = Math.abs(result - written) > 1e-3 * Math.max(1, Math.abs(result));
  return [
    line(`${words}: ${(sum.indices.length + sum.others).toLocaleString("en")} products, added up.`),
    { terms: list, rest },
    withBias(sum.total, sum.bias),
    ...(isNormed ? [line(`After the norm: ${number(written)}.`)] : []),
  ];
}

function activated({ header: { f }, arrays, place }: Asked): Block[] {
  const [before, after] = [arrays.pre, arrays.post].map(({ values }) => values[place.index]);
  if (f === "ReLU") {
    const what = before > 0 ? "is positive and passes unchanged" : "is not positive and becomes 0";
    return [line(`${number(before)} ${what}.`)];
  }
  const factor = number(before ? after / before : 0);
  return [
    line(`${f}(${number(before)}) = ${number(before)} × ${factor} = ${number(after)}`),
    line("The factor tends to 1 far above 0 and to 0 far below."),
  ];
}

function gated({ header: { f }, arrays, place }: Asked): Block[] {
  const [gate, before, after] = [arrays.gate, arrays.pre, arrays.post].map(({ values }) => values[place.index]);
  const opened = before ? after / before : 0;
  return [
    line(["k", `${f}(${number(gate)}) = ${number(opened)}`], ": how far the gate is open."),
    line(`${number(opened)} × ${number(before)} = ${number(after)}`),
  ];
}
