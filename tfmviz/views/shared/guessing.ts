// What a class guesses before it sees it: the root of the page says so; what shows values asks here, and is told.

const EVENT = "tfmviz-guess" as keyof WindowEventMap; // our own

import { hear } from "./elements.ts";

/** nothing is asked; values are hidden; they are seen beside the guess */
export type Stage = "" | "hidden" | "shown";

export const stageOfGuess = (): Stage => (document.documentElement.dataset.guess ?? "") as Stage;

export function setStageOfGuess(stage: Stage) {
  document.documentElement.dataset.guess = stage;
  window.dispatchEvent(new CustomEvent(EVENT));
}

export const onGuess = (callback: () => void) => hear(window, [EVENT], callback);

/** For a view that hides its values itself: sets `data-veiled`, calls back on a change. Returns what ends it. */
export function veil(node: HTMLElement, draw: () => void) {
  const root = node.getRootNode();
  const host = root instanceof ShadowRoot ? root.host : node;
  host.setAttribute("data-veils", "");
  const look = () => {
    const veiled = String(stageOfGuess() === "hidden" && host.closest('[class*="st-key-hidden-"]') !== null);
    if (veiled === (node.dataset.veiled ?? "false")) return;
    node.dataset.veiled = veiled;
    draw();
  };
  look();
  return onGuess(look);
}
