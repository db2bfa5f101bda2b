// Toggles: of what can be chosen, a screen reader hears that exactly the chosen one is pressed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { parentOf } from "./page.js";

const { setStageOfGuess } = await import("../../tfmviz/views/shared/guessing.ts");
const draw = (await import("../../tfmviz/views/question/view.ts")).default;

function viewOf(draw, data) {
  const parentElement = parentOf("question");
  draw({ data, parentElement });
  return parentElement.part_;
}

const pressed = (view) => [...view.tokens.children].map(({ ariaPressed }) => ariaPressed === "true");

test("of a question's tokens the guess alone is pressed, none before it, and it is told", () => {
  setStageOfGuess("hidden");
  const tokens = ["a", "b", "c"];
  const view = viewOf(draw, ["which", "Which?", tokens, "b"]);
  assert.deepEqual(pressed(view), [false, false, false]);
  for (const at of [2, 0]) {
    view.tokens.children[at].click();
    assert.deepEqual(
      pressed(view),
      tokens.map((_, n) => n === at),
    );
    assert.match(view.said.textContent, new RegExp(`“${tokens[at]}”`));
  }
  setStageOfGuess("shown");
  assert.deepEqual([view.node.hidden, view.tokens.hidden], [false, true]);
  assert.match(view.said.textContent, /“a”.*: b/);
  setStageOfGuess("");
  assert.deepEqual(pressed(view), [false, false, false]);
  view.leave();
});

test("a question whose answer is no token takes words, and tells them", () => {
  setStageOfGuess("hidden");
  const view = viewOf(draw, ["why", "Why?", [], ""]);
  assert.deepEqual([view.tokens.hidden, view.box.hidden], [true, false]);
  view.box.value = " because ";
  view.box.onchange();
  assert.match(view.said.textContent, /“because”/);
  setStageOfGuess("shown");
  assert.deepEqual([view.node.hidden, view.box.hidden], [false, true]);
  assert.match(view.said.textContent, /“because”\.$/);
  view.leave();
});
