// A step may choose a tab that lies far down on its page: once the page is drawn, it scrolls there.

export const READY = "[data-test-script-state=notRunning][data-test-connection-state=CONNECTED]";

/** Milliseconds between two looks, how often to look, and how often in a row the tabs must be found in their place. */
const [BETWEEN, LOOKS, ENOUGH] = [100, 300, 10];

/** What a reader does to look elsewhere. */
export const MOVES = ["wheel", "pointerdown", "keydown", "touchstart"];

/**
 * Scrolls to the last row of tabs with one of these names, if it lies in the lower half of the window. What stands
 * above it may still grow or shrink for a while, so this looks again until it stays. A reader who moves meanwhile stays
 * where they are. Returns what ends the wait.
 */
export function scrollToTabs(names: string[]) {
  let [looks, stayed] = [0, 0];
  const timer = setInterval(() => {
    const tabs = document.querySelector(READY) && named(names);
    const isLow = tabs && tabs.getBoundingClientRect().top > innerHeight / 2;
    if (isLow) tabs.scrollIntoView({ block: "start" });
    stayed = tabs && !isLow ? stayed + 1 : 0;
    looks += 1;
    if (stayed === ENOUGH || looks === LOOKS) end();
  }, BETWEEN);
  const end = () => {
    clearInterval(timer);
    for (const move of MOVES) window.removeEventListener(move, end, true);
  };
  for (const move of MOVES) window.addEventListener(move, end, true);
  return end;
}

/** The last row of tabs, from the top, that has one of these names. */
function named(names: string[]) {
  const keys = names.filter(Boolean).map((name) => `.st-key-${CSS.escape(name)}`);
  return keys.length ? [...document.querySelectorAll(`:is(${keys.join()}) [role=tablist]`)].at(-1) : undefined;
}
