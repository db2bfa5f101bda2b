// What the colours mean, always in sight.

import { RAMP } from "../shared/colours.ts";
import { make } from "../shared/elements.ts";
import { SCALES_OF_SHADE, type Scale } from "./weights.ts";

const TICKS = [0, 0.1, 0.25, 0.5, 1];

export class Legend {
  ticks: HTMLDivElement;
  node: HTMLDivElement;

  constructor() {
    const background = `linear-gradient(to right, ${RAMP.map((rgb) => `rgb(${rgb.join(" ")})`).join(",")})`;
    const ramp = make("div", { className: "ramp", style: { background } });
    this.ticks = make("div", { className: "ticks" });
    this.node = make(
      "div",
      { className: "legend" },
      make("div", { className: "scale" }, make("span", { textContent: "attention" }), ramp, this.ticks),
      entry("masked-cell", "masked"),
      entry("looks", "looks at"),
      entry("looked", "is looked at by"),
    );
  }

  set(scale: Scale) {
    const rowTicks: [number, string][] = [
      [0, "0"],
      [1, "the row's largest"],
    ];
    const ticks =
      scale === "row" ? rowTicks : TICKS.map((weight) => [SCALES_OF_SHADE[scale](weight, 1), String(weight)]);
    this.ticks.replaceChildren(
      ...ticks.map(([place, text]) => make("span", { textContent: text, style: { left: `${100 * Number(place)}%` } })),
    );
  }
}

const entry = (name: string, text: string) =>
  make("span", { className: "legend-entry" }, make("span", { className: `swatch ${name}` }), text);
