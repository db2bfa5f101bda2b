// What the explorer's pictures are called in files and tables, and the numbers behind them.

import type { Saved } from "../shared/picture.ts";
import type { Values } from "../shared/table.ts";
import type { Explorer } from "./explorer.ts";
import type { Drawn, PanelName } from "./frame.ts";
import type { Mask } from "./payload.ts";
import { lineValues, matrixValues, overviewValues } from "./values.ts";
import type { Pattern } from "./weights.ts";
import { filterWords, kindName } from "./words.ts";

const CAPTIONS = {
  overview: "A tile is a head; rows are queries, columns keys. Brighter is more attention, grey is masked.",
  lines: "Left looks at right; stronger lines are more attention.",
  matrix: "Rows are queries, columns keys; brighter is more attention, grey is masked.",
};

export function savedOf(explorer: Explorer, name: PanelName, view: Drawn): Saved {
  const { colours } = explorer;
  const isOfToken = name === "matrix" || (name === "lines" && explorer.focus() !== null);
  const caption = isOfToken ? `${CAPTIONS[name]} ${explorer.frame.spoken.textContent}` : CAPTIONS[name];
  return { ...view.figure(colours), name: `attention-${name}`, title: titleOf(explorer, name), caption, colours };
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
