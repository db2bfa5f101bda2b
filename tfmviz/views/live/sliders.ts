// Streamlit's sliders on the page “Writing”. They answer the hand at once, Python a run later.

import { SLIDERS } from "../shared/constants.ts";

const SELECTORS = Object.values(SLIDERS).map((key) => `.st-key-${key}`);

/** The numbers on the sliders in their order; undefined without sliders. */
export function numbersSet() {
  const found = SELECTORS.map((key) => document.querySelector(`${key} input[type=range]`));
  if (found.includes(null)) return undefined;
  return found.map((slider) => Number(Number((slider as HTMLInputElement).value).toFixed(2))).join();
}

/** Tells whenever what the sliders say may have changed. Returns what ends this. */
export function watchSliders(tell: () => void): () => void {
  const observer = new MutationObserver((changes) => {
    if (changes.some(({ target }) => target instanceof Element && target.closest(SELECTORS.join()))) tell();
  });
  observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ["aria-valuetext"] });
  return () => observer.disconnect();
}
