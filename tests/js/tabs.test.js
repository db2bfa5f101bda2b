// Tabs that an address or a lecture's step has chosen come into the window, until they stay or the reader moves.

import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.js";

const { showTabs } = await import("../../tfmviz/views/shared/looking.ts");
const { keepInSight } = await import("../../tfmviz/views/walk/sight.ts");

/** How often and to which rows of tabs it has scrolled while it looked `n` times; the last row lies at `top` of 100. */
function scrolled(t, { n, top, moved = null, drawn = true, names = ["maps", ""] }) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const moves = document.createElement("div");
  const inside = moves.appendChild(document.createElement("div")); // keeps what the reader does to itself
  inside.addEventListener("wheel", (event) => event.stopPropagation());
  globalThis.addEventListener = moves.addEventListener.bind(moves);
  globalThis.removeEventListener = moves.removeEventListener.bind(moves);
  Object.assign(globalThis, { innerHeight: 100, CSS: { escape: (name) => name } });
  const found = [];
  document.body.innerHTML = `${drawn ? '<p data-test-script-state="notRunning" data-test-connection-state="CONNECTED">' : ""}
    <div class="st-key-other"><b id="no" role="tablist"></b></div>
    <div class="st-key-maps"><b id="first" role="tablist"></b><b id="more" role="tablist"></b><b id="last" role="tablist"></b></div>`;
  for (const node of document.querySelectorAll("b")) {
    node.getBoundingClientRect = () => ({ top: top(found.length) });
    node.scrollIntoView = () => found.push(node.id);
  }
  const end = showTabs(names);
  for (let at = 0; at < n; at++) {
    if (at === moved) inside.dispatchEvent(new Event("wheel", { bubbles: true }));
    t.mock.timers.tick(100);
  }
  end();
  t.mock.timers.reset();
  return found;
}

test("it scrolls to the last row of that name while this lies low, and no more once it has stayed", (t) => {
  const low = () => 51;
  const once = (times) => (times ? 0 : 51);
  assert.deepEqual(scrolled(t, { n: 3, top: low }), ["last", "last", "last"]);
  assert.deepEqual(scrolled(t, { n: 9, top: once }), ["last"]);
  assert.deepEqual(scrolled(t, { n: 3, top: () => 50 }), []);
  let looks = 0;
  assert.deepEqual(scrolled(t, { n: 30, top: () => (looks++ < 10 ? 0 : 51) }), [], "ten looks in a row are enough");
  looks = 0;
  assert.equal(scrolled(t, { n: 30, top: () => (looks++ === 9 ? 51 : 0) }).length, 1, "nine are not");
});

test("it does not look for ever, nor before the page is drawn, nor once the reader moves or without a name", (t) => {
  const low = () => 51;
  assert.equal(scrolled(t, { n: 400, top: low }).length, 300);
  assert.equal(scrolled(t, { n: 9, top: low, moved: 4 }).length, 4);
  assert.equal(scrolled(t, { n: 9, top: low, drawn: false }).length, 0);
  assert.equal(scrolled(t, { n: 9, top: low, names: ["", ""] }).length, 0);
});

test("the open tab of a row that is wider than the window is brought into it", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  document.body.innerHTML = `<p data-test-script-state="notRunning" data-test-connection-state="CONNECTED">
    <nav></nav><b role="tablist"><i role="tab"></i><i role="tab" aria-selected="true"></i></b>`;
  const [walk, row, open] = ["nav", "b", "[aria-selected]"].map((name) => document.querySelector(name));
  row.getBoundingClientRect = () => ({ left: 0, right: 100 });
  row.scrollTo = ({ left }) => {
    row.scrollLeft = left;
  };
  open.getBoundingClientRect = () => ({ left: 110 - row.scrollLeft, right: 130 - row.scrollLeft });
  const end = keepInSight(walk, ["steps"]);
  t.mock.timers.tick(300);
  assert.equal(row.scrollLeft, 70);
  end();
});

test("an open tab beside its strip is scrolled into the middle of it, and one that is seen stays", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  document.body.innerHTML = `<p data-test-script-state="notRunning" data-test-connection-state="CONNECTED">
    <div class="st-key-maps"><b role="tablist"><i aria-selected="false"></i><i aria-selected="true"></i></b></div>`;
  const strip = document.querySelector("b");
  strip.getBoundingClientRect = () => ({ top: 0, left: 10, right: 110 });
  strip.scrollTo = ({ left }) => {
    strip.scrollLeft = left;
  };
  const tab = document.querySelectorAll("i")[1];
  tab.getBoundingClientRect = () => ({ left: 200 - strip.scrollLeft, right: 240 - strip.scrollLeft });
  const end = showTabs(["maps"]);
  t.mock.timers.tick(100);
  assert.equal(strip.scrollLeft, 160);
  strip.scrollLeft = 130;
  t.mock.timers.tick(100);
  assert.equal(strip.scrollLeft, 130);
  end();
  t.mock.timers.reset();
});

test("what a step speaks of is ringed once it is there, but not a whole figure that fills half of the window", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  document.body.innerHTML = `<p data-test-script-state="notRunning" data-test-connection-state="CONNECTED"><nav></nav>`;
  Object.assign(globalThis, { innerWidth: 100, innerHeight: 100 });
  const walk = document.querySelector("nav");
  const ringed = (show, found) => {
    globalThis.tfmvizWhere = () => found;
    const end = keepInSight(walk, show);
    const ring = walk.querySelector(".ring");
    assert.ok(ring.hidden, "nothing is found yet");
    t.mock.timers.tick(100);
    const is = !ring.hidden;
    end();
    return is;
  };
  const [small, large] = [20, 90].map((width) => ({ left: 0, top: 0, width, height: width }));
  assert.deepEqual(
    [ringed(["steps"], small), ringed(["steps"], large), ringed(["steps", "it"], large), ringed(["steps"], null)],
    [true, false, true, false],
  );
  delete globalThis.tfmvizWhere;
});
