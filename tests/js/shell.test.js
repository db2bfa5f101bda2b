// The protocol between a view and the page around it.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { look, parentOf } from "./page.js";

const { ViewBase, DEBOUNCE_MS } = await import("../../tfmviz/views/shared/view_base.ts");
const { component, keyOf } = await import("../../tfmviz/views/shared/streamlit_bridge.ts");
const { placeOfToken, tokenAtPlace } = await import("../../tfmviz/views/shared/view_base.ts");
const relay = (await import("../../tfmviz/views/selection/view.ts")).default;

class Counter extends ViewBase {
  n = 0;
  drawn = 0;
  constructor(parent, page) {
    super(parent, page);
    this.mount({ className: "counter", ariaLabel: "A counter" }, this.bar());
  }
  read(data) {
    this.data = data;
  }
  draw() {
    this.drawn += 1;
  }
  chosen() {
    return { n: this.n };
  }
  take({ n }) {
    this.n = n;
  }
  count(delay) {
    this.n += 1;
    this.notify(delay);
  }
}

function counter() {
  const reports = [];
  const view = new Counter(document.createElement("div"), { report: (selection) => reports.push(selection) });
  view.show({});
  return { view, reports };
}

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
});

test("one report when the hand is still, with what is chosen then", () => {
  const { view, reports } = counter();
  for (let n = 0; n < 5; n++) {
    view.count();
    mock.timers.tick(DEBOUNCE_MS - 1);
  }
  assert.deepEqual(reports, []);
  mock.timers.tick(1);
  assert.deepEqual(reports, [{ n: 5, sequence: 1 }]);
});

test("an answer to an older report is ignored, one to the last is taken", () => {
  const { view } = counter();
  view.count(0);
  mock.timers.tick(0);
  view.count(0);
  view.select({ sequence: 1, n: 70 });
  assert.equal(view.n, 2);
  mock.timers.tick(0);
  view.select({ sequence: 1, n: 71 });
  assert.equal(view.n, 2);
  view.select({ sequence: 2, n: 72 });
  assert.equal(view.n, 72);
});

test("what is known already is not reported again, and the page's own controls are still heard", () => {
  const { view, reports } = counter();
  view.count(0);
  mock.timers.tick(0);
  view.notify(0);
  mock.timers.tick(0);
  view.select({ sequence: 1, n: 1 });
  view.notify(0);
  mock.timers.tick(0);
  assert.equal(reports.length, 1);
  view.select({ sequence: 1, n: 9 });
  assert.equal(view.n, 9);
});

test("what the page has changed meanwhile is reported again when it is chosen again", () => {
  const { view, reports } = counter();
  view.count(0);
  mock.timers.tick(0);
  view.select({ sequence: 1, n: 0 });
  view.count(0);
  mock.timers.tick(0);
  assert.deepEqual(reports, [
    { n: 1, sequence: 1 },
    { n: 1, sequence: 2 },
  ]);
});

test("a view that leaves reports no more", () => {
  const { view, reports } = counter();
  view.count();
  view.leave();
  mock.timers.tick(2 * DEBOUNCE_MS);
  assert.deepEqual(reports, []);
});

test("nothing is drawn in a tab that is not open, and what has come meanwhile is drawn when it is opened", () => {
  const { view } = counter();
  view.node.clientWidth = 0;
  view.show({});
  assert.equal(view.drawn, 1);
  view.node.clientWidth = 600;
  view.redraw();
  assert.equal(view.drawn, 2);
});

test("it is drawn again when the page turns dark or letters grow, and only then", () => {
  const { view } = counter();
  view.followLook();
  assert.equal(view.drawn, 1);
  look["--ground"] = "#14171f";
  view.followLook();
  look["--least-letters"] = "18";
  view.followLook();
  view.followLook();
  assert.equal(view.drawn, 3);
});

test("the key of a view is the one that Python gave it", () => {
  assert.equal(keyOf(parentOf("explorer_b-2")), "explorer_b-2");
  assert.equal(keyOf({ host: document.body }), "");
});

for (const first of ["view", "selection"])
  test(`two views of a kind have their own selections and reports, whether the ${first} comes first`, () => {
    const draw = component((root, page) => new Counter(root, page));
    const reports = { a: [], b: [] };
    const parents = { a: parentOf(`${first}-a`), b: parentOf(`${first}-b`) };
    const views = () =>
      Object.entries(parents).map(([name, parentElement]) => {
        const setStateValue = (_, selection) => reports[name].push(selection);
        draw({ data: {}, parentElement, setStateValue, setTriggerValue: () => {} });
        return parentElement.view_;
      });
    const select = () => {
      relay({ parentElement: {}, data: { view: `${first}-a`, sequence: 0, n: 10 } });
      relay({ parentElement: {}, data: { view: `${first}-b`, sequence: 0, n: 20 } });
    };
    if (first === "selection") select();
    const [a, b] = views();
    if (first === "view") select();
    assert.deepEqual([a.n, b.n], [10, 20]);
    b.count(0);
    mock.timers.tick(0);
    assert.deepEqual(reports, { a: [], b: [{ n: 21, sequence: 1 }] });
    relay({ parentElement: {}, data: { view: `${first}-b`, sequence: 1, n: 30 } });
    assert.deepEqual([a.n, b.n], [10, 30]);
  });

test("a view that follows reports nothing, and takes no answer that is too old for the one that leads", () => {
  const [a, b] = [counter(), counter()];
  const views = { a: a.view, b: b.view };
  for (const { view } of [a, b])
    view.page.beside = (keys, seen) => keys.map((key) => views[key].mirror(seen)).includes(true);
  a.view.select({ sequence: 0, n: 0, link: { views: ["b"], places: {}, follows: false } });
  const answer = (sequence, n) => ({ sequence, n, link: { views: ["a"], places: {}, follows: true } });
  b.view.select(answer(0, 1));
  b.view.count(0);
  mock.timers.tick(2 * DEBOUNCE_MS);
  assert.deepEqual(b.reports, []);
  a.view.count(0);
  b.view.select(answer(0, 50));
  assert.equal(b.view.n, 2);
  mock.timers.tick(0);
  b.view.select(answer(1, 60));
  assert.equal(b.view.n, 60);
  a.view.notify(0); // nothing new: no answer will come
  mock.timers.tick(0);
  b.view.select(answer(1, 70));
  assert.equal(b.view.n, 70);
  b.view.select({ sequence: 1, n: 3 }); // alone again
  b.view.count(0);
  mock.timers.tick(0);
  assert.equal(b.reports.length, 1);
});

test("tokens are found by their places", () => {
  const [a, b] = [{ decoder: [0, 2, 5] }, { encoder: [7, 8], decoder: [5, 1] }].map((places) => ({ places }));
  assert.deepEqual(tokenAtPlace(b, placeOfToken(a, "decoder", 2)), { text: "decoder", position: 0 });
  assert.deepEqual(tokenAtPlace(b, 8), { text: "encoder", position: 1 });
  assert.equal(tokenAtPlace(b, 8, ["decoder"]), null);
  assert.equal(tokenAtPlace(b, placeOfToken(a, "decoder", 0)), null);
  for (const missing of [
    placeOfToken(a, "decoder", 3),
    placeOfToken(a, "encoder", 0),
    placeOfToken(a, "decoder", undefined),
  ])
    assert.equal(missing, undefined);
  assert.equal(tokenAtPlace(b, undefined), null);
});
