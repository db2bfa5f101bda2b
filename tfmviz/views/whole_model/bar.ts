// The line of controls above the picture: zoom, the followed token, step by step.

import { button, make, select } from "../shared/elements.ts";
import type { Scene } from "./scene.ts";
import type { Whole } from "./view.ts";

export function barOf(view: Whole) {
  const zooms = make("div", { className: "zooms", role: "group", ariaLabel: "Zoom" });
  const follows = select("Follow", {}, (value) => {
    const [stack, row] = value.split(".");
    view.choose({ stack, row: Number(row) });
  });
  const plays = button("▶ Play", { onclick: () => (view.beat ? view.pause() : view.play()) });
  const back = button("← Back", { onclick: () => view.step(-1) });
  const next = button("Next →", { onclick: () => view.step(1) });
  const steps = make("div", { className: "steps" }, back, next, plays);
  const node = make("div", { className: "bar" }, zooms, follows.node, steps);
  return {
    node,

    /** The tokens to follow, and what can be zoomed to; `isLed`: the controls of a view beside this one do for both. */
    fill({ lanes, zoom, beside }: Scene, { layer, head }: { layer: string; head: number }, isLed: boolean) {
      const stacks = [...new Map(lanes.map((lane) => [lane.stack, lane])).values()];
      const groups = stacks.map(({ stack, tokens }) => {
        const nodes = tokens.map((text, n) => make("option", { value: `${stack}.${n}`, textContent: `${n} ${text}` }));
        return stacks.length > 1 ? [make("optgroup", { label: stack }, ...nodes)] : nodes;
      });
      follows.box.replaceChildren(...groups.flat());
      const names = { model: "Whole model", block: `Layer ${layer.split(".")[1] ?? ""}`, head: `Head ${head}` };
      zooms.hidden = beside === true;
      node.classList.toggle("led", beside === true && isLed);
      zooms.replaceChildren(
        ...(Object.entries(names) as [Scene["zoom"], string][]).map(([name, text]) =>
          button(text, { ariaPressed: String(name === zoom), onclick: () => view.open({ zoom: name }) }),
        ),
      );
    },

    follow({ stack, row }: { stack: string; row: number }) {
      follows.box.value = `${stack}.${row}`;
    },

    showPlaying(isPlaying: boolean) {
      plays.textContent = isPlaying ? "❚❚ Pause" : "▶ Play";
    },
  };
}
