// Where continuations stand in the tree of a beam search: steps across, ranks down.

/**
 * One continuation.
 * @typedef {object} Continuation
 * @property {number} step its length in tokens, from 1
 * @property {number} rank among the continuations of its step, 0 for the best
 * @property {number} parent rank of what it continues, in the step before
 * @property {string} word
 * @property {"best" | "goes on" | "complete" | "dropped"} kind
 * @property {string} said what is said of it
 */

/**
 * The index of what a continuation continues, −1 where that is not drawn.
 * @param {Continuation[]} nodes
 * @param {number} n
 */
export const parentOf = (nodes, n) =>
  nodes.findIndex(({ step, rank }) => step === nodes[n].step - 1 && rank === nodes[n].parent);

/**
 * The way to a continuation, from the first that is drawn to itself.
 * @param {Continuation[]} nodes
 * @param {number} n
 */
export function wayTo(nodes, n) {
  /** @type {number[]} */
  const way = [];
  for (let at = n; at >= 0; at = parentOf(nodes, at)) way.unshift(at);
  return way;
}

/**
 * Where an arrow key leads: to the left what it continues, to the right its best continuation, up and down the next
 * rank. −1 if there is nothing.
 * @param {Continuation[]} nodes
 * @param {number} n
 * @param {[rows: number, columns: number]} arrow
 */
export function neighbour(nodes, n, [rows, columns]) {
  const from = nodes[n];
  if (columns < 0) return parentOf(nodes, n);
  const wanted = columns
    ? nodes.filter(({ step, parent }) => step === from.step + 1 && parent === from.rank)
    : nodes.filter(({ step, rank }) => step === from.step && rank === from.rank + rows);
  const [best] = wanted.sort((a, b) => a.rank - b.rank);
  return best ? nodes.indexOf(best) : -1;
}
