// The texts that were written, as a tree: a branch leaves another one at a place and goes on with tokens of its own.

import { MOST_BRANCHES } from "../shared/constants.ts";

/** `at`: words that it shares with its parent */
type Branch = { parent: number; at: number; tokens: number[] };

export interface Tree {
  branches: Branch[]; // the first is the root's own text
  branch: number; // the one being read
  shown: number; // how many of its words are written
}

export const NOTHING: Tree = { branches: [{ parent: 0, at: 0, tokens: [] }], branch: 0, shown: 0 };

export function pathOf(tree: Tree, branch: number = tree.branch): number[] {
  const { parent, at, tokens } = tree.branches[branch];
  return branch === 0 ? tokens : [...pathOf(tree, parent).slice(0, at), ...tokens];
}

export const writtenIn = (tree: Tree) => pathOf(tree).slice(0, tree.shown);

/** Reads a branch that begins so, or goes on with a token, or branches there; null if there would be too many. */
export function choose(tree: Tree, place: number, token: number): Tree | null {
  const beginning = [...pathOf(tree).slice(0, place), token];
  const order = [tree.branch, ...tree.branches.keys()];
  const known = order.find((branch) => startsWith(pathOf(tree, branch), beginning));
  if (known !== undefined) return { ...tree, branch: known, shown: place + 1 };
  if (place === pathOf(tree).length) {
    const grown = (one: Branch, n: number) => (n === tree.branch ? { ...one, tokens: [...one.tokens, token] } : one);
    return { ...tree, branches: tree.branches.map(grown), shown: place + 1 };
  }
  if (tree.branches.length === MOST_BRANCHES) return null;
  const branches = [...tree.branches, { parent: tree.branch, at: place, tokens: [token] }];
  return { branches, branch: branches.length - 1, shown: place + 1 };
}

export const goTo = (tree: Tree, branch: number): Tree => ({ ...tree, branch, shown: pathOf(tree, branch).length });

export const stepBack = (tree: Tree): Tree => ({ ...tree, shown: Math.max(0, tree.shown - 1) });

/** The tree as text for the address, "" for nothing: branch.shown, then ~parent.at.token.token… of every branch. */
export function codeOf({ branches, branch, shown }: Tree) {
  if (branches.length === 1 && !branches[0].tokens.length) return "";
  const parts = branches.map(({ parent, at, tokens }) => [parent, at, ...tokens.map((token) => token.toString(36))]);
  return [[branch, shown], ...parts].map((numbers) => numbers.join(".")).join("~");
}

/** Reads what `codeOf` wrote; Python has checked it. */
export function treeOf(code: string): Tree {
  if (!code) return NOTHING;
  const [[branch, shown], ...parts] = code.split("~").map((part) => part.split("."));
  const branches = parts.map(([parent, at, ...tokens]) => ({
    parent: Number(parent),
    at: Number(at),
    tokens: tokens.map((token) => parseInt(token, 36)),
  }));
  return { branches, branch: Number(branch), shown: Number(shown) };
}

const startsWith = (path: number[], beginning: number[]) => beginning.every((token, n) => token === path[n]);
