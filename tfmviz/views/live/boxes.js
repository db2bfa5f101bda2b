// Streamlit's boxes on the page “Switch it off”, which name the parts that are off, and the sliders on “Writing”. They
// answer the hand at once, Python a run later.

const BOXES = "[class*='st-key-off_']";
const SLIDERS = ["temperature", "penalty", "topk", "topp", "minp"];
const WATCHED = [BOXES, ...SLIDERS.map((key) => `.st-key-${key}`)].join();
const TAG = "[data-tag]:not(template *)"; // Streamlit measures in the template

/** The names of the parts that are off, in the order of ui/switch_off/board.py; undefined without boxes. */
export function namesOff() {
  if (!document.querySelector(BOXES)) return undefined;
  const tags = [...document.querySelectorAll(`${BOXES} ${TAG}`)].map((tag) => tag.textContent?.trim() ?? "");
  return tags.sort().join();
}

/** The numbers on the sliders, in the order of ui/writing/desk.py; undefined without sliders. */
export function numbersSet() {
  const found = SLIDERS.map((key) => document.querySelector(`.st-key-${key} input[type=range]`));
  if (found.includes(null)) return undefined;
  return found.map((slider) => Number(Number(/** @type {HTMLInputElement} */ (slider).value).toFixed(2))).join();
}

/**
 * Tells whenever what boxes hold or sliders say may have changed.
 * @param {() => void} tell
 * @returns {() => void} ends this
 */
export function watchBoxes(tell) {
  const observer = new MutationObserver((changes) => {
    if (changes.some(({ target }) => target instanceof Element && target.closest(WATCHED))) tell();
  });
  observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ["aria-valuetext"] });
  return () => observer.disconnect();
}
