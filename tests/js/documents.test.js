// Views of lists and buttons: what a keyboard reaches, and what a screen reader hears of their state.

import assert from "node:assert/strict";
import { test } from "node:test";
import { parentOf, viewOf } from "./page.js";

const made = async (path) => (await import(`../../tfmviz/views/${path}`)).default;
const [parts, counts, models, lectures, sliders] = await Promise.all(
  ["parts/view.tsx", "counts/view.ts", "models/view.ts", "lectures/view.tsx", "sliders/view.tsx"].map(made),
);

const press = (node, key) => node.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));

test("of the board's switches Tab reaches one, arrows pass over what is missing, and a switch says whether it is on", () => {
  const rows = [
    { name: "0", parts: [["l0", "layer 0"], ["a", "head 0"], null, ["m", "MLP"]] },
    { name: "1", parts: [["l1", "layer 1"], ["b", "head 1"], ["c", "head 2"], null] },
  ];
  const view = viewOf(parts, { columns: ["x", "y", "z"], rows, done: "Off" }, "parts");
  assert.equal(view.edited(), undefined, "nobody has said yet what is off");
  const switches = [...view.node.querySelectorAll("button")];
  const reached = () => switches.filter(({ tabIndex }) => tabIndex === 0).map(({ dataset }) => dataset.code);
  const walked = [reached()];
  for (const key of ["ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowDown", "ArrowRight"]) {
    press(
      switches.find(({ tabIndex }) => tabIndex === 0),
      key,
    );
    walked.push(reached());
  }
  assert.deepEqual(walked.flat(), ["l0", "a", "m", "m", "a", "b", "c"]);
  const named = switches.map(({ ariaLabel, title }) => [ariaLabel, title]);
  const names = rows.flatMap((row) => row.parts.flatMap((part) => (part ? [part[1]] : [])));
  assert.deepEqual(
    named,
    names.map((name) => [name, name]),
  );
  switches[1].click();
  assert.deepEqual(
    switches.map(({ ariaChecked }) => ariaChecked),
    ["true", "false", "true", "true", "true", "true"],
  );
  assert.equal(view.node.querySelector("[role=status]").textContent, "Off: head 0.");
});

test("a column says how it is sorted: largest first, smallest first, as it came", () => {
  const table = {
    caption: "c",
    columns: ["name", "n"],
    rows: [
      ["a", "1"],
      ["b", "3"],
    ],
    shares: [],
    spared: [],
  };
  const view = viewOf(counts, { ...table, sortable: true, picked: null, sentences: [], about: "" }, "counts");
  const seen = Array.from({ length: 4 }, (_, n) => {
    if (n) view.node.querySelectorAll("thead button")[1].click();
    const order = [...view.node.querySelectorAll("tbody th")].map(({ textContent }) => textContent).join("");
    const head = view.node.querySelectorAll("thead th")[1];
    return `${head.textContent} ${head.ariaSort} ${order}`;
  });
  assert.deepEqual(seen, ["n none ab", "n ↓ descending ba", "n ↑ ascending ab", "n none ab"]);
});

test("a low table counts the rows that its lower edge hides, and says nothing where it hides none", () => {
  const rows = ["a", "b", "c", "d"].map((name) => [name, "1"]);
  const table = { caption: "c", columns: ["name", "n"], rows, shares: [], sentences: [], about: "", picked: null };
  const view = viewOf(counts, { ...table, low: true }, "counts");
  const more = view.node.querySelector(".more");
  for (const [hidden, said] of [
    [0, ""],
    [1, "1 more row"],
    [3, "3 more rows"],
  ]) {
    for (const [n, row] of [...view.node.querySelectorAll("tbody tr")].entries())
      row.getBoundingClientRect = () => ({ bottom: n < rows.length - hidden ? 20 : 40 }); // the table ends at 20
    view.edges();
    assert.equal(more.hidden ? "" : more.textContent, said);
  }
});

test("the list of models says which one is chosen and which one Enter takes", () => {
  const [root, picked] = [parentOf("models"), []];
  const all = ["a", "b"].map((name) => ({ model: name, group: "All", name, line: "", size: "" }));
  const data = { models: JSON.stringify(all), chosen: "a", command: "", folder: "" };
  models({ data, parentElement: root, setTriggerValue: (_, model) => picked.push(model) });
  root.querySelector("button").click();
  const list = root.querySelector("[role=listbox]");
  press(list, "ArrowDown");
  const at = list.getAttribute("aria-activedescendant");
  assert.deepEqual(
    [...list.querySelectorAll("[aria-selected=true] .name")].map((node) => node.textContent),
    ["a"],
  );
  assert.equal(root.getElementById(at).querySelector(".name").textContent, "b");
  press(list, "Enter");
  assert.deepEqual(picked, ["b"]);
});

test("a group's name is a heading over it, and a group without a name has none", () => {
  const entry = {
    title: "t",
    address: "./a",
    says: [],
    takes: "",
    shows: [],
    folded: [
      ["", [["x", "./x"]]],
      ["s", []],
    ],
  };
  const root = parentOf("lectures");
  const groups = JSON.stringify([
    ["Pages", [entry]],
    ["", [entry]],
  ]);
  lectures({ data: { of: "tabs", opens: "", keeps: false, groups }, parentElement: root });
  const headings = [...root.querySelectorAll("h2, h3")].map(({ localName, textContent }) => [localName, textContent]);
  assert.deepEqual(headings, [
    ["h2", "Pages"],
    ["h3", "t"],
    ["h3", "s"],
    ["h2", "t"],
    ["h3", "s"],
  ]);
});

test("steps are folded away under their number, whether a lecture has sections or not, and no empty fold stands there", () => {
  const [first, second] = ["ab", "cd"].map((name) => [name, [...name].map((one) => [one, `./${one}`])]);
  const entries = [[], [["", first[1]]], [first, second]].map((folded, n) => ({
    ...{ title: `L${n}`, address: "./", says: [], takes: "", shows: [], folded },
  }));
  const root = parentOf("folded");
  lectures({
    data: { of: "steps", opens: "", keeps: false, groups: JSON.stringify([["", entries]]) },
    parentElement: root,
  });
  const folds = [...root.querySelectorAll("details")].map((node) => [
    node.querySelector("summary").textContent,
    [...node.querySelectorAll("li")].map(({ textContent }) => textContent).join(""),
  ]);
  assert.deepEqual(folds, [
    ["2 steps", "ab"],
    ["4 steps", "abcd"],
  ]);
});

test("sliders tell the address what is set, and nothing before Python has said it", () => {
  const view = viewOf(sliders, { sliders: { i: ["query", 0, 9, 1], j: ["key", 0, 9, 1] } }, "sliders");
  assert.equal(view.edited(), undefined);
  view.take({ set: { i: 3, j: 0 } });
  assert.equal(view.edited(), "i=3,j=0");
  assert.deepEqual(
    [...view.node.querySelectorAll("output")].map(({ textContent }) => textContent),
    ["3", "0"],
  );
});
