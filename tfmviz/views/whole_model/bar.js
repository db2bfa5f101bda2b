// The line of controls above the picture: zoom, the followed token, step by step.

/** @import { Scene } from "./scene.js" */
import { button, make, select } from "../shared/elements.js";

/** @typedef {"model" | "block" | "head"} Zoom */

/**
 * What the controls do.
 * @typedef {object} Doings
 * @property {(zoom: Zoom) => void} open
 * @property {(token: {stack: string, row: number}) => void} choose
 * @property {(by: number) => void} step
 * @property {() => void} play or pause
 */

export class Bar {
  /** @param {Doings} doings */
  constructor(doings) {
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

  /**
   * The tokens to follow, and what can be zoomed to.
   * @param {Scene} scene
   * @param {{layer: string, head: number}} chosen
   */
  fill({ lanes, zoom, beside }, { layer, head }) {
    const stacks = [...new Map(lanes.map((lane) => [lane.stack, lane])).values()];
    const groups = stacks.map(({ stack, tokens }) => {
      const options = tokens.map((text, n) => make("option", { value: `${stack}.${n}`, textContent: `${n} ${text}` }));
      return stacks.length > 1 ? [make("optgroup", { label: stack }, ...options)] : options;
    });
    this.follows.box.replaceChildren(...groups.flat());
    const names = /** @type {const} */ ([
      ["model", "Whole model"],
      ["block", `Layer ${layer.split(".")[1] ?? ""}`],
      ["head", `Head ${head}`],
    ]);
    this.zooms.hidden = beside === true;
    this.zooms.replaceChildren(
      ...names.map(([name, text]) =>
        button(text, { ariaPressed: String(name === zoom), onclick: () => this.doings.open(name) }),
      ),
    );
  }

  /** @param {{stack: string, row: number}} token */
  follow({ stack, row }) {
    this.follows.box.value = `${stack}.${row}`;
  }

  /** @param {boolean} isPlaying */
  showPlaying(isPlaying) {
    this.plays.textContent = isPlaying ? "❚❚ Pause" : "▶ Play";
  }
}
