// What the explorer's pictures are called in files and tables, and the numbers behind them.

import type { Saved } from "../shared/picture.ts";
import type { Values } from "../shared/table.ts";
import type { Explorer } from "./explorer.ts";
import type { PanelName } from "./frame.ts";
import type { Kind, Mask } from "./payload.ts";
import type { Sides } from "./state.ts";
import type { Pattern } from "./weights.ts";
import { filterWords, kindName } from "./words.ts";

const CAPTIONS = {
  overview: "Each tile is a head; rows are queries, columns keys. Brighter: more attention; grey: masked.",
  lines: "Left attends to right; the stronger the line, the more.",
  matrix: "Rows are queries, columns keys. Brighter: more attention; grey: masked.",
};

export function savedOf(explorer: Explorer, name: PanelName): Saved {
  const { colours } = explorer;
  const isOfToken = name === "matrix" || (name === "lines" && explorer.focus() !== null);
  const caption = isOfToken ? `${CAPTIONS[name]} ${explorer.frame.spoken.textContent}` : CAPTIONS[name];
  const titles = { name: `attention-${name}`, title: titleOf(explorer, name), caption };
  return { ...explorer[name].figure(colours), ...titles, colours };
}

function titleOf({ attention, state, name: shown }: Explorer, name: PanelName) {
  const model = attention.title ? `${attention.title}: ` : "";
  if (name === "overview") return `${model}every head, ${kindName(attention.kinds[state.kind])}`; // with all weights
  const filters = filterWords(state);
  return `${model}${shown}${filters ? ` (${filters})` : ""}`;
}

export function valuesOf(explorer: Explorer, name: PanelName): Values {
  const { attention, state } = explorer;
  const title = titleOf(explorer, name);
  if (name === "overview") return overviewValues(title, attention.kinds[state.kind]);
  const texts = explorer.texts();
  if (name === "matrix") return matrixValues(title, explorer.picture as Pattern<Mask>, texts);
  const { heads, aggregate } = state;
  const names = aggregate === "heads" ? heads.map((place) => `layer ${place.layer} head ${place.head}`) : [aggregate];
  return lineValues(title, explorer.patterns(state) ?? [], names, texts);
}

function overviewValues(title: string, { layers, heads, scores }: Kind): Values {
  const names = Object.keys(scores);
  const rows = layers.flatMap((_, layer) =>
    Array.from({ length: heads }, (_, head) => [layer, head, ...names.map((name) => scores[name][layer][head])]),
  );
  return { title, columns: ["layer", "head", ...names], rows };
}

function lineValues(title: string, patterns: Pattern<Mask>[], names: string[], { queries, keys }: Sides): Values {
  const rows = patterns.flatMap(({ mask, weights }, n) =>
    Array.from(mask.cells, (cell) => {
      const [i, j] = [Math.floor(cell / mask.columns), cell % mask.columns];
      return [names[n], i, queries.tokens[i], j, keys.tokens[j], weights[cell]];
    }),
  );
  return { title, columns: ["head", "query", "query token", "key", "key token", "weight"], rows };
}

function matrixValues(title: string, { mask, weights }: Pattern<Mask>, { queries, keys }: Sides): Values {
  const rows = queries.labels.map((label, i) => [
    `${i} ${label}`,
    ...keys.labels.map((_, j) => {
      const cell = i * mask.columns + j;
      return mask.allowed[cell] ? weights[cell] : null;
    }),
  ]);
  return { title, columns: ["query", ...keys.labels.map((label, j) => `${j} ${label}`)], rows };
}
