// Streamlit's boxes on the page “Switch it off”, which name the parts that are off. They answer a click at once,
// Python a run later.

const BOXES = "[class*='st-key-off_']";
const TAG = "[data-tag]:not(template *)"; // Streamlit measures in the template

/** The names of the parts that are off, in the order of ui/switch_off/board.py; undefined without boxes. */
export function namesOff() {
  if (!document.querySelector(BOXES)) return undefined;
  const tags = [...document.querySelectorAll(`${BOXES} ${TAG}`)].map((tag) => tag.textContent?.trim() ?? "");
  return tags.sort().join();
}

/**
 * Tells whenever what the boxes hold may have changed.
 * @param {() => void} tell
 * @returns {() => void} ends this
 */
export function watchBoxes(tell) {
  const observer = new MutationObserver((changes) => {
    if (changes.some(({ target }) => target instanceof Element && target.closest(BOXES))) tell();
  });
  observer.observe(document.body, { childList: true, subtree: true });
  return () => observer.disconnect();
}
