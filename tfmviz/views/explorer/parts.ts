// What the parts of a text give to one another, such as two sentences that are read together: of the head that is
// shown, and the heads that give most.

import { button, make } from "../shared/elements.ts";
import { share } from "../shared/numbers.ts";
import type { Linking } from "./pair.ts";
import type { Between } from "./payload.ts";
import type { State } from "./state.ts";
import type { Place } from "./words.ts";

const SHOWN = 3; // heads

/** One part to another, with the share of every head, the most first. */
type Way = { from: number; to: number; heads: Linking[] };

export class Parts {
  node = make("div", { className: "between-parts", role: "group", ariaLabel: "Attention between the parts" });
  choose: (place: Place) => void;
  drawn = "";

  constructor(choose: (place: Place) => void) {
    this.choose = choose;
  }

  /** Shows what the heads in view give; undefined: the text is one part. */
  show(between: Between | undefined, { layer, heads, aggregate }: State) {
    this.node.hidden = !between;
    const asked = JSON.stringify([between, layer, heads, aggregate]);
    if (!between || asked === this.drawn) return;
    this.drawn = asked;
    const { parts, shares } = between;
    const rows = waysOf(between).map(({ from, to, heads: best }) => {
      const among = {
        heads: heads.map((place) => shares[place.layer][place.head]),
        mean: shares[layer],
        all: shares.flat(),
        rollout: [],
      }[aggregate];
      const mean = among.reduce((sum, head) => sum + head[from][to], 0) / among.length;
      const ranked = best.slice(0, SHOWN).map((head) => this.button(head, heads));
      return [
        make("span", { textContent: `${parts[from]} → ${parts[to]}`, dir: "auto" }),
        make("b", { textContent: among.length ? share(mean) : "" }),
        make("span", { className: "ranked" }, "most in ", ...ranked),
      ];
    });
    this.node.replaceChildren(...rows.flat());
  }

  button(place: Linking, shown: Place[]) {
    const { layer, head, weight } = place;
    const node = button("", { onclick: () => this.choose({ layer, head }) });
    node.ariaPressed = String(shown.some((one) => one.layer === layer && one.head === head));
    node.title = `Layer ${layer}, head ${head}`;
    node.append(`${layer}.${head} `, make("b", { textContent: share(weight) }));
    return node;
  }
}

/** From every part to every other to which some head gives something: a causal mask leaves out half of them. */
export function waysOf({ parts, shares }: Between): Way[] {
  const pairs = parts.flatMap((_, from) => parts.map((_, to) => ({ from, to })));
  return pairs
    .filter(({ from, to }) => from !== to)
    .map(({ from, to }) => {
      const heads = shares.flatMap((row, layer) => row.map((head, n) => ({ layer, head: n, weight: head[from][to] })));
      return { from, to, heads: heads.sort((a, b) => b.weight - a.weight) };
    })
    .filter(({ heads }) => heads[0].weight > 0);
}
