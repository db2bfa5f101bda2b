import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { isAway, isReady, onServer } from "../../tfmviz/views/shared/server.ts";

// A page without a browser: an app that tells of its connection and of its script as Streamlit's does, with one box.
let states, observers, listeners, box, calls, loads;

beforeEach(() => {
  const listen = (name, act) => listeners.push([name, act]);
  [observers, listeners, loads] = [[], [], 0];
  states = { "data-test-connection-state": "CONNECTED", "data-test-script-state": "notRunning" };
  box = { disabled: "", removeAttribute: (name) => delete box[name] };
  const kept = new Map();
  const sessionStorage = { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value) };
  Object.assign(globalThis, {
    window: { addEventListener: listen },
    document: {
      addEventListener: (name, act, isFirst) => isFirst && listen(name, act), // pictures keep what they answer
      querySelector: () => ({ getAttribute: (name) => states[name] }),
      querySelectorAll: () => [box],
    },
    sessionStorage,
    location: { reload: () => loads++ },
    MutationObserver: class {
      constructor(callback) {
        observers.push(callback);
      }
      observe() {}
    },
    tfmvizServer: undefined,
  });
  calls = { away: 0, back: 0 };
  onServer({ away: () => calls.away++, back: () => calls.back++ });
});

const act = (name, event) => listeners.filter(([heard]) => heard === name).map(([, tell]) => tell(event));

function goes(connection, script = "notRunning") {
  Object.assign(states, { "data-test-connection-state": connection, "data-test-script-state": script });
  if (connection !== "CONNECTED") box.disabled = "";
  for (const look of observers) look();
  return calls.back;
}

test("however many listen, one observes", () => {
  onServer({});
  assert.equal(observers.length, 1);
});

test("a page that stays connected tells nothing, whatever it runs and is asked", () => {
  act("click");
  for (const script of ["running", "notRunning"]) goes("CONNECTED", script);
  assert.deepEqual(calls, { away: 0, back: 0 });
  assert.deepEqual([isReady(), isAway()], [true, false]);
});

test("while the server is away boxes stay open, and nobody hears of it twice", () => {
  for (const state of ["PINGING_SERVER", "DISCONNECTED", "PINGING_SERVER"]) {
    goes(state);
    assert.deepEqual([isAway(), isReady(), "disabled" in box, calls.away], [true, false, false, 1]);
  }
});

test("a connection that is back is told once, each time, until one listens no longer", () => {
  let others = 0;
  const end = onServer({ back: () => others++ });
  for (const count of [1, 2]) {
    assert.equal(goes("DISCONNECTED"), count - 1);
    assert.equal(goes("CONNECTED"), count);
    assert.equal(goes("CONNECTED", "running"), count);
    assert.equal(goes("CONNECTED"), count, "nobody has touched the page");
    end();
  }
  assert.equal(others, 1);
});

test("what a reader does during another server's first run makes it tell once more when the run has ended", () => {
  for (const [n, event] of ["keydown", "click"].entries()) {
    act(event); // before the connection is lost: it does not count
    goes("DISCONNECTED");
    assert.equal(goes("CONNECTED"), 2 * n + 1);
    act(event);
    assert.equal(goes("CONNECTED"), 2 * n + 1, "the run has not begun");
    assert.equal(goes("CONNECTED", "running"), 2 * n + 1);
    assert.equal(goes("CONNECTED"), 2 * n + 2);
    act(event);
    for (const script of ["running", "notRunning"])
      assert.equal(goes("CONNECTED", script), 2 * n + 2, "only the first");
  }
});

test("a page that nothing reaches is loaded anew, after a late answer or a forgotten message, and not for ever", (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: 1e12 });
  const bad = new Error("Bad delta path index 1 (should be between [0, 0])");
  const fails = (name, failed) => act(name, failed) && loads;
  assert.equal(fails("error", { error: new Error("something else") }), 0);
  assert.equal(fails("error", {}), 0);
  for (const count of [1, 2, 3]) assert.equal(fails("unhandledrejection", { reason: bad }), count);
  t.mock.timers.tick(29_999);
  assert.equal(fails("error", { error: bad }), 3);
  t.mock.timers.tick(1);
  for (const [state, count] of Object.entries({ PINGING_SERVER: 3, CONNECTED: 3, DISCONNECTED_FOREVER: 4 })) {
    goes(state);
    assert.equal(loads, count, state);
  }
  for (const count of [5, 6, 6]) assert.equal(fails("error", { error: bad }), count);
});
