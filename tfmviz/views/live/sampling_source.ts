// The reader's own browser as a source while a slider of the page “Writing” moves: the model's scores, from which the
// view itself takes what the settings leave.

import type { BrowserSource } from "./browser_source.ts";
import type { Source } from "./updater.ts";

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
