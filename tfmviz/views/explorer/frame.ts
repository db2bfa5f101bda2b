// How the parts of the explorer stand on the page, what its pictures are called in files and tables, and their numbers.

import { figureBar } from "../shared/bar.ts";
import { button, make } from "../shared/elements.ts";
import { kept } from "../shared/going.ts";
import { type Saved, save } from "../shared/picture.ts";
import type { Values } from "../shared/table.ts";
import type { Explorer } from "./explorer.ts";
import type { Kind, Mask } from "./payload.ts";
import type { State } from "./state.ts";
import type { Pattern } from "./weights.ts";
import { filterWords, kindName, shownName, verdictWords } from "./words.ts";

type PanelName = "overview" | "lines" | "matrix";

export class Frame {
  shown = make("strong");
  spoken = make("span", { className: "spoken" });
  headline = make("p", { className: "headline" }, this.shown, ": ", this.spoken);
  verdict = make("p", { className: "verdict" });
  ask = make("summary", { textContent: "What kind of head is this?" });
  kind = make("details", { className: "kind" }, this.ask, this.verdict);
  parked = make("span");
  leave = button("", {});
  first = make("p", { className: "first" }, this.parked, " ", this.leave);
  tip = make("div", { className: "tip", hidden: true });
  rows = make("ol");
  inWords: HTMLDetailsElement;
  panels: HTMLDivElement;

  constructor(explorer: Explorer) {
    const { controls, strips, ranking } = explorer;
    this.leave.onclick = () => controls.choose({ withoutFirst: !explorer.state.withoutFirst });
    const summary = make("summary", { textContent: "Read the rows as text" });
    this.inWords = make("details", { className: "in-words", ontoggle: () => explorer.writeOut() }, summary, this.rows);
    const rowSums = "A row is one token's attention; unfiltered, it sums to 1 (less with a sink).";
    const colours = make("div", { className: "bar colours" }, controls.filters, controls.legend);
    this.panels = make(
      "div",
      { className: "panels" },
      make("div", { className: "sentence" }, this.headline, make("div", {}, ...strips.map(({ node }) => node))),
      ranking.node,
      panel(explorer, "overview", "Every head", "Hover to see a head; click to keep it.", controls.node),
      panel(explorer, "lines", "Who looks at whom", "Left attends to right. Click a token to keep it."),
      panel(explorer, "matrix", "As a matrix", rowSums, explorer.matrix.zooming),
      make("div", { className: "about" }, this.kind, this.first, colours),
    );
  }

  /** Says which head is shown, what a single one does, and how much the `first` token takes ("" for little). */
  say(view: State, kind: Kind, words: Record<string, string>, first: string, hasPages: boolean) {
    const place = view.heads[view.heads.length - 1];
    const isSingle = view.aggregate === "heads" && view.heads.length === 1;
    const [verdict, aside] = isSingle ? verdictWords(kind, place, words) : ["", ""];
    this.shown.textContent = shownName(kind, view);
    this.kind.hidden = !verdict;
    this.verdict.replaceChildren(`It${verdict}`, make("span", { className: "aside", textContent: aside }));
    if (hasPages && kind.said?.length) {
      const { layer, head } = place;
      const choices = new URLSearchParams({ part: "Find a head", layer: `${layer}`, head: `${head}` });
      const href = kept(`step_by_step?${choices}`, [...new URLSearchParams(location.search).keys()]);
      this.verdict.append(" ", make("a", { href, textContent: "Compare it with all heads" }));
    }
    this.first.hidden = !first;
    this.parked.textContent = first;
    this.leave.textContent = view.withoutFirst ? "Show it again" : "Leave it out";
  }
}

function panel(explorer: Explorer, name: PanelName, title: string, hint: string, foot?: Node) {
  const node = make("section", { className: `panel ${name}` });
  const file = (format: "svg" | "png") => save(savedOf(explorer, name), format);
  const bar = figureBar({ whole: () => node, file, values: () => valuesOf(explorer, name), about: title });
  const below = make("div", { className: "foot" }, make("p", { className: "hint", textContent: hint }));
  if (foot) below.append(foot);
  node.append(make("div", { className: "head" }, make("h2", { textContent: title }), bar), explorer[name].node, below);
  return node;
}

const CAPTIONS = {
  overview: "Each tile is a head; rows are queries, columns keys. Brighter: more attention; grey: masked.",
  lines: "Left attends to right; the stronger the line, the more.",
  matrix: "Rows are queries, columns keys. Brighter: more attention; grey: masked.",
};

function savedOf(explorer: Explorer, name: PanelName): Saved {
  const { colours } = explorer;
  const isOfToken = name === "matrix" || (name === "lines" && (explorer.hover ?? explorer.state.pin) !== null);
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

function valuesOf(explorer: Explorer, name: PanelName): Values {
  const { attention, state } = explorer;
  const title = titleOf(explorer, name);
  const { queries, keys } = explorer.texts();
  if (name === "overview") {
    const { layers, heads, scores } = attention.kinds[state.kind];
    const names = Object.keys(scores);
    const rows = layers.flatMap((_, layer) =>
      Array.from({ length: heads }, (_, head) => [layer, head, ...names.map((name) => scores[name][layer][head])]),
    );
    return { title, columns: ["layer", "head", ...names], rows };
  }
  if (name === "matrix") {
    const { mask, weights } = explorer.picture as Pattern<Mask>;
    const at = (cell: number) => (mask.allowed[cell] ? weights[cell] : null);
    const rows = queries.labels.map((label, i) => [
      `${i} ${label}`,
      ...keys.labels.map((_, j) => at(i * mask.columns + j)),
    ]);
    return { title, columns: ["query", ...keys.labels.map((label, j) => `${j} ${label}`)], rows };
  }
  const { heads, aggregate } = state;
  const names = aggregate === "heads" ? heads.map((place) => `layer ${place.layer} head ${place.head}`) : [aggregate];
  const rows = (explorer.patterns(state) ?? []).flatMap(({ mask, weights }, n) =>
    Array.from(mask.cells, (cell) => {
      const [i, j] = [Math.floor(cell / mask.columns), cell % mask.columns];
      return [names[n], i, queries.tokens[i], j, keys.tokens[j], weights[cell]];
    }),
  );
  return { title, columns: ["head", "query", "query token", "key", "key token", "weight"], rows };
}
