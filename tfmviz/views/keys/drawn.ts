// A page that opens is seen when all of it is there. Its parts come one after another and take their heights when they
// are drawn, so what stands below would jump; until then `ui/waiting.css` keeps all but the header out of sight.

import { isReady } from "../shared/server.ts";

const MARK = "data-drawn"; // on the page's root
const PAGE = ".stMainBlockContainer > *";
const TO_COME = "[data-testid=stSkeleton], [data-stale=true]";
const CHARTS = ".stVegaLiteChart, .stPlotlyChart";
const VIEWS = "[data-testid^=stBidiComponent]:not(.st-key-header *)";

const STEADY = 4; // looks: a chart may be drawn once more when it knows its width

const LONGEST = 12_000; // milliseconds: the style has shown the page by then, and a look a second is enough

/** Marks the page's root, once nothing is still to come and the page's height has stayed. */
export function markWhenDrawn() {
  const began = performance.now();
  let [before, looks]: [number | undefined, number] = [undefined, 0];
  const look = () => {
    const height = isDrawn() ? document.querySelector(PAGE)?.scrollHeight : undefined;
    looks = height && height === before ? looks + 1 : 0;
    if (looks === STEADY) document.documentElement.setAttribute(MARK, "");
    else if (performance.now() - began < LONGEST) requestAnimationFrame(look);
    else setTimeout(look, 1000);
    before = height;
  };
  look();
}

function isDrawn() {
  const every = (selector: string, has: (node: Element) => unknown) =>
    [...document.querySelectorAll(selector)].every(has);
  return (
    isReady() &&
    !document.querySelector(TO_COME) &&
    document.fonts.status === "loaded" &&
    every(CHARTS, (chart) => chart.querySelector("svg, canvas")) &&
    every(VIEWS, ({ shadowRoot }) => shadowRoot && ("view_" in shadowRoot || "part_" in shadowRoot)) // see shared/meet
  );
}
