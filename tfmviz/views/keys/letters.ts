// Keys of a single character can be switched off, for who speaks to the browser or touches keys by chance (WCAG 2.1.4).

import { isOn, LETTERS } from "../shared/switches.ts";
import { isTyping } from "../shared/typing.ts";

/**
 * Keeps single characters from all who would take them for a shortcut, while they are switched off. What is typed into
 * a box is typed, and Space still presses a button.
 */
export function withhold(event: KeyboardEvent) {
  const isCharacter = [...event.key].length === 1 && event.key !== " ";
  const isChord = event.ctrlKey || event.altKey || event.metaKey;
  if (isCharacter && !isChord && !isOn(LETTERS) && !isTyping(event)) event.stopImmediatePropagation();
}
