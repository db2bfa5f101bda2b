// The line of controls above the picture: zoom, the followed token, step by step.

import { button, make, select } from "../shared/elements.ts";
import type { Scene } from "./scene.ts";

type Zoom = "model" | "block" | "head";

/** What the controls do. */
interface Doings {
  open: (zoom: Zoom) => void;
  choose: (token: { stack: string; row: number }) => void;
  step: (by: number) => void;
  play: () => void; // or pause
}

export class Bar {
  doings: Doings;
  zooms: HTMLDivElement;
  follows: { box: HTMLSelectElement; node: HTMLLabelElement };
  plays: HTMLButtonElement;
  node: HTMLDivElement;

  constructor(doings: Doings) {
    this.doings = doings;
    this.zooms = make("div", { className: "zooms", role: "group", ariaLabel: "Zoom" });
    this.follows = select("Follow", {}, (value) => {
      const [stack, row] = value.split(".");
      doings.choose({ stack, row: Number(row) });
    });
    this.plays = button("▶ Play", { onclick: doings.play });
    const back = button("← Back", { onclick: () => doings.step(-1) });
    const next = button("Next →", { onclick: () => doings.step(1) });
    const steps = make("div", { className: "steps" }, back, next, this.plays);
    this.node = make("div", { className: "bar" }, this.zooms, this.follows.node, steps);
  }

  /** The tokens to follow, and what can be zoomed to. */
  fill({ lanes, zoom, beside }: Scene, { layer, head }: { layer: string; head: number }) {
    const stacks = [...new Map(lanes.map((lane) => [lane.stack, lane])).values()];
    const groups = stacks.map(({ stack, tokens }) => {
      const options = tokens.map((text, n) => make("option", { value: `${stack}.${n}`, textContent: `${n} ${text}` }));
      return stacks.length > 1 ? [make("optgroup", { label: stack }, ...options)] : options;
    });
    this.follows.box.replaceChildren(...groups.flat());
    const names = [
      ["model", "Whole model"],
      ["block", `Layer ${layer.split(".")[1] ?? ""}`],
      ["head", `Head ${head}`],
    ] as const;
    this.zooms.hidden = beside === true;
    this.zooms.replaceChildren(
      ...names.map(([name, text]) =>
        button(text, { ariaPressed: String(name === zoom), onclick: () => this.doings.open(name) }),
      ),
    );
  }

  follow({ stack, row }: { stack: string; row: number }) {
    this.follows.box.value = `${stack}.${row}`;
  }

  showPlaying(isPlaying: boolean) {
    this.plays.textContent = isPlaying ? "❚❚ Pause" : "▶ Play";
  }
}
