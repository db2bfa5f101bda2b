// A place of the text under other settings, while the reader moves a slider: what `_place` of ui/writing/desk.py makes.

import { largest } from "../shared/arrays.ts";
import { RIVALS } from "../shared/constants.ts";
import { drawn, type Rules, type Stage, stagesOf } from "./decoding.ts";
import type { Place } from "./words.ts";

/**
 * What is set now, and the model: its scores after some more tokens of the text, all tokens before them, and a token as
 * it stands in a text. `names` are those of the rules.
 */
export type Settings = {
  rules: Rules;
  names: Record<string, string>;
  running: (token: number) => string;
  after: (tokens: number[]) => { logits: ArrayLike<number>; seen: number[] };
};

/** What Python has sent of a text of `tokens`, with the place that is looked at under settings it has not heard of. */
export function settled(places: Place[], tokens: number[], at: number, { rules, names, running, after }: Settings) {
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
    rivals: best.map((id) => {
      const shares = stages.map(({ scores, shares }) => (scores[id] > -Infinity ? short(shares[id]) : null));
      return { token: id, text: running(id), shares };
    }),
  };
  return {
    stages: stages.map(({ rule }) => written(rule, rules, names)),
    places: [...places.slice(0, at), made, ...places.slice(at + 1, tokens.length)],
  };
}

const short = (share: number) => Number(share.toPrecision(4));

const written = (rule: Stage["rule"], rules: Rules, names: Record<string, string>) =>
  rule === "model" ? rule : rule === "banned" ? names[rule] : `${names[rule]} ${rules[rule]}`;
