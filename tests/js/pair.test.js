// A lecture's window and its presenter's, and how each knows that the other is there.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pair } from "../../tfmviz/views/walk/pair.ts";
import { channels } from "./page.js";

test("whoever is gone is missed within two seconds, and heard again at once; other lectures are not heard", (context) => {
  context.mock.timers.enable({ apis: ["setInterval"] });
  Object.assign(globalThis, {
    BroadcastChannel: channels(),
    window: { addEventListener() {}, removeEventListener() {} },
  });
  const seen = { 1: [], 2: [] };
  const lectures = ["1", "2"].map((of) =>
    pair({ from: "lecture", of, answer: () => ({ step: { place: of } }) }, (said, is) => seen[of].push(said.way ?? is)),
  );
  const heard = [];
  const open = () => pair({ from: "presenter", of: "1" }, ({ step }, is) => heard.push(is && step.place));
  const presenter = open();
  assert.deepEqual([seen[1].pop(), heard.pop()], [true, "1"]);
  presenter.say({ way: "on" });
  assert.equal(seen[1].pop(), "on");
  context.mock.timers.tick(60_000);
  assert.ok(!seen[1].includes(false), "both answer");
  presenter.end(); // as by a crash: nothing is said
  context.mock.timers.tick(2_000);
  assert.equal(seen[1].pop(), false);
  const again = open();
  assert.equal(seen[1].pop(), true);
  lectures[0].end();
  context.mock.timers.tick(15_000);
  assert.equal(heard.pop(), false);
  for (const one of [again, lectures[1]]) one.end();
  assert.deepEqual(seen[2], []);
});

test("a window that is closed says so, and is missed at once", (context) => {
  context.mock.timers.enable({ apis: ["setInterval"] });
  const [ofLecture, ofPresenter] = ["i", "b"].map((name) => document.createElement(name)); // what windows would be
  Object.assign(globalThis, { BroadcastChannel: channels(), window: ofLecture });
  const seen = [];
  const lecture = pair({ from: "lecture", of: "1" }, (_, is) => seen.push(is));
  globalThis.window = ofPresenter;
  const presenter = pair({ from: "presenter", of: "1" }, () => {});
  assert.equal(seen.at(-1), true);
  ofPresenter.dispatchEvent(new Event("pagehide"));
  assert.equal(seen.at(-1), false);
  for (const one of [lecture, presenter]) one.end();
});
