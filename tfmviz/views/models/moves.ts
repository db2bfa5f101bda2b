// Where a key leads in a list of names.

/**
 * The place that a key leads to, null for a key that leads nowhere. A letter leads to the next name that begins with
 * it.
 */
export function moved(key: string, at: number, names: string[]): number | null {
  const last = names.length - 1;
  if (key === "ArrowDown") return Math.min(at + 1, last);
  if (key === "ArrowUp") return Math.max(at - 1, 0);
  if (key === "Home") return 0;
  if (key === "End") return last;
  if ([...key].length !== 1) return null;
  for (let step = 1; step <= names.length; step++) {
    const n = (at + step) % names.length;
    if (names[n].toLowerCase().startsWith(key.toLowerCase())) return n;
  }
  return null;
}
