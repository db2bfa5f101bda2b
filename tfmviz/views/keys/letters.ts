// Keys of a single character can be switched off, for who speaks to the browser or touches keys by chance (WCAG 2.1.4).

import { isOn, LETTERS } from "../shared/switches.ts";
import { isChord, isTyping } from "../shared/typing.ts";

/** Keeps single characters that are not typed into a box from all shortcuts, while these are off; not Space. */
export function withhold(event: KeyboardEvent) {
  const isCharacter = [...event.key].length === 1 && event.key !== " ";
  if (isCharacter && !isChord(event) && !isOn(LETTERS) && !isTyping(event)) event.stopImmediatePropagation();
}
