// What a screen reader is told of buttons that are drawn from state, and which of them Tab reaches.

import assert from "node:assert/strict";
import { test } from "node:test";
import { parentOf } from "./page.js";

const told = new EventTarget(); // what the window would be
for (const name of ["addEventListener", "removeEventListener"]) globalThis[name] = told[name].bind(told);

const question = (await import("../../tfmviz/views/question/view.ts")).default;
const writing = (await import("../../tfmviz/views/writing/view.tsx")).default;

const all = (root, selector) => [...root.querySelectorAll(selector)];
const pressed = (buttons) => buttons.map((node) => node.getAttribute("aria-pressed"));
const stops = (buttons) => buttons.map((node) => node.tabIndex);

function press(node, key) {
  node.focus();
  node.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
}

function drawn(draw, data) {
  const parentElement = parentOf("view");
  draw({ data, parentElement, setStateValue() {}, setTriggerValue() {} });
  return parentElement;
}

test("a guess presses its token, and no other; arrow keys take the stop along", () => {
  document.documentElement.dataset.guess = "hidden";
  const parent = drawn(question, ["where", "Where does it look?", ["a", "b", "c"], ""]);
  const tokens = all(parent, ".tokens button");
  assert.deepEqual(
    [pressed(tokens), stops(tokens)],
    [
      ["false", "false", "false"],
      [0, -1, -1],
    ],
  );
  tokens[1].click();
  assert.deepEqual(pressed(tokens), ["false", "true", "false"]);
  assert.match(parent.querySelector("[role=status]").textContent, /“b”/);
  press(tokens[0], "ArrowRight");
  assert.deepEqual(stops(tokens), [-1, 0, -1]);
  parent.part_.leave();
  document.documentElement.dataset.guess = "";
});

const place = (token, text) => ({
  ...{ token, text, p: 0.5, left: 0.5, entropy: 0.5, number: null, falls: token, low: 0, high: 1 },
  rivals: [
    { token, text, shares: [0.5] },
    { token: 9, text: "other", shares: [null] },
  ],
});
const TEXT = {
  ...{ about: "a", prompt: ["so"], lead: "", stages: ["model"], ends: [], limit: 9, undecided: 1, edits: [null, null] },
  places: [place(1, "one"), place(2, "two"), place(3, "three")],
  texts: { 1: "one", 2: "two", 3: "three" },
};

test("of the words that are written Tab reaches one, after arrow keys and another drawing too", () => {
  const parent = drawn(writing, TEXT);
  const next = all(parent, ".bar button")[0];
  for (let n = 0; n < 3; n++) next.click();
  const words = () => all(parent, ".text button");
  assert.deepEqual(stops(words()), [-1, -1, 0]);
  press(words()[2], "ArrowLeft");
  assert.deepEqual(stops(words()), [-1, 0, -1]);
  words()[0].click();
  assert.deepEqual(
    [stops(words()), pressed(words())],
    [
      [0, -1, -1],
      ["true", "false", "false"],
    ],
  );
  const rivals = all(parent, ".rivals button");
  assert.deepEqual(pressed(rivals), ["true", "false"]);
  assert.match(rivals[1].getAttribute("aria-label"), /cut by model/);
});

test("a word that Python has not read is heard as it is written; the branch that is read is pressed", () => {
  const parent = drawn(writing, TEXT);
  all(parent, ".bar button")[0].click();
  const [word] = all(parent, ".text button");
  assert.match(word.getAttribute("aria-label"), /^Word 1 “one”: /);
  word.click();
  const { title } = parent.view_.values();
  assert.ok(parent.querySelector(".rivals th").textContent.startsWith(title), title);
  all(parent, ".rivals button")[1].click();
  const [other] = all(parent, ".text button");
  assert.deepEqual([other.textContent, other.getAttribute("aria-label")], ["other", null]);
  assert.deepEqual(pressed(all(parent, ".branches button")), ["false", "true"]);
});
