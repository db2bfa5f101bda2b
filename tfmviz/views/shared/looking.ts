// What is to be seen when a page opens is brought into the window while parts of the page still grow or shrink, until
// it stays in its place or the reader moves.

import { hear } from "./elements.ts";
import { isReady } from "./server.ts";

const BETWEEN = 100; // milliseconds between two looks
const [ENOUGH, LOOKS] = [10, 300]; // looks in a row that must find it there; after how many it is given up
const MOVES: (keyof WindowEventMap)[] = ["wheel", "pointerdown", "keydown", "touchstart"];
const STAYS = new Set(["g", "n"]); // keys for the line of a lecture, not for what it speaks of

/** Looks again and again until it has stayed, then after so many milliseconds, if any. The reader's move ends it. */
export function keepLooking(hasStayed: (isSettled: boolean) => boolean, rarely = 0, ended = () => {}) {
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

/**
 * Shows the open tabs of the rows with these names: in a strip that is wider than the window, and in the window if the
 * last row lies in its lower half. Nothing glides there.
 */
export function showTabs(names: string[]) {
  const keys = names.filter(Boolean).map((name) => `.st-key-${CSS.escape(name)} [role=tablist]`);
  if (!keys.length) return () => {};
  return keepLooking(() => {
    const rows = isReady() ? [...document.querySelectorAll(keys.join())] : [];
    for (const row of rows) scrollStrip(row);
    const tabs = rows.at(-1);
    const isLow = tabs && tabs.getBoundingClientRect().top > innerHeight / 2;
    if (isLow) tabs.scrollIntoView({ block: "start", behavior: "instant" });
    return Boolean(tabs) && !isLow;
  });
}

/** The open tab stands in the middle of its strip, unless all of it is seen where it is. */
export function scrollStrip(row: Element) {
  const tab = row.querySelector("[aria-selected=true]")?.getBoundingClientRect();
  if (!tab) return;
  const strip = row.getBoundingClientRect();
  if (tab.left >= strip.left && tab.right <= strip.right) return;
  const left = row.scrollLeft + (tab.left + tab.right - strip.left - strip.right) / 2;
  row.scrollTo({ left, behavior: "instant" });
}
