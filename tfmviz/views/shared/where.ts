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

/** Cells on a canvas: the corner of the first and their size in its pixels, the names of rows and columns. */
export type Lattice = { x: number; y: number; wide: number; high: number; rows: string[]; columns: string[] };

/** A cell by the names of its row and column, in either order, or one alone; without names all; with its `letters`. */
export function cellOf(canvas: HTMLCanvasElement, lattice: Lattice, names: string[], letters: number): Seen | null {
  const { x, y, wide, high, rows, columns } = lattice;
  const found = crossing(lattice, names) ?? crossing(lattice, [...names].reverse());
  if (!found) return null;
  const [row, column] = found;
  const { left, top } = canvas.getBoundingClientRect();
  return {
    left: left + x + Math.max(column, 0) * wide,
    top: top + y + Math.max(row, 0) * high,
    width: wide * (column < 0 ? columns.length : 1),
    height: high * (row < 0 ? rows.length : 1),
    letters,
  };
}

// Row and column with these names; of a single name that of the row, or else of the column; null where there is none.
function crossing({ rows, columns }: Lattice, [one, other]: string[]) {
  if (one === undefined) return [-1, -1];
  const row = indexOf(rows, one);
  if (other === undefined && row >= 0) return [row, -1];
  const column = indexOf(columns, other ?? one);
  return column < 0 || (row < 0 && other !== undefined) ? null : [row, column];
}

export function seen(node: Element): Seen | null {
  const { left, top, width, height } = node.getBoundingClientRect();
  if (!width || !height) return null;
  const letters = node.textContent?.trim() ? Number.parseFloat(getComputedStyle(node).fontSize) : 0;
  return { left, top, width, height, letters };
}

/** All elements, those of views with a tree of their own too. */
const within = (root: ParentNode): Element[] =>
  [...root.querySelectorAll("*")].flatMap((node) => [node, ...(node.shadowRoot ? within(node.shadowRoot) : [])]);

/** The smallest element that says all these words; one that says all of another, as a line of its points, is larger. */
export function saying(root: ParentNode, words: string[]): Seen | null {
  const said = (node: Element) => `${node.textContent} ${node.ariaLabel ?? ""}`.trim();
  const says = (node: Element) =>
    !node.matches("style, script, .unseen, [hidden]") && words.every((word) => said(node).includes(word));
  const all = within(root).filter((node) => says(node) && seen(node));
  const isLarger = (node: Element, other: Element) =>
    node.contains(other) || (said(node).length > said(other).length && said(node).includes(said(other)));
  const smallest = all.filter((node) => !all.some((other) => other !== node && isLarger(node, other)));
  return smallest.length ? seen(smallest[0]) : null;
}
