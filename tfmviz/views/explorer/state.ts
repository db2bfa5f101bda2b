// What the reader has chosen, and how it is written into a link.

import type { Texts } from "../shared/elements.ts";
import type { Place as At } from "./matrix.ts";
import type { Attention } from "./payload.ts";
import type { Scale } from "./weights.ts";
import type { Place } from "./words.ts";

/** a token that looks, or one that is looked at */
export type Focus = { side: "query" | "key"; at: number };

export type Sides = { queries: Texts; keys: Texts };

export type Listener = { point: (focus: Focus | null) => void; pin: (focus: Focus) => void };

export type Aggregate = "heads" | "mean" | "all" | "rollout";

export interface State {
  kind: number;
  layer: number; // that of the head chosen last, and of means
  heads: Place[]; // the one chosen last is at the end
  pin: Focus | null;
  to: number | null; // the key that the page asks about together with the pinned query
  aggregate: Aggregate;
  withoutFirst: boolean;
  top: number; // per cent
  least: number;
  scale: Scale;
  order: string; // "place", or the name of a score
}

export type Selection = Place & { kind: string; token: number | null; to: number | null; look: string };

type Look = Pick<State, "pin" | "aggregate" | "withoutFirst" | "top" | "least" | "scale" | "order">;

export const AGGREGATES: Record<Aggregate, string> = {
  heads: "chosen heads",
  mean: "mean of the layer",
  all: "mean of all layers",
  rollout: "attention rollout",
};

export const SCALES: Record<Scale, string> = { root: "square root", plain: "plain", row: "share of the row's largest" };

export const UNFILTERED: Omit<Look, "pin"> = {
  aggregate: "heads",
  withoutFirst: false,
  top: 100,
  least: 0,
  scale: "root",
  order: "place",
};

export const initial = (): State => ({
  kind: 0,
  layer: 0,
  heads: [{ layer: 0, head: 0 }],
  pin: null,
  to: null,
  ...UNFILTERED,
});

type AnyPlace = { layer: number | string; head: number };

export const isSame = (one: AnyPlace, other: AnyPlace) => one.layer === other.layer && one.head === other.head;

export const pairOf = ({ pin, to }: State) =>
  pin?.side === "query" && to !== null ? { row: pin.at, column: to } : null;

/** A click on a cell pins its query and remembers its key; a click on the same cell again lets both go. */
export function picked(state: State, { row, column }: At): Pick<State, "pin" | "to"> {
  const pair = pairOf(state);
  if (pair?.row === row && pair.column === column) return { pin: null, to: null };
  return { pin: { side: "query", at: row }, to: column };
}

/**
 * A click on a token pins it, on a second one asks which heads link the two, on a pinned one lets go. Of two words of
 * one text the first looks at the second, unless only the second may look at the first.
 */
export function clickedOn(
  { pin, to }: State,
  clicked: Focus,
  mayLook: (row: number, column: number) => boolean,
  isCrossing: boolean,
): Pick<State, "pin" | "to"> {
  const { side, at } = clicked;
  if (pin?.side === side && pin.at === at) return { pin: null, to: null };
  if (!pin || to !== null || (pin.side === side && (isCrossing || side === "key"))) return { pin: clicked, to: null };
  const looks = pin.side === "query" && (side === "key" || mayLook(pin.at, at));
  const [row, column] = looks ? [pin.at, at] : [at, pin.at];
  return { pin: { side: "query", at: row }, to: column };
}

export const MOST_HEADS = 4; // shown at once, each in its colour

/** Shows another head too, or one that is shown no longer; the last one stays. */
export function withHead({ heads, aggregate }: State, place: Place): Pick<State, "heads" | "aggregate"> {
  if (aggregate !== "heads") return { heads: [place], aggregate: "heads" };
  const others = heads.filter((one) => !isSame(one, place));
  const isShown = others.length < heads.length;
  return { heads: isShown && others.length ? others : [...others, place].slice(-MOST_HEADS), aggregate };
}

/** The same heads so many layers higher; those that would have none are left out. */
export const moved = ({ heads }: State, by: number, last: number): Pick<State, "heads"> => ({
  heads: heads
    .map(({ layer, head }) => ({ layer: layer + by, head }))
    .filter(({ layer }) => layer >= 0 && layer <= last),
});

/** What only the view needs: "heads:1.2-3,pin:k5,top:80" for head 1 of the layer and head 3 of layer 2. */
export function toLook(state: State) {
  const written = ({ layer, head }: Place) => (layer === state.layer ? `${head}` : `${layer}-${head}`);
  const parts = {
    heads: state.heads.length > 1 && state.heads.map(written).join("."),
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

/** What a link says as far as it makes sense, else defaults. `layer` is that of heads that name none. */
export function fromLook(look: string, layer = 0): Look & { heads: Place[] } {
  const said: Record<string, string | undefined> = Object.fromEntries(look.split(",").map((part) => part.split(":")));
  const within = (text: string | undefined, low: number, high: number, otherwise: number) =>
    text !== undefined && Number.isFinite(Number(text)) ? Math.min(high, Math.max(low, Number(text))) : otherwise;
  const pin = /^([qk])(\d{1,4})$/.exec(said.pin ?? "");
  const heads = (said.heads ?? "").split(".").flatMap((text) => {
    const [isHead, own = layer, head] = /^(?:(\d{1,4})-)?(\d{1,4})$/.exec(text) ?? [];
    return isHead ? [{ layer: Number(own), head: Number(head) }] : [];
  });
  return {
    heads,
    pin: pin && { side: pin[1] === "q" ? "query" : "key", at: Number(pin[2]) },
    aggregate: oneOf(AGGREGATES, said.show, "heads"),
    withoutFirst: said.first === "hidden",
    top: within(said.top, 1, 100, 100),
    least: within(said.least, 0, 1, 0),
    scale: oneOf(SCALES, said.scale, "root"),
    order: said.order === "duplicate" ? "same word" : (said.order?.replaceAll("-", " ") ?? "place"), // its old name
  };
}

/** A state that fits the data, whatever it was made for. */
export function fitted(state: State, attention: Attention): State {
  const kind = Math.min(state.kind, attention.kinds.length - 1);
  const { layers, heads: count, scores } = attention.kinds[kind];
  const last = layers.length - 1;
  const isFirst = (place: Place, n: number) => state.heads.findIndex((other) => isSame(other, place)) === n;
  const sound = state.heads.filter((place, n) => isFirst(place, n) && place.layer <= last && place.head < count);
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

const oneOf = <Name extends string>(names: Record<Name, string>, text: string | undefined, otherwise: Name) =>
  text !== undefined && Object.hasOwn(names, text) ? (text as Name) : otherwise;
