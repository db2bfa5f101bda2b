// Numbers as sentences, for screen readers and for reading out.

import { inWords } from "../shared/bytes.ts";
import { ATTENTION_KINDS } from "../shared/constants.ts";
import type { Texts } from "../shared/elements.ts";
import { decimal, perCent, share } from "../shared/numbers.ts";
import { quoted } from "../shared/quoted.ts";
import type { Place as At } from "./matrix.ts";
import type { Kind } from "./payload.ts";
import type { Focus, Sides, State } from "./state.ts";
import { cellsBeside, type Filters, type Pattern } from "./weights.ts";

const MOST_NAMED = 3; // tokens in a sentence

export type Place = { layer: number; head: number };

export const kindName = ({ name }: Kind) => (ATTENTION_KINDS as Record<string, string>)[name] ?? name;

const inStack = (kind: Kind) => (kind.name === "decoder.self_attn" ? "" : ` (${kindName(kind)})`);

export const headName = (kind: Kind, { layer, head }: Place) => `Layer ${layer}, head ${head}${inStack(kind)}`;

export function shownName(kind: Kind, { layer, heads, aggregate }: Pick<State, "layer" | "heads" | "aggregate">) {
  const stack = inStack(kind);
  if (aggregate === "mean") return `Layer ${layer}, mean of all heads${stack}`;
  if (aggregate === "all") return `Mean over all layers and heads${stack}`;
  if (aggregate === "rollout") return `Attention rollout up to layer ${layer}${stack}`;
  if (heads.length === 1) return headName(kind, heads[0]);
  if (heads.some((place) => place.layer !== layer))
    return `Heads ${heads.map((place) => `${place.layer}.${place.head}`).join(", ")}${stack}`;
  const numbers = heads.map(({ head }) => head).sort((a, b) => a - b);
  return `Layer ${layer}, heads ${numbers.join(", ")}${stack}`;
}

export function filterWords({ withoutFirst, top, least }: Filters) {
  return [withoutFirst && "without the first token", top < 100 && `largest ${top}%`, least > 0 && `at least ${least}`]
    .filter(Boolean)
    .join(", ");
}

export function headWords(kind: Kind, place: Place) {
  const name = headName(kind, place);
  const [does, score] = kind.verdicts[place.layer]?.[place.head] ?? [];
  if (!does) return name;
  if (score === null || score === undefined) return `${name}: only one token to attend to`;
  return score ? `${name}: ${does} ${decimal(score)}` : `${name}: ${does}`;
}

/** The end of a sentence on a head: what it does and how many do the same; then what it does where text repeats. */
export function verdictWords(kind: Kind, { layer, head }: Place, words: Record<string, string>): [string, string] {
  const [name, score] = kind.verdicts[layer]?.[head] ?? [];
  if (!name) return ["", ""];
  const said = kind.said?.[layer]?.[head];
  if (said) return [` ${said}`, ""];
  if (score === null || score === undefined) return [" has only one token to attend to.", ""];
  const [again, clearly] = kind.repeats[layer]?.[head] ?? [];
  const all = kind.verdicts.flat();
  const n = all.filter(([other]) => other === name).length;
  const does = n === 1 ? "does" : "do";
  const [clear, alike] = name === "mixed" ? ["", "fit no pattern"] : [` (${name}, ${decimal(score)})`, `${does} this`];
  return [
    ` ${words[name]}${clear}. ${n} of ${all.length} heads ${alike}.`,
    again ? ` (On repeated random text: ${again} ${decimal(Number(clearly))}.)` : "",
  ];
}

/** What is pointed at, always with its number: “it” (token 7); or, of crossing texts, “a”, about to write “student”. */
const said = ({ labels, said }: Texts, at: number) => inWords(said?.[at] ?? `“${labels[at]}” (token ${at})`);

/** What each row of the heads shown gives to no token; null where all sum to 1, in a rollout and behind filters. */
export function unusedOf({ unused }: Kind, view: State): number[] | null {
  if (!unused || view.aggregate === "rollout" || filterWords(view)) return null;
  const heads = view.heads.map(({ layer, head }) => unused[layer][head]);
  const rows = { heads, mean: unused[view.layer], all: unused.flat() }[view.aggregate];
  return rows[0].map((_, at) => rows.reduce((sum, row) => sum + row[at], 0) / rows.length);
}

/** What all heads of a kind give to the first key, over the rows that have a choice, where it is most; else "". */
export function firstWords({ scores }: Kind, keys: Texts) {
  const known = (scores["first token"] ?? []).flat().filter((score) => score !== null);
  const mean = known.reduce((sum, score) => sum + score, 0) / known.length;
  return mean > 0.5 ? `All heads together give ${perCent(mean)} of their attention to ${said(keys, 0)}.` : "";
}

/** “it” (token 7) looks at “animal” 0.42, “the” (token 5) 0.20; 0.31 goes to no token. */
export function sentence({ mask, weights, unused }: Pattern, focus: Focus, { queries, keys }: Sides) {
  const { side, at } = focus;
  const [own, others] = side === "query" ? [queries, keys] : [keys, queries];
  const largest = cellsBeside(mask, focus)
    .filter(({ cell }) => weights[cell] > 0)
    .sort((a, b) => weights[b.cell] - weights[a.cell])
    .slice(0, MOST_NAMED)
    .map(({ other, cell }) => `${inWords(quoted(others.labels, other))} ${share(weights[cell])}`);
  const verb = side === "query" ? "looks at" : "is looked at by";
  const rest = side === "query" && unused ? unused[at] : 0;
  const sink = rest > 0.0005 ? `; ${share(rest)} goes to no token` : "";
  return `${said(own, at)} ${verb} ${largest.join(", ") || "nothing"}${sink}.`;
}

export function cellSentence({ mask, weights }: Pattern, { row, column }: At, { queries, keys }: Sides) {
  const cell = row * mask.columns + column;
  const names = `query ${said(queries, row)}, key ${said(keys, column)}`;
  if (mask.allowed[cell]) return `${names}: ${share(weights[cell])}`;
  return `${names}: ${mask.left?.[cell] ? "left out by the filters" : "masked"}`;
}
