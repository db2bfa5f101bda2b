// Which tokens two texts share, as in tfmviz/analysis/side_by_side.py: by their letters, along a longest common
// subsequence, then those that have moved.

/** the positions of a token in A and in B; null where it is not */
export type Pair = [a: number | null, b: number | null];

export type Shared = [a: number, b: number];

/** Every token of A and of B once, in the order of both texts. */
export function pairsOf(a: string[], b: string[]): Pair[] {
  const [one, other] = [a, b].map((tokens) => tokens.map((token) => token.trim() || token));
  const common = commonOf(one, other);
  const ofA = new Set(common.map(([n]) => n));
  const left = new Set(other.keys());
  for (const [, m] of common) left.delete(m);
  const moved = new Map();
  for (const [n, token] of one.entries()) {
    const m = ofA.has(n) ? undefined : [...left].find((place) => other[place] === token);
    if (m !== undefined) moved.set(n, m);
    if (m !== undefined) left.delete(m);
  }
  const order: Pair[] = [];
  let [fromA, fromB] = [0, 0];
  for (const [n, m] of [...common, [one.length, other.length]]) {
    for (let at = fromA; at < n; at++) order.push([at, moved.get(at) ?? null]);
    for (let at = fromB; at < m; at++) if (left.has(at)) order.push([null, at]);
    if (n < one.length) order.push([n, m]);
    [fromA, fromB] = [n + 1, m + 1];
  }
  return order;
}

/** A longest common subsequence: what both begin and end with, and between them the earliest tokens. */
function commonOf(a: string[], b: string[]): Shared[] {
  let [endA, endB, first] = [a.length, b.length, 0];
  while (first < Math.min(endA, endB) && a[first] === b[first]) first++;
  for (; Math.min(endA, endB) > first && a[endA - 1] === b[endB - 1]; endA--) endB--;
  const longest = Array.from({ length: endA + 1 }, () => new Uint16Array(endB + 1)); // of what is left between
  for (let n = endA - 1; n >= first; n--) {
    for (let m = endB - 1; m >= first; m--) {
      longest[n][m] = a[n] === b[m] ? longest[n + 1][m + 1] + 1 : Math.max(longest[n + 1][m], longest[n][m + 1]);
    }
  }
  const found: Shared[] = [];
  for (let n = 0, m = 0; n < endA && m < endB; ) {
    if (a[n] === b[m]) found.push([n++, m++]);
    else if (longest[n + 1][m] >= longest[n][m + 1]) n++;
    else m++;
  }
  for (let n = endA; n < a.length; n++) found.push([n, n - endA + endB]);
  return found;
}

/** The pairs of tokens that both texts have. */
export const sharedOf = (order: Pair[]): Shared[] => order.filter(([a, b]) => a !== null && b !== null) as Shared[];
