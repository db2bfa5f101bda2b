// The reader's own browser as a source for pages where B is the same model with its pass changed: another mask, parts
// that are off. Both passes run here; the pictures get what tfmviz/ui/sides.py computes of them.

/** @import { Engine } from "../engine/engine.js" */
/** @import { Edit } from "../engine/edits.js" */
/** @import { Sites } from "../shared/record.js" */
/** @import { Known, Page, Pictures } from "./following.js" */
/** @import { Own } from "./own.js" */
import { largest } from "../shared/arrays.js";
import { firstOf } from "../shared/first.js";
import { decimal, perCent } from "../shared/numbers.js";
import { differenceOf, distancesOf, headOf, movedOf } from "./differences.js";
import { editsOf } from "./editing.js";
import { MOST, WORDS } from "./own.js";

/**
 * How B's pass is changed, and by which view. Of a mask: the layers that get it, the heads that do (null: all), how
 * many tokens it is for, and whether it is the model's own. Of parts: what they are multiplied by, unless that is no
 * number. Of the settings of writing: those that no slider says.
 * @typedef {{by: string, usual?: [query: number, key: number], rules?: any, names?: any, layers?: string[],
 *   heads?: boolean[] | null, tokens?: number, isOwn?: boolean, factor?: number | null}} Edited
 */

/** @typedef {{sites: Sites, probabilities: (token: number) => Float32Array}} Pass */

const LEAST = 5e-5; // a smaller share of attention is what rounding leaves
const NOTHING = 1e-9; // the end of a scale where all values are 0

/** What each view needs of the two passes besides the chosen layer. */
const NEEDS = /** @type {Record<string, string[]>} */ ({
  masks: [],
  side_a: [],
  side_b: [],
  side_difference: [],
  side_heads: ["*.pattern"],
  stream_change: ["*.resid_post"],
  next_words: [],
});

export class Changed {
  /** @type {{of: string, pass: Pass} | null} A's, which stays while B's is changed */
  a = null;

  /** @param {Own} own has the engines */
  constructor(own) {
    this.own = own;
  }

  /**
   * @param {string} text
   * @param {Known} known
   * @returns {Promise<Pictures | null>}
   */
  async trace(text, { page, parcel, opening, change = "", views, entered = text }) {
    const { edited, layer } = page;
    const isTyped = text !== entered;
    if (!edited || !parcel || !views.every((view) => view in NEEDS)) return null;
    if (!isTyped && views.join() === "masks") return null; // that is where the hand is
    const engine = this.own.engine(parcel);
    if (!engine?.tokenizer.knows(text)) return null;
    try {
      const { ids, tokens } = engine.encode(text);
      const edits = editsOf(change, edited, ids.length);
      if (!edits || ids.length > MOST) return null;
      const sites = [`${layer}.pattern`, `${layer}.mask`, ...views.flatMap((view) => NEEDS[view])];
      const of = JSON.stringify([parcel.at, ids, sites]);
      if (this.a?.of !== of) this.a = { of, pass: run(engine, text, sites, []) };
      const passes = [this.a.pass, run(engine, text, sites, edits)];
      const first = isTyped ? firstOf(tokens, page.token, opening[text]) : null;
      const [query, key] = placeOf(
        passes,
        page,
        first === null ? edited.usual : [first, mostOf(passes[0], page, first)],
      );
      const labels = isTyped ? tokens.map((token) => engine.label(token)) : null;
      const seen = { passes, page, query, key, words: engine.words, labels };
      const drawn = views.map((view) => [view, DRAWN[view](seen)]);
      return { typed: { first: query }, views: Object.fromEntries(drawn.filter(([, data]) => data)) };
    } catch {
      return null; // whatever it is, the server says it
    }
  }
}

/**
 * @param {Engine} engine
 * @param {string} text
 * @param {string[]} wanted
 * @param {Edit[]} edits
 * @returns {Pass}
 */
function run(engine, text, wanted, edits) {
  const { sites } = engine.trace(text, { sites: wanted, edits });
  const { last } = engine;
  /** @type {Map<number, Float32Array>} */
  const found = new Map();
  return {
    sites,
    probabilities: (token) => {
      const known = found.get(token) ?? engine.next(token, last).probabilities;
      found.set(token, known);
      return known;
    },
  };
}

/**
 * The token that looks and the one it looks at (`of` in ui/sides.py): until the reader has chosen one the usual token,
 * or that whose row differs most.
 * @param {Pass[]} passes
 * @param {Page} page
 * @param {[query: number, key: number]} [usual]
 */
function placeOf([a, b], page, usual = [0, 0]) {
  const { token, layer, head } = page;
  if (token !== null) return usual;
  const { rows, values } = headOf(a.sites, `${layer}.pattern`, head);
  const moved = distancesOf(values, headOf(b.sites, `${layer}.pattern`, head).values, rows);
  const query = moved.indexOf(Math.max(...moved));
  if (moved[usual[0]] > LEAST || moved[query] <= LEAST) return usual;
  return [query, mostOf(a, page, query)];
}

/**
 * The key that a query gives most to.
 * @param {Pass} pass
 * @param {Page} page
 * @param {number} query
 */
function mostOf({ sites }, { layer, head }, query) {
  const { columns, values } = headOf(sites, `${layer}.pattern`, head);
  const row = values.subarray(query * columns, (query + 1) * columns);
  return row.indexOf(Math.max(...row));
}

/**
 * What each view is to show instead of what Python has sent last. Labels are of the tokens, if the text is another one.
 * @typedef {{passes: Pass[], page: Page, query: number, key: number, words: string[], labels: string[] | null}} Seen
 * @type {Record<string, (seen: Seen) => any>}
 */
const DRAWN = {
  side_a: ({ passes, ...seen }) => oneSide(passes[0], seen),
  side_b: ({ passes, ...seen }) => oneSide(passes[1], seen),
  masks: ({ passes: [, b], page, labels }) => {
    const { rows, columns, values } = headOf(b.sites, `${page.layer}.mask`, page.head);
    return labels && { queries: labels, keys: labels, mask: { rows, columns, open: Uint8Array.from(values) } };
  },
  side_difference: ({ passes: [a, b], page, query, key, labels }) => {
    const values = differenceOf(maskedOf(a, page), maskedOf(b, page));
    const end = Math.max(NOTHING, ...values.map((value) => (Number.isFinite(value) ? Math.abs(value) : 0)));
    const frames = [frameOf(query, key)];
    return {
      values,
      scale: { low: -end, high: end },
      frames,
      alt: "B minus A",
      ...tokensOn(labels, "query", "key", true),
    };
  },
  side_heads: ({ passes: [a, b] }) => {
    const rows = Object.keys(a.sites).filter((site) => site.endsWith(".pattern"));
    const means = rows.map((site) => {
      const { shape, data } = a.sites[site];
      const [heads, length] = shape;
      const moved = distancesOf(data, b.sites[site].data, heads * length);
      return Array.from({ length: heads }, (_, n) => meanOf(moved.slice(n * length, (n + 1) * length)));
    });
    const texts = means.map((row) => row.map((share) => decimal(100 * share, 0)));
    return { values: Float32Array.from(means.flat()), texts, alt: "How much each head has changed" };
  },
  stream_change: ({ passes: [a, b], labels }) => {
    const rows = Object.keys(a.sites).filter((site) => site.endsWith(".resid_post"));
    const values = Float32Array.from(rows.flatMap((site) => movedOf(a.sites[site], b.sites[site])));
    const scale = { low: 0, high: Math.max(NOTHING, ...values) };
    return { values, scale, alt: "How far each vector has moved", ...tokensOn(labels, "", "token") };
  },
  next_words: ({ passes, query, words }) => {
    const [old, now] = passes.map(({ probabilities }) => probabilities(query));
    const best = largest(
      old.map((p, id) => Math.max(p, now[id])),
      WORDS,
    );
    return best.map((id) => [words[id], old[id], perCent(old[id]), now[id], perCent(now[id])]);
  },
};

/**
 * @param {Pass} pass
 * @param {Omit<Seen, "passes">} seen
 */
function oneSide(pass, { page, query, key, labels }) {
  const frames = [frameOf(query, key)];
  return { values: maskedOf(pass, page), frames, alt: "Where each token looks", ...tokensOn(labels, "query", "key") };
}

/**
 * Rows and columns of another text; where a picture's rows are no tokens, they stay.
 * @param {string[] | null} labels
 * @param {string} rows what the tokens are there
 * @param {string} columns
 * @param {boolean} [isOfBoth] then they are said without a number
 */
function tokensOn(labels, rows, columns, isOfBoth = false) {
  if (!labels) return {};
  const axis = (/** @type {string} */ title) => ({
    title,
    names: labels,
    spoken: labels.map((name, n) => `${title}${isOfBoth ? "" : ` ${n}`} “${name}”`),
    boxed: [],
    places: [...labels.keys()],
    count: labels.length,
  });
  return { ...(rows ? { rows: axis(rows) } : {}), columns: axis(columns) };
}

/**
 * The chosen head's attention, NaN where its mask forbids the look.
 * @param {Pass} pass
 * @param {Page} page
 */
function maskedOf({ sites }, { layer, head }) {
  const mask = headOf(sites, `${layer}.mask`, head).values;
  return headOf(sites, `${layer}.pattern`, head).values.map((share, n) => (mask[n] ? share : Number.NaN));
}

/**
 * @param {number} row
 * @param {number} column
 */
const frameOf = (row, column) => ({ top: row, left: column, bottom: row + 1, right: column + 1, colour: "accent" });

/** @param {number[]} numbers */
const meanOf = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
