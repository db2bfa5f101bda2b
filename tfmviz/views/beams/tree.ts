// A beam search as a tree: a button for every continuation, steps across and ranks down, and lines between them.

import { fresh } from "../shared/canvas.ts";
import { figureOf } from "../shared/drawn.ts";
import { arrowOf, button, buttonOf, make, put } from "../shared/elements.ts";
import { type Page, Shell } from "../shared/shell.ts";
import { type Continuation, neighbour, parentOf, wayTo } from "./places.ts";

type Data = { alt: string; picks: boolean; picked: number | null; nodes: Continuation[] };

const KINDS = ["best", "goes on", "complete", "dropped"] as const;
const STUB = 14; // pixels of the line to what is not drawn

export class BeamTree extends Shell {
  data: Data = { alt: "", picks: false, picked: null, nodes: [] };
  picked: number | null = null;
  hovered: number | null = null; // the continuation under the pointer or the keyboard

  lines = make("canvas", { ariaHidden: "true" });
  grid = make("div", { className: "grid", role: "group" });
  stage = make("div", { className: "stage" }, this.lines, this.grid);
  says = make("p", { className: "says" });

  /** @param page hears of the continuation that is picked, -1 for none */
  constructor(parent: HTMLElement, page: Page) {
    super(page);
    const legend = KINDS.map((kind) => make("span", { className: kindClass(kind), textContent: kind }));
    this.mount(
      parent,
      { className: "beams" },
      this.bar(),
      make("div", { className: "scroller" }, this.stage),
      make("p", { className: "legend", ariaHidden: "true" }, ...legend),
      this.says,
    );
    this.listen();
  }

  listen() {
    this.grid.addEventListener("pointerover", (event) => this.hover(event));
    this.grid.addEventListener("pointerleave", () => this.hover(null));
    this.grid.addEventListener("focusin", (event) => this.hover(event));
    this.grid.addEventListener("focusout", () => this.hover(null));
    this.grid.addEventListener("keydown", (event) => this.move(event));
    this.grid.addEventListener("click", (event) => {
      const node = buttonOf(event);
      if (node) this.choose(Number(node.dataset.n));
    });
    const observer = new ResizeObserver(() => this.width && this.paintLines());
    observer.observe(this.stage);
    this.atEnd(() => observer.disconnect());
  }

  show(data: Data) {
    const focused = this.grid.contains(activeIn(this.grid)) ? Number(activeIn(this.grid)?.dataset.n) : null;
    const isSame = JSON.stringify(data.nodes) === JSON.stringify(this.data.nodes);
    this.data = data;
    this.picked = data.picks || !isSame ? data.picked : this.picked;
    if (!isSame) this.build();
    super.show(data);
    if (focused !== null && !isSame) this.buttons[focused]?.focus();
  }

  get buttons() {
    return [...this.grid.querySelectorAll("button")];
  }

  build() {
    const { nodes } = this.data;
    this.hovered = null;
    const first = Math.min(...nodes.map(({ step }) => step));
    const last = Math.max(...nodes.map(({ step }) => step));
    const steps = Array.from({ length: nodes.length ? last - first + 1 : 0 }, (_, n) =>
      make("span", { textContent: String(first + n), ariaHidden: "true", style: place(n, 0) }),
    );
    const words = nodes.map(({ step, rank, word, kind, said }, n) =>
      button(word, {
        className: kindClass(kind),
        dir: "auto",
        ariaLabel: said,
        dataset: { n },
        style: place(step - first, rank + 1),
      }),
    );
    this.grid.replaceChildren(...steps, ...words);
  }

  hover(event: Event | null) {
    const node = event && buttonOf(event);
    const hovered = node ? Number(node.dataset.n) : null;
    if (hovered === this.hovered) return;
    this.hovered = hovered;
    this.draw();
  }

  move(event: KeyboardEvent) {
    const arrow = arrowOf(event);
    const from = buttonOf(event);
    if (!arrow || !from) return;
    event.stopPropagation(); // or the page's own shortcuts would fire as well
    event.preventDefault();
    const to = neighbour(this.data.nodes, Number(from.dataset.n), arrow);
    if (to >= 0) this.buttons[to].focus();
  }

  choose(n: number) {
    this.picked = n === this.picked ? null : n;
    this.draw();
    if (this.data.picks) this.page.pick?.(this.picked ?? -1);
  }

  /** What depends on the continuation that is looked at. */
  draw() {
    const { alt, nodes } = this.data;
    put(this.grid, { ariaLabel: alt });
    const looked = this.hovered ?? this.picked;
    const way = new Set(looked === null ? [] : wayTo(nodes, looked));
    for (const [n, node] of this.buttons.entries()) {
      put(node, { ariaPressed: String(n === this.picked), tabIndex: n === (looked ?? 0) ? 0 : -1 });
      node.classList.toggle("way", way.has(n));
    }
    const invites = this.data.picks ? "Point at a word, or choose it." : "Point at a word.";
    put(this.says, { textContent: looked === null ? invites : nodes[looked].said });
    this.paintLines();
  }

  paintLines() {
    const { colours } = this;
    const { nodes } = this.data;
    const frame = this.stage.getBoundingClientRect();
    const context = fresh(this.lines, frame.width, frame.height);
    const looked = this.hovered ?? this.picked;
    const way = new Set(looked === null ? [] : wayTo(nodes, looked));
    const boxes = this.buttons.map((node) => node.getBoundingClientRect());
    const middle = (box: DOMRect) => box.top + box.height / 2 - frame.top;
    const order = [...nodes.keys()].sort((a, b) => weightOf(nodes[a], way.has(a)) - weightOf(nodes[b], way.has(b)));
    for (const n of order) {
      const above = parentOf(nodes, n);
      const [x, y] = [boxes[n].left - frame.left, middle(boxes[n])];
      const from = above < 0 ? [x - STUB, y] : [boxes[above].right - frame.left, middle(boxes[above])];
      const isBest = nodes[n].kind === "best";
      context.strokeStyle = way.has(n) ? colours.accent : isBest ? colours.looked : colours.grid;
      context.lineWidth = way.has(n) ? 3 : isBest ? 2.5 : 1.5;
      context.beginPath();
      context.moveTo(from[0], from[1]);
      context.lineTo(x, y);
      context.stroke();
    }
  }

  figure() {
    return figureOf(this.stage);
  }

  titles() {
    return { name: "beam-search", title: "Beam search", caption: this.data.alt };
  }

  values() {
    const rows = this.data.nodes.map(({ step, rank, word, kind, said }) => [step, rank, word, kind, said]);
    return { title: "Beam search", columns: ["step", "rank", "word", "kind", "in words"], rows };
  }
}

/** Lines that matter are drawn over the others. */
const weightOf = ({ kind }: Continuation, isOnWay: boolean) => (isOnWay ? 2 : kind === "best" ? 1 : 0);

const kindClass = (kind: Continuation["kind"]) => kind.replace(" ", "-");

const place = (column: number, row: number) => ({ gridColumn: String(column + 1), gridRow: String(row + 1) });

/** The element in focus, inside a shadow root too. */
function activeIn(node: Node): HTMLElement | null {
  const root = node.getRootNode();
  const active = root instanceof ShadowRoot || root instanceof Document ? root.activeElement : null;
  return active instanceof HTMLElement ? active : null;
}
