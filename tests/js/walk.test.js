// The line of a lecture: which keys it takes wherever the focus is, and what it and its presenter's window say at once.

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { channels, parentOf } from "./page.js";

const outside = document.defaultView; // what the window would be
for (const name of ["addEventListener", "removeEventListener"]) globalThis[name] = outside[name].bind(outside);

const kept = new Map();
const sessionStorage = { getItem: (name) => kept.get(name) ?? null, setItem: (name, to) => kept.set(name, to) };
Object.assign(globalThis, { BroadcastChannel: channels(), sessionStorage, name: "" });

mock.timers.enable({ apis: ["setInterval", "Date"] });

const draw = (await import("../../tfmviz/views/walk/view.tsx")).default;
const { ownNumber, pair } = await import("../../tfmviz/views/walk/pair.ts");

/** Draws the line, until the test ends. */
function drawn(t) {
  const parentElement = parentOf("lecture");
  const data = {
    step: "one",
    title: "L1 Words",
    place: "1 of 2",
    say: "Look.",
    chosen: "",
    show: [],
    back: "",
    on: "",
  };
  const leave = draw({ data, parentElement, setTriggerValue() {} });
  t.after(leave);
  return parentElement;
}

const key = (node, kind, name, more) => {
  const event = new KeyboardEvent(kind, { key: name, bubbles: true, cancelable: true, ...more });
  node.dispatchEvent(event);
  return event;
};

test("Escape lets go of the keyboard once it has done in the box what it does; other keys do not", (t) => {
  drawn(t);
  const box = document.body.appendChild(document.createElement("input"));
  const keeps = (name, more) => {
    box.focus();
    key(box, "keydown", name, more);
    assert.equal(document.activeElement, box, "the box comes first");
    key(box, "keyup", name, more);
    return document.activeElement === box;
  };
  assert.deepEqual(
    [keeps("a"), keeps("Escape", { isComposing: true }), keeps("Escape"), keeps("a")],
    [true, true, false, true],
  );
  box.remove();
});

test("after a click the arrow keys are the lecture's, even if what was clicked keeps both to itself", (t) => {
  drawn(t);
  const figure = document.body.appendChild(document.createElement("button"));
  for (const kind of ["pointerdown", "keydown"]) figure.addEventListener(kind, (event) => event.stopPropagation());
  const isTaken = () => key(figure, "keydown", "ArrowRight").defaultPrevented;
  const before = isTaken();
  figure.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
  const clicked = isTaken();
  key(figure, "keydown", "Tab");
  assert.deepEqual([before, clicked, isTaken()], [false, true, false]);
  figure.remove();
});

test("a line finds its presenter's window at once, and one that starts the clock again hears the new time", (t) => {
  const heard = [];
  const presenter = pair({ from: "presenter", of: ownNumber() }, ({ began }) => heard.push(began));
  t.after(presenter.end);
  const lines = drawn(t).querySelectorAll(".say");
  assert.equal(document.documentElement.dataset.presented, "true");
  assert.equal(lines.length, 0, "the class does not see what is to be said");
  mock.timers.tick(5_000);
  presenter.say({ again: true });
  assert.equal(heard.at(-1) - heard[0], 5_000);
});
