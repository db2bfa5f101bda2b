import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { onReturn } from "../../tfmviz/views/keys/returning.ts";

// An app that tells of its connection and of its script, as Streamlit's does, on a page without a browser.
function page() {
  const states = { "data-test-connection-state": "CONNECTED", "data-test-script-state": "notRunning" };
  const found = { observed: () => {}, heard: {}, calls: 0 };
  globalThis.document = {
    querySelector: () => ({ getAttribute: (name) => states[name] }),
    addEventListener: (name, heard) => {
      found.heard[name] = heard;
    },
    removeEventListener: (name, heard) => found.heard[name] === heard && delete found.heard[name],
  };
  globalThis.MutationObserver = class {
    constructor(callback) {
      found.observed = callback;
    }
    observe() {}
    disconnect() {
      found.observed = null;
    }
  };
  const end = onReturn(() => found.calls++);
  const goes = (connection, script) => {
    Object.assign(states, { "data-test-connection-state": connection, "data-test-script-state": script });
    found.observed();
    return found.calls;
  };
  return { found, goes, end };
}

afterEach(() => {
  delete globalThis.document;
  delete globalThis.MutationObserver;
});

test("a page that stays connected calls nobody, whatever it runs and is asked", () => {
  const { found, goes } = page();
  found.heard.click();
  assert.equal(goes("CONNECTED", "running"), 0);
  assert.equal(goes("CONNECTED", "notRunning"), 0);
});

test("a connection that is back calls once, each time", () => {
  const { goes } = page();
  for (const count of [1, 2]) {
    assert.equal(goes("DISCONNECTED", "notRunning"), count - 1);
    assert.equal(goes("CONNECTED", "notRunning"), count);
    assert.equal(goes("CONNECTED", "running"), count);
    assert.equal(goes("CONNECTED", "notRunning"), count, "nobody has touched the page");
  }
});

test("what a reader does during the first run calls once more when the run has ended", () => {
  for (const event of ["keydown", "click"]) {
    const { found, goes } = page();
    goes("DISCONNECTED", "notRunning");
    assert.equal(goes("CONNECTED", "notRunning"), 1);
    found.heard[event]();
    assert.equal(goes("CONNECTED", "notRunning"), 1, "the run has not begun");
    assert.equal(goes("CONNECTED", "running"), 1);
    assert.equal(goes("CONNECTED", "notRunning"), 2);
    found.heard[event]();
    assert.equal(goes("CONNECTED", "running"), 2);
    assert.equal(goes("CONNECTED", "notRunning"), 2, "only the first run counts");
  }
});

test("what a reader did before the connection was lost does not count", () => {
  const { found, goes } = page();
  found.heard.click();
  goes("DISCONNECTED", "notRunning");
  goes("CONNECTED", "notRunning");
  goes("CONNECTED", "running");
  assert.equal(goes("CONNECTED", "notRunning"), 1);
});

test("the end leaves nothing behind", () => {
  const { found, end } = page();
  end();
  assert.equal(found.observed, null);
  assert.deepEqual(found.heard, {});
});
