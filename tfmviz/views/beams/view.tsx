// A beam search as a tree: a button for every continuation, steps across and ranks down, and lines between them.

import { render } from "preact";
import { fresh, strokes } from "../shared/canvas.ts";
import { figureOf } from "../shared/drawn.ts";
import { fadeEnd, make, takenArrow, watched } from "../shared/elements.ts";
import { component, ViewBase } from "../shared/view_base.ts";

type Data = { alt: string; picks: boolean; picked: number | null; nodes: Continuation[] };

const KINDS = ["best", "goes on", "complete", "dropped"] as const;
const STUB = 14; // pixels of the line to what is not drawn

class BeamTree extends ViewBase {
  data!: Data; // from the first `read` on
  picked: number | null = null;
  hovered: number | null = null; // the continuation under the pointer or the keyboard
  lines = make("canvas", { ariaHidden: "true" });
  grid = make("div", { className: "grid", role: "group" });
  stage = this.watch(make("div", { className: "stage" }, this.lines, this.grid), () => this.width && this.paintLines());
  scroller = make("div", { className: "scroller", onscroll: () => fadeEnd(this.scroller) }, this.stage);
  says = make("p", { className: "says" });
  kinds = KINDS.map((kind) => make("span", { className: kindClass(kind), textContent: kind }));
  node = this.mount(
    { className: "beams" },
    this.bar(),
    this.scroller,
    make("p", { className: "legend", ariaHidden: "true" }, ...this.kinds),
    this.says,
  );

  read(data: Data) {
    const isSame = JSON.stringify(data.nodes) === JSON.stringify(this.data?.nodes);
    this.data = data;
    if (data.picks || !isSame) this.picked = data.picked;
    if (this.hovered !== null && this.hovered >= data.nodes.length) this.hovered = null;
  }

  get looked() {
    return this.hovered ?? this.picked;
  }

  get way() {
    return new Set(this.looked === null ? [] : wayTo(this.data.nodes, this.looked));
  }

  hover(n: number, isOn: boolean) {
    if (isOn === (n === this.hovered)) return;
    this.hovered = isOn ? n : null;
    this.draw();
  }

  move(event: KeyboardEvent, from: number) {
    const arrow = takenArrow(event);
    if (!arrow) return;
    const to = neighbour(this.data.nodes, from, arrow);
    if (to >= 0) this.grid.querySelectorAll("button")[to].focus();
  }

  choose(n: number) {
    this.picked = n === this.picked ? null : n;
    this.draw();
    if (this.data.picks) this.page.pick?.(this.picked ?? -1);
  }

  draw() {
    const { alt, nodes, picks } = this.data;
    const { looked, way } = this;
    const first = Math.min(...nodes.map(({ step }) => step));
    this.grid.ariaLabel = alt;
    render(
      <>
        {[...new Set(nodes.map(({ step }) => step))].map((step) => (
          <span key={step} aria-hidden="true" style={place(step - first, 0)}>
            {step}
          </span>
        ))}
        {nodes.map(({ step, rank, word, kind, spoken }, n) => (
          <button
            key={n}
            type="button"
            class={`${kindClass(kind)}${way.has(n) ? " way" : ""}`}
            dir="auto"
            tabIndex={n === (looked ?? 0) ? 0 : -1}
            aria-label={spoken}
            aria-pressed={n === this.picked}
            style={place(step - first, rank + 1)}
            {...watched((isOn) => this.hover(n, isOn))}
            onKeyDown={(event) => this.move(event, n)}
            onClick={() => this.choose(n)}
          >
            {word}
          </button>
        ))}
      </>,
      this.grid,
    );
    const invites = picks ? "Hover over a word, or click it." : "Hover over a word.";
    this.says.textContent = looked === null ? invites : nodes[looked].spoken;
    this.paintLines();
    fadeEnd(this.scroller);
  }

  paintLines() {
    const { colours, way } = this;
    const { nodes } = this.data;
    const frame = this.stage.getBoundingClientRect();
    const context = fresh(this.lines, frame.width, frame.height);
    const boxes = [...this.grid.querySelectorAll("button")].map((node) => node.getBoundingClientRect());
    const middle = (box: DOMRect) => box.top + box.height / 2 - frame.top;
    const order = [...nodes.keys()].sort((a, b) => weightOf(nodes[a], way.has(a)) - weightOf(nodes[b], way.has(b)));
    for (const n of order) {
      const above = parentOf(nodes, n);
      const [x, y] = [boxes[n].left - frame.left, middle(boxes[n])];
      const from = above < 0 ? [x - STUB, y] : [boxes[above].right - frame.left, middle(boxes[above])];
      const isBest = nodes[n].kind === "best";
      const strokeStyle = way.has(n) ? colours.accent : isBest ? colours.text : colours.grid;
      strokes(context, { strokeStyle, lineWidth: way.has(n) ? 3 : isBest ? 2.5 : 1.5 }, [...from, x, y]);
    }
  }

  figure() {
    return { ...figureOf(this.stage), name: "beam-search", title: "Beam search", caption: this.data.alt };
  }

  values() {
    const rows = this.data.nodes.map(({ step, rank, word, kind, spoken }) => [step, rank, word, kind, spoken]);
    return { title: "Beam search", columns: ["step", "rank", "word", "kind", "in words"], rows };
  }
}

/** Lines that matter are drawn over the others. */
const weightOf = ({ kind }: Continuation, isOnWay: boolean) => (isOnWay ? 2 : kind === "best" ? 1 : 0);

const kindClass = (kind: Continuation["kind"]) => kind.replace(" ", "-");

const place = (column: number, row: number) => ({ gridColumn: String(column + 1), gridRow: String(row + 1) });

export interface Continuation {
  step: number; // its length in tokens, from 1
  rank: number; // among the continuations of its step, 0 for the best
  parent: number; // rank of what it continues, in the step before
  word: string;
  kind: (typeof KINDS)[number];
  spoken: string; // for screen readers
}

/** The index of what a continuation continues, −1 where that is not drawn. */
export const parentOf = (nodes: Continuation[], n: number) =>
  nodes.findIndex(({ step, rank }) => step === nodes[n].step - 1 && rank === nodes[n].parent);

export function wayTo(nodes: Continuation[], n: number) {
  const way: number[] = [];
  for (let at = n; at >= 0; at = parentOf(nodes, at)) way.unshift(at);
  return way;
}

/** Where an arrow key leads: left what it continues, right its best continuation, up and down the next rank; or −1. */
export function neighbour(nodes: Continuation[], n: number, [rows, columns]: [rows: number, columns: number]) {
  const from = nodes[n];
  if (columns < 0) return parentOf(nodes, n);
  const wanted = columns
    ? nodes.filter(({ step, parent }) => step === from.step + 1 && parent === from.rank)
    : nodes.filter(({ step, rank }) => step === from.step && rank === from.rank + rows);
  const [best] = wanted.sort((a, b) => a.rank - b.rank);
  return best ? nodes.indexOf(best) : -1;
}

export default component((parent, page) => new BeamTree(parent, page));
