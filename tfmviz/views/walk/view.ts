// One step of a lecture: what to say, and the ways back and on.
//
// ←, → and what a presenter's remote sends (Page Up, Page Down) take these ways wherever the focus is. Two kinds of
// elements alone may use these keys: a box that somebody types in, and what was reached by Tab, which a frame shows.
// What is clicked has no frame, and no keys. Escape takes the focus from all of them.

import { make } from "../shared/elements.ts";
import { go, isElsewhere, MEANT, turn } from "../shared/going.ts";
import { isTyping } from "../shared/typing.ts";
import { READY, scrollToTabs } from "./tabs.ts";

type Way = "back" | "on";

const WAYS: Record<string, Way> = { ArrowLeft: "back", PageUp: "back", ArrowRight: "on", PageDown: "on" };

/** Looks, ten in a second: how often in a row the line is missed until that is believed, and how many there are. */
const [MISSED, PATIENCE] = [5, 150];

/** Boxes in which nobody types, at least not now. */
const UNTYPED = "select, [type=range], [type=radio], [type=checkbox], [role=combobox][aria-expanded=false]";

interface Data {
  chosen: string; // names of what the step chooses
  title: string;
  place: string;
  say: string;
  back: string;
  on: string;
  all: string;
}

type Built = { node: HTMLElement; ways: Record<Way, string>; leave: () => void };
/** `place` is the step it shows */
type Line = Built & { place: string; endScroll: () => void };

/** @param component.data addresses are those of a file, relative to the page; "" where there is none */
export default function ({ data, parentElement }: { data: Data; parentElement: ShadowRoot & { line_?: Line } }) {
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

function way(sign: string, address: string, ariaLabel: string) {
  if (!address) return make("span", { className: "way", ariaHidden: "true" });
  const onclick = (event: MouseEvent) => {
    if (isElsewhere(event)) return;
    event.preventDefault();
    step(address);
  };
  return make("a", { className: "way", href: address, textContent: sign, ariaLabel, title: ariaLabel, onclick });
}

function step(address: string) {
  go(address);
  insist(address);
}

let endInsisting = () => {};

/**
 * Asks once more for a step that was lost. What is clicked just before it may still be asked or answered after it;
 * Streamlit then mixes the answer into the new page, which has no such line, or goes back to the step before, or to its
 * page alone. Whoever then goes elsewhere, by the browser's button or a step that is found, means that.
 */
function insist(address: string) {
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
  const leave = ({ isTrusted, state }: PopStateEvent) => (isTrusted || state === MEANT) && insist(location.href);
  window.addEventListener("popstate", leave);
  endInsisting = () => {
    clearInterval(timer);
    window.removeEventListener("popstate", leave);
  };
}

/** @param address its lecture, its step, and its page */
function placeOf({ search, pathname }: { search: string; pathname: string }) {
  const found = new URLSearchParams(search);
  return [found.get("lecture"), found.get("step"), pathname];
}

function build(parent: ShadowRoot & { line_?: Line }): Line {
  const node = make("nav", { className: "view walk", ariaLabel: "Lecture" });
  const ways: Record<Way, string> = { back: "", on: "" };
  let isPointed = false; // and not reached by Tab
  const point = () => {
    isPointed = true;
  };
  const walk = (event: KeyboardEvent) => {
    const way = WAYS[event.key];
    if (!way || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation(); // a view that listens on the whole page is not meant
    letGo(); // or the browser frames what was clicked, as soon as a key is pressed
    if (ways[way]) step(ways[way]);
  };
  const early = (event: KeyboardEvent) => {
    if (event.key === "Escape" && !event.isComposing) window.addEventListener("keyup", letGo, { once: true });
    if (event.key === "Tab") isPointed = false;
    const [target] = event.composedPath();
    const isTyped = isTyping(event) && !(target instanceof Element && target.matches(UNTYPED));
    if (isPointed && !isTyped) walk(event);
  };
  /** @param event what nothing in focus has used */
  const late = (event: KeyboardEvent) => {
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
