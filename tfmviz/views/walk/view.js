// One step of a lecture: what to say, and the ways back and on. ← and → take them while nothing else has the keys.

import { make } from "../shared/elements.js";
import { scrollToTabs } from "./tabs.js";

/** @typedef {{ title: string, place: string, say: string, back: string, on: string, all: string }} Data */

/**
 * @typedef {{ node: HTMLElement, ways: Record<string, string>, leave: () => void }} Built
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
    Object.assign(line, { place: data.place, endScroll: scrollToTabs() });
  }
  Object.assign(ways, { ArrowLeft: data.back, ArrowRight: data.on });
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
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // into another tab or window
    event.preventDefault();
    go(address);
  };
  return make("a", { className: "way", href: address, textContent: sign, ariaLabel, title: ariaLabel, onclick });
}

/**
 * Goes to an address as the browser's back button would: Streamlit draws its page, and the app is not loaded anew.
 *
 * @param {string} address
 */
function go(address) {
  history.pushState({}, "", address);
  window.dispatchEvent(new PopStateEvent("popstate"));
}

/**
 * @param {ShadowRoot & { line_?: Line }} parent
 * @returns {Line}
 */
function build(parent) {
  const node = make("nav", { className: "view walk", ariaLabel: "Lecture" });
  /** @type {Record<string, string>} */
  const ways = {};
  /** @param {KeyboardEvent} event */
  const listen = (event) => {
    const address = ways[event.key];
    if (!address || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const [target] = event.composedPath();
    if (target !== document.body && !(target instanceof Node && node.contains(target))) return; // something has focus
    event.preventDefault();
    event.stopPropagation(); // a view that listens on the whole page is not meant
    go(address);
  };
  window.addEventListener("keydown", listen, true);
  parent.append(node);
  return {
    node,
    ways,
    leave: () => {
      window.removeEventListener("keydown", listen, true);
      parent.line_?.endScroll();
    },
    place: "",
    endScroll: () => {},
  };
}
