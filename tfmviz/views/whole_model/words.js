// What is said of a part, of a vector, and of everything for who cannot see it.

/** @import { Matrix } from "../shared/arrays.js" */
/** @import { Values } from "../shared/table.js" */
/** @import { Says } from "./follow.js" */
/** @import { Column, Lane, Scene } from "./scene.js" */
import { make } from "../shared/elements.js";
import { decimal, perCent } from "../shared/numbers.js";
import { quoted } from "../shared/quoted.js";
import { largestOf } from "./colours.js";
import { amount, saidOf } from "./follow.js";
import { written } from "./scene.js";

/** @typedef {Record<string, Matrix>} Arrays */

const COLOURS = "purple below 0, orange above, each matrix on its own scale (√). The bar below is the vector's length.";

/** @param {Column} column */
const shapeOf = ({ shape }) => shape.map(written).join(" × ");

/** @param {Column} column */
const nameOf = ({ title, lines }) => [title, ...lines].join(" ");

/**
 * What a box is: its name, its shape, its parameters, a sentence.
 * @param {Column} column
 */
export function aboutBox(column) {
  const count = column.parameters === undefined ? "" : `, ${written(column.parameters)} parameters`;
  return `${nameOf(column)} (${shapeOf(column)}${count}). ${column.words}`;
}

/**
 * What is drawn of one token in one column.
 * @param {Column} column
 * @param {Arrays} arrays
 * @param {number} row
 * @param {string[]} tokens of the lane
 */
export function aboutVector(column, arrays, row, tokens) {
  const name = quoted(tokens, row);
  const of = `${name}, ${column.title}`;
  const { values, columns } = arrays[column.matrix];
  if (column.image === "words") {
    const logit = decimal(arrays[column.logits ?? ""].values[row]);
    return `${name} → “${column.labels?.[row]}” ${perCent(values[row])}, logit ${logit}.`;
  }
  if (column.image === "pattern") {
    const own = values.subarray(row * columns, (row + 1) * columns);
    const best = own.indexOf(Math.max(...own));
    return `${of}: looks most at ${quoted(column.labels ?? [], best)}, ${decimal(own[best])} of its attention.`;
  }
  const added = barsOf(column, arrays, row);
  const length = amount(arrays[`${column.matrix}.length`].values[row]);
  const size = `${written(column.shape[1])} numbers of length ${length}`;
  return `${of}: ${added && `${added}; `}${size}. Colours here end at ±${decimal(largestOf(values))}.`;
}

/** @type {(column: Column, arrays: Arrays, row: number) => string} */
const barsOf = ({ bars = [] }, arrays, row) =>
  bars.map(({ label, values }) => `${label} ${amount(arrays[values].values[row])}`).join(", ");

/**
 * All columns of some lanes, for one token.
 * @param {Lane[]} lanes
 * @param {Arrays} arrays
 * @param {number} row
 * @param {Says} says
 * @returns {Values}
 */
export function tableOf(lanes, arrays, row, says) {
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
  const columns = ["part", "shape", "parameters", "length", "adds", "would say", "probability"];
  return { title: `${lanes[0]?.title}, token ${row} ${lanes[0]?.tokens[row]}`, columns, rows };
}

/**
 * How the picture is read.
 * @param {Scene} scene
 */
export function captionOf({ zoom, beside, width, numbers, total, lanes }) {
  const means = width > numbers ? `; ${width} numbers, as ${numbers} means of neighbours` : "";
  const counted = lanes.flatMap(({ columns }) => columns.map(({ parameters }) => parameters ?? 0));
  const own = counted.reduce((sum, count) => sum + count, 0);
  const here = zoom === "model" ? "" : ` ${written(own)} of them are here.`;
  const all = beside ? "" : ` The model has ${written(total)} parameters.${here}`;
  const reads =
    zoom === "head"
      ? "A: yellow is much attention, grey is masked."
      : "Blue lines: what the token reads (mean of all heads).";
  return `Each row is a token, each strip a vector${means}: ${COLOURS} ${reads}${all}`;
}

/**
 * What the whole picture shows, in a few sentences.
 * @param {Scene} scene
 */
export function summary(scene) {
  const lanes = scene.lanes.map(
    ({ title, columns, tokens }) => `${title}, ${tokens.length} tokens: ${columns.map((c) => c.title).join(", ")}`,
  );
  return `${scene.title}. ${lanes.join(". ")}.`;
}

/**
 * What the page around calls the kind of a layer, such as "cross-attention"; undefined if it knows none.
 * @param {string} layer
 * @param {Record<string, string>} kinds
 * @returns {string | undefined}
 */
export function kindOf(layer, kinds) {
  const [stack, , part] = layer.split(".");
  return kinds[`${stack}.${part}`];
}

/**
 * The address of another page with model, text, layer, head and token set, and what else it is to show.
 * @param {string} page
 * @param {Record<string, string>} address
 * @param {Record<string, any>} settings
 * @param {Record<string, string>} kinds
 */
export function hrefOf(page, address, { layer, head, token, ...settings }, kinds) {
  const where = { kind: kindOf(layer, kinds) ?? "", layer: layer.split(".")[1], head, token };
  return `${page}?${new URLSearchParams({ ...address, ...where, ...settings })}`;
}

/**
 * Puts words and links into a line. What is there already is left alone: a link that is being clicked must stay.
 * @param {HTMLElement} line
 * @param {string} text
 * @param {HTMLElement[]} links
 */
export function putWords(line, text, links) {
  const made = make("div", {}, make("span", { textContent: text }), ...links);
  if (!line.firstChild?.isEqualNode(made)) line.replaceChildren(made);
}
