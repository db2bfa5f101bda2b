// A translation that grows word by word: the source above, what the decoder writes and reads below, lines for attention
// between them, and the matrix of attention, which gets a row for every word.

import { fresh } from "../shared/canvas.ts";
import { css, inkOn } from "../shared/colours.ts";
import { figureOf } from "../shared/drawn.ts";
import { button, buttonOf, make, put, roving } from "../shared/elements.ts";
import { perCent } from "../shared/numbers.ts";
import { type Page, Shell } from "../shared/shell.ts";
import { lookedAt, shownOf, stepSentence, type Written } from "./steps.ts";

type Data = { about: string; source: string[]; steps: Written[]; heads: string };

const BEAT = 600; // ms a word while playing
const FAINTEST = 0.04; // weaker looks have no line
const WIDE = 14; // words of a source up to which the cells hold numbers

export class Translation extends Shell {
  data: Data | null = null;
  asked: number | null = null; // how many words are written; null: all
  step: number | null = null; // the step that was chosen
  hovered: number | null = null; // the step under the pointer
  player: ReturnType<typeof setTimeout> | undefined;

  buttons = {
    next: button("Next word", { onclick: () => this.act(() => this.go(this.shown + 1)) }),
    back: button("Step back", { onclick: () => this.act(() => this.go(this.shown - 1)) }),
    play: button("Play", { onclick: () => this.play() }),
    end: button("To the end", { onclick: () => this.act(() => this.go(this.most)) }),
    again: button("Start again", { onclick: () => this.act(() => this.go(0)) }),
  };
  lines = make("canvas", { ariaHidden: "true" });
  source = make("p", { className: "source", dir: "auto", ariaLabel: "Source" });
  target = make("div", { className: "target", role: "group", ariaLabel: "Translation" });
  says = make("p", { className: "says" });
  matrix = make("table", { className: "matrix" });
  pair = make("div", { className: "pair" }, this.lines, this.source, this.target);

  constructor(parent: HTMLElement, page: Page) {
    super(page);
    this.mount(
      parent,
      { className: "translating", ariaLabel: "A translation, word by word" },
      make("div", { className: "bar" }, ...Object.values(this.buttons), this.bar()),
      this.pair,
      this.says,
      make("div", { className: "scroller", tabIndex: 0, role: "region", ariaLabel: "Attention" }, this.matrix),
    );
    this.listen();
    this.atEnd(() => this.stop());
  }

  listen() {
    roving(this.target, () => 1);
    for (const group of [this.target, this.matrix]) {
      group.addEventListener("pointerover", (event) => this.hover(event));
      group.addEventListener("pointerleave", () => this.hover(null));
    }
    this.target.addEventListener("focusin", (event) => this.hover(event));
    this.target.addEventListener("focusout", () => this.hover(null));
    this.target.addEventListener("click", (event) => {
      const node = buttonOf(event);
      if (node) this.act(() => this.choose(Number(node.dataset.step)));
    });
    const observer = new ResizeObserver(() => this.paintLines());
    observer.observe(this.pair);
    this.atEnd(() => observer.disconnect());
  }

  read(data: Data) {
    if (this.data && this.data.about !== data.about) {
      this.stop();
      this.asked = this.step = null;
    }
    this.data = data;
    this.hovered = null;
  }

  take({ shown, step }: { shown: number | null; step: number | null }) {
    this.asked = shown;
    this.step = step;
    this.redraw();
  }

  chosen() {
    return { about: this.data?.about, shown: this.asked, step: this.step };
  }

  get isPlaying() {
    return this.player !== undefined;
  }

  /** How many words there are to write. */
  get most() {
    return this.data?.steps.length ?? 0;
  }

  get shown() {
    return shownOf(this.asked, this.most);
  }

  /** The step that the figure is about. */
  get looked() {
    return lookedAt(this.shown, this.hovered ?? this.step);
  }

  /** Something the reader does: it ends the playing. */
  act(action: () => void) {
    this.stop();
    action();
  }

  go(shown: number) {
    this.asked = shown >= this.most ? null : Math.max(0, shown);
    this.step = null;
    this.hovered = null;
    this.redraw();
    this.tell();
  }

  choose(step: number) {
    this.step = step === this.step ? null : step;
    this.paintMarks();
    this.tell(0);
  }

  hover(event: Event | null) {
    const node = event?.target instanceof Element ? event.target.closest("[data-step]") : null;
    const step = node instanceof HTMLElement ? Number(node.dataset.step) : null;
    if (step === this.hovered) return;
    this.hovered = step;
    this.paintMarks();
  }

  /** Plays, from the beginning if all is written; or pauses. */
  play() {
    const goes = !this.isPlaying;
    this.stop();
    this.touch();
    if (goes) {
      if (this.shown === this.most) this.go(0);
      this.tick();
    } else this.tell();
    this.paintButtons();
  }

  tick() {
    this.player = setTimeout(() => {
      const isLast = this.shown + 1 >= this.most;
      if (isLast) this.stop();
      this.go(this.shown + 1);
      if (!isLast) this.tick();
    }, BEAT);
  }

  stop() {
    clearTimeout(this.player);
    this.player = undefined;
  }

  draw() {
    if (!this.data) return;
    const { source, steps } = this.data;
    this.source.replaceChildren(...source.map((text) => make("span", { textContent: text })));
    this.target.replaceChildren(...steps.slice(0, this.shown).map((step, n) => this.column(step, n)));
    this.paintMatrix(this.data);
    this.paintButtons();
    this.paintMarks();
  }

  /** What the decoder writes at a step, and below it what it reads. */
  column(step: Written, n: number) {
    const source = this.data?.source ?? [];
    const node = button("", { dataset: { step: n }, tabIndex: -1, ariaLabel: stepSentence(step, source, n) });
    node.append(make("b", { textContent: step.writes, dir: "auto" }), make("small", { textContent: step.reads }));
    return node;
  }

  paintMatrix({ source, steps, heads }: Data) {
    this.matrix.hidden = !this.shown;
    const names = source.map((text) => make("th", { scope: "col", textContent: text, dir: "auto" }));
    const head = make(
      "thead",
      {},
      make("tr", {}, make("th", { scope: "col", textContent: "reads → writes" }), ...names),
    );
    const rows = steps.slice(0, this.shown).map(({ reads, writes, weights }, n) => {
      const name = make("th", { scope: "row", textContent: `${reads} → ${writes}`, dir: "auto" });
      return make("tr", { dataset: { step: n } }, name, ...weights.map((weight) => cell(weight, source.length)));
    });
    this.matrix.replaceChildren(make("caption", { textContent: heads }), head, make("tbody", {}, ...rows));
  }

  paintButtons() {
    const { next, back, play, end, again } = this.buttons;
    const isDone = this.shown >= this.most;
    put(next, { disabled: isDone });
    put(end, { disabled: isDone });
    put(back, { disabled: !this.shown });
    put(again, { disabled: !this.shown });
    put(play, { textContent: this.isPlaying ? "Pause" : "Play" });
  }

  /** What depends on the step that is looked at: tints, lines, the sentence. */
  paintMarks() {
    if (!this.data) return;
    const { source, steps } = this.data;
    const looked = this.looked;
    const step = looked === null ? null : steps[looked];
    for (const [k, node] of [...this.source.children].entries()) {
      if (!(node instanceof HTMLElement)) continue;
      const shade = step ? Math.sqrt(step.weights[k]) : 0;
      Object.assign(node.style, step ? { background: css(shade), color: inkOn(shade) } : { background: "", color: "" });
    }
    for (const node of this.target.querySelectorAll("button")) {
      const isLooked = Number(node.dataset.step) === looked;
      put(node, { ariaPressed: String(Number(node.dataset.step) === this.step), tabIndex: isLooked ? 0 : -1 });
      node.classList.toggle("looked", isLooked);
    }
    for (const row of this.matrix.querySelectorAll("tbody tr")) {
      row.classList.toggle("looked", row instanceof HTMLElement && Number(row.dataset.step) === looked);
    }
    const begins = "The encoder has read the source, the decoder only the start mark.";
    put(this.says, { textContent: step && looked !== null ? stepSentence(step, source, looked) : begins });
    this.paintLines();
  }

  paintLines() {
    if (!this.data || !this.width) return;
    const { colours } = this;
    const frame = this.pair.getBoundingClientRect();
    const context = fresh(this.lines, frame.width, frame.height);
    context.lineCap = "round";
    for (const [n, node] of [...this.target.querySelectorAll("button")].entries()) {
      const to = node.getBoundingClientRect();
      for (const [k, from] of [...this.source.children].entries()) {
        const weight = this.data.steps[n].weights[k];
        if (weight < FAINTEST) continue;
        const isLooked = n === this.looked;
        const above = from.getBoundingClientRect();
        context.globalAlpha = Math.sqrt(weight) * (isLooked ? 1 : 0.3);
        context.strokeStyle = isLooked ? colours.accent : colours.looks;
        context.lineWidth = isLooked ? 4 : 2;
        context.beginPath();
        context.moveTo((above.left + above.right) / 2 - frame.left, above.bottom - frame.top);
        context.lineTo((to.left + to.right) / 2 - frame.left, to.top - frame.top);
        context.stroke();
      }
    }
  }

  figure() {
    return figureOf(this.pair);
  }

  titles() {
    return { name: "translation", title: this.data?.heads ?? "", caption: this.says.textContent ?? "" };
  }

  values() {
    const { source, steps, heads } = this.data as Data;
    const rows = steps.map(({ reads, writes, p, weights }) => [reads, writes, p, ...weights]);
    return { title: heads, columns: ["reads", "writes", "probability", ...source], rows };
  }
}

/** A cell of the matrix, with its number where there is room for numbers. */
function cell(weight: number, columns: number) {
  const shade = Math.sqrt(weight);
  const text = perCent(weight);
  const node = make("td", { title: text, style: { background: css(shade), color: inkOn(shade) } });
  node.append(columns <= WIDE ? text : make("span", { className: "unseen", textContent: text }));
  return node;
}
