// Sums written out: lines of words with terms in boxes, as elements.

import { make } from "./elements.ts";
import { number, plus } from "./numbers.ts";
import type { Tone } from "./shades.ts";

/** of a line; one with a tone has its colour */
export type Part = string | Toned;

export type Toned = [tone: Tone | "", text: string];

export type Term = { head: string; numbers: Toned[]; value: number; chosen?: boolean };

export type Block = { parts: Part[] } | { terms: Term[]; rest?: string };

export type Vector = ArrayLike<number>;

const MOST = 40; // terms written out; of longer sums the largest
const LARGEST = 12;

/** A sentence as it is written here, between backticks; a line may break at any space. Its values may have a tone. */
export function said(texts: TemplateStringsArray, ...values: (Part | number)[]): Part[] {
  const parts: Part[] = [""];
  for (const [n, text] of texts.entries()) {
    const value = values[n] ?? "";
    parts[parts.length - 1] += text.replace(/\s*\n\s*/g, " ");
    if (typeof value === "object") parts.push(value, "");
    else parts[parts.length - 1] += String(value);
  }
  return parts.filter(Boolean);
}

export const line = (...sentence: Parameters<typeof said>) => ({ parts: said(...sentence) });

/** The terms of a sum; of a long one the largest and the chosen, and what the others make. */
export function terms(list: Term[]): Block {
  if (list.length <= MOST) return { terms: list };
  const ordered = [...list].sort(
    (a, b) => Number(b.chosen ?? false) - Number(a.chosen ?? false) || Math.abs(b.value) - Math.abs(a.value),
  );
  const shown = ordered.slice(0, LARGEST);
  const rest = ordered.slice(LARGEST).reduce((total, { value }) => total + value, 0);
  return { terms: shown, rest: `and ${list.length - LARGEST} smaller terms, together${plus(rest)}` };
}

export const addedTo = (before: number, out: number, preNorm: boolean) => [
  line`stream ${number(before)}${plus(out)} = ${number(before + out)}`,
  ...(preNorm ? [] : [line`A norm follows.`]),
];

export const withBias = (sum: number, bias: number) =>
  line`sum ${number(sum)}${plus(bias)} (bias) = ${number(sum + bias)}`;

export const total = (list: Term[]) => list.reduce((sum, { value }) => sum + value, 0);

export function products(a: Vector, b: Vector, tones: Toned[0][], heads: (m: number) => string = String): Term[] {
  return Array.from(a, (value, m) => ({
    head: heads(m),
    numbers: [
      [tones[0], number(value)],
      [tones[1], `× ${number(b[m])}`],
      ["", `= ${number(value * b[m])}`],
    ],
    value: value * b[m],
  }));
}

export const toned = (part: Part) =>
  typeof part === "string" ? part : make("span", { className: part[0] && `tone-${part[0]}`, textContent: part[1] });

export function blockOf(block: Block) {
  if ("parts" in block) return make("p", {}, ...block.parts.map(toned));
  const boxes = block.terms.map(({ head, numbers, chosen }) => {
    const name = make("small", { textContent: head, dir: "auto" });
    return make("span", { className: `term${chosen ? " chosen" : ""}` }, name, ...numbers.map(toned));
  });
  const rest = block.rest ? [make("span", { className: "rest", textContent: block.rest })] : [];
  const group = { className: "terms", tabIndex: 0, role: "group", ariaLabel: "Terms that are added up" };
  return make("div", group, ...boxes, ...rest);
}
