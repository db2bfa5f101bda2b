// What every figure offers behind one button: its values as a table, the figure as a file, the whole screen.

import { button, make } from "./elements.ts";
import { download } from "./picture.ts";
import { csvOf, plain, type Values } from "./table.ts";

const LONGEST_TABLE = 1000; // rows in the table; the file holds all

interface Shown {
  whole: () => HTMLElement; // what fills the screen
  file: (format: "svg" | "png") => unknown; // saves it
  values: () => Values | undefined; // none while it is being drawn
  about?: string; // the figure's name, where a view has several
}

export function figureBar({ whole, file, values, about = "" }: Shown) {
  const isWhole = () => (whole().getRootNode() as ShadowRoot | Document).fullscreenElement === whole();
  const tools: [label: string, title: string, act: () => unknown][] = [
    ["Values", "The values, also as CSV", () => openValues(whole(), values())],
    ["SVG", "Save as SVG", () => file("svg")],
    ["PNG", "Save as PNG", () => file("png")],
    [
      "Full screen",
      "Press Escape to leave",
      () => (isWhole() ? document.exitFullscreen() : whole().requestFullscreen()),
    ],
  ];
  const buttons = tools.map(([label, title, act]) =>
    button(label, {
      title,
      ariaLabel: about ? `${label}: ${about}` : label,
      onclick: () => {
        unfold(false);
        opener.focus(); // this button is hidden now, and what a dialog gives back needs a place
        act();
      },
    }),
  );
  if (!document.fullscreenEnabled) buttons.pop();
  const name = about || "This figure";
  const list = make("div", { className: "tools", role: "group", ariaLabel: name, hidden: true }, ...buttons);
  const unfold = (isOpen: boolean) => {
    list.hidden = !isOpen;
    opener.ariaExpanded = String(isOpen);
  };
  const opener = button("⋯", {
    className: "more",
    title: "Values, files, full screen",
    ariaLabel: `More: ${name}`,
    ariaExpanded: "false",
    onclick: () => unfold(list.hidden === true),
  });
  const bar = make("div", { className: "tfmviz-bar" }, opener, list);
  bar.addEventListener("focusout", ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && bar.contains(relatedTarget))) unfold(false);
  });
  bar.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || list.hidden) return;
    event.stopPropagation();
    unfold(false);
    opener.focus();
  });
  return bar;
}

/** Opens a figure's values above the page. Escape closes them, and what had the focus has it again. */
function openValues(place: HTMLElement, values?: Values) {
  if (!values) return;
  const { title, columns, rows } = values;
  const csv = new Blob([csvOf(values)], { type: "text/csv" });
  const save = () => download(csv, `${fileName(title)}.csv`);
  const close = button("Close", { onclick: () => dialog.close() });
  const tools = [button("CSV", { title: "Save all values as CSV", onclick: save }), close];
  const [few, all] = [LONGEST_TABLE, rows.length].map((count) => count.toLocaleString("en"));
  const note = `The first ${few} of ${all} rows; the CSV has all of them.`;
  // A header without a name, over names that speak for themselves, is none.
  const headOf = (name: string) => (name ? make("th", { scope: "col", textContent: name, dir: "auto" }) : make("td"));
  const entryOf = (value: string | number | null, column: number) => {
    if (typeof value !== "string") return make("td", { textContent: plain(value) });
    return make(column ? "td" : "th", { className: "name", textContent: value, dir: "auto" });
  };
  const table = make(
    "table",
    {},
    make("caption", { textContent: title }),
    make("thead", {}, make("tr", {}, ...columns.map(headOf))),
    make("tbody", {}, ...rows.slice(0, LONGEST_TABLE).map((row) => make("tr", {}, ...row.map(entryOf)))),
  );
  const dialog = make(
    "dialog",
    { className: "values", ariaLabel: `Values: ${title}` },
    make("div", { className: "tools" }, ...tools),
    ...(rows.length > LONGEST_TABLE ? [make("p", { textContent: note })] : []),
    make("div", { className: "table", tabIndex: 0, role: "region", ariaLabel: title }, table),
  );
  dialog.addEventListener("keydown", (event) => event.stopPropagation()); // the view's own keys are not meant
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close()); // beside it
  dialog.addEventListener("close", () => dialog.remove());
  place.append(dialog);
  dialog.showModal();
  if (!columns.length) close.focus();
}

const fileName = (title: string) =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 60) || "values";
