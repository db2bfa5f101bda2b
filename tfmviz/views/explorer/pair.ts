// Which heads link two words: a button for each of the strongest, below the sentence in which both were clicked.

import { inWords } from "../shared/bytes.ts";
import { button, make } from "../shared/elements.ts";
import { share } from "../shared/numbers.ts";
import { quoted } from "../shared/quoted.ts";
import type { Place as Cell } from "./matrix.ts";
import type { Sides } from "./state.ts";
import type { Place } from "./words.ts";

const SHOWN = 4; // heads
const MUCH = 0.1; // a share of attention that counts as a link
const LABEL = "Which head links two words?";

export type Linking = Place & { weight: number };

export class Pair {
  best: Linking[] = [];
  said = make("span");
  buttons = Array.from({ length: SHOWN }, (_, n) => button("", { onclick: () => this.choose(this.best[n]) }));
  ranked = make("span", { className: "ranked" }, ...this.buttons);
  node = make("div", { className: "pair", role: "group", ariaLabel: LABEL }, this.said, this.ranked);

  choose: (place: Place) => void; // goes to a head

  constructor(choose: (place: Place) => void) {
    this.choose = choose;
  }

  ask() {
    this.rank([], []);
    this.said.textContent = `${LABEL} Click both.`;
  }

  /** Shows the words at these positions; `found` has the strongest first, and is null while it is not known. */
  show({ row, column }: Cell, { queries, keys }: Sides, found: Linking[] | null, shown: Place[]) {
    this.rank(found ?? [], shown);
    const [query, key] = [queries.said?.[row] ?? quoted(queries.labels, row), quoted(keys.labels, column)].map(inWords);
    const isShared = found && found.filter(({ weight }) => weight >= MUCH).length > 1;
    const link = `${query} → ${key}${isShared ? ". Several heads link them" : ""}:`;
    this.said.textContent = found?.length === 0 ? `${query} cannot attend to ${key}.` : link;
  }

  /** The buttons stay the same ones, so that the keyboard stays where it is. */
  rank(found: Linking[], shown: Place[]) {
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
