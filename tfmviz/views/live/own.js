// The reader's own browser as a source: for models that it can compute, once one has arrived. Until then, and for all
// else, the next source is asked.

/** @import { Engine } from "../engine/engine.js" */
/** @import { Parcel } from "../engine/fetching.js" */
/** @import { Known, Pictures } from "./following.js" */
import { perCent } from "../shared/numbers.js";

const SITES = ["*.pattern", "*.mask"];
const DRAWS = new Set(["explorer", "predictions"]); // the other views need more than an engine's record
export const WORDS = 10;
export const MOST = 128; // tokens; a longer text would hold the hand up
const GAP = /^ ?_{3,}$/;

export class Own {
  /** @type {Map<string, Engine | null>} by the weights' address; null while one is on its way, or cannot come */
  engines = new Map();
  n = 0;

  /** @param {(parcel: Parcel) => Promise<Engine>} [get] */
  constructor(get = fetched) {
    this.get = get;
  }

  /**
   * The engine of a model, null until it is here. The first key asks for it, unless the reader's line is dear.
   * @param {Parcel} parcel
   */
  engine(parcel) {
    const found = this.engines.get(parcel.at);
    if (found !== undefined) return found;
    const { connection } = /** @type {Navigator & {connection?: {saveData: boolean}}} */ (navigator);
    if (connection?.saveData) return null;
    this.engines.set(parcel.at, null);
    this.get(parcel).then(
      (engine) => this.engines.set(parcel.at, engine),
      () => {}, // the server goes on computing
    );
    return null;
  }

  /**
   * @param {string} text
   * @param {Known} known
   * @returns {Promise<Pictures | null>}
   */
  async trace(text, { page, parcel, opening, views }) {
    if (!parcel || !views.every((view) => DRAWS.has(view))) return null;
    const engine = this.engine(parcel);
    if (!engine?.tokenizer.knows(text)) return null;
    try {
      const { ids } = engine.encode(text);
      if (ids.length > MOST) return null;
      this.n += 1;
      const { facts, sites } = engine.trace(text, { sites: SITES, title: page.model });
      const { tokens } = facts.texts.target;
      const first = firstOf(tokens, page.token, opening[text], engine.tokenizer.fillsGaps);
      const explorer = { facts: { ...facts, id: -this.n }, sites };
      const predictions = engine.likeliest(first, WORDS).map(([label, p]) => [label, p, perCent(p)]);
      const drawn = Object.entries({ explorer, predictions }).filter(([view]) => views.includes(view));
      return { typed: { first }, views: Object.fromEntries(drawn) };
    } catch {
      return null; // whatever it is, the server says it
    }
  }
}

/**
 * The script and the model: nobody who only looks waits for either.
 * @param {Parcel} parcel
 * @returns {Promise<Engine>}
 */
async function fetched(parcel) {
  const { default: fetchEngine } = await import(new URL(parcel.script ?? "", document.baseURI).href);
  return fetchEngine(parcel);
}

/**
 * The token to look at (`nearest` in ui/sentences.py): the chosen one, a gap, an example's own word, the last word.
 * @param {string[]} tokens
 * @param {number | null} chosen
 * @param {string} [own] what an example opens with
 * @param {boolean} [fillsGaps] whether ___ is one for this model
 */
export function firstOf(tokens, chosen, own = "", fillsGaps = false) {
  const last = tokens.length - 1;
  if (chosen !== null) return Math.min(chosen, last);
  const gap = fillsGaps ? tokens.findIndex((token) => GAP.test(token)) : -1;
  if (gap >= 0) return gap;
  const word = own ? tokens.map((token) => token.trim()).lastIndexOf(own) : -1;
  if (word >= 0) return word;
  const any = tokens.map((token) => /[\p{L}\p{N}]/u.test(token)).lastIndexOf(true);
  return any < 0 ? last : any;
}
