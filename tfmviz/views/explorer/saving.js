// What the explorer's pictures are called in files and tables, and the numbers behind them.

/** @import { Saved } from "../shared/picture.js" */
/** @import { Values } from "../shared/table.js" */
/** @import { Explorer } from "./explorer.js" */
/** @import { Drawn, PanelName } from "./frame.js" */
/** @import { Mask } from "./payload.js" */
/** @import { Pattern } from "./weights.js" */
import { CAPTIONS } from "./frame.js";
import { lineValues, matrixValues, overviewValues } from "./values.js";
import { filterWords, kindName } from "./words.js";

/**
 * @param {Explorer} explorer
 * @param {PanelName} name
 * @param {Drawn} view
 * @returns {Saved}
 */
export function savedOf(explorer, name, view) {
  const { colours } = explorer;
  const isOfToken = name === "matrix" || (name === "lines" && explorer.focus() !== null);
  const caption = isOfToken ? `${CAPTIONS[name]} ${explorer.frame.spoken.textContent}` : CAPTIONS[name];
  return { ...view.figure(colours), name: `attention-${name}`, title: titleOf(explorer, name), caption, colours };
}

/**
 * @param {Explorer} explorer
 * @param {PanelName} name
 */
function titleOf({ attention, state, name: shown }, name) {
  const model = attention.title ? `${attention.title}: ` : "";
  if (name === "overview") return `${model}every head, ${kindName(attention.kinds[state.kind])}`; // with all weights
  const filters = filterWords(state);
  return `${model}${shown}${filters ? ` (${filters})` : ""}`;
}

/**
 * @param {Explorer} explorer
 * @param {PanelName} name
 * @returns {Values}
 */
export function valuesOf(explorer, name) {
  const { attention, state } = explorer;
  const title = titleOf(explorer, name);
  if (name === "overview") return overviewValues(title, attention.kinds[state.kind]);
  const texts = explorer.texts();
  if (name === "matrix") return matrixValues(title, /** @type {Pattern<Mask>} */ (explorer.picture), texts);
  const { heads, aggregate } = state;
  const names = aggregate === "heads" ? heads.map((place) => `layer ${place.layer} head ${place.head}`) : [aggregate];
  return lineValues(title, explorer.patterns(state) ?? [], { ...texts, names });
}
