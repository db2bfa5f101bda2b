// Keys of the whole page.

export const isChord = (event: KeyboardEvent) => event.ctrlKey || event.metaKey || event.altKey;

/** Whether a text box has the focus, also one inside the shadow of another view. */
export function isTyping(event: KeyboardEvent) {
  const [target] = event.composedPath();
  return target instanceof Element && target.matches("input, textarea, select, [contenteditable=true]");
}
