// The numbers behind the explorer's pictures, as tables.

import type { Values } from "../shared/table.ts";
import type { Kind, Mask } from "./payload.ts";
import type { Sides } from "./state.ts";
import type { Pattern } from "./weights.ts";

/** Every head with its scores. */
export function overviewValues(title: string, { layers, heads, scores }: Kind): Values {
  const names = Object.keys(scores);
  const rows = layers.flatMap((_, layer) =>
    Array.from({ length: heads }, (_, head) => [layer, head, ...names.map((name) => scores[name][layer][head])]),
  );
  return { title, columns: ["layer", "head", ...names], rows };
}

/** Every pair that the mask allows, for each of the heads shown. */
export function lineValues(
  title: string,
  patterns: Pattern<Mask>[],
  names: string[],
  { queries, keys }: Sides,
): Values {
  const rows = patterns.flatMap(({ mask, weights }, n) =>
    Array.from(mask.cells, (cell) => {
      const [i, j] = [Math.floor(cell / mask.columns), cell % mask.columns];
      return [names[n], i, queries.tokens[i], j, keys.tokens[j], weights[cell]];
    }),
  );
  return { title, columns: ["head", "query", "query token", "key", "key token", "weight"], rows };
}

/** A row for each query, a column for each key; masked cells are empty. */
export function matrixValues(title: string, { mask, weights }: Pattern<Mask>, { queries, keys }: Sides): Values {
  const rows = queries.labels.map((label, i) => [
    `${i} ${label}`,
    ...keys.labels.map((_, j) => {
      const cell = i * mask.columns + j;
      return mask.allowed[cell] ? weights[cell] : null;
    }),
  ]);
  return { title, columns: ["query", ...keys.labels.map((label, j) => `${j} ${label}`)], rows };
}
