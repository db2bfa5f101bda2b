// The reader's own browser as a source for the page “Writing”: words to tap, and scores while a slider moves.

import { MOST_FOLLOWED, OFFERED } from "../shared/constants.ts";
import { registryEntry } from "../shared/streamlit_bridge.ts";
import type { BrowserSource } from "./browser_source.ts";
import type { Source } from "./updater.ts";

/** whose words they are, and their tokens */
type Dictionary = { model: string; ids: number[] };

/** While a text is typed above the page's keyboard: the three words that `analysis/keyboard.py` would offer. */
export const offers = (
  own: Pick<BrowserSource, "engine">,
  dictionary = () => registryEntry("offers").data as Dictionary,
): Source => ({
  async trace(text, { page, parcel, views, entered = text }) {
    if (!parcel || !views.includes("offers") || text === entered) return null;
    const { model, ids } = dictionary();
    const engine = model === page.model ? own.engine(parcel) : null;
    const [before, begun] = parted(text);
    if (!engine?.tokenizer.knows(text) || !before || engine.encode(before).ids.length > MOST_FOLLOWED) return null;
    engine.trace(before, { sites: [] });
    const { logits } = engine.next();
    const { vocabulary } = engine.tokenizer;
    const fitting = ids.filter((id) => vocabulary[id].startsWith(` ${begun}`));
    const best = fitting.sort((a, b) => logits[b] - logits[a]).slice(0, OFFERED);
    const words = best.map((id) => vocabulary[id].slice(1));
    return { typed: { first: 0 }, views: { offers: { before: `${before} `, words } } };
  },
});

/** What stands before the word that is being typed, and as much of it as is there. */
export function parted(text: string) {
  const begun = /(?<= )\p{L}*$/u.exec(text)?.[0] ?? "";
  return [text.slice(0, text.length - begun.length).trimEnd(), begun];
}

/** While a slider moves: the model's scores, from which the view itself takes what the settings leave. */
export const settings = (own: BrowserSource): Source => ({
  async trace(text, { page: { edited }, parcel, change = "", views, entered = text }) {
    if (edited?.by !== "sliders" || !parcel || !views.includes("writing") || text !== entered) return null;
    const engine = own.engine(parcel);
    if (!engine?.tokenizer.knows(text)) return null;
    const set = change.split(",").map((one) => one.split("="));
    const moved = Object.fromEntries(set.map(([rule, number]) => [rule, Number(number)]));
    const running = (token: number) => engine.running(token);
    const after = (tokens: number[]) => {
      const { facts } = engine.trace(text, { sites: [], more: tokens });
      return { logits: engine.next().logits, seen: [...facts.ids, ...tokens] };
    };
    const writing = { rules: { ...edited.rules, ...moved }, names: edited.names, running, after };
    return { typed: { first: 0 }, views: { writing } };
  },
});
