// What a step speaks of: brought into the window once the page is drawn, and ringed until the reader does something.

import { hear, inPixels, make } from "../shared/elements.ts";
import { isReady } from "../shared/server.ts";
import type { Seen } from "../shared/where.ts";

const [BETWEEN, RARELY] = [100, 1000]; // milliseconds between two looks, until it stays in its place and from then on
const [ENOUGH, LOOKS] = [10, 300]; // looks in a row that must find it there; after how many it is given up
const MOST = 0.45; // of the window: a whole figure that takes more of it needs no ring
const STAYS = new Set(["g", "n"]); // keys for the line, not for what it speaks of
const [AROUND, BELOW] = [5, 120]; // pixels between it and its ring; below what was too low

/** `show` is the key of a figure and names of a part; `walk`, the line of the step, covers the window's lower edge. */
export function keepInSight(walk: HTMLElement, show: string[]) {
  const ring = walk.appendChild(make("div", { className: "ring", hidden: true }));
  const find = (isSettled: boolean) => {
    const [key, ...names] = show;
    const found = isReady() && globalThis.tfmvizWhere?.(key, ...names);
    if (!ring.isConnected) walk.append(ring);
    if (!isSettled) showOpenTabs();
    ring.hidden = !found || (!names.length && found.width * found.height > MOST * innerWidth * innerHeight);
    if (!found) return false;
    const away = isSettled ? 0 : outside(key, found, walk);
    if (away) document.querySelector("[data-testid=stMain]")?.scrollBy(0, away);
    const { left, top, width, height } = found;
    const [wide, high] = [width, height].map((length) => length + 2 * AROUND);
    Object.assign(ring.style, inPixels({ left: left - AROUND, top: top - AROUND, width: wide, height: high }));
    return !away;
  };
  return keepLooking(find, RARELY, () => ring.remove());
}

/** Where a row of tabs is wider than the window, the open one is brought into it. */
function showOpenTabs() {
  for (const tab of document.querySelectorAll("[role=tab][aria-selected=true]")) {
    const row = tab.closest("[role=tablist]");
    const beyond = row ? tab.getBoundingClientRect().right - row.getBoundingClientRect().right : 0;
    if (row && beyond > 0) row.scrollLeft += beyond;
  }
}

/** Looks again and again until it has stayed, then after so many milliseconds, if any. The reader's move ends it. */
function keepLooking(hasStayed: (isSettled: boolean) => boolean, rarely = 0, ended = () => {}) {
  let [looks, stayed, isSettled] = [0, 0, false];
  const look = () => {
    stayed = hasStayed(isSettled) ? stayed + 1 : 0;
    looks += 1;
    isSettled ||= stayed === ENOUGH || looks === LOOKS;
    if (isSettled && !rarely) end();
    else timer = setTimeout(look, isSettled ? rarely : BETWEEN);
  };
  let timer = setTimeout(look, BETWEEN);
  const end = () => {
    clearTimeout(timer);
    ended();
    endMoves();
  };
  const moved = (event: Event) => (event instanceof KeyboardEvent && STAYS.has(event.key) ? undefined : end());
  const endMoves = hear(window, MOVES, moved, true);
  return end;
}

/** How far the page must scroll so that it is seen, or its whole figure if that fits, and some of what is below. */
function outside(key: string, part: Seen, walk: HTMLElement) {
  const header = document.querySelector(".st-key-header")?.getBoundingClientRect().bottom ?? 0;
  const [from, to] = [Math.max(header, 0) + AROUND, walk.getBoundingClientRect().top - AROUND];
  const room = to - from;
  const whole = globalThis.tfmvizWhere?.(key) ?? part;
  const { top, height } = whole.height > room ? part : whole;
  if (top >= from && top + height <= to) return 0;
  if (top < from || height > room) return Math.round(top - from);
  return Math.round(top + height - to + Math.min(BELOW, (room - height) * 0.6));
}

const MOVES: (keyof WindowEventMap)[] = ["wheel", "pointerdown", "keydown", "touchstart"];

/**
 * Scrolls to the last row of tabs with one of these names, if it lies in the lower half of the window. What stands
 * above it may still grow or shrink for a while; a reader who moves meanwhile stays where they are.
 */
export function scrollToTabs(names: string[]) {
  const keys = names.filter(Boolean).map((name) => `.st-key-${CSS.escape(name)} [role=tablist]`);
  if (!keys.length) return () => {};
  return keepLooking(() => {
    const tabs = isReady() && [...document.querySelectorAll(keys.join())].at(-1);
    const isLow = tabs && tabs.getBoundingClientRect().top > innerHeight / 2;
    if (isLow) tabs.scrollIntoView({ block: "start" });
    return Boolean(tabs) && !isLow;
  });
}
