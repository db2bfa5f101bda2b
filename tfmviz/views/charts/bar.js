// The bar below every chart that Streamlit draws: its values, the chart as a file, the whole screen.
//
// It is put into the page beside the chart, once, and no run of a script sends or draws it again. What it needs it asks
// of the chart itself, when a button is pressed.

import { figureBar } from "../shared/bar.js";
import { make, put } from "../shared/elements.js";
import { ofVega } from "./values.js";

const CHARTS = ".stVegaLiteChart, .stPlotlyChart";

const SPACES = ".js-plotly-plot"; // what Plotly draws

const SHARPNESS = 2; // pixels of a file for each pixel of the page

/**
 * Gives every chart its bar, now and whenever one appears.
 * @returns {() => void} ends this
 */
export function barCharts() {
  let asked = 0;
  const look = () => {
    asked = 0;
    for (const chart of document.querySelectorAll(CHARTS)) addBar(/** @type {HTMLElement} */ (chart));
    for (const space of document.querySelectorAll(SPACES)) say(space);
  };
  const observer = new MutationObserver(() => {
    asked ||= requestAnimationFrame(look);
  });
  observer.observe(document.body, { childList: true, subtree: true });
  document.addEventListener("fullscreenchange", fit);
  look();
  return () => {
    observer.disconnect();
    cancelAnimationFrame(asked);
    document.removeEventListener("fullscreenchange", fit);
  };
}

/**
 * What a figure of Plotly shows, in words, for screen readers.
 * @param {any} space
 */
function say(space) {
  const alt = space.layout?.meta?.alt;
  if (alt) put(space, { role: "img", ariaLabel: alt });
}

/** @param {HTMLElement} chart */
function addBar(chart) {
  const home = chart.parentElement;
  if (!home || home.querySelector(":scope > .tfmviz-bar")) return;
  const whole = () => {
    home.style.backgroundColor = ground();
    return home;
  };
  home.append(figureBar({ whole, file: (format) => saveChart(home, format), values: () => valuesOf(home) }));
}

/**
 * The view of Vega that has drawn a chart; undefined while it is being drawn. Vega keeps with every element what it
 * shows, and with that where it belongs.
 * @param {HTMLElement} home
 */
function viewOf(home) {
  const drawn = /** @type {any} */ (home.querySelector(".stVegaLiteChart svg.marks path"));
  return drawn?.__data__?.context?.dataflow;
}

/** @param {HTMLElement} home */
const nameOf = (home) => /st-key-([\w-]+)/.exec(home.closest("[class*=st-key-]")?.className ?? "")?.[1] ?? "figure";

/**
 * @param {HTMLElement} home
 * @param {"svg" | "png"} format
 */
async function saveChart(home, format) {
  const space = spaceOf(home);
  if (space) return saveSpace(space, format);
  const view = viewOf(home);
  if (!view) return;
  await view.background(ground()).runAsync();
  const address = await view.toImageURL(format, SHARPNESS);
  make("a", { href: address, download: `${nameOf(home)}.${format}` }).click();
}

/** The page's own ground: dark letters on nothing could not be read elsewhere. */
const ground = () => getComputedStyle(document.querySelector(".stApp") ?? document.body).backgroundColor;

/** @type {WeakMap<object, number>} */
const heights = new WeakMap();

/** On the whole screen a chart of one panel is as high as there is room; afterwards as high as before. */
function fit() {
  for (const home of document.querySelectorAll(":has(> .stVegaLiteChart)")) {
    const view = viewOf(/** @type {HTMLElement} */ (home));
    const full = document.fullscreenElement === home;
    if (!view || full === heights.has(view) || !view.height()) continue;
    if (full) heights.set(view, view.height());
    view.height(full ? Math.max(window.innerHeight - 130, view.height()) : heights.get(view)).runAsync();
    if (!full) heights.delete(view);
  }
}

/**
 * The numbers of a chart; undefined while it is being drawn.
 * @param {HTMLElement} home
 */
function valuesOf(home) {
  const space = spaceOf(home);
  if (space) return space.layout.meta.values;
  const view = viewOf(home);
  return view && ofVega(JSON.parse(view.data("summary")[0].values), (data) => view.data(data));
}

/**
 * What Plotly has drawn, with what it was given; undefined while it is being drawn, and for other charts.
 * @param {HTMLElement} home
 */
const spaceOf = (home) => /** @type {any} */ (home.querySelector(SPACES));

/**
 * Plotly itself is out of reach here, so its own button does the work.
 * @param {any} space
 * @param {"svg" | "png"} format
 */
function saveSpace(space, format) {
  space._context.toImageButtonOptions.format = format;
  space.querySelector(".modebar-btn")?.click();
}
