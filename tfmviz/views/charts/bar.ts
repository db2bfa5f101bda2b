// The bar below every chart that Streamlit draws: its values, the chart as a file, the whole screen. It is put there
// once, and asks the chart for what it needs when a button is pressed.

import { figureBar } from "../shared/bar.ts";
import { make, put } from "../shared/elements.ts";
import { keyOf, registryEntry } from "../shared/streamlit_bridge.ts";
import type { Values } from "../shared/table.ts";
import { type Seen, saying, seen } from "../shared/where.ts";

const CHARTS = ".stVegaLiteChart, .stPlotlyChart";
const SPACES = ".js-plotly-plot"; // what Plotly draws

type Vega = {
  background: (colour: string) => Vega;
  height: (pixels?: number) => number & Vega;
  data: (name: string) => Record<string, unknown>[];
  runAsync: () => Promise<unknown>;
  toImageURL: (format: "svg" | "png", scale: number) => Promise<string>;
};

/** Vega keeps with every element what it shows, and with that where it belongs. */
type Mark = SVGElement & { __data__?: { context?: { dataflow?: Vega } } };

type Space = HTMLElement & {
  layout?: { meta?: { alt?: string; values: Values } };
  _context: { toImageButtonOptions: { format: string } };
};

declare global {
  var tfmvizWhere: typeof where | undefined;
}

/** Where a figure stands in the window, by its key; with names, its cell, row, column, mark or word. */
function where(key: string, ...names: string[]): Seen | null {
  const home = document.querySelector(`.st-key-${CSS.escape(key)}`);
  if (!home) return null;
  if (!names.length) return seen(home);
  return registryEntry(key).view?.locate(...names) ?? saying(home, names);
}

const SHARPNESS = 2; // pixels of a file for each pixel of the page

/** Gives every chart its bar, now and whenever one appears, and says where figures stand. Returns what ends this. */
export function barCharts(): () => void {
  globalThis.tfmvizWhere = where;
  let asked = 0;
  const look = () => {
    asked = 0;
    for (const chart of document.querySelectorAll<HTMLElement>(CHARTS)) addBar(chart);
    for (const space of document.querySelectorAll<Space>(SPACES)) {
      const alt = space.layout?.meta?.alt; // in words, for screen readers
      if (alt) put(space, { role: "img", ariaLabel: alt });
    }
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

function addBar(chart: HTMLElement) {
  const home = chart.parentElement;
  if (!home || home.querySelector(":scope > .tfmviz-bar")) return;
  const whole = () => {
    home.style.backgroundColor = ground();
    return home;
  };
  home.append(figureBar({ whole, file: (format) => saveChart(home, format), values: () => valuesOf(home) }));
}

const viewOf = (home: HTMLElement) =>
  home.querySelector<Mark>(".stVegaLiteChart svg.marks path")?.__data__?.context?.dataflow;

async function saveChart(home: HTMLElement, format: "svg" | "png") {
  const space = spaceOf(home);
  if (space) {
    // Plotly itself is out of reach here, so its own button does the work.
    space._context.toImageButtonOptions.format = format;
    return space.querySelector<HTMLElement>(".modebar-btn")?.click();
  }
  const view = viewOf(home);
  if (!view) return;
  await view.background(ground()).runAsync();
  const address = await view.toImageURL(format, SHARPNESS);
  const name = keyOf({ host: home }) || "figure";
  make("a", { href: address, download: `${name}.${format}` }).click();
}

/** The page's own ground: dark letters on nothing could not be read elsewhere. */
const ground = () => getComputedStyle(document.querySelector(".stApp") ?? document.body).backgroundColor;

const heights: WeakMap<object, number> = new WeakMap();

/** On the whole screen a chart of one panel is as high as there is room; afterwards as high as before. */
function fit() {
  for (const home of document.querySelectorAll(":has(> .stVegaLiteChart)")) {
    const view = viewOf(home as HTMLElement);
    const full = document.fullscreenElement === home;
    if (!view || full === heights.has(view) || !view.height()) continue;
    if (full) heights.set(view, view.height());
    view.height(full ? Math.max(window.innerHeight - 130, view.height()) : heights.get(view)).runAsync();
    if (!full) heights.delete(view);
  }
}

function valuesOf(home: HTMLElement) {
  const space = spaceOf(home);
  if (space) return space.layout?.meta?.values;
  const view = viewOf(home);
  return view && ofVega(JSON.parse(String(view.data("summary")[0].values)), (data) => view.data(data));
}

/** What Plotly has drawn, with what it was given; undefined while it is being drawn, and for other charts. */
const spaceOf = (home: HTMLElement) => home.querySelector<Space>(SPACES);

/** Which columns of which data sets are a chart's values, as `plots/values.py` writes it. */
type Described = { title: string; columns: string[]; tables: { data: string; of: string; fields: string[] }[] };

type Rows = Record<string, unknown>[];

export function ofVega({ title, columns, tables }: Described, rowsOf: (data: string) => Rows): Values {
  const rows = tables.flatMap(({ data, of, fields }) =>
    rowsOf(data).map((row) => [...(of ? [of] : []), ...fields.map((field) => plainName(row[field]))]),
  );
  return { title, columns, rows };
}

/** Names bear a number before them, by which charts sort them, and quotes around a token. */
function plainName(value: unknown) {
  return typeof value === "string" ? value.replace(/^\d{4} /, "").replace(/^“(.*)”$/s, "$1") : Number(value);
}
