// What stands around the figures: header, search, guess, the presenter's window, the line while somebody types.

import assert from "node:assert/strict";
import { test } from "node:test";
import { channels, parentOf } from "./page.js";

const from = async (path) => await import(`../../tfmviz/views/${path}`);
const { Header } = await from("frame/header.tsx");
const { ranked, prepared } = await from("find/ranking.ts");
const { setStageOfGuess, stageOfGuess } = await from("shared/guessing.ts");
const [find, guess, question, models, presenter, live] = await Promise.all(
  ["find/view.ts", "guess/view.ts", "question/view.ts", "models/view.ts", "presenter/view.tsx", "live/view.ts"].map(
    async (path) => (await from(path)).default,
  ),
);

/** The root of a part that Python has given these data. */
function drawn(part, data, key = "part") {
  const parentElement = parentOf(key);
  const leave = part({ data, parentElement, setTriggerValue() {} });
  return Object.assign(parentElement, { leave });
}

const texts = (root, selector) => [...root.querySelectorAll(selector)].map(({ textContent }) => textContent);
const letter = (key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const goTo = (query) => document.defaultView.happyDOM.setURL(`http://127.0.0.1/${query}`);

test("the header marks the open page and its group, names it once as heading, and goes to any other", () => {
  const home = { name: "", short: "", pages: [["Home", "./", ""]] };
  const attention = { name: "Attention", short: "A", pages: ["Explorer", "Masks"].map((name) => [name, name, ""]) };
  const gone = [];
  const root = parentOf("header");
  const header = new Header(root, { kept: (address) => address, go: (address) => gone.push(address), shared: null });
  for (const [page, group] of [
    ["Masks", "AttentionAMasks"],
    ["Home", "Home"],
  ]) {
    header.show(page, [home, attention]);
    assert.deepEqual(texts(root, "[aria-current]"), [page]);
    assert.deepEqual(texts(root, "h1"), [page]);
    assert.ok(texts(root, ".here").join().startsWith(group));
  }
  for (const link of root.querySelectorAll("a")) link.click();
  assert.deepEqual(gone, ["Explorer", "Masks"]);
  for (const end of header.ends) end();
});

const entry = (title, more = {}) => ({ kind: "term", title, also: "", says: "", place: "", address: "./x", ...more });

test("of what is found one entry is selected, and the box names it to a screen reader; of nothing none", async () => {
  const entries = JSON.stringify(["head", "heading", "mask"].map((title) => entry(title)));
  const root = drawn(find, { entries, at: "" });
  const [box, dialog] = [root.querySelector("input"), root.querySelector("dialog")];
  const chosen = () => [
    box.getAttribute("aria-activedescendant"),
    [...root.querySelectorAll("[aria-selected=true]")].map(({ id }) => id),
    root.querySelector("[role=status]").textContent !== "",
  ];
  root.querySelector("button").click();
  for (const [text, found] of [
    ["head", ["found-0", ["found-0"], false]],
    ["zebra", [null, [], true]],
  ]) {
    box.value = text;
    await box.oninput();
    assert.deepEqual(chosen(), found);
  }
  box.value = "head";
  await box.oninput();
  box.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
  assert.deepEqual(chosen(), ["found-1", ["found-1"], false]);
  box.click();
  assert.ok(dialog.open);
  dialog.click();
  assert.ok(!dialog.open);
  root.leave();
});

test("a word of the title counts more than another name for it, that more than an explanation; whole words come first", () => {
  const entries = [
    entry("a one", { says: "heads" }),
    entry("b two", { says: "head" }),
    entry("c three", { also: "heads" }),
    entry("heads four"),
    entry("e five", { also: "head" }),
    entry("head six"),
  ];
  const found = ranked(prepared(entries), "head", 9).map(({ title }) => title);
  assert.deepEqual(found, entries.map(({ title }) => title).reverse());
});

test("an entry that fits in two places counts as much as in the better one", () => {
  const entries = [entry("one", { also: "head" }), entry("head two", { says: "head" })];
  assert.deepEqual(
    ranked(prepared(entries), "head", 9).map(({ title }) => title),
    ["head two", "one"],
  );
});

test("Guess hides and shows in turn, by click and by its letter, and an address may arrive hidden", () => {
  goTo("?guess=1");
  const root = drawn(guess, {});
  const button = root.querySelector("button");
  const state = () => [stageOfGuess(), button.textContent, button.ariaPressed];
  const [hidden, shown] = [
    ["hidden", "Show", "true"],
    ["shown", "Guess", "false"],
  ];
  assert.deepEqual(state(), hidden);
  button.click();
  assert.deepEqual(state(), shown);
  letter("g");
  assert.deepEqual(state(), hidden);
  goTo("?text=a");
  window.dispatchEvent(new PopStateEvent("popstate"));
  assert.deepEqual(state(), ["", "Guess", "false"]);
  root.leave();
});

test("a guess is a token of the question or of its figure, while values are hidden, and nothing else", () => {
  const tokens = ["the", "cat"];
  const root = drawn(question, ["which", "Which?", tokens, "the"]);
  const [own, other] = ["hidden-which", "hidden-other"].map((key) => {
    const box = document.body.appendChild(Object.assign(document.createElement("div"), { className: `st-key-${key}` }));
    box.innerHTML = '<p>text</p><button data-position="1">cat</button>';
    return box;
  });
  const said = root.querySelector("[role=status]");
  const guessed = (node) => {
    node.click();
    return said.textContent;
  };
  const ofFigure = own.querySelector("button");
  assert.equal(guessed(ofFigure), "", "nothing is hidden");
  setStageOfGuess("hidden");
  assert.equal(guessed(other.querySelector("button")), "", "another figure");
  assert.equal(guessed(own.querySelector("p")), "", "no token");
  assert.equal(guessed(ofFigure), "Guessed: “cat”.");
  assert.equal(guessed(root.querySelector(".tokens button")), "Guessed: “the”.");
  setStageOfGuess("shown");
  assert.equal(guessed(ofFigure), "Guessed: “the”. The model: the.", "too late");
  setStageOfGuess("");
  root.leave();
});

test("a click on a figure is no guess where words are asked for", () => {
  const root = drawn(question, ["why", "Why?", [], ""]);
  const figure = document.body.appendChild(document.createElement("div"));
  Object.assign(figure, { className: "st-key-hidden-why", innerHTML: '<button data-position="0">the</button>' });
  setStageOfGuess("hidden");
  figure.firstChild.click();
  assert.equal(root.querySelector("[role=status]").textContent, "");
  setStageOfGuess("");
  root.leave();
});

test("a question asks for words or for a token, even if there is but one", () => {
  for (const tokens of [[], ["a"]]) {
    const root = drawn(question, ["which", "Which?", tokens, ""]);
    const [words, buttons] = ["input", ".tokens"].map((part) => !root.querySelector(part).hidden);
    assert.deepEqual([words, buttons], [!tokens.length, tokens.length > 0]);
    root.leave();
  }
});

test("a click beside the list of models closes it, a click in it does not", () => {
  const root = drawn(models, { models: "[]", chosen: "a", command: "", folder: "" });
  const dialog = root.querySelector("dialog");
  root.querySelector("button").click();
  dialog.firstChild.click();
  assert.ok(dialog.open);
  dialog.click();
  assert.ok(!dialog.open);
});

const STEP = { title: "L1", section: "", place: "1 of 9", say: "Look.", next: "", minutes: 9, back: "", on: "./on" };

test("the presenter's window has the class's step, keeps it when the class is gone, and sets the clock to 0", (context) => {
  context.mock.timers.enable({ apis: ["setInterval"] });
  const sent = [];
  globalThis.BroadcastChannel = channels();
  const lecture = Object.assign(new BroadcastChannel(), { onmessage: ({ data }) => sent.push(data) });
  window.name = "tfmviz-presenter-1";
  const root = drawn(presenter, {});
  const shown = () => [texts(root, "h1, .say"), texts(root, "[role=status]").length];
  const tell = (more) => lecture.postMessage({ of: "1", from: "lecture", ...more });
  assert.deepEqual(shown(), [[], 1]);
  tell({ step: STEP, began: Date.now() });
  assert.deepEqual(shown(), [["L1", "Look."], 0]);
  assert.deepEqual(texts(root, ".place"), ["1 of 9"]);
  tell({ step: { ...STEP, section: "Masks" }, began: Date.now() });
  assert.deepEqual(texts(root, ".place"), ["Masks · 1 of 9"]);
  tell({ leaves: true });
  assert.deepEqual(shown(), [["L1", "Look."], 1]);
  root.querySelector("header button").click();
  assert.equal(sent.at(-1).again, true);
  root.leave();
});

test("while somebody types, the server's word is said, else what keeps the browser from computing", () => {
  const root = drawn(live, { at: "./live", page: {}, text: "", views: "", parcel: null, opening: {} });
  const note = root.querySelector("[role=status]");
  const { sources } = root.part_;
  const [own, server] = [sources[0], sources.at(-1)];
  own.trouble = "Too little memory.";
  own.onChange();
  assert.equal(note.textContent, "Too little memory.");
  server.say("Busy.");
  assert.equal(note.textContent, "Busy.");
  server.say("");
  assert.equal(note.textContent, "Too little memory.");
  root.leave();
});
