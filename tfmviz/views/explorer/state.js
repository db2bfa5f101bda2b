// What the reader has chosen, and how it is written into a link.

/** @import { Attention } from "./payload.js" */
/** @import { Scale } from "./weights.js" */
/** @import { Place } from "./words.js" */

/** @typedef {{side: "query" | "key", at: number}} Focus a token that looks, or one that is looked at */

/** @typedef {"heads" | "mean" | "all" | "rollout"} Aggregate */

/**
 * @typedef {object} State
 * @property {number} kind
 * @property {number} layer that of the head chosen last, and of means
 * @property {Place[]} heads the one chosen last is at the end
 * @property {Focus | null} pin
 * @property {number | null} to the key that the page asks about together with the pinned query
 * @property {Aggregate} aggregate
 * @property {boolean} withoutFirst
 * @property {number} top per cent
 * @property {number} least
 * @property {Scale} scale
 * @property {string} order "place", or the name of a score
 */

/**
 * @typedef {object} Selection what the page around is told
 * @property {string} kind
 * @property {number} layer
 * @property {number} head
 * @property {number | null} token
 * @property {number | null} to
 * @property {string} look
 */

/** @typedef {Pick<State, "pin" | "aggregate" | "withoutFirst" | "top" | "least" | "scale" | "order">} Look */

/** @type {Record<Aggregate, string>} */
export const AGGREGATES = {
  heads: "chosen heads",
  mean: "mean of the layer",
  all: "mean of all layers",
  rollout: "attention rollout",
};

/** @type {Record<Scale, string>} */
export const SCALES = { root: "square root", plain: "plain", row: "share of the row's largest" };

/** @returns {State} */
export const initial = () => ({
  kind: 0,
  layer: 0,
  heads: [{ layer: 0, head: 0 }],
  pin: null,
  to: null,
  aggregate: "heads",
  withoutFirst: false,
  top: 100,
  least: 0,
  scale: "root",
  order: "place",
});

/**
 * The cell of the matrix that the reader asks about.
 * @param {State} state
 */
export const pairOf = ({ pin, to }) => (pin?.side === "query" && to !== null ? { row: pin.at, column: to } : null);

/**
 * A click on a cell pins its query and remembers its key; a click on the same cell again lets both go.
 * @param {State} state
 * @param {import("./matrix.js").Place} cell
 * @returns {Pick<State, "pin" | "to">}
 */
export function picked(state, { row, column }) {
  const pair = pairOf(state);
  if (pair?.row === row && pair.column === column) return { pin: null, to: null };
  return { pin: { side: "query", at: row }, to: column };
}

/**
 * A click on a token pins it, on a second one asks which heads link the two, on a pinned one lets go. Of two words of
 * one text the first looks at the second, unless only the second may look at the first.
 * @param {State} state
 * @param {Focus} clicked
 * @param {(row: number, column: number) => boolean} mayLook
 * @param {boolean} isCrossing whether queries and keys are two texts
 * @returns {Pick<State, "pin" | "to">}
 */
export function clickedOn({ pin, to }, clicked, mayLook, isCrossing) {
  const { side, at } = clicked;
  if (pin?.side === side && pin.at === at) return { pin: null, to: null };
  if (!pin || to !== null || (pin.side === side && (isCrossing || side === "key"))) return { pin: clicked, to: null };
  const looks = pin.side === "query" && (side === "key" || mayLook(pin.at, at));
  const [row, column] = looks ? [pin.at, at] : [at, pin.at];
  return { pin: { side: "query", at: row }, to: column };
}

export const MOST_HEADS = 4; // shown at once, each in its colour

/**
 * Shows another head too, or one that is shown no longer; the last one stays.
 * @param {State} state
 * @param {Place} place
 * @returns {Pick<State, "heads" | "aggregate">}
 */
export function withHead({ heads, aggregate }, place) {
  if (aggregate !== "heads") return { heads: [place], aggregate: "heads" };
  const others = heads.filter(({ layer, head }) => layer !== place.layer || head !== place.head);
  const isShown = others.length < heads.length;
  return { heads: isShown && others.length ? others : [...others, place].slice(-MOST_HEADS), aggregate };
}

/**
 * The same heads so many layers higher; those that would have none are left out.
 * @param {State} state
 * @param {number} by
 * @param {number} last
 * @returns {Pick<State, "heads">}
 */
export const moved = ({ heads }, by, last) => ({
  heads: heads
    .map(({ layer, head }) => ({ layer: layer + by, head }))
    .filter(({ layer }) => layer >= 0 && layer <= last),
});

/**
 * The part of the state that only the view needs: "heads:1.2-3,pin:k5,show:mean,top:80" for head 1 of the layer and
 * head 3 of layer 2. Defaults are left out.
 * @param {State} state
 */
export function toLook(state) {
  const parts = {
    heads: state.heads.length > 1 && state.heads.map((place) => written(place, state.layer)).join("."),
    pin: state.pin && state.pin.side[0] + state.pin.at,
    show: state.aggregate !== "heads" && state.aggregate,
    first: state.withoutFirst && "hidden",
    top: state.top < 100 && state.top,
    least: state.least > 0 && state.least,
    scale: state.scale !== "root" && state.scale,
    order: state.order !== "place" && state.order.replaceAll(" ", "-"),
  };
  return Object.entries(parts)
    .filter(([, value]) => value || value === 0)
    .map(([key, value]) => `${key}:${value}`)
    .join(",");
}

/**
 * @param {Place} place
 * @param {number} own layer
 */
const written = ({ layer, head }, own) => (layer === own ? `${head}` : `${layer}-${head}`);

/**
 * @param {string} text
 * @param {number} own layer
 * @returns {Place[]} none where it makes no sense
 */
function placesOf(text, own) {
  const said = text.split(".").map((part) => /^(?:(\d{1,4})-)?(\d{1,4})$/.exec(part));
  return said.flatMap((part) => (part ? [{ layer: Number(part[1] ?? own), head: Number(part[2]) }] : []));
}

/**
 * What a link says, as far as it makes sense; everything else has its default.
 * @param {string} look
 * @param {number} [layer] of heads that name none
 * @returns {Look & {heads: Place[]}}
 */
export function fromLook(look, layer = 0) {
  /** @type {Record<string, string | undefined>} */
  const said = Object.fromEntries(look.split(",").map((part) => part.split(":")));
  /** @type {(text: string | undefined, low: number, high: number, otherwise: number) => number} */
  const within = (text, low, high, otherwise) =>
    text !== undefined && Number.isFinite(Number(text)) ? Math.min(high, Math.max(low, Number(text))) : otherwise;
  const pin = /^([qk])(\d{1,4})$/.exec(said.pin ?? "");
  return {
    heads: placesOf(said.heads ?? "", layer),
    pin: pin && { side: pin[1] === "q" ? "query" : "key", at: Number(pin[2]) },
    aggregate: oneOf(AGGREGATES, said.show, "heads"),
    withoutFirst: said.first === "hidden",
    top: within(said.top, 1, 100, 100),
    least: within(said.least, 0, 1, 0),
    scale: oneOf(SCALES, said.scale, "root"),
    order: said.order === "duplicate" ? "same word" : (said.order?.replaceAll("-", " ") ?? "place"), // its old name
  };
}

/**
 * A state that fits the data, whatever it was made for.
 * @param {State} state
 * @param {Attention} attention
 * @returns {State}
 */
export function fitted(state, attention) {
  const kind = Math.min(state.kind, attention.kinds.length - 1);
  const { layers, heads: count, scores } = attention.kinds[kind];
  const last = layers.length - 1;
  const sound = state.heads.filter(({ layer, head }, n) => {
    const isFirst = state.heads.findIndex((other) => other.layer === layer && other.head === head) === n;
    return isFirst && layer <= last && head < count;
  });
  const { layer, head } = state.heads[state.heads.length - 1] ?? { layer: 0, head: 0 };
  const heads = sound.length ? sound : [{ layer: Math.min(layer, last), head: Math.min(head, count - 1) }];
  const square = attention.queries(kind) === attention.keys(kind);
  const { pin, to } = state;
  const length = (pin?.side === "query" ? attention.queries(kind) : attention.keys(kind)).labels.length;
  return {
    ...state,
    kind,
    layer: heads[heads.length - 1].layer,
    heads,
    pin: pin && pin.at < length ? pin : null,
    to: to !== null && to < attention.keys(kind).labels.length ? to : null,
    aggregate: state.aggregate === "rollout" && !square ? "mean" : state.aggregate,
    order: Object.hasOwn(scores, state.order) ? state.order : "place",
  };
}

/**
 * A word of a link if it is one of some names.
 * @template {string} Name
 * @param {Record<Name, string>} names
 * @param {string | undefined} text
 * @param {Name} otherwise
 */
const oneOf = (names, text, otherwise) =>
  text !== undefined && Object.hasOwn(names, text) ? /** @type {Name} */ (text) : otherwise;
