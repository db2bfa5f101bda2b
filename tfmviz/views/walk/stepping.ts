// Going to a step of a lecture, and keeping to it.

import { go, MEANT, turn } from "../shared/going.ts";
import { isReady } from "../shared/server.ts";

/** Looks, ten in a second: how often in a row the line is missed until that is believed, and how many there are. */
const [MISSED, PATIENCE] = [5, 150];

export function step(address: string) {
  go(address);
  insist(address);
}

let endInsisting = () => {};

let arrived = ""; // the step whose line is shown

export const arrive = (step: string) => {
  arrived = step;
};

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
    const isRest = isReady();
    if (isRest && lecture !== wanted) return endInsisting(); // the reader has gone elsewhere
    const isThere = shown === step && on === page;
    const isShown = arrived === step && document.querySelector(".st-key-lecture");
    missed = isRest && !(isThere && isShown) ? missed + 1 : 0;
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
