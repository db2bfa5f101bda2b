// The numbers behind the explorer's pictures, as tables.

/** @import { Texts } from "../shared/elements.js" */
/** @import { Values } from "../shared/table.js" */
/** @import { Kind, Mask } from "./payload.js" */
/** @import { Pattern } from "./weights.js" */

/**
 * Every head with its scores.
 * @param {string} title
 * @param {Kind} kind
 * @returns {Values}
 */
export function overviewValues(title, { layers, heads, scores }) {
  const names = Object.keys(scores);
  const rows = layers.flatMap((_, layer) =>
    Array.from({ length: heads }, (_, head) => [layer, head, ...names.map((name) => scores[name][layer][head])]),
  );
  return { title, columns: ["layer", "head", ...names], rows };
}

/**
 * Every pair that the mask allows, for each of the heads shown.
 * @param {string} title
 * @param {Pattern<Mask>[]} patterns
 * @param {{queries: Texts, keys: Texts, names: string[]}} texts
 * @returns {Values}
 */
export function lineValues(title, patterns, { queries, keys, names }) {
  const rows = patterns.flatMap(({ mask, weights }, n) =>
    Array.from(mask.cells, (cell) => {
      const [i, j] = [Math.floor(cell / mask.columns), cell % mask.columns];
      return [names[n], i, queries.tokens[i], j, keys.tokens[j], weights[cell]];
    }),
  );
  return { title, columns: ["head", "query", "query token", "key", "key token", "weight"], rows };
}

/**
 * A row for each query, a column for each key; masked cells are empty.
 * @param {string} title
 * @param {Pattern<Mask>} pattern
 * @param {{queries: Texts, keys: Texts}} texts
 * @returns {Values}
 */
export function matrixValues(title, { mask, weights }, { queries, keys }) {
  const rows = queries.labels.map((label, i) => [
    `${i} ${label}`,
    ...keys.labels.map((_, j) => {
      const cell = i * mask.columns + j;
      return mask.allowed[cell] ? weights[cell] : null;
    }),
  ]);
  return { title, columns: ["query", ...keys.labels.map((label, j) => `${j} ${label}`)], rows };
}
