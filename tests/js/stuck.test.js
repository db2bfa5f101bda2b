import assert from "node:assert/strict";
import { test } from "node:test";
import { reloadIfStuck } from "../../tfmviz/views/keys/stuck.ts";

// A window that hears of errors, an app that tells of its connection, and a clock.
globalThis.window = new EventTarget();
const kept = new Map();
globalThis.sessionStorage = { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value) };

let [connection, tell] = ["CONNECTED", () => {}];
globalThis.document = { querySelector: () => ({ getAttribute: () => connection }) };
globalThis.MutationObserver = class {
  constructor(callback) {
    tell = callback;
  }
  observe() {}
};

const BAD = "Bad delta path index 1 (should be between [0, 0])";

test("a stuck page is loaded anew, once however many views have asked for that, and not for ever", (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: 1e12 });
  let loads = 0;
  const fails = (name, failed) => {
    window.dispatchEvent(Object.assign(new Event(name), failed));
    return loads;
  };
  reloadIfStuck(() => loads++);
  reloadIfStuck(() => loads++); // the next page's view: the first one's has gone
  assert.equal(fails("error", { error: new Error("something else") }), 0);
  assert.equal(fails("error", {}), 0);
  for (const count of [1, 2, 3]) assert.equal(fails("unhandledrejection", { reason: new Error(BAD) }), count);
  t.mock.timers.tick(29_999);
  assert.equal(fails("error", { error: new Error(BAD) }), 3);
  t.mock.timers.tick(1);
  for (const [state, count] of Object.entries({ PINGING_SERVER: 3, CONNECTED: 3, DISCONNECTED_FOREVER: 4 })) {
    connection = state;
    tell();
    assert.equal(loads, count);
  }
  for (const count of [5, 6, 6]) assert.equal(fails("error", { error: new Error(BAD) }), count);
});
