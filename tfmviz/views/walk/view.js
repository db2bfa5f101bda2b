// One step of a lecture: what to say, and the ways back and on.
//
// ←, → and what a presenter's remote sends (Page Up, Page Down) take these ways wherever the focus is. Two kinds of
// elements alone may use these keys: a box that somebody types in, and what was reached by Tab, which a frame shows.
// What is clicked has no frame, and no keys. Escape takes the focus from all of them.

import { make } from "../shared/elements.js";
import { go, isElsewhere, MEANT, turn } from "../shared/going.js";
import { isTyping } from "../shared/typing.js";
import { READY, scrollToTabs } from "./tabs.js";

/** @typedef {"back" | "on"} Way */

/** @type {Record<string, Way>} */
const WAYS = { ArrowLeft: "back", PageUp: "back", ArrowRight: "on", PageDown: "on" };

/** Looks, ten in a second: how often in a row the line is missed until that is believed, and how many there are. */
const [MISSED, PATIENCE] = [5, 150];

/** Boxes in which nobody types, at least not now. */
const UNTYPED = "select, [type=range], [type=radio], [type=checkbox], [role=combobox][aria-expanded=false]";

/**
 * @typedef {object} Data
 * @property {string} chosen names of what the step chooses
 * @property {string} title
 * @property {string} place
 * @property {string} say
 * @property {string} back
 * @property {string} on
 * @property {string} all
 */

/**
 * @typedef {{ node: HTMLElement, ways: Record<Way, string>, leave: () => void }} Built
 * @typedef {Built & { place: string, endScroll: () => void }} Line `place` is the step it shows
 */

/**
 * @param {object} component
 * @param {Data} component.data addresses are those of a file, relative to the page; "" where there is none
 * @param {ShadowRoot & { line_?: Line }} component.parentElement
 */
export default function ({ data, parentElement }) {
  parentElement.line_ ??= build(parentElement);
  const line = parentElement.line_;
  const { node, ways, leave } = line;
  if (line.place !== data.place) {
    line.endScroll();
    Object.assign(line, { place: data.place, endScroll: scrollToTabs(data.chosen.split(" ")) });
  }
  Object.assign(ways, { back: data.back, on: data.on });
  node.replaceChildren(
    way("←", data.back, "Back in the lecture"),
    make(
      "p",
      {},
      make("a", { href: data.all, textContent: data.title, title: "All lectures" }),
      make("span", { className: "place", textContent: ` ${data.place} ` }),
      make("span", { className: "say", textContent: data.say }),
    ),
    way("→", data.on, "On in the lecture"),
  );
  return leave;
}

/**
 * @param {string} sign
 * @param {string} address
 * @param {string} ariaLabel
 */
function way(sign, address, ariaLabel) {
  if (!address) return make("span", { className: "way", ariaHidden: "true" });
  /** @param {MouseEvent} event */
  const onclick = (event) => {
    if (isElsewhere(event)) return;
    event.preventDefault();
    step(address);
  };
  return make("a", { className: "way", href: address, textContent: sign, ariaLabel, title: ariaLabel, onclick });
}

/** @param {string} address */
function step(address) {
  go(address);
  insist(address);
}

let endInsisting = () => {};

/**
 * Asks once more for a step that was lost. What is clicked just before it may still be asked or answered after it;
 * Streamlit then mixes the answer into the new page, which has no such line, or goes back to the step before, or to its
 * page alone. Whoever then goes elsewhere, by the browser's button or a step that is found, means that.
 * @param {string} address
 */
function insist(address) {
  endInsisting();
  const [wanted, step, page] = placeOf(new URL(address, location.href));
  if (!wanted) return;
  let [missed, looks] = [0, 0];
  const timer = setInterval(() => {
    const [lecture, shown, on] = placeOf(location);
    const isReady = document.querySelector(READY) !== null;
    if (isReady && lecture !== wanted) return endInsisting(); // the reader has gone elsewhere
    const isThere = shown === step && on === page;
    missed = isReady && !(isThere && document.querySelector(".st-key-lecture")) ? missed + 1 : 0;
    looks += 1;
    if (missed === MISSED) isThere ? turn() : go(address);
    if (missed === MISSED || looks === PATIENCE) endInsisting();
  }, 100);
  /** @param {PopStateEvent} event */
  const leave = ({ isTrusted, state }) => (isTrusted || state === MEANT) && insist(location.href);
  window.addEventListener("popstate", leave);
  endInsisting = () => {
    clearInterval(timer);
    window.removeEventListener("popstate", leave);
  };
}

/** @param {{search: string, pathname: string}} address its lecture, its step, and its page */
function placeOf({ search, pathname }) {
  const found = new URLSearchParams(search);
  return [found.get("lecture"), found.get("step"), pathname];
}

/**
 * @param {ShadowRoot & { line_?: Line }} parent
 * @returns {Line}
 */
function build(parent) {
  const node = make("nav", { className: "view walk", ariaLabel: "Lecture" });
  /** @type {Record<Way, string>} */
  const ways = { back: "", on: "" };
  let isPointed = false; // and not reached by Tab
  const point = () => {
    isPointed = true;
  };
  /** @param {KeyboardEvent} event */
  const walk = (event) => {
    const way = WAYS[event.key];
    if (!way || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation(); // a view that listens on the whole page is not meant
    letGo(); // or the browser frames what was clicked, as soon as a key is pressed
    if (ways[way]) step(ways[way]);
  };
  /** @param {KeyboardEvent} event */
  const early = (event) => {
    if (event.key === "Escape" && !event.isComposing) window.addEventListener("keyup", letGo, { once: true });
    if (event.key === "Tab") isPointed = false;
    const [target] = event.composedPath();
    const isTyped = isTyping(event) && !(target instanceof Element && target.matches(UNTYPED));
    if (isPointed && !isTyped) walk(event);
  };
  /** @param {KeyboardEvent} event what nothing in focus has used */
  const late = (event) => {
    if (!event.defaultPrevented && !isTyping(event)) walk(event);
  };
  window.addEventListener("pointerdown", point, true);
  window.addEventListener("keydown", early, true);
  document.documentElement.addEventListener("keydown", late);
  parent.append(node);
  return {
    node,
    ways,
    leave: () => {
      window.removeEventListener("pointerdown", point, true);
      window.removeEventListener("keydown", early, true);
      document.documentElement.removeEventListener("keydown", late);
      parent.line_?.endScroll();
    },
    place: "",
    endScroll: () => {},
  };
}

/** Takes the focus from what has it, once Escape has done there what it does. */
function letGo() {
  let node = document.activeElement;
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
  if (node instanceof HTMLElement || node instanceof SVGElement) node.blur();
}
