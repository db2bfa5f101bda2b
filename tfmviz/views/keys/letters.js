// Keys of a single character can be switched off, for who speaks to the browser or touches keys by chance (WCAG 2.1.4).

import { isTyping } from "../shared/typing.js";

const KEPT = "tfmviz-letters"; // the name in the browser's storage

/** Whether single characters act as shortcuts; at first they do. */
export function lettersAct() {
  try {
    return localStorage.getItem(KEPT) !== "off";
  } catch {
    return true; // a browser that stores nothing
  }
}

/** @param {boolean} act */
export function setLettersAct(act) {
  try {
    if (act) localStorage.removeItem(KEPT);
    else localStorage.setItem(KEPT, "off");
  } catch {
    // as above: the switch does not outlive the page
  }
}

/**
 * Keeps single characters from all who would take them for a shortcut, while they are switched off. What is typed into
 * a box is typed, and Space still presses a button.
 * @param {KeyboardEvent} event
 */
export function withhold(event) {
  const isCharacter = [...event.key].length === 1 && event.key !== " ";
  const isChord = event.ctrlKey || event.altKey || event.metaKey;
  if (isCharacter && !isChord && !lettersAct() && !isTyping(event)) event.stopImmediatePropagation();
}
