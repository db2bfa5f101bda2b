import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { withhold } from "../../tfmviz/views/keys/list.ts";
import { isOn, LETTERS, TYPING, turnSwitch } from "../../tfmviz/views/shared/switches.ts";

function storage() {
  const kept = new Map();
  return {
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => kept.set(name, value),
    removeItem: (name) => kept.delete(name),
  };
}

// Whether a key that is pressed on a part of the page is kept from all others.
function isWithheld(key, { on = "div", ...more } = {}) {
  globalThis.Element = class {
    matches(selector) {
      return selector.split(", ").includes(on);
    }
  };
  let stopped = false;
  const stopImmediatePropagation = () => {
    stopped = true;
  };
  withhold({ key, composedPath: () => [new Element()], stopImmediatePropagation, ...more });
  delete globalThis.Element;
  return stopped;
}

afterEach(() => {
  delete globalThis.localStorage;
});

test("letters act until they are switched off, and again once they are switched on", () => {
  globalThis.localStorage = storage();
  assert.equal(isOn(LETTERS), true);
  assert.equal(isWithheld("f"), false);
  turnSwitch(LETTERS, false);
  assert.equal(isOn(LETTERS), false);
  assert.equal(isOn(TYPING), true);
  turnSwitch(LETTERS, true);
  assert.equal(isOn(LETTERS), true);
});

test("off, no single character acts, but chords, named keys and what is typed do", () => {
  globalThis.localStorage = storage();
  turnSwitch(LETTERS, false);
  for (const key of ["f", "G", "?", "[", "1", "ä"]) assert.equal(isWithheld(key), true, key);
  for (const key of ["ArrowLeft", "Escape", "PageDown", "Enter", " ", "Tab"]) assert.equal(isWithheld(key), false, key);
  for (const chord of ["ctrlKey", "altKey", "metaKey"]) assert.equal(isWithheld("k", { [chord]: true }), false);
  for (const on of ["input", "textarea", "select"]) assert.equal(isWithheld("f", { on }), false);
});

test("a browser that stores nothing keeps its shortcuts", () => {
  Object.defineProperty(globalThis, "localStorage", {
    configurable: true,
    get: () => {
      throw new Error("denied");
    },
  });
  turnSwitch(LETTERS, false);
  assert.equal(isOn(LETTERS), true);
});
