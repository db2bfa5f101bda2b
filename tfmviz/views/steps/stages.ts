// The way from the sentence to what a layer writes, stage by stage.

import { largest, type Matrix, rowOf } from "../shared/arrays.ts";
import { number } from "../shared/numbers.ts";
import { quoted } from "../shared/quoted.ts";
import { type Part, said } from "../shared/sums.ts";
import { at, type Head, type MatrixId, type Selection } from "./head.ts";

const CHAIN = ["raw", "÷√d", "scaled", "mask", "masked", "softmax", "share", "× V", "z"];

/** A stage has words and a picture. An item of the picture is a matrix, a sign between two, or a new line. */
export interface Stage {
  id: string;
  short: string; // its name
  main: MatrixId | null; // the matrix in focus
  chain?: boolean; // whether the chain of score matrices is shown too
  items: string[];
  words: (head: Head, selection: Selection) => Part[];
}

type Planned = Omit<Stage, "items"> & { items: (head: Head) => string[]; if?: (head: Head) => boolean };

const ALL: Planned[] = [
  {
    id: "sentence",
    short: "sentence",
    main: null,
    items: () => ["share"], // where the way leads
    words: ({ crossing, counts, queries }, { query }) =>
      said`${crossing ? `The answer's ${counts.query} rows attend to the` : "The model reads"} ${counts.key}
        tokens${crossing ? " of the source" : ""}. Choose one:
        ${["q", `the query is token ${query}, ${quoted(queries, query)}`]}.`,
  },
  {
    id: "vectors",
    short: "vectors",
    main: "x",
    items: (head) => (head.crossing ? ["x", "reads", "memory"] : ["x"]),
    words: (head, { query }) =>
      said`Every token is a row of ${head.counts.wide} numbers, its vector x. The highlighted row is
        ${quoted(head.queries, query)}.
        ${head.crossing ? "The row “a → student” has read “a” and writes “student” next." : ""}`,
  },
  {
    id: "plain",
    short: "version 1",
    main: "plainShare",
    items: (head) => ["x", "→", "plain", "softmax →", "plainShare", head.crossing ? "× M →" : "× X →", "plainMean"],
    words: (head) =>
      said`Attention without learned weights: how similar are two vectors? ${head.crossing ? "" : likest(head)}`,
  },
  {
    id: "qkv",
    short: "q, k, v",
    main: "q",
    items: (head) => {
      const from = head.crossing ? "memory" : "x";
      return [...projection("x", "q"), "\n", ...projection(from, "k"), "\n", ...projection(from, "v")];
    },
    words: ({ counts, dim, heads }) =>
      said`So each token gets three learned vectors: ${["q", "a query (what am I looking for?)"]},
        ${["k", "a key (what do I offer?)"]} and ${["v", "a value (what do I pass on?)"]}. ${counts.wide} numbers become
        ${dim}. The W_Q of all ${heads} heads form one matrix, ${counts.wide} × ${heads * dim}.`,
  },
  {
    id: "turn",
    short: "position",
    main: "rot_q",
    items: () => ["q", "turn →", "rot_q", "\n", "k", "turn →", "rot_k"],
    if: (head) => head.turned,
    words: () =>
      said`This model turns each ${["q", "query"]} and ${["k", "key"]} by its position, so that scores depend on
        distance.`,
  },
  {
    id: "feature",
    short: "φ",
    main: "rot_q",
    items: () => ["q", "φ →", "rot_q", "\n", "k", "φ →", "rot_k"],
    if: (head) => head.linear,
    words: () =>
      said`Linear attention: φ makes each ${["q", "query"]} and ${["k", "key"]} positive: x + 1 above 0, e^x below.`,
  },
  {
    id: "scores",
    short: "scores",
    main: "raw",
    chain: true,
    items: (head) => [head.turned || head.linear ? "rot_q" : "q", "×", "keysAcross", "=", "raw"],
    words: (head, selection) =>
      said`Every ${["q", "query"]} is multiplied by every ${["k", "key"]}: ${quoted(head.queries, selection.query)} and
        ${quoted(head.keys, selection.key)} score ${number(head.value("raw", selection))}.`,
  },
  {
    id: "scaled",
    short: "÷ √d",
    main: "scaled",
    chain: true,
    items: () => ["scaled"],
    if: isScaled,
    words: (head, selection) => {
      const cap = head.cap === null ? "" : `; a cap keeps them between −${number(head.cap)} and ${number(head.cap)}`;
      const [raw, scaled] = (["raw", "scaled"] as const).map((id) => number(head.value(id, selection)));
      const bias = head.arrays.bias ? ", plus the position bias" : "";
      return said`${divided(head)}${cap}${bias}: ${raw} becomes ${scaled}.`;
    },
  },
  {
    id: "masked",
    short: "mask",
    main: "masked",
    chain: true,
    items: () => ["masked"],
    words: (head, { query }) => {
      if (head.arrays.mask.values.every(Boolean)) return said`Nothing is masked: every query sees every key.`;
      const seen = Array.from(rowOf(head.matrix("masked"), query)).filter((score) => score > -Infinity).length;
      return said`Masked scores become −∞ (blank): ${quoted(head.queries, query)} sees ${seen} of ${head.counts.key}
        tokens.`;
    },
  },
  {
    id: "share",
    short: "softmax",
    main: "share",
    chain: true,
    items: () => ["share"],
    words: (head, { query }) =>
      said`Scores become weights: every row sums to
        ${head.sink === null ? "1" : "less than 1; the sink gets the rest"}. ${strongest(head, query)}`,
  },
  {
    id: "z",
    short: "weighted sum",
    main: "z",
    chain: true,
    items: () => ["share", "×", "v", "=", "z"],
    words: (head, { query }) =>
      said`${quoted(head.queries, query)} takes every token's ${["v", "value"]} in proportion to its weight.`,
  },
  {
    id: "concat",
    short: "all heads",
    main: "concat",
    items: () => ["z", "head →", "concat"],
    words: ({ heads, dim, counts }) =>
      said`The outputs of all ${heads} heads, concatenated: ${heads} × ${dim} = ${counts.concat} numbers (in the paper
        8 × 64 = 512).`,
  },
  {
    id: "out",
    short: "W_O",
    main: "out",
    items: () => ["concat", "×", "W_O", "=", "out"],
    words: ({ counts }) => said`W_O mixes the heads: ${counts.concat} numbers become ${counts.wide}.`,
  },
  {
    id: "stream",
    short: "add",
    main: "after",
    items: () => ["before", "+", "out", "=", "after"],
    words: (head, { query }) => {
      const { out, before } = head.arrays;
      const [added, from, to] = [out, before, head.matrix("after")].map((matrix) => number(norm(matrix, query)));
      return said`Added to the stream of ${quoted(head.queries, query)}, a vector of norm ${added} changes its norm from
        ${from} to ${to}.${head.preNorm ? "" : " A norm follows."}`;
    },
  },
];

/** The stages of a head; what it does not do is left out. */
export function stagesOf(head: Head): Stage[] {
  return ALL.filter((stage) => !stage.if || stage.if(head)).map((stage) => {
    const short = stage.id === "scaled" ? shortOfScaled(head) : stage.short;
    return { ...stage, short, items: stage.items(head) };
  });
}

function shortOfScaled(head: Head) {
  if (head.linear) return "ln";
  if (head.divided) return head.divided.startsWith("√") ? "÷ √d" : `÷ ${head.divided}`;
  return head.cap === null ? "+ bias" : "cap";
}

function divided(head: Head) {
  if (head.linear) return "These products are the weights before normalisation; the softmax gets their logarithms";
  if (!head.divided) return "This model does not divide its scores";
  const by = head.divided.startsWith("√") ? `${head.divided} = ${number(head.divisor)}` : head.divided;
  return `Long vectors give large scores, so all are divided by ${by}`;
}

function isScaled({ linear, divided, cap, arrays }: Head) {
  return linear || divided !== "" || cap !== null || arrays.bias !== undefined;
}

/** The chain of a head's matrices, without the step that its model does not take. */
export const chainOf = (head: Head) =>
  isScaled(head) ? CHAIN : CHAIN.filter((item) => item !== "÷√d" && item !== "scaled");

export const signOf = (head: Head, item: string) => (item === "÷√d" ? shortOfScaled(head).replace(" ", "") : item);

export const isLater = (id: string, main: string | null) => CHAIN.indexOf(id) > CHAIN.indexOf(main ?? "");

const projection = (from: string, letter: string) => [from, "×", `W_${letter.toUpperCase()}`, "=", letter];

const norm = (matrix: Matrix, row: number) => Math.hypot(...rowOf(matrix, row));

function likest(head: Head) {
  const plain = head.matrix("plain");
  const { query: count } = head.counts;
  const own = Array.from({ length: count }, (_, i) => Math.max(...rowOf(plain, i)) === at(plain, i, i)).filter(Boolean);
  const so = 2 * own.length > count ? ", so little is exchanged" : "";
  return `Of these ${count} tokens ${own.length} score highest with themselves${so}.`;
}

function strongest(head: Head, query: number) {
  const row = Array.from(rowOf(head.matrix("share"), query));
  const best = largest(row, 3).filter((j) => row[j] >= 0.005);
  const names = best.map((j) => `${quoted(head.keys, j)} ${number(row[j])}`);
  const rest = 1 - row.reduce((sum, share) => sum + share, 0);
  const sink = head.sink === null ? "" : `; ${number(rest)} goes to the sink`;
  return `${quoted(head.queries, query)} looks at ${names.join(", ") || "nothing"}${sink}.`;
}
