import assert from "node:assert/strict";
import { test } from "node:test";
import { MOST_BRANCHES } from "../../tfmviz/views/shared/constants.ts";
import { drawWords, entropyWords, rivalSentence } from "../../tfmviz/views/writing/rivals.tsx";
import { choose, codeOf, goTo, NOTHING, pathOf, stepBack, treeOf, writtenIn } from "../../tfmviz/views/writing/tree.ts";

/** A tree into which these tokens were written one after another. */
const grown = (...tokens) => tokens.reduce((tree, token) => choose(tree, tree.shown, token), NOTHING);

test("words are appended, and stepping back keeps them in the tree", () => {
  const tree = grown(5, 7, 9);
  assert.deepEqual(writtenIn(tree), [5, 7, 9]);
  const back = stepBack(stepBack(tree));
  assert.deepEqual(writtenIn(back), [5]);
  assert.deepEqual(pathOf(back), [5, 7, 9]);
  assert.deepEqual(stepBack(NOTHING), NOTHING);
});

test("the same word again walks along, another one branches", () => {
  const tree = stepBack(stepBack(grown(5, 7, 9)));
  assert.equal(choose(tree, 1, 7).branches.length, 1);
  const other = choose(tree, 1, 8);
  assert.deepEqual(writtenIn(other), [5, 8]);
  assert.deepEqual(pathOf(other, 0), [5, 7, 9]);
  assert.deepEqual(other.branches[1], { parent: 0, at: 1, tokens: [8] });
  assert.equal(codeOf(tree), "0.1~0.0.5.7.9"); // the tree given stays as it is
});

test("a word that another branch has at this place leads to that branch", () => {
  const other = choose(stepBack(grown(5, 7)), 1, 8);
  const first = choose(other, 1, 7);
  assert.deepEqual([first.branch, first.shown, first.branches.length], [0, 2, 2]);
});

test("branches of branches keep all they share", () => {
  let tree = choose(stepBack(grown(1, 2, 3, 4)), 2, 30);
  tree = choose(choose(tree, 3, 40), 3, 41);
  assert.deepEqual(writtenIn(tree), [1, 2, 30, 41]);
  tree = choose(tree, 1, 20); // shares less with its parent than the parent with the first text
  assert.deepEqual(writtenIn(tree), [1, 20]);
  assert.deepEqual(writtenIn(goTo(tree, 0)), [1, 2, 3, 4]);
});

test("the code of a tree stands for it", () => {
  const tree = stepBack(choose(grown(5, 7000, 35), 1, 36));
  assert.equal(codeOf(tree), "1.1~0.0.5.5eg.z~0.1.10");
  assert.deepEqual(treeOf(codeOf(tree)), tree);
  assert.equal(codeOf(NOTHING), "");
  assert.deepEqual(treeOf(""), NOTHING);
});

test("there is an end to branches", () => {
  let tree = grown(0);
  for (let token = 1; token < MOST_BRANCHES; token++) tree = choose(tree, 0, token);
  assert.equal(tree.branches.length, MOST_BRANCHES);
  assert.equal(choose(tree, 0, 99), null);
  assert.notEqual(choose(tree, 0, 3), null);
});

const PLACE = {
  token: 4,
  text: " cat",
  number: 0.25,
  falls: 4,
  low: 0.125,
  high: 0.5,
  rivals: [{ token: 9, text: " dog", shares: [0.5, null] }],
};

test("the draw is told in words, and whether the word stands there for another reason", () => {
  assert.equal(drawWords(PLACE, true), "0.250 falls between 0.125 and 0.500, on “cat”.");
  assert.match(drawWords({ ...PLACE, falls: 9 }, true), /on “dog”\. You, or other settings, chose this word/);
  assert.doesNotMatch(drawWords({ ...PLACE, falls: 9 }, false), /by hand/);
  assert.match(drawWords({ ...PLACE, number: null }, true), /^Greedy: .*“cat”\.$/);
});

test("a rival says what each setting leaves of it and what cuts it", () => {
  assert.equal(rivalSentence(PLACE.rivals[0], ["model", "top-k 1", "top-p 0.9"]), "“dog”: model 50%, cut by top-k 1");
});

test("entropy is put as a number of equally likely tokens", () => {
  assert.match(entropyWords(Math.log(8)), /among 8\.0 equally/);
  assert.match(entropyWords(Math.log(500)), /among 500 equally/);
});
