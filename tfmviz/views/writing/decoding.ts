// How the next token is chosen, as tfmviz/record/decoding.py has it: what each rule leaves of the model's distribution,
// and a place of the text under other settings, while the reader moves a slider (`_place` of ui/writing/desk.py).

import { largest, softmaxOf } from "../shared/arrays.ts";
import { LARGEST_SETTING, NEUTRAL, RIVALS } from "../shared/constants.ts";
import type { Place } from "./rivals.tsx";

type Rules = Record<Rule, number> & { banned: number[]; order: Rule[] };
type Rule = "repetition" | "temperature" | "top_k" | "top_p" | "min_p";
/** What a rule leaves; the score of what is cut is −∞. */
type Stage = { rule: Rule | "banned" | "model"; scores: Numbers; shares: Numbers };
/** one for each entry of the vocabulary */
type Numbers = Float64Array<ArrayBuffer>;

const EFFECTS: Record<Rule | "banned", (scores: Numbers, rules: Rules, seen: number[]) => Numbers> = {
  banned: (scores, { banned }) => without(scores, (id) => !banned.includes(id)),
  repetition: (scores, { repetition }, seen) => {
    const made = scores.slice();
    const penalty = Math.min(Math.max(repetition, 1 / LARGEST_SETTING), LARGEST_SETTING);
    for (const id of new Set(seen)) made[id] = scores[id] < 0 ? scores[id] * penalty : scores[id] / penalty;
    return made;
  },
  temperature: (scores, { temperature }) => {
    const [best] = largest(scores, 1);
    if (temperature === 0) return without(scores, (id) => id === best);
    const divisor = Math.max(temperature, 1 / LARGEST_SETTING);
    return scores.map((score) => score / divisor); // not shifted: a penalty asks for the sign
  },
  top_k: (scores, { top_k }) => {
    if (top_k >= scores.length) return scores;
    const last = scores.slice().sort()[scores.length - top_k];
    return without(scores, (id) => scores[id] >= last);
  },
  top_p: (scores, { top_p }) => {
    const p = softmaxOf(scores);
    const order = largestFirst(p);
    let before = 0; // how much the more probable ones have together
    const end = order.findIndex((id, n) => {
      if (n && before >= top_p) return true;
      before += p[id];
      return false;
    });
    const kept = new Set(end < 0 ? order : order.slice(0, end));
    return without(scores, (id) => kept.has(id));
  },
  min_p: (scores, { min_p }) => {
    const p = softmaxOf(scores);
    const least = min_p * p[largest(p, 1)[0]];
    return without(scores, (id) => p[id] >= least);
  },
};

/** The model's distribution, then what each rule that changes something leaves of it; `seen` are the text's tokens. */
export function stagesOf(logits: ArrayLike<number>, rules: Rules, seen: number[]): Stage[] {
  const active = rules.order.filter((rule) => rules[rule] !== NEUTRAL[rule]);
  let scores = Float64Array.from(logits);
  const found = [{ rule: "model" as Stage["rule"], scores }];
  for (const rule of [...(rules.banned.length ? ["banned" as const] : []), ...active]) {
    scores = EFFECTS[rule](scores, rules, seen);
    found.push({ rule, scores });
  }
  return found.map((stage) => ({ ...stage, shares: softmaxOf(stage.scores) }));
}

/** The token that a number in [0, 1) stands for: shares lie side by side, the largest first. */
export function drawn(shares: Numbers, number: number) {
  const order = largestFirst(shares);
  let high = 0;
  for (const token of order) {
    const low = high;
    high += shares[token];
    if (number < high) return { token, low, high };
  }
  const token = order[order.length - 1];
  return { token, low: 1 - shares[token], high: 1 };
}

const largestFirst = (shares: Numbers) => {
  const there = Array.from(shares.keys()).filter((id) => shares[id] > 0);
  return there.sort((a, b) => shares[b] - shares[a]); // what is equal stays in its order
};

const without = (scores: Numbers, keeps: (id: number) => boolean) =>
  scores.map((score, id) => (keeps(id) ? score : -Infinity));

/** What is set now, and the model: a token as it stands in a text, scores after more tokens, and all tokens before. */
export type Settings = {
  rules: Rules;
  names: Record<string, string>; // of the rules
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
