// The reader's own browser as a source while a slider of the page “Writing” moves: the model's scores, from which the
// view itself takes what the settings leave.

/** @import { Source } from "./following.js" */
/** @import { Own } from "./own.js" */

export class Settings {
  /** @param {Own} own has the engines */
  constructor(own) {
    this.own = own;
  }

  /** @type {Source["trace"]} */
  async trace(text, { page, parcel, change = "", views, entered = text }) {
    const { edited } = page;
    if (edited?.by !== "sliders" || !parcel || !views.includes("writing") || text !== entered) return null;
    const engine = this.own.engine(parcel);
    if (!engine?.tokenizer.knows(text)) return null;
    const [temperature, repetition, top_k, top_p, min_p] = change.split(",").map(Number);
    const writing = {
      rules: { ...edited.rules, temperature, repetition, top_k, top_p, min_p },
      names: edited.names,
      running: (/** @type {number} */ token) => engine.running(token),
      after: (/** @type {number[]} */ tokens) => {
        const { facts } = engine.trace(text, { sites: [], more: tokens });
        return { logits: engine.next().logits, seen: [...facts.ids, ...tokens] };
      },
    };
    return { typed: { first: 0 }, views: { writing } };
  }
}
