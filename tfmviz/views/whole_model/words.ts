// What is said of a part, of a vector, and of everything for who cannot see it.

import { type Arrays, largest, largestSize, rowOf } from "../shared/arrays.ts";
import { make } from "../shared/elements.ts";
import { decimal, perCent } from "../shared/numbers.ts";
import { quoted } from "../shared/quoted.ts";
import type { Values } from "../shared/table.ts";
import { amount, type Says, saidOf } from "./follow.ts";
import { type Column, type Lane, type Scene, written } from "./scene.ts";

const COLOURS = "purple below 0, orange above, each matrix on its own scale (√). Bar below: the vector's norm.";

const shapeOf = ({ shape }: Column) => shape.map(written).join(" × ");

const nameOf = ({ title, lines }: Column) => [title, ...lines].join(" ");

export function aboutBox(column: Column) {
  const count = column.parameters === undefined ? "" : `, ${written(column.parameters)} parameters`;
  return `${nameOf(column)} (${shapeOf(column)}${count}). ${column.words}`;
}

export function aboutVector(column: Column, arrays: Arrays, row: number, tokens: string[]) {
  const name = quoted(tokens, row);
  const of = `${name}, ${column.title}`;
  const { values } = arrays[column.matrix];
  if (column.image === "words") {
    const logit = decimal(arrays[column.logits ?? ""].values[row]);
    return `${name} → “${column.labels?.[row]}” ${perCent(values[row])}, logit ${logit}.`;
  }
  if (column.image === "pattern") {
    const own = rowOf(arrays[column.matrix], row);
    const [best] = largest(own, 1);
    return `${of}: attends most to ${quoted(column.labels ?? [], best)}, ${decimal(own[best])} of its attention.`;
  }
  const added = barsOf(column, arrays, row);
  const length = amount(arrays[`${column.matrix}.length`].values[row]);
  const size = `${written(column.shape[1])} numbers, norm ${length}`;
  return `${of}: ${added && `${added}; `}${size}. The colours end at ±${decimal(largestSize(values))}.`;
}

const barsOf = ({ bars = [] }: Column, arrays: Arrays, row: number) =>
  bars.map(({ label, values }) => `${label} ${amount(arrays[values].values[row])}`).join(", ");

export function tableOf(lanes: Lane[], arrays: Arrays, row: number, says: Says): Values {
  const rows = lanes.flatMap(({ columns }) =>
    columns.map((column) => {
      const [word, probability] = saidOf(column, arrays, row, says) ?? ["", null];
      return [
        nameOf(column),
        shapeOf(column),
        column.parameters ?? null,
        column.image === "strips" ? arrays[`${column.matrix}.length`].values[row] : null,
        barsOf(column, arrays, row),
        word,
        probability,
      ];
    }),
  );
  const columns = ["part", "shape", "parameters", "norm", "adds", "top prediction", "probability"];
  return { title: `${lanes[0]?.title}, token ${row} ${lanes[0]?.tokens[row]}`, columns, rows };
}

/** How the picture is read; `isStrip`: on a phone. */
export function captionOf({ zoom, beside, width, numbers, total, lanes }: Scene, isStrip: boolean) {
  const means = width > numbers ? ` (${width} numbers, averaged to ${numbers})` : "";
  const counted = lanes.flatMap(({ columns }) => columns.map(({ parameters }) => parameters ?? 0));
  const own = counted.reduce((sum, count) => sum + count, 0);
  const here = zoom === "model" ? "" : ` ${written(own)} of them here.`;
  const all = beside ? "" : ` The model has ${written(total)} parameters.${here}`;
  const reads =
    zoom === "head"
      ? "A: yellow is high attention, grey is masked."
      : `${isStrip ? "The strip next to a matrix" : "Blue lines"}: the token's attention (mean of all heads).`;
  return `Each row is a token, each strip a vector${means}: ${COLOURS} ${reads}${all}`;
}

export function summary(scene: Scene) {
  const lanes = scene.lanes.map(
    ({ title, columns, tokens }) => `${title}, ${tokens.length} tokens: ${columns.map((c) => c.title).join(", ")}`,
  );
  return `${scene.title}. ${lanes.join(". ")}.`;
}

/** What the page around calls the kind of a layer, such as "cross-attention"; undefined if it knows none. */
export function kindOf(layer: string, kinds: Record<string, string>): string | undefined {
  const [stack, , part] = layer.split(".");
  return kinds[`${stack}.${part}`];
}

/** The address of another page with model, text, layer, head and token set, and what else it is to show. */
export function hrefOf(
  page: string,
  address: Record<string, string>,
  { layer, ...settings }: { layer: string; [setting: string]: string | number | undefined },
  kinds: Record<string, string>,
) {
  const all = { ...address, kind: kindOf(layer, kinds) ?? "", layer: layer.split(".")[1], ...settings };
  return `${page}?${new URLSearchParams(Object.entries(all).map(([name, value]) => [name, String(value)]))}`;
}

/** Puts words and links into a line. What is there already is left alone: a link that is being clicked must stay. */
export function putWords(line: HTMLElement, text: string, links: HTMLElement[]) {
  const made = make("div", {}, make("span", { textContent: text }), ...links);
  if (!line.firstChild?.isEqualNode(made)) line.replaceChildren(made);
}
