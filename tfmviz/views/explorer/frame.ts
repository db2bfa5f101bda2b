// How the parts of the explorer stand on the page.

import { figureBar } from "../shared/bar.ts";
import type { Colours } from "../shared/colours.ts";
import { make } from "../shared/elements.ts";
import { type Figure, type Saved, save } from "../shared/picture.ts";
import type { Values } from "../shared/table.ts";
import type { Controls } from "./controls.ts";
import type { Legend } from "./legend.ts";
import type { Lines } from "./lines.ts";
import type { Matrix } from "./matrix.ts";
import type { Overview } from "./overview.ts";
import type { Pair } from "./pair.ts";
import type { Kind } from "./payload.ts";
import type { State } from "./state.ts";
import type { Strip } from "./strip.ts";
import { shownName, verdictWords } from "./words.ts";

export type PanelName = "overview" | "lines" | "matrix";

export type Drawn = { node: HTMLElement; figure: (colours: Colours) => Figure };

type Listener = { saved: (name: PanelName, view: Drawn) => Saved; values: (name: PanelName) => Values };

interface Parts {
  controls: Controls;
  legend: Legend;
  strips: Strip[];
  pair: Pair;
  overview: Overview;
  lines: Lines;
  matrix: Matrix;
}

/** What stands below a saved figure. */
export const CAPTIONS = {
  overview: "A tile is a head; rows are queries, columns keys. Brighter is more attention, grey is masked.",
  lines: "Left looks at right; stronger lines are more attention.",
  matrix: "Rows are queries, columns keys; brighter is more attention, grey is masked.",
};

export class Frame {
  kind: HTMLDetailsElement;
  tip: HTMLDivElement;
  rows: HTMLOListElement;
  inWords: HTMLDetailsElement;
  panels: HTMLDivElement;
  shown = make("strong");
  spoken = make("span", { className: "spoken" });
  headline = make("p", { className: "headline" }, this.shown, ": ", this.spoken);
  verdict = make("p", { className: "verdict" });

  constructor(
    { controls, legend, strips, pair, overview, lines, matrix }: Parts,
    { writeOut, ...listener }: Listener & { writeOut: () => void },
  ) {
    const ask = make("summary", { textContent: "What kind of head is this?" });
    this.kind = make("details", { className: "kind" }, ask, this.verdict);
    this.tip = make("div", { className: "tip", hidden: true });
    this.rows = make("ol");
    const summary = make("summary", { textContent: "Every row in words" });
    this.inWords = make("details", { className: "in-words", ontoggle: writeOut }, summary, this.rows);
    this.panels = make("div", { className: "panels" });
    this.panels.append(
      make("div", { className: "sentence" }, this.headline, ...strips.map(({ node }) => node), pair.node),
      panel(overview, listener, {
        name: "overview",
        title: "Every head",
        hint: "Point at a head to see it; click to keep it.",
        foot: controls.node,
      }),
      panel(lines, listener, {
        name: "lines",
        title: "Who looks at whom",
        hint: "Left looks at right. Click a token to pin it.",
      }),
      panel(matrix, listener, {
        name: "matrix",
        title: "As a matrix",
        hint: "A row is one token's attention; unfiltered it sums to 1, or to less with a sink.",
        foot: zoomOf(matrix),
      }),
      make(
        "div",
        { className: "about" },
        this.kind,
        make("div", { className: "bar colours" }, controls.filters, legend.node, controls.link),
      ),
    );
  }

  /**
   * Says which head is shown, and of a single one what it does.
   * @param words what each kind of verdict means
   * @param address of what is chosen, where there are other pages
   */
  say(view: State, kind: Kind, words: Record<string, string>, address?: string) {
    const place = view.heads[view.heads.length - 1];
    const isSingle = view.aggregate === "heads" && view.heads.length === 1;
    const [verdict, aside] = isSingle ? verdictWords(kind, place, words) : ["", ""];
    this.shown.textContent = shownName(kind, view);
    this.kind.hidden = !verdict;
    const more = address && kind.said?.length ? [" ", biographyAt(address)] : [];
    this.verdict.replaceChildren(`It${verdict}`, make("span", { className: "aside", textContent: aside }), ...more);
  }

  /** @param rows in words */
  writeOut(rows: string[]) {
    this.rows.replaceChildren(...rows.map((textContent) => make("li", { textContent })));
  }

  /**
   * Shows a text beside the pointer.
   * @param pointer in the window
   * @param node the view
   */
  placeTip(text: string, { x, y }: { x: number; y: number }, node: HTMLElement) {
    const box = node.getBoundingClientRect();
    this.tip.textContent = text;
    this.tip.style.top = `${y - box.top + 18}px`;
    this.tip.style.left = `${Math.max(0, Math.min(x - box.left + 12, box.width - this.tip.offsetWidth - 4))}px`;
  }
}

/** A picture with its title, a hint, and its bar. */
function panel(
  view: Drawn,
  { saved, values }: Listener,
  { name, title, hint, foot }: { name: PanelName; title: string; hint: string; foot?: Node },
) {
  const heading = make("h2", { textContent: title });
  const node = make("section", { className: `panel ${name}` });
  const file = (format: "svg" | "png") => save(saved(name, view), format);
  const bar = figureBar({ whole: () => node, file, values: () => values(name), about: title });
  const aside = make("p", { className: "hint", textContent: hint });
  node.append(make("div", { className: "head" }, heading, bar), view.node, make("div", { className: "foot" }, aside));
  if (foot) node.lastElementChild?.append(foot);
  return node;
}

function zoomOf(matrix: Matrix) {
  const range = make("input", { type: "range", min: 0, max: 4, step: 0.1, value: 0, ariaLabel: "Zoom of the matrix" });
  range.oninput = () => matrix.zoomTo(2 ** Number(range.value));
  matrix.onzoom = (zoom) => {
    range.value = String(Math.log2(zoom));
  };
  return make("label", { className: "zoom" }, "zoom ", range);
}

/**
 * A link to the map of all heads, with the chosen one.
 * @param address of the explorer
 */
function biographyAt(address: string) {
  const there = new URL("step_by_step", address);
  there.search = new URL(address).search;
  there.searchParams.set("part", "Find a head");
  return make("a", { href: there.href, textContent: "Among all heads" });
}
