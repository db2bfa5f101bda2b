// How much of the window a picture may take.

const LEFT_FREE = 12; // pixels

/**
 * How many pixels of the window lie below the upper edge of an element while the page is at its top; those of the whole
 * window where the element begins too far down to be seen then.
 */
export function roomBelow(element: Element) {
  let top = element.getBoundingClientRect().top;
  let node = element.parentNode;
  while (node) {
    if (node instanceof Element) top += node.scrollTop;
    node = node instanceof ShadowRoot ? node.host : node.parentNode;
  }
  return innerHeight - LEFT_FREE - (top > 0.7 * innerHeight ? 0 : top);
}
