// Which heads link two words: a button for each of the strongest, below the sentence in which both were clicked.

/** @import { Texts } from "../shared/elements.js" */
/** @import { Place as Cell } from "./matrix.js" */
/** @import { Place } from "./words.js" */
import { inWords } from "../shared/bytes.js";
import { button, make } from "../shared/elements.js";
import { share } from "../shared/numbers.js";
import { quoted } from "../shared/quoted.js";

const SHOWN = 4; // heads

/** @typedef {Place & {weight: number}} Linking a head, and what it gives from one word to the other */

export class Pair {
  /** @type {Linking[]} */
  best = [];

  /** @param {(place: Place) => void} choose goes to a head */
  constructor(choose) {
    this.said = make("span");
    this.buttons = Array.from({ length: SHOWN }, (_, n) => button("", { onclick: () => choose(this.best[n]) }));
    this.node = make("div", { className: "pair", role: "group", ariaLabel: "Which head links two words?" });
    this.node.append(this.said, make("span", { className: "ranked" }, ...this.buttons));
  }

  /** No two words are chosen. */
  ask() {
    this.rank([], []);
    this.said.textContent = "Which head links two words? Click both.";
  }

  /**
   * @param {Cell} cell the words' positions
   * @param {{queries: Texts, keys: Texts}} texts
   * @param {Linking[] | null} found the strongest first; null while it is not known
   * @param {Place[]} shown
   */
  show({ row, column }, { queries, keys }, found, shown) {
    this.rank(found ?? [], shown);
    const [query, key] = [queries.said?.[row] ?? quoted(queries.labels, row), quoted(keys.labels, column)].map(inWords);
    this.said.textContent = found?.length === 0 ? `${query} may not look at ${key}.` : `${query} → ${key}:`;
  }

  /**
   * The buttons stay the same ones, so that the keyboard stays where it is.
   * @param {Linking[]} found
   * @param {Place[]} shown
   */
  rank(found, shown) {
    this.best = found;
    for (const [n, node] of this.buttons.entries()) {
      node.hidden = n >= found.length;
      if (node.hidden) continue;
      const { layer, head, weight } = found[n];
      node.ariaPressed = String(shown.some((place) => place.layer === layer && place.head === head));
      node.replaceChildren(`layer ${layer}, head ${head} `, make("b", { textContent: share(weight) }));
    }
  }
}
