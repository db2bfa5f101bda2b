// A place of the text under other settings, while the reader moves a slider: what `_place` of ui/writing/desk.py makes.

/** @import { Place } from "./words.js" */
/** @import { Rules, Stage } from "./decoding.js" */
import { largest } from "../shared/arrays.js";
import { drawn, stagesOf } from "./decoding.js";

/**
 * What is set now, and the model: its scores after some more tokens of the text, all tokens before them, and a token as
 * it stands in a text. `names` are those of the rules.
 * @typedef {{rules: Rules, names: Record<string, string>, running: (token: number) => string,
 *   after: (tokens: number[]) => {logits: ArrayLike<number>, seen: number[]}}} Settings
 */

const RIVALS = 6;

/**
 * What Python has sent under other settings, which it has not heard of. What would follow the text is open then.
 * @param {Place[]} places
 * @param {number[]} tokens those of the text, which stay
 * @param {number} at the place that is looked at
 * @param {Settings} settings
 * @returns {{stages: string[], places: Place[]}}
 */
export function settled(places, tokens, at, { rules, names, running, after }) {
  const place = places[at];
  const isWritten = at < tokens.length;
  const { logits, seen } = after(tokens.slice(0, at));
  const stages = stagesOf(logits, rules, seen);
  const [model, left] = [stages[0].shares, stages[stages.length - 1].shares];
  const falls = drawn(left, place.number ?? 0);
  const token = isWritten ? place.token : falls.token;
  const kept = largest(left, RIVALS / 2).filter((id) => left[id] > 0);
  const listed = new Set([...largest(model, RIVALS), ...kept, token, falls.token]);
  const best = [...listed].sort((a, b) => left[b] - left[a] || model[b] - model[a]);
  const made = {
    ...place,
    token,
    text: running(token),
    p: short(model[token]),
    left: short(left[token]),
    falls: falls.token,
    low: falls.low,
    high: falls.high,
    rivals: best.map((id) => ({ token: id, text: running(id), shares: stages.map((stage) => shareOf(stage, id)) })),
  };
  return {
    stages: stages.map(({ rule }) => written(rule, rules, names)),
    places: [...places.slice(0, at), made, ...places.slice(at + 1, tokens.length)],
  };
}

/**
 * @param {Stage} stage
 * @param {number} token
 */
const shareOf = ({ scores, shares }, token) => (scores[token] > Number.NEGATIVE_INFINITY ? short(shares[token]) : null);

/** @param {number} share */
const short = (share) => Number(share.toPrecision(4));

/**
 * @param {Stage["rule"]} rule
 * @param {Rules} rules
 * @param {Record<string, string>} names
 */
const written = (rule, rules, names) =>
  rule === "model" ? rule : rule === "banned" ? names[rule] : `${names[rule]} ${rules[rule]}`;
