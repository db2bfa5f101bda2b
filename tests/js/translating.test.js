import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { stepSentence } from "../../tfmviz/views/translating/view.tsx";
import { viewOf } from "./page.js";

const draw = (await import("../../tfmviz/views/translating/view.tsx")).default;

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

test("all words are shown until somebody chooses, and the step asked for is looked at if it is written, else the last", () => {
  const { view } = translation(["b", "b", "b", "b"]);
  const seen = (shown, step) => {
    view.take({ shown, step });
    return [view.shown, view.looked];
  };
  assert.deepEqual(seen(null, null), [4, 3]);
  assert.deepEqual(seen(null, 2), [4, 2]);
  assert.deepEqual(seen(9, 0), [4, 0]);
  assert.deepEqual(seen(3, 3), [3, 2]);
  assert.deepEqual(seen(0, null), [0, null]);
  assert.deepEqual(seen(-1, 0), [0, null]);
});

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
