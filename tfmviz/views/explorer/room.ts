// How much of the window a picture may take.

const LEFT_FREE = 12; // pixels

/** Pixels of the window below an element's upper edge with the page at its top; all where it begins too far down. */
export function roomBelow(element: Element) {
  let top = element.getBoundingClientRect().top;
  let node = element.parentNode;
  while (node) {
    if (node instanceof Element) top += node.scrollTop;
    node = node instanceof ShadowRoot ? node.host : node.parentNode;
  }
  return innerHeight - LEFT_FREE - (top > 0.7 * innerHeight ? 0 : top);
}
