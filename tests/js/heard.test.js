// What each view tells a screen reader, the Tab key and the pointer: one test for a kind of promise.

import assert from "node:assert/strict";
import { test } from "node:test";
import { parentOf, viewOf } from "./page.js";

const from = (path) => import(`../../tfmviz/views/${path}`);
const { Lens } = await from("lens/view.tsx");
const { Steps } = await from("steps/view.ts");
const writing = (await from("writing/view.tsx")).default;
const { barCharts } = await from("charts/bar.ts");
const { LETTERS, turnSwitch } = await from("shared/switches.ts");
const [counts, keys, models, pieces] = await Promise.all(
  ["counts", "keys", "models", "pieces"].map(async (view) => (await from(`${view}/view.ts`)).default),
);

test("of the lens's cells one is pressed, and Tab reaches that one alone", () => {
  const view = new Lens(document.createElement("div"), {});
  const grid = ["x", "y"].map((row) => ["a", "b"].map((column) => row + column));
  const shades = [
    [0, 1],
    [1, 0],
  ];
  view.show({
    columns: ["a", "b"],
    rows: ["x", "y"],
    tokens: ["x", "y"],
    texts: grid,
    notes: grid,
    shades,
    scale: "share",
    legend: ["", "", ""],
  });
  for (const place of [
    { row: 1, column: 0 },
    { row: 0, column: 1 },
  ]) {
    view.select({ sequence: 0, ...place });
    const cells = [...view.node.querySelectorAll("td button")];
    const chosen = 2 * place.row + place.column;
    assert.deepEqual(
      cells.map(({ tabIndex, ariaPressed }) => [tabIndex, ariaPressed]),
      cells.map((_, n) => (n === chosen ? [0, "true"] : [-1, "false"])),
    );
  }
});

test("Back goes a stage back, Next one on", () => {
  const view = new Steps(document.createElement("div"), {});
  const stepped = [];
  view.step = (by) => stepped.push(by);
  view.back.click();
  view.next.click();
  assert.deepEqual(stepped, [-1, 1]);
});

test("before anything is explained, the line that explains a cell is hidden", () => {
  const view = new Steps(document.createElement("div"), {});
  const grid = { draw() {}, readout: document.createElement("p") };
  Object.defineProperty(view, "current", { value: { main: null, words: () => [] } });
  Object.assign(view, { grids: [grid], hovered: { id: null } });
  view.drawSelection();
  assert.deepEqual([grid.readout.hidden, view.why.hidden], [true, true]);
});

test("a figure in space is an image with its text; without a text it is none", () => {
  const [said, silent] = ["a path", undefined].map((alt) => {
    const node = Object.assign(document.createElement("div"), {
      className: "js-plotly-plot",
      layout: { meta: { alt } },
    });
    document.body.append(node);
    return node;
  });
  const end = barCharts();
  end();
  assert.deepEqual([said.getAttribute("role"), said.ariaLabel], ["img", "a path"]);
  assert.equal(silent.getAttribute("role"), null);
  said.remove();
  silent.remove();
});

test("of models and of how to bring one's own, the menu shows one at a time", () => {
  const root = parentOf("models");
  const data = {
    models: JSON.stringify([{ model: "a", group: "", name: "a", line: "", size: "" }]),
    chosen: "a",
    command: "",
    folder: "",
  };
  models({ data, parentElement: root, setTriggerValue() {} });
  root.querySelector("button").click();
  const [list, own] = ["[role=listbox]", "dialog > section"].map((part) => root.querySelector(part));
  assert.deepEqual([list.hidden, own.hidden], [false, true]);
  [...list.querySelectorAll("[role=option]")].at(-1).click();
  assert.deepEqual([list.hidden, own.hidden], [true, false]);
});

test("letters that are switched off are kept from who listened before", () => {
  const kept = new Map();
  globalThis.localStorage = {
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => kept.set(name, value),
  };
  const heard = [];
  const hear = (event) => heard.push(event.key);
  document.addEventListener("keydown", hear);
  globalThis.requestAnimationFrame = () => 0; // no page is ever drawn here
  const leave = keys({ data: [], parentElement: parentOf("keys"), setTriggerValue() {} });
  turnSwitch(LETTERS, false);
  for (const key of ["f", "Escape"]) document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  leave();
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "g", bubbles: true }));
  document.removeEventListener("keydown", hear);
  assert.deepEqual(heard, ["Escape", "g"]);
});

test("the bar of shares tells where the draw falls, not that another word was put there", () => {
  const rivals = [4, 9].map((token) => ({ token, text: ` ${token}`, shares: [0.5] }));
  const place = { token: 4, text: " 4", number: 0.25, falls: 9, low: 0.125, high: 0.5, p: 0.5, left: 0.5, entropy: 1 };
  const text = { about: "a", prompt: ["so"], lead: "", stages: ["model"], ends: [], limit: 9, undecided: 1 };
  const root = parentOf("writing");
  const data = { ...text, places: [{ ...place, rivals }], texts: { 4: "4" }, edits: [null, null] };
  writing({ data, parentElement: root, setStateValue() {}, setTriggerValue() {} });
  root.querySelector(".bar button").click();
  root.querySelector(".text button").click();
  const [bar, says] = [
    root.querySelector(".cumulated").getAttribute("aria-label"),
    root.querySelector(".says").textContent,
  ];
  assert.match(bar, /“9”/);
  assert.match(says, /chose this word/);
  assert.doesNotMatch(bar, /chose this word/);
});

test("a piece says of what kind it is, and a plain one says nothing more", () => {
  const row = {
    name: "n",
    note: "",
    left_out: 0,
    pieces: [
      ["a", ""],
      ["b", "new"],
    ],
  };
  const view = viewOf(pieces, { caption: "", titles: ["", "", ""], rows: [row] }, "pieces");
  const said = [...view.node.querySelectorAll("li")].map((box) => box.querySelector(".unseen")?.textContent ?? null);
  assert.deepEqual(said, [null, "(new)"]);
});

test("Tab reaches a table itself where it has no buttons, and only there", () => {
  const data = {
    caption: "c",
    columns: ["a", "b"],
    rows: [["x", "1"]],
    shares: [],
    spared: [],
    sentences: [],
    about: "",
  };
  for (const [sortable, picked] of [
    [false, null],
    [true, null],
    [false, 0],
    [true, 0],
  ]) {
    const view = viewOf(counts, { ...data, sortable, picked }, "counts");
    const found = [...view.node.querySelectorAll("[role=region]")].map(({ tabIndex, ariaLabel }) => [
      tabIndex,
      ariaLabel,
    ]);
    assert.deepEqual(found, sortable || picked !== null ? [] : [[0, "c"]], `${sortable}, ${picked}`);
  }
});
