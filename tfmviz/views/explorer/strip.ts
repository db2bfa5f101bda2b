// The sentence as a row of buttons, each shaded by the attention of the token in focus.

import { css, inkOn } from "../shared/colours.ts";
import { listen, make, mark, type Texts, tokenButtons } from "../shared/elements.ts";
import { shortShare } from "../shared/numbers.ts";
import type { Focus, Listener } from "./state.ts";
import { cellsBeside, type Pattern, SCALES_OF_SHADE, type Scale } from "./weights.ts";

const LONG = 40; // tokens that surely fit
const COLOURS = [0, 2, 1, 3]; // of the heads: two parts get two that differ much

/** null where the mask forbids looking */
type Shaded = { weight: number; shade: number } | null;

export class Strip {
  buttons: HTMLButtonElement[] = [];
  numbers: Text[] = [];
  shown: string[] = []; // what each token shows now
  revealed: number | null = null; // the token that was last scrolled into sight

  title = make("span", { className: "strip-title" });
  group = make("div", { className: "strip", role: "group" });
  node = make("div", {}, this.title, this.group);

  side: Focus["side"];

  constructor(side: Focus["side"], listener: Listener) {
    this.side = side;
    const hover = (at: number | null) => listener.point(at === null ? null : { side: this.side, at });
    listen(this.group, (at) => listener.pin({ side: this.side, at }), hover);
  }

  label(texts: Texts, title: string, ariaLabel: string) {
    this.title.textContent = title;
    this.group.ariaLabel = ariaLabel;
    this.buttons = tokenButtons(this.group, texts, texts.labels.length - 1);
    this.numbers = this.buttons.map((node) => {
      Object.assign(node.style, { background: "", color: "" });
      const number = document.createTextNode("");
      node.append(make("span", { className: "weight" }, number));
      return number;
    });
    this.shown = [];
    this.revealed = null;
    this.group.replaceChildren(...(texts.segments ? inParts(this.buttons, texts.segments) : this.buttons));
  }

  /** Shades by the weights per token, null for a row without numbers; `to` is the key that is asked about. */
  shade(weights: Shaded[] | null, focus: Focus, pinned: Focus | null, to: number | null) {
    for (const [at, node] of this.buttons.entries()) {
      const entry = weights?.[at];
      const written = weights ? (entry ? shortShare(entry.weight) : "–") : "";
      const background = entry ? css(entry.shade) : "";
      const shown = `${written}${background}`;
      if (shown === this.shown[at]) continue;
      this.shown[at] = shown;
      this.numbers[at].data = written;
      node.classList.toggle("masked", Boolean(weights) && !entry);
      node.style.background = background;
      node.style.color = entry ? inkOn(entry.shade) : "";
    }
    const own = focus.side === this.side ? focus.at : null;
    mark(this.buttons, own, pinned?.side === this.side ? pinned.at : null, to);
    if (own === null || own === this.revealed || this.buttons.length <= LONG) return;
    this.revealed = own; // a long text is scrolled; to ask where a token is makes the browser lay out
    if (this.group.matches(":hover")) return;
    this.group.scrollTop = this.buttons[own].offsetTop - this.group.clientHeight / 2;
  }
}

/** The parts of a text apart, each with its name; what belongs to none stands with the part before it. */
function inParts(buttons: HTMLButtonElement[], segments: string[]) {
  const names = [...new Set(segments)].filter(Boolean);
  const nodes: HTMLElement[] = [];
  let open = "";
  for (const [at, node] of buttons.entries()) {
    const name = segments[at];
    if (!nodes.length || (name && open && name !== open)) nodes.push(make("div", { className: "part" }));
    const part = nodes[nodes.length - 1];
    if (name && (name !== open || !part.title)) {
      part.title = open = name;
      part.style.setProperty("--part", `var(--head-${COLOURS[names.indexOf(name) % COLOURS.length]})`);
      part.prepend(make("span", { className: "part-name", textContent: name, dir: "auto" }));
    }
    part.append(node);
  }
  return nodes;
}

export function weightsBeside({ mask, weights }: Pattern, focus: Focus, scale: Scale): Shaded[] {
  const cells = cellsBeside(mask, focus).map(({ cell }) => cell);
  const largest = Math.max(...cells.map((cell) => weights[cell]));
  return cells.map((cell) =>
    mask.allowed[cell] ? { weight: weights[cell], shade: SCALES_OF_SHADE[scale](weights[cell], largest) } : null,
  );
}
