// "Where does this number come from?": the arithmetic of one cell.

import { rowOf } from "../shared/arrays.ts";
import { number, perCent, plus } from "../shared/numbers.ts";
import { quoted } from "../shared/quoted.ts";
import type { Tone } from "../shared/shades.ts";
import { addedTo, type Block, line, products, type Term, type Toned, terms, total, withBias } from "../shared/sums.ts";
import { type Axis, at, columnOf, type Head, type MatrixId, type Selection, type Shown } from "./head.ts";

export function explain(head: Head, id: MatrixId, selection: Selection): { title: string; blocks: Block[] } {
  const matrix = head.matrix(id);
  const { axes, name } = matrix;
  const [row, column] = [selection[axes.rows], selection[axes.columns]];
  const place = (axis: Axis, index: number) =>
    axis === "query" || axis === "key" ? `${axis} ${index} “${head.labels(axis)[index]}”` : `number ${index}`;
  const value = number(at(matrix, row, column));
  const title = `${name}, ${place(axes.rows, row)}, ${place(axes.columns, column)}: ${value}`;
  return { title, blocks: RECIPES[id](head, selection) };
}

const RECIPES: Record<MatrixId, (head: Head, selection: Selection) => Block[]> = {
  x: (head, { query, wide }) => [
    line`Coordinate ${wide} of ${head.counts.wide} of this layer's input for ${quoted(head.queries, query)}:
      ${head.preNorm ? "the normalised stream" : "the stream"}.`,
  ],
  before: (head, { query, wide }) => [
    line`Coordinate ${wide} of the stream of ${quoted(head.queries, query)} before this layer.`,
  ],
  memory: (head, { key, wide }) => [line`Coordinate ${wide} of the encoder's output for ${quoted(head.keys, key)}.`],
  W_Q: () => weight("W_Q", "q"),
  W_K: () => weight("W_K", "k"),
  W_V: () => weight("W_V", "v"),
  W_O: (head, { concat }) => {
    const [own, of] = [concat % head.dim, Math.floor(concat / head.dim)];
    return [line`A learned weight; its row takes coordinate ${own} of head ${of}.`];
  },
  q: (head, selection) => projected(head, selection, "q"),
  k: (head, selection) => projected(head, selection, "k"),
  v: (head, selection) => projected(head, selection, "v"),
  rot_q: (head, selection) => turned(head, selection, "q"),
  rot_k: (head, selection) => turned(head, selection, "k"),
  keysAcross: (head, selection) => [
    line`An entry of ${["k", "K"]}, transposed.`,
    ...(head.turned || head.linear ? turned(head, selection, "k") : projected(head, selection, "k")),
  ],
  plain: (head, { query, key }) =>
    dot(
      line`The products of their coordinates, added up:`,
      products(rowOf(head.arrays.x, query), rowOf(head.read, key), ["x", "x"]),
    ),
  plainShare: (head, selection) => shares(head, head.matrix("plain"), selection),
  plainMean: (head, { query, wide }) =>
    weighted(head, rowOf(head.matrix("plainShare"), query), columnOf(head.read, wide), "x"),
  raw: ({ matched, dim }, { query, key }) =>
    dot(
      line`Row of ${["q", "Q"]} times column of ${["k", "Kᵀ"]}: ${dim} products, added up:`,
      products(rowOf(matched.q, query), rowOf(matched.k, key), ["q", "k"]),
    ),
  scaled: (head, selection) => {
    const raw = head.value("raw", selection);
    if (head.linear) return [line`ln ${number(raw)} = ${number(head.value("scaled", selection))}`];
    const { bias } = head.arrays;
    const { cap, divided, divisor } = head;
    const added = bias ? `${plus(at(bias, selection.query, selection.key))} (position bias)` : "";
    const result = number(head.value("scaled", selection));
    const rooted = divided.startsWith("√") ? `${number(raw)} ÷ ${divided} = ` : "";
    const quotient = divided ? `${rooted}${number(raw)} ÷ ${number(divisor)}` : number(raw);
    if (cap === null) return [line`${quotient}${added} = ${result}`];
    const before = number(raw / divisor);
    return [
      line`${quotient}${divided ? ` = ${before}` : ""}`,
      line`With the cap c = ${number(cap)}: c · tanh(${before} / c)${added} = ${result}`,
    ];
  },
  masked: (head, selection) => {
    const [query, key] = [quoted(head.queries, selection.query), quoted(head.keys, selection.key)];
    const score = number(head.value("scaled", selection));
    if (head.value("masked", selection) > -Infinity)
      return [line`${query} can attend to ${key}: the score stays ${score}.`];
    const why = selection.key > selection.query && !head.crossing ? ", which comes later" : "";
    return [line`${query} cannot attend to ${key}${why}: the score ${score} becomes −∞.`];
  },
  share: (head, selection) => shares(head, head.matrix("masked"), selection),
  z: (head, { query, dim }) => [
    ...weighted(head, rowOf(head.matrix("share"), query), columnOf(head.arrays.v, dim), "v"),
    ...(head.isOff ? [line`This head is off: 0 takes its place.`] : []),
  ],
  concat: (head, { query, concat }) => {
    const [own, of] = [concat % head.dim, Math.floor(concat / head.dim)];
    const name = quoted(head.queries, query);
    return [line`Coordinate ${own} of head ${of}'s output for ${name}: each head gives ${head.dim}.`];
  },
  out: (head, { query, wide }) => {
    const parts = products(rowOf(head.arrays.concat, query), columnOf(head.arrays.W_O, wide), ["v", "x"]);
    const list = Array.from({ length: head.heads }, (_, h) => {
      const value = total(parts.slice(h * head.dim, (h + 1) * head.dim));
      const shown: Toned = ["", number(value)];
      return { head: `head ${h}`, numbers: [shown], value, chosen: h === head.head };
    });
    const bias = at(head.arrays.b_O, 0, wide);
    return [
      line`Each head's output times its rows of W_O, added up:`,
      terms(list),
      withBias(total(list), bias),
      ...(head.outNormed ? [line`After the norm: ${number(at(head.arrays.out, query, wide))}.`] : []),
    ];
  },
  after: ({ arrays: { before, out }, preNorm }, { query, wide }) =>
    addedTo(at(before, query, wide), at(out, query, wide), preNorm),
};

const weight = (name: string, tone: Tone) => [line`A learned weight of ${[tone, name]}, the same for every token.`];

const dot = (intro: Block, list: Term[]) => [intro, terms(list), line`sum = ${number(total(list))}`];

const axisOf = (letter: "q" | "k" | "v") => (letter === "q" ? "query" : "key");

function projected(head: Head, selection: Selection, letter: "q" | "k" | "v") {
  const axis = axisOf(letter);
  const source = rowOf(axis === "query" ? head.arrays.x : head.read, selection[axis]);
  const list = products(source, columnOf(head.arrays[`W_${letter.toUpperCase()}`], selection.dim), ["x", letter]);
  const bias = at(head.arrays[`b_${letter.toUpperCase()}`], 0, selection.dim);
  const made = number(at(head.arrays[letter], selection[axis], selection.dim));
  const isNormed = head.normed && letter !== "v";
  return [
    line`The vector of ${quoted(head.labels(axis), selection[axis])} times column ${selection.dim} of
      ${[letter, `W_${letter.toUpperCase()}`]}: ${list.length} products, added up:`,
    terms(list),
    withBias(total(list), bias),
    ...(isNormed ? [line`After RMSNorm over the head's ${head.dim} coordinates: ${made}.`] : []),
  ];
}

/** Pairs of neighbouring numbers turn by an angle that belongs to the position. */
function turned(head: Head, selection: Selection, letter: "q" | "k") {
  const position = selection[axisOf(letter)];
  if (head.linear) {
    // φ(x) = elu(x) + 1, which linear attention takes of queries and keys.
    const x = at(head.arrays[letter], position, selection.dim);
    if (x > 0) return [line`${[letter, letter]} is ${number(x)}, positive: φ = ${number(x)} + 1 = ${number(x + 1)}`];
    return [line`${[letter, letter]} is ${number(x)}, not positive: φ = e^(${number(x)}) = ${number(Math.exp(x))}`];
  }
  const pair = Math.floor(selection.dim / 2);
  const angle = at(head.arrays.angles, position, pair);
  const [even, odd] = [0, 1].map((n) => at(head.arrays[letter], position, 2 * pair + n));
  const isEven = selection.dim % 2 === 0;
  const value = isEven
    ? even * Math.cos(angle) - odd * Math.sin(angle)
    : even * Math.sin(angle) + odd * Math.cos(angle);
  const formula = isEven
    ? `${number(even)} · cos − ${number(odd)} · sin`
    : `${number(even)} · sin + ${number(odd)} · cos`;
  return [
    line`The model rotates coordinates ${2 * pair} and ${2 * pair + 1} of ${[letter, letter]} by ${number(angle)}
      radians at position ${position}.`,
    line`${[letter, `${formula.replaceAll("− −", "+ ")} = ${number(value)}`]}, with cos = ${number(Math.cos(angle))} and
      sin = ${number(Math.sin(angle))}`,
  ];
}

function shares(head: Head, scores: Shown, { query, key }: Selection) {
  const row = rowOf(scores, query);
  const largest = Math.max(...row, head.sink ?? -Infinity);
  const term = (score: number, name: string, chosen: boolean) => {
    const power = Math.exp(score - largest);
    const numbers: Toned[] = [
      ["", `e^(${number(score - largest)})`],
      ["", `= ${number(power)}`],
    ];
    return { head: name, numbers, value: power, chosen };
  };
  const list = Array.from(row, (score, j) => term(score, head.keys[j], j === key)).filter((_, j) => row[j] > -Infinity);
  if (head.sink !== null) list.push(term(head.sink, "sink", false));
  const sum = total(list);
  const own = Math.exp(row[key] - largest);
  return [
    line`Subtract the row's largest score, ${number(largest)}, and exponentiate:`,
    terms(list),
    line`Divide by their sum, ${number(sum)}:`,
    line`${number(own)} ÷ ${number(sum)} = ${number(own / sum)}, so ${quoted(head.queries, query)} gives
      ${quoted(head.keys, key)} ${perCent(own / sum)} of its attention.`,
  ];
}

function weighted(head: Head, row: ArrayLike<number>, column: ArrayLike<number>, tone: Tone) {
  const list = products(row, column, ["", tone], (j) => head.keys[j]).filter((_, j) => row[j] > 0);
  return dot(line`Each token's coordinate times its attention, added up:`, list);
}
