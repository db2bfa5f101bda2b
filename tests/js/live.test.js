import assert from "node:assert/strict";
import { test } from "node:test";
import { AWAY, BUSY, Socket } from "../../tfmviz/views/live/socket.ts";
import { LiveUpdater } from "../../tfmviz/views/live/updater.ts";
import { Lab } from "../../tfmviz/views/masks/view.tsx";
import { Board } from "../../tfmviz/views/parts/view.tsx";

const PAGE = { model: "m", layer: "l", head: 0, zoom: "", token: null };
const KNOWN = { page: PAGE, text: "entered", views: ["explorer", "bars"] };

// A page whose box holds a text, with a source that answers when it is told to.
function page({ views = ["explorer"], more = [] } = {}) {
  const world = { text: "entered", isOn: true, shown: [], marks: [], asked: [], answers: [] };
  const source = {
    trace: (text, known) => {
      world.asked.push([text, known.views.join()]);
      return new Promise((resolve) => world.answers.push(() => resolve({ typed: { first: 0 }, views: { of: text } })));
    },
  };
  world.following = new LiveUpdater([...more, source], {
    text: () => world.text,
    edited: () => undefined,
    has: (name) => views.includes(name),
    isOn: () => world.isOn,
    show: ({ views: { of } }) => world.shown.push(of),
    restore: () => world.shown.push("restored"),
    mark: (since) => world.marks.push(since),
  });
  world.type = (text) => {
    world.text = text;
    return world.following.ask();
  };
  world.answer = async () => {
    world.answers.shift()();
    await new Promise(setImmediate);
  };
  world.following.know(KNOWN);
  world.following.onData("explorer");
  return world;
}

const last = (list) => list[list.length - 1];

test("one question is on its way, and after it the newest text is asked for", async () => {
  const world = page();
  for (const text of ["a", "ab", "abc", "abcd"]) world.type(text);
  assert.deepEqual(world.asked, [["a", "explorer"]]);
  await world.answer();
  assert.deepEqual(world.asked.slice(1), [["abcd", "explorer"]]);
  await world.answer();
  assert.deepEqual(world.shown, ["a", "abcd"]);
  assert.equal(world.asked.length, 2);
});

test("what was entered is marked as old while other pictures are there, and comes back without a question", async () => {
  const world = page();
  world.type("other");
  assert.equal(last(world.marks), "");
  await world.answer();
  assert.equal(last(world.marks), "Enter");
  world.type("entered");
  assert.deepEqual(world.shown, ["other", "restored"]);
  assert.equal(last(world.marks), "");
  assert.equal(world.asked.length, 1);
});

test("no answer to an older text replaces what Python has sent after Enter", async () => {
  const world = page();
  world.type("new");
  world.text = "new one";
  world.following.know({ ...KNOWN, text: "new one" });
  world.following.onData("explorer");
  await world.answer();
  assert.deepEqual(world.shown, []);
  assert.equal(world.asked.length, 1);
  assert.equal(last(world.marks), "");
});

test("the same pictures that Python does not send again are asked for", async () => {
  const world = page();
  world.type("entered x");
  await world.answer();
  world.text = "entered ";
  world.following.know({ ...KNOWN, text: "entered " }); // the same tokens: Streamlit sends no heads
  world.following.onData("another figure");
  world.following.ask();
  await world.answer();
  assert.deepEqual(world.shown, ["entered x", "entered "]);
  assert.equal(last(world.marks), "");
});

test("who types on while Python computes sees the newest text again after Python's pictures", async () => {
  const world = page();
  world.type("new");
  await world.answer();
  world.following.know({ ...KNOWN, text: "new" });
  world.type("new one");
  await world.answer();
  world.following.onData("explorer"); // the pictures of "new"
  assert.equal(last(world.asked)[0], "new one");
  await world.answer();
  assert.deepEqual(world.shown, ["new", "new one", "new one"]);
  assert.equal(last(world.marks), "Enter");
});

test("an answer of another model or layer is not shown, and the text is asked for again", async () => {
  for (const change of [{ model: "other" }, { layer: "other" }]) {
    const world = page();
    world.type("new");
    world.following.know({ ...KNOWN, page: { ...PAGE, ...change } });
    await world.answer();
    assert.deepEqual(world.shown, []);
    assert.equal(world.asked.length, 2);
  }
});

test("an empty box and a switch that is off ask for nothing, and the last picture stays", async () => {
  const world = page();
  world.type("new");
  world.text = " \n ";
  await world.answer();
  world.isOn = false;
  world.type("newer");
  assert.deepEqual(world.shown, []);
  assert.equal(world.asked.length, 1);
  world.following.known = null; // the page is another one
  world.isOn = true;
  world.type("newest");
  assert.equal(world.asked.length, 1);
});

test("pasted lines are one text", () => {
  const world = page();
  world.type("one\r\ntwo\nthree");
  assert.equal(world.asked[0][0], "one two three");
});

test("a source that knows nothing leaves the question to the next; one that fails to answer stops nothing", async () => {
  let asked = 0;
  const trace = async () => {
    asked += 1;
    return null;
  };
  const none = { trace };
  const failing = { trace: () => Promise.reject(new Error("no")) };
  const world = page({ more: [none, failing] });
  const typed = world.type("new");
  await new Promise(setImmediate);
  await world.answer();
  await typed;
  assert.deepEqual([asked, world.shown], [1, ["new"]]);
  const empty = page();
  empty.following.sources = [none];
  await empty.type("new");
  assert.deepEqual([asked, empty.shown, empty.following.isAsking], [2, [], false]);
});

// Sockets that are opened, what is said to the reader, and a clock.
function server(more = {}) {
  const world = { sockets: [], said: [], now: 0 };
  const make = () => {
    const socket = { readyState: 0, sent: [], send: (text) => socket.sent.push(JSON.parse(text)), close() {} };
    world.sockets.push(socket);
    return socket;
  };
  world.socket = new Socket("address", (sentence) => world.said.push(sentence), {
    make,
    now: () => world.now,
    ...more,
  });
  world.open = () => {
    last(world.sockets).readyState = 1;
    last(world.sockets).onopen();
  };
  return world;
}

function framed(header, ...parts) {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const bytes = new Uint8Array(4 + text.length + parts.reduce((sum, part) => sum + part.length, 0));
  new DataView(bytes.buffer).setUint32(0, text.length, true);
  let at = 4;
  for (const part of [text, ...parts]) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes.buffer;
}

test("the server's answer is taken apart", async () => {
  const world = server();
  const pictures = world.socket.trace("text", KNOWN);
  world.open();
  const [socket] = world.sockets;
  assert.deepEqual(socket.sent, [{ n: 1, text: "text", page: PAGE, views: "explorer bars" }]);
  const rows = [["a", 1, "100%"]];
  const json = new TextEncoder().encode(JSON.stringify(rows));
  const header = { n: 1, typed: { first: 2 }, views: { explorer: 3, predictions: json.length } };
  socket.onmessage({ data: framed(header, Uint8Array.of(7, 8, 9), json) });
  const { typed, views } = await pictures;
  assert.deepEqual(typed, { first: 2 });
  assert.deepEqual([...views.explorer], [7, 8, 9]);
  assert.deepEqual(views.predictions, rows);
  world.socket.leave();
});

test("a busy server is left in peace for a while, longer each time, and the reader knows", async () => {
  const world = server();
  for (const [n, pause] of [1000, 2000, 4000].entries()) {
    const pictures = world.socket.trace("text", KNOWN);
    if (n === 0) world.open();
    world.sockets[0].onmessage({ data: JSON.stringify({ n, busy: true }) });
    assert.equal(await pictures, null);
    assert.equal(last(world.said), BUSY);
    world.now += pause - 1;
    assert.equal(await world.socket.trace("too early", KNOWN), null);
    assert.equal(world.sockets[0].sent.length, n + 1);
    world.now += 1;
  }
  world.socket.leave();
});

test("a server that was busy or away is asked again when the pause is over, unless the reader has left", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  let asked = 0;
  const world = server({ again: () => asked++ });
  const answer = world.socket.trace("text", KNOWN);
  world.open();
  world.sockets[0].onmessage({ data: JSON.stringify({ n: 1, busy: true }) });
  await answer;
  context.mock.timers.tick(1000);
  assert.equal(asked, 0);
  context.mock.timers.tick(1);
  assert.equal(asked, 1);
  world.now += 1001;
  const second = world.socket.trace("text", KNOWN);
  world.sockets[0].onclose();
  assert.equal(await second, null);
  world.socket.leave();
  context.mock.timers.tick(60_000);
  assert.equal(asked, 1);
});

test("a server that goes away is said to, one that was never there is not", async () => {
  const world = server();
  const first = world.socket.trace("text", KNOWN);
  last(world.sockets).onclose();
  assert.deepEqual([await first, world.said], [null, []]);
  world.now += 1000;
  const second = world.socket.trace("text", KNOWN);
  world.open();
  last(world.sockets).onmessage({ data: framed({ typed: {}, views: {} }) });
  await second;
  const third = world.socket.trace("text", KNOWN);
  last(world.sockets).onclose();
  assert.equal(await third, null);
  assert.equal(last(world.said), AWAY);
  world.now += 1000;
  const fourth = world.socket.trace("text", KNOWN);
  world.open();
  last(world.sockets).onmessage({ data: framed({ typed: {}, views: {} }) });
  assert.ok(await fourth);
  assert.equal(last(world.said), "");
  assert.equal(world.sockets.length, 3);
  world.socket.leave();
});

test("a server that is there again is asked at once, however long it was away", async () => {
  const asked = [];
  const world = server({ again: () => asked.push(world.socket.trace("text", KNOWN)) });
  for (const _ of [1, 2, 3, 4, 5, 6]) {
    const none = world.socket.trace("text", KNOWN);
    last(world.sockets).onclose();
    assert.equal(await none, null);
    world.now = world.socket.notBefore;
  }
  world.now -= 29_000;
  assert.equal(await world.socket.trace("text", KNOWN), null);
  world.socket.returned();
  world.open();
  last(world.sockets).onmessage({ data: framed({ typed: {}, views: {} }) });
  assert.equal(asked.length, 1);
  assert.ok(await asked[0]);
  world.socket.leave();
});

test("a browser that opens no websocket leaves all as it is", async () => {
  const said = [];
  const make = () => {
    throw new Error("denied");
  };
  const socket = new Socket("address", (sentence) => said.push(sentence), { make, now: () => 0 });
  assert.equal(await socket.trace("text", KNOWN), null);
  assert.deepEqual(said, []);
  socket.leave();
});

test("a server that never answers is given up", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const world = server();
  const pictures = world.socket.trace("text", KNOWN);
  world.open();
  context.mock.timers.tick(10_000);
  assert.equal(await pictures, null);
  world.now += 1000;
  world.socket.trace("text", KNOWN);
  assert.equal(world.sockets.length, 2);
});

test("who leaves waits for nothing more, and a late answer is nobody's", async () => {
  const world = server();
  const pictures = world.socket.trace("text", KNOWN);
  world.open();
  world.socket.leave();
  assert.equal(await pictures, null);
  world.sockets[0].onmessage({ data: JSON.stringify({ busy: true }) });
  assert.deepEqual(world.said, []);
});

const MASKS = { ...KNOWN, page: { ...PAGE, edited: { by: "masks" } }, change: "old" };

test("a change by hand is asked for, marked as one, and ends with Python's answer", async () => {
  const world = page();
  let drawn = "old";
  world.following.around.edited = (view) => (view === "masks" ? drawn : undefined);
  world.following.know(MASKS);
  world.following.ask();
  assert.deepEqual(world.asked, []);
  drawn = "new";
  world.following.ask();
  await world.answer();
  assert.equal(last(world.marks), "change");
  world.following.know({ ...MASKS, change: "new" });
  assert.equal(last(world.marks), "");
  drawn = "old";
  world.following.ask(); // Python has sent no picture of "new", so the one on the page is not the one of "old"
  await world.answer();
  assert.deepEqual(world.asked.length, 2);
});

test("while nothing but Python's pictures is there, another answer of Python marks nothing", () => {
  const world = page();
  world.following.around.edited = () => "drawn";
  world.following.know(MASKS);
  world.following.know({ ...MASKS, change: "other" });
  assert.deepEqual(world.marks.filter(Boolean), []);
});

test("a view that asks again while it draws what is shown or restored is not answered twice", async () => {
  const world = page();
  const { around } = world.following;
  for (const name of ["show", "restore"]) {
    const before = around[name];
    around[name] = (...given) => {
      before(...given);
      world.following.ask();
    };
  }
  world.type("other");
  await world.answer();
  world.type("entered");
  assert.deepEqual(world.shown, ["other", "restored"]);
  assert.equal(world.asked.length, 1);
});

test("a changed pass is no question for the server", async () => {
  const world = server();
  assert.equal(await world.socket.trace("text", MASKS), null);
  assert.equal(world.sockets.length, 0);
});

test("before Python has said how a pass is changed a view says nothing: nobody has touched it yet", () => {
  const { edited } = Lab.prototype;
  assert.equal(edited.call({ typed: null, mask: null, bits: "" }), undefined);
  assert.equal(edited.call({ typed: null, mask: {}, bits: "b" }), "b");
  assert.equal(edited.call({ typed: {}, mask: {}, bits: "b" }), undefined);
  const ofParts = Board.prototype.edited;
  assert.equal(ofParts.call({ isKnown: false, off: [] }), undefined);
  assert.equal(ofParts.call({ isKnown: true, off: [] }), "");
  assert.equal(ofParts.call({ isKnown: true, off: ["dl0", "dm1"] }), "dl0,dm1");
});
