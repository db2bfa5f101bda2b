// What the colours mean, always in sight.

import { RAMP } from "../shared/colours.ts";
import { make } from "../shared/elements.ts";
import { SCALES_OF_SHADE, type Scale } from "./weights.ts";

const TICKS = [0, 0.1, 0.25, 0.5, 1];

export class Legend {
  ticks = make("div", { className: "ticks" });
  node: HTMLDivElement;

  constructor() {
    const background = `linear-gradient(to right, ${RAMP.map((rgb) => `rgb(${rgb.join(" ")})`).join(",")})`;
    const ramp = make("div", { className: "ramp", style: { background } });
    const scale = make("div", { className: "scale" }, make("span", { textContent: "attention" }), ramp, this.ticks);
    const entries = [entry("masked-cell", "masked"), entry("looks", "looks at"), entry("looked", "is looked at by")];
    this.node = make("div", { className: "legend" }, scale, ...entries);
  }

  set(scale: Scale) {
    const places = scale === "row" ? [0, 1] : TICKS;
    const text = (weight: number) => (scale === "row" && weight ? "the row's largest" : String(weight));
    const left = (weight: number) => `${100 * SCALES_OF_SHADE[scale](weight, 1)}%`;
    this.ticks.replaceChildren(
      ...places.map((weight) => make("span", { textContent: text(weight), style: { left: left(weight) } })),
    );
  }
}

const entry = (name: string, text: string) =>
  make("span", { className: "legend-entry" }, make("span", { className: `swatch ${name}` }), text);
