// What a step speaks of: brought into the window once the page is drawn, and ringed until the reader does something.

import { inPixels, make } from "../shared/elements.ts";
import { keepLooking, scrollStrip } from "../shared/looking.ts";
import { isReady } from "../shared/server.ts";
import type { Seen } from "../shared/where.ts";

const RARELY = 1000; // milliseconds between two looks once it stays in its place
const MOST = 0.45; // of the window: a whole figure that takes more of it needs no ring
const [AROUND, BELOW] = [5, 120]; // pixels between it and its ring; below what was too low

/** `show` is the key of a figure and names of a part; `walk`, the line of the step, covers the window's lower edge. */
export function keepInSight(walk: HTMLElement, show: string[]) {
  const ring = walk.appendChild(make("div", { className: "ring", hidden: true }));
  const find = (isSettled: boolean) => {
    const [key, ...names] = show;
    const found = isReady() && globalThis.tfmvizWhere?.(key, ...names);
    if (!ring.isConnected) walk.append(ring);
    if (!isSettled) for (const row of document.querySelectorAll("[role=tablist]")) scrollStrip(row);
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
