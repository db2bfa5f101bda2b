// Where continuations stand in the tree of a beam search: steps across, ranks down.

export interface Continuation {
  step: number; // its length in tokens, from 1
  rank: number; // among the continuations of its step, 0 for the best
  parent: number; // rank of what it continues, in the step before
  word: string;
  kind: "best" | "goes on" | "complete" | "dropped";
  said: string; // what is said of it
}

/** The index of what a continuation continues, −1 where that is not drawn. */
export const parentOf = (nodes: Continuation[], n: number) =>
  nodes.findIndex(({ step, rank }) => step === nodes[n].step - 1 && rank === nodes[n].parent);

/** The way to a continuation, from the first that is drawn to itself. */
export function wayTo(nodes: Continuation[], n: number) {
  const way: number[] = [];
  for (let at = n; at >= 0; at = parentOf(nodes, at)) way.unshift(at);
  return way;
}

/** Where an arrow key leads: left what it continues, right its best continuation, up and down the next rank; or −1. */
export function neighbour(nodes: Continuation[], n: number, [rows, columns]: [rows: number, columns: number]) {
  const from = nodes[n];
  if (columns < 0) return parentOf(nodes, n);
  const wanted = columns
    ? nodes.filter(({ step, parent }) => step === from.step + 1 && parent === from.rank)
    : nodes.filter(({ step, rank }) => step === from.step && rank === from.rank + rows);
  const [best] = wanted.sort((a, b) => a.rank - b.rank);
  return best ? nodes.indexOf(best) : -1;
}
