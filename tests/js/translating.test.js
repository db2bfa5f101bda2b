import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { lookedAt, shownOf, stepSentence, strongest } from "../../tfmviz/views/translating/steps.ts";
import { viewOf } from "./page.js";

const draw = (await import("../../tfmviz/views/translating/view.tsx")).default;

test("all words are shown until somebody chooses, and never more than there are", () => {
  assert.deepEqual(
    [null, 0, 3, 9, -1].map((asked) => shownOf(asked, 5)),
    [5, 0, 3, 5, 0],
  );
});

test("the step looked at is the one asked for if it is written, else the last", () => {
  assert.equal(lookedAt(4, 2), 2);
  assert.equal(lookedAt(4, 0), 0);
  assert.equal(lookedAt(4, 4), 3);
  assert.equal(lookedAt(4, null), 3);
  assert.equal(lookedAt(0, null), null);
  assert.equal(lookedAt(0, 0), null);
});

test("the strongest looks come first, equal ones in the order of the source", () => {
  assert.deepEqual(
    strongest([0.1, 0.4, 0.1, 0.4], 3).map(({ position }) => position),
    [1, 3, 0],
  );
  assert.equal(strongest([1], 3).length, 1);
});

test("a step says what is read, written and looked at", () => {
  const step = { reads: "a", writes: "red", p: 0.97, weights: [0.05, 0.9, 0.05] };
  assert.equal(
    stepSentence(step, ["une", "rouge", "."], 3),
    "Step 4: the decoder reads “a” and writes “red” (97%). It looks most at “rouge” 90%, “une” 5.0%, “.” 5.0%.",
  );
});

function translation(writes) {
  const step = { reads: "a", p: 1, weights: [1] };
  const steps = writes.map((word) => ({ ...step, writes: word }));
  const view = viewOf(draw, { about: "", source: ["x"], steps, heads: "" });
  return { view, at: (selector) => [...view.node.querySelectorAll(selector)] };
}

test("playing writes word by word from the beginning to the end, and a second press pauses it", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { view, at } = translation(["b", "b", "b"]);
  const play = at(".bar button")[2];
  const seen = [];
  const goOn = (n = 1) => {
    for (let word = 0; word < n; word++) {
      seen.push(`${play.textContent} ${view.shown}`);
      mock.timers.runAll();
    }
  };
  goOn();
  play.click();
  goOn(4);
  play.click();
  play.click();
  goOn(2);
  mock.timers.reset();
  assert.deepEqual(seen, ["Play 3", "Pause 0", "Pause 1", "Pause 2", "Play 3", "Play 0", "Play 0"]);
});

test("arrows lead from word to word, Tab to the one looked at; a click pins it", () => {
  const { at } = translation(["b", "c", "d"]);
  const words = at(".target button");
  const states = () => words.map((node) => `${node.tabIndex} ${node.ariaPressed}`);
  assert.deepEqual(states(), ["-1 false", "-1 false", "0 false"]);
  words[2].focus();
  words[2].dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true }));
  assert.deepEqual(states(), ["-1 false", "0 false", "-1 false"]);
  assert.match(at(".says")[0].textContent, /writes “c”/);
  words[1].click();
  words[1].blur();
  assert.deepEqual(states(), ["-1 false", "0 true", "-1 false"]);
  assert.deepEqual(at("tr.looked th")[0].textContent, "a → c");
});
