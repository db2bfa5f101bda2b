// Where in the window a figure stands, or a cell, row, column, mark or word of it, and in letters of which size.
// Lecture steps and tests ask here what is seen; none of it changes a figure.

/** In pixels of the window. `letters` is 0 where nothing is written. */
export type Seen = { left: number; top: number; width: number; height: number; letters: number };

/** Finds rows by their names: "it", the second "it#2", or the row with index 8, "#8". -1 where there is none. */
export function indexOf(names: string[], asked: string) {
  const [, name, number] = /^(.*?)(?:#(\d+))?$/.exec(asked) ?? [];
  if (!name && number) return Number(number) < names.length ? Number(number) : -1;
  const found = names.flatMap((one, n) => (one.trim() === name ? [n] : []));
  return found[Number(number ?? 1) - 1] ?? -1;
}

/** A part of a canvas. */
export function onCanvas(canvas: HTMLCanvasElement, box: Omit<Seen, "letters">, letters: number): Seen {
  const { left, top } = canvas.getBoundingClientRect();
  return { ...box, left: left + box.left, top: top + box.top, letters };
}

/** An element that is seen. */
export function seen(node: Element): Seen | null {
  const { left, top, width, height } = node.getBoundingClientRect();
  if (!width || !height) return null;
  const letters = node.textContent?.trim() ? Number.parseFloat(getComputedStyle(node).fontSize) : 0;
  return { left, top, width, height, letters };
}

/** All elements, those of views with a tree of their own too. */
const within = (root: ParentNode): Element[] =>
  [...root.querySelectorAll("*")].flatMap((node) => [node, ...(node.shadowRoot ? within(node.shadowRoot) : [])]);

/** The smallest element that says all these words, in what it shows or to screen readers. */
export function saying(root: ParentNode, words: string[]): Seen | null {
  const says = (node: Element) => {
    const said = `${node.textContent} ${node.ariaLabel ?? ""}`;
    return !node.matches("style, script, .unseen, [hidden]") && words.every((word) => said.includes(word));
  };
  const all = within(root).filter(says);
  const deepest = all.filter((node) => !all.some((other) => other !== node && node.contains(other)));
  return deepest.map(seen).find(Boolean) ?? null;
}
