import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { MEANT } from "../../tfmviz/views/shared/going.ts";
import { arrive, step } from "../../tfmviz/views/walk/stepping.ts";

// A window whose address and page are ours, and which counts how often Streamlit is asked for a page.
const [BEFORE, AFTER, ELSEWHERE] = ["/a?lecture=L3&step=one", "/b?lecture=L3&step=two", "/a"];
let asked, heard, line, script;
const at = (address) => Object.assign(globalThis, { location: new URL(address, "http://127.0.0.1/") });
const ask = (isTrusted, state) => [...heard].map((hear) => hear({ isTrusted, state }));
const shows = (address, step) => {
  at(address);
  arrive(step);
};

beforeEach(() => {
  [asked, heard, line, script] = [[], new Set(), true, "notRunning"];
  const stateOf = (name) => (name === "data-test-script-state" ? script : "CONNECTED");
  Object.assign(globalThis, {
    document: { querySelector: (what) => (what === ".st-key-lecture" ? line || null : { getAttribute: stateOf }) },
    history: { pushState: (_, __, address) => at(address) },
    PopStateEvent: class {
      constructor(_, { state } = {}) {
        this.state = state;
      }
    },
    window: {
      addEventListener: (_, hear) => heard.add(hear),
      removeEventListener: (_, hear) => heard.delete(hear),
      dispatchEvent({ state }) {
        asked.push(location.pathname + location.search);
        ask(false, state);
      },
    },
  });
  shows(BEFORE, "one");
});

const cases = {
  "a step that arrives is asked for once": [() => shows(AFTER, "two"), [AFTER]],
  "a late answer that goes back to the step before is overruled": [() => at(BEFORE), [AFTER, AFTER]],
  "a page whose answer has no line of the lecture is asked for again": [
    () => {
      shows(AFTER, "two");
      line = false;
    },
    [AFTER, AFTER],
  ],
  "a page that still runs is waited for": [
    () => {
      script = "running";
    },
    [AFTER],
  ],
  "who leaves the lecture, or presses the back button, means it": [() => at(ELSEWHERE), [AFTER]],
};
for (const [title, [happens, expected]] of Object.entries(cases))
  test(title, (t) => {
    t.mock.timers.enable();
    step(AFTER);
    happens();
    t.mock.timers.tick(20_000);
    assert.deepEqual(asked, expected);
  });

test("the browser's back button, or a step that was found, is kept to from then on", (t) => {
  t.mock.timers.enable();
  for (const [isTrusted, state, expected] of [
    [true, null, [AFTER]],
    [false, MEANT, [AFTER]],
    [false, null, [AFTER, AFTER]],
  ]) {
    asked = [];
    shows(BEFORE, "one");
    step(AFTER);
    at(BEFORE);
    ask(isTrusted, state);
    t.mock.timers.tick(20_000);
    assert.deepEqual(asked, expected);
  }
});
