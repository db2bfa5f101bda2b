// The bar below every chart that Streamlit draws: its values, the chart as a file, the whole screen.
//
// It is put into the page beside the chart, once, and no run of a script sends or draws it again. What it needs it asks
// of the chart itself, when a button is pressed.

/** @import { Values } from "./values.js" */
import { button, make } from "../shared/elements.js";
import { csvOf, ofVega, written } from "./values.js";

const CHARTS = ".stVegaLiteChart";

const LONGEST = 1000; // rows in the table; the file holds all

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

/** @param {HTMLElement} chart */
function addBar(chart) {
  const home = chart.parentElement;
  if (!home || home.querySelector(":scope > .tfmviz-bar")) return;
  /** @type {[label: string, title: string, act: () => unknown][]} */
  const tools = [
    ["Values", "The numbers of this figure, also as CSV", () => openValues(home)],
    ["SVG", "Save this figure as SVG", () => saveChart(home, "svg")],
    ["PNG", "Save this figure as PNG", () => saveChart(home, "png")],
    ["Full screen", "This figure on the whole screen; Escape goes back", () => toggleScreen(home)],
  ];
  if (!document.fullscreenEnabled) tools.pop();
  const buttons = tools.map(([label, title, onclick]) => button(label, { title, onclick }));
  home.append(make("div", { className: "tfmviz-bar", role: "group", ariaLabel: "This figure" }, ...buttons));
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
  const view = viewOf(home);
  if (!view) return;
  await view.background(ground()).runAsync();
  const address = await view.toImageURL(format, SHARPNESS);
  download(address, `${nameOf(home)}.${format}`);
}

/** @param {HTMLElement} home */
function toggleScreen(home) {
  home.style.backgroundColor = ground();
  return document.fullscreenElement === home ? document.exitFullscreen() : home.requestFullscreen();
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
    if (!view || full === heights.has(view) || !(view.height() > 0)) continue;
    if (full) heights.set(view, view.height());
    view.height(full ? Math.max(window.innerHeight - 130, view.height()) : heights.get(view)).runAsync();
    if (!full) heights.delete(view);
  }
}

/**
 * Opens the numbers above the page. Escape closes them.
 * @param {HTMLElement} home
 */
function openValues(home) {
  const view = viewOf(home);
  if (!view) return; // it is being drawn
  const values = ofVega(JSON.parse(view.data("summary")[0].values), (data) => view.data(data));
  const csv = () => {
    const address = URL.createObjectURL(new Blob([csvOf(values)], { type: "text/csv" }));
    download(address, `${nameOf(home)}.csv`);
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  };
  const dialog = make(
    "dialog",
    { className: "tfmviz-values", ariaLabel: `Values: ${values.title}` },
    make(
      "div",
      { className: "tfmviz-bar" },
      button("CSV", { title: "Save all values as CSV", onclick: csv }),
      button("Close", { onclick: () => dialog.close() }),
    ),
    ...(values.rows.length > LONGEST ? [make("p", { textContent: cut(values.rows.length) })] : []),
    make("div", { tabIndex: 0, role: "region", ariaLabel: values.title }, tableOf(values)),
  );
  dialog.addEventListener("keydown", (event) => event.stopPropagation()); // the page's own keys are not meant
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close()); // beside it
  dialog.addEventListener("close", () => dialog.remove());
  dialog.style.backgroundColor = ground();
  home.append(dialog);
  dialog.showModal();
}

/** @param {number} n */
const cut = (n) => `The first ${LONGEST.toLocaleString("en")} of ${n.toLocaleString("en")} rows; the CSV holds all.`;

/** @param {Values} values */
function tableOf({ title, columns, rows }) {
  const head = columns.map((textContent) => make("th", { scope: "col", textContent, dir: "auto" }));
  const body = rows
    .slice(0, LONGEST)
    .map((row) => make("tr", {}, ...row.map((value) => make("td", { textContent: written(value), dir: "auto" }))));
  const caption = make("caption", { textContent: title });
  return make("table", {}, caption, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body));
}

/**
 * @param {string} href
 * @param {string} name
 */
const download = (href, name) => make("a", { href, download: name }).click();
