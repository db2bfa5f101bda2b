// The reader's own browser as a source while a text is typed above the page's keyboard: the three words that
// `analysis/keyboard.py` would offer.

/** @import { Source } from "./following.js" */
/** @import { Own } from "./own.js" */
import { meetingOf } from "../shared/meet.js";
import { MOST } from "./own.js";

/** @typedef {{model: string, ids: number[]}} Dictionary whose words they are, and their tokens */

const OFFERED = 3;

export class Offers {
  /**
   * @param {Own} own has the engines
   * @param {() => Dictionary} [dictionary]
   */
  constructor(own, dictionary = () => meetingOf("offers").data) {
    this.own = own;
    this.dictionary = dictionary;
  }

  /** @type {Source["trace"]} */
  async trace(text, { page, parcel, views, entered = text }) {
    if (!parcel || !views.includes("offers") || text === entered) return null;
    const { model, ids } = this.dictionary();
    const engine = model === page.model ? this.own.engine(parcel) : null;
    const [before, begun] = parted(text);
    if (!engine?.tokenizer.knows(text) || !before || engine.encode(before).ids.length > MOST) return null;
    engine.trace(before, { sites: [] });
    const { logits } = engine.next();
    const { vocabulary } = engine.tokenizer;
    const fitting = ids.filter((id) => vocabulary[id].startsWith(` ${begun}`));
    const best = fitting.sort((a, b) => logits[b] - logits[a]).slice(0, OFFERED);
    const words = best.map((id) => vocabulary[id].slice(1));
    return { typed: { first: 0 }, views: { offers: { before: `${before} `, words } } };
  }
}

/**
 * What stands before the word that is being typed, and as much of it as is there.
 * @param {string} text
 */
export function parted(text) {
  const begun = /(?<= )\p{L}*$/u.exec(text)?.[0] ?? "";
  return [text.slice(0, text.length - begun.length).trimEnd(), begun];
}
