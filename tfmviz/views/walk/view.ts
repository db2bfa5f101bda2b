// One step of a lecture: what to say, and the ways back and on.
//
// ←, → and what a presenter's remote sends (Page Up, Page Down) take these ways wherever the focus is. Two kinds of
// elements alone may use these keys: a box that somebody types in, and what was reached by Tab, which a frame shows.
// What is clicked has no frame, and no keys. Escape takes the focus from all of them.

import { make } from "../shared/elements.ts";
import { go, isElsewhere, MEANT, turn } from "../shared/going.ts";
import { part } from "../shared/meet.ts";
import { isChord, isTyping } from "../shared/typing.ts";
import { keepInSight } from "./sight.ts";
import { READY, scrollToTabs } from "./tabs.ts";

type Way = "back" | "on";

const WAYS: Record<string, Way> = { ArrowLeft: "back", PageUp: "back", ArrowRight: "on", PageDown: "on" };

/** Looks, ten in a second: how often in a row the line is missed until that is believed, and how many there are. */
const [MISSED, PATIENCE] = [5, 150];

/** Boxes in which nobody types, at least not now. */
const UNTYPED = "select, [type=range], [type=radio], [type=checkbox], [role=combobox][aria-expanded=false]";

/** Addresses are those of a file, relative to the page; "" where there is none. */
interface Data {
  chosen: string; // names of what the step chooses
  title: string;
  place: string;
  say: string;
  show: string[]; // key of the figure that is spoken of, and names of a part
  back: string;
  on: string;
  all: string;
}

export default part<Data>((parent) => {
  const node = parent.appendChild(make("nav", { className: "view walk", ariaLabel: "Lecture" }));
  let shown: Data | null = null;
  let isPointed = false; // whether what has the focus was clicked, not reached by Tab
  let endScroll = () => {};

  const take = (data: Data) => {
    if (shown?.place !== data.place) {
      endScroll();
      endScroll = data.show.length ? keepInSight(node, data.show) : scrollToTabs(data.chosen.split(" "));
    }
    shown = data;
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
  };

  const walk = (event: KeyboardEvent) => {
    const way = WAYS[event.key];
    if (!way || isChord(event) || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation(); // a view that listens on the whole page is not meant
    letGo(); // or the browser frames what was clicked, as soon as a key is pressed
    if (shown?.[way]) step(shown[way]);
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
  const over = new AbortController();
  const first = { capture: true, signal: over.signal };
  const point = () => {
    isPointed = true;
  };
  window.addEventListener("pointerdown", point, first);
  window.addEventListener("keydown", early, first);
  document.documentElement.addEventListener("keydown", late, over);
  const leave = () => {
    over.abort();
    endScroll();
  };
  return { take, leave };
});

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

/** Takes the focus from what has it, once Escape has done there what it does. */
function letGo() {
  let node = document.activeElement;
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
  if (node instanceof HTMLElement || node instanceof SVGElement) node.blur();
}
