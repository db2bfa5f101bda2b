import assert from "node:assert/strict";
import { test } from "node:test";
import {
  clickedOn,
  fitted,
  fromLook,
  initial,
  moved,
  pairOf,
  picked,
  toLook,
  UNFILTERED,
  withHead,
} from "../../tfmviz/views/explorer/state.ts";

const texts = { source: { labels: ["a", "b"] }, target: { labels: ["c", "d", "e"] } };
const kind = (queries, keys) => ({ queries, keys, layers: [{}, {}], heads: 3, scores: { induction: [] } });
const place = (layer, head) => ({ layer, head });
const attention = {
  kinds: [kind("target", "target"), kind("target", "source")],
  queries: (n) => texts[attention.kinds[n].queries],
  keys: (n) => texts[attention.kinds[n].keys],
};

test("a link says all that differs from the defaults, and nothing else", () => {
  assert.equal(toLook(initial()), "");
  const state = {
    ...initial(),
    layer: 1,
    heads: [place(0, 2), place(1, 0)],
    pin: { side: "key", at: 0 },
    aggregate: "mean",
    withoutFirst: true,
  };
  const look = toLook({ ...state, top: 80, least: 0.02, scale: "row", order: "previous token" });
  assert.equal(look, "heads:0-2.0,pin:k0,show:mean,first:hidden,top:80,least:0.02,scale:row,order:previous-token");
  assert.deepEqual(fromLook(look, 1), {
    heads: [place(0, 2), place(1, 0)],
    pin: { side: "key", at: 0 },
    aggregate: "mean",
    withoutFirst: true,
    top: 80,
    least: 0.02,
    scale: "row",
    order: "previous token",
  });
});

test("an order of an older link is known by its old name", () => {
  assert.equal(fromLook("order:duplicate").order, "same word");
});

test("what makes no sense stays at its default or within its limits", () => {
  const { heads, ...said } = fromLook("heads:99.x.-1,pin:k9x,top:1e9,least:-3,scale:no,show:<b>,constructor");
  const { pin, aggregate, withoutFirst, scale, order } = initial();
  assert.deepEqual(said, { pin, aggregate, withoutFirst, top: 100, least: 0, scale, order });
  assert.deepEqual(fitted({ ...initial(), ...said, heads }, attention).heads, [place(0, 2)], "the nearest there is");
  assert.deepEqual(fitted({ ...initial(), heads: [] }, attention).heads, [place(0, 0)]);
});

test("a link that says nothing says the defaults, and one that says too much is kept within limits", () => {
  const { heads, ...said } = fromLook("");
  assert.deepEqual([heads, said], [[], { pin: null, ...UNFILTERED }]);
  assert.deepEqual(
    [fromLook("top:-1,least:-1"), fromLook("top:500,least:500")].map(({ top, least }) => [top, least]),
    [
      [1, 0],
      [100, 1],
    ],
  );
});

test("names that every object knows are no choices", () => {
  for (const name of ["constructor", "toString", "__proto__"]) {
    const said = fromLook(`show:${name},scale:${name},order:${name}`);
    const state = fitted({ ...initial(), ...said, heads: [place(0, 0)] }, attention);
    assert.deepEqual([state.aggregate, state.scale, state.order], ["heads", "root", "place"]);
  }
});

test("a state is made to fit the data", () => {
  const state = fitted(
    {
      ...initial(),
      kind: 7,
      layer: 9,
      heads: [place(0, 1), place(0, 1), place(0, 5), place(1, 2)],
      order: "induction",
    },
    attention,
  );
  assert.deepEqual(
    [state.kind, state.layer, state.heads, state.order],
    [1, 1, [place(0, 1), place(1, 2)], "induction"],
  );
});

test("a pin beyond the text of its own side is let go", () => {
  const pinned = (side, at) => fitted({ ...initial(), kind: 1, pin: { side, at } }, attention).pin;
  assert.deepEqual(pinned("query", 2), { side: "query", at: 2 });
  assert.equal(pinned("key", 2), null);
  assert.deepEqual(pinned("key", 1), { side: "key", at: 1 });
});

test("there is no rollout where one text looks at another", () => {
  assert.equal(fitted({ ...initial(), aggregate: "rollout" }, attention).aggregate, "rollout");
  assert.equal(fitted({ ...initial(), aggregate: "rollout", kind: 1 }, attention).aggregate, "mean");
});

test("heads that another model lacks give way to its last", () => {
  assert.deepEqual(fitted({ ...initial(), heads: [place(9, 11)] }, attention).heads, [place(1, 2)]);
});

test("the key of a pair is let go where the text is shorter", () => {
  const to = (key) => fitted({ ...initial(), kind: 1, to: key }, attention).to;
  assert.deepEqual([to(null), to(1), to(2)], [null, 1, null]);
});

test("a click on a cell asks about its pair, and the same click again lets go", () => {
  const cell = { row: 2, column: 0 };
  const asked = { ...initial(), ...picked(initial(), cell) };
  assert.deepEqual(pairOf(asked), cell);
  assert.deepEqual(pairOf({ ...asked, ...picked(asked, { row: 2, column: 1 }) }), { row: 2, column: 1 });
  assert.equal(pairOf({ ...asked, ...picked(asked, cell) }), null);
  assert.equal(pairOf({ ...asked, pin: { side: "key", at: 2 } }), null);
});

const word = (at, side = "query") => ({ side, at });
const past = (row, column) => column <= row;

test("the second of two words that are clicked makes a pair, in which the one that may look looks", () => {
  const pinned = { ...initial(), pin: word(2) };
  assert.deepEqual(clickedOn(initial(), word(2), past, false), { pin: word(2), to: null });
  assert.deepEqual(clickedOn(pinned, word(0), past, false), { pin: word(2), to: 0 });
  assert.deepEqual(clickedOn({ ...initial(), pin: word(0) }, word(2), past, false), { pin: word(2), to: 0 });
  assert.deepEqual(
    clickedOn({ ...initial(), pin: word(0) }, word(2), () => true, false),
    { pin: word(0), to: 2 },
  );
  assert.deepEqual(clickedOn(pinned, word(2), past, false), { pin: null, to: null });
  assert.deepEqual(clickedOn({ ...pinned, to: 0 }, word(1), past, false), { pin: word(1), to: null });
});

test("of two texts one word of each makes a pair, whichever was clicked first", () => {
  const [query, key] = [word(2), word(1, "key")];
  for (const [first, second] of [
    [query, key],
    [key, query],
  ])
    assert.deepEqual(clickedOn({ ...initial(), pin: first }, second, past, true), { pin: query, to: 1 });
  for (const side of ["query", "key"])
    assert.deepEqual(clickedOn({ ...initial(), pin: word(2, side) }, word(1, side), past, true).to, null);
});

test("a head is shown beside others, shown no longer, and the last one stays", () => {
  const one = { ...initial(), heads: [place(0, 1)] };
  const two = { ...one, ...withHead(one, place(1, 2)) };
  assert.deepEqual(two.heads, [place(0, 1), place(1, 2)]);
  assert.deepEqual(withHead(two, place(0, 1)).heads, [place(1, 2)]);
  assert.deepEqual(withHead(one, place(0, 1)).heads, [place(0, 1)]);
  assert.deepEqual(withHead({ ...two, aggregate: "mean" }, place(0, 0)).heads, [place(0, 0)]);
  const four = { ...one, heads: [0, 1, 2, 3].map((head) => place(0, head)) };
  assert.deepEqual(withHead(four, place(1, 0)).heads, [1, 2, 3].map((head) => place(0, head)).concat(place(1, 0)));
});

test("heads move together, and one that would leave the model is left out", () => {
  const state = { ...initial(), heads: [place(1, 2), place(0, 1)] };
  assert.deepEqual(moved(state, 1, 1).heads, [place(1, 1)]);
});
