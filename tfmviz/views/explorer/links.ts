// Which heads link two words, or two parts of a text such as two sentences: a button for each of the strongest.

import { inWords } from "../shared/bytes.ts";
import { button, make, reused } from "../shared/elements.ts";
import { share } from "../shared/numbers.ts";
import { quoted } from "../shared/quoted.ts";
import type { Place as Cell } from "./matrix.ts";
import type { Between } from "./payload.ts";
import { isSame, type Sides, type State } from "./state.ts";
import type { Place } from "./words.ts";

const [OF_WORDS, OF_PARTS] = [4, 3]; // heads shown
const MUCH = 0.1; // a share of attention that counts as a link
const LABEL = "Which head links two words?";

export type Linking = Place & { weight: number };

type Choose = (place: Place) => void; // goes to a head

/** Gives a group a button for each of these heads, with a short name or a long one; those in view are pressed. */
function rank(group: HTMLElement, found: Linking[], shown: Place[], isShort: boolean, choose: Choose) {
  for (const [n, node] of reused([...group.children], found.length, () => group.appendChild(button(""))).entries()) {
    const { layer, head, weight } = found[n];
    const [name, title] = isShort
      ? [`${layer}.${head}`, `Layer ${layer}, head ${head}`]
      : [`layer ${layer}, head ${head}`, ""];
    const ariaPressed = String(shown.some((place) => isSame(place, found[n])));
    Object.assign(node, { title, ariaPressed, onclick: () => choose({ layer, head }) });
    node.replaceChildren(`${name} `, make("b", { textContent: share(weight) }));
  }
}

export class Links {
  said = make("span");
  ranked = make("span", { className: "ranked" });
  parts = make("div", { className: "between-parts", role: "group", ariaLabel: "Attention between the parts" });
  node = make("div", { className: "pair", role: "group", ariaLabel: LABEL }, this.said, this.ranked, this.parts);
  drawn = ""; // what the parts show
  choose: Choose;

  constructor(choose: Choose) {
    this.choose = choose;
  }

  ask() {
    this.ranked.replaceChildren();
    this.said.textContent = `${LABEL} Click both.`;
  }

  /** Of two words that were clicked; `found` has the strongest first, and is null while it is not known. */
  showPair({ row, column }: Cell, { queries, keys }: Sides, found: Linking[] | null, shown: Place[]) {
    rank(this.ranked, found?.slice(0, OF_WORDS) ?? [], shown, false, this.choose);
    const [query, key] = [queries.said?.[row] ?? quoted(queries.labels, row), quoted(keys.labels, column)].map(inWords);
    const isShared = found && found.filter(({ weight }) => weight >= MUCH).length > 1;
    const link = `${query} → ${key}${isShared ? ". Several heads link them" : ""}:`;
    this.said.textContent = found?.length === 0 ? `${query} cannot attend to ${key}.` : link;
  }

  /** The pair and its heads in one sentence. */
  get spoken() {
    return `${this.said.textContent} ${[...this.ranked.children].map((node) => node.textContent).join(", ")}`;
  }

  /** What the heads in view give from each part of a text to each, and who gives most; undefined: it is one part. */
  showParts(between: Between | undefined, { layer, heads, aggregate }: State) {
    this.parts.hidden = !between;
    const asked = JSON.stringify([between, layer, heads, aggregate]);
    if (!between || asked === this.drawn) return;
    this.drawn = asked;
    const { parts, shares } = between;
    const pairs = parts
      .flatMap((_, from) => parts.map((_, to) => ({ from, to })))
      .filter(({ from, to }) => from !== to);
    const rows = pairs.map(({ from, to }) => {
      const all = shares.flatMap((row, layer) => row.map((head, n) => ({ layer, head: n, weight: head[from][to] })));
      const best = all.sort((a, b) => b.weight - a.weight).slice(0, OF_PARTS);
      if (!best[0].weight) return []; // a causal mask leaves out half of the ways
      const among = {
        heads: heads.map((place) => shares[place.layer][place.head]),
        mean: shares[layer],
        all: shares.flat(),
        rollout: [],
      }[aggregate];
      const mean = among.reduce((sum, head) => sum + head[from][to], 0) / among.length;
      const buttons = make("span", { className: "ranked" });
      rank(buttons, best, heads, true, this.choose);
      buttons.prepend("most in ");
      return [
        make("span", { textContent: `${parts[from]} → ${parts[to]}`, dir: "auto" }),
        make("b", { textContent: among.length ? share(mean) : "" }),
        buttons,
      ];
    });
    this.parts.replaceChildren(...rows.flat());
  }
}
