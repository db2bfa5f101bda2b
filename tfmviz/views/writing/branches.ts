// The branches of the text as a list of buttons, each below and to the right of the one that it leaves.

import { button, make } from "../shared/elements.ts";
import { pathOf, type Tree } from "./tree.ts";

/**
 * A title and a row for every branch.
 * @param texts of the tokens in the tree
 */
export function branchList(tree: Tree, texts: Record<string, string>) {
  const rows = tree.branches.map(({ at, tokens }, n) => {
    const words = tokens.map((token) => texts[token] ?? "…").join("");
    const node = button(words.trim() || "(the beginning)", {
      dataset: { branch: n },
      tabIndex: n === tree.branch ? 0 : -1,
      dir: "auto",
      ariaPressed: String(n === tree.branch),
      title: `${pathOf(tree, n).length} words`,
    });
    const where = n ? `from word ${at + 1}` : "first text";
    const marginLeft = `${1.2 * depthOf(tree, n)}rem`;
    return make("div", { style: { marginLeft } }, make("small", { textContent: where }), node);
  });
  return [make("p", { textContent: "Branches: click one to go on from its end." }), ...rows];
}

/** How many branches lie between a branch and the first text. */
function depthOf(tree: Tree, branch: number): number {
  return branch === 0 ? 0 : 1 + depthOf(tree, tree.branches[branch].parent);
}
