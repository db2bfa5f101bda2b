// One of our small models in the reader's own browser. It gives the record that Python gives, with the same names, and
// computes only what a change of the text has changed.

import { largest } from "../shared/arrays.ts";
import { NO_TEXT } from "../shared/constants.ts";
import type { Plain } from "../shared/record.ts";
import { softmaxInto } from "./heads.ts";
import { type Edit, recorderOf, siteOf, withEdits } from "./tap.ts";
import type { Value } from "./tensors.ts";
import { type ByteTokens, type Encoding, visible, wholeLabel } from "./tokens.ts";
import type { Transformer } from "./transformer.ts";

/** In the names of `sites` * stands for anything; null keeps all. `title` names the model, `more` follows the text. */
type Wishes = { sites?: string[] | null; edits?: Edit[]; title?: string; more?: number[] };

type Pass = { ids: number[]; values: Record<string, Value>; like: string; edits: Edit[] };

const NO_PASS: Pass = { ids: [], values: {}, like: "", edits: [] };
const STREAM = "stream"; // what the logits are computed from; no site of the model has this name
const REMEMBERED = 2; // passes: of a model as it is, and as the reader has changed it

export class Engine {
  transformer: Transformer;
  tokenizer: ByteTokens;
  passes: Pass[] = []; // the newest first, no two with the same wishes
  words: string[]; // the entries of the vocabulary, as they are written

  constructor(transformer: Transformer, tokenizer: ByteTokens) {
    this.transformer = transformer;
    this.tokenizer = tokenizer;
    this.words = tokenizer.vocabulary.map(visible);
  }

  /** Runs the model on a text and keeps what it computes. A record's arrays are not to be changed. */
  trace(text: string, { sites = null, edits = [], title = "", more = [] }: Wishes = {}): Plain {
    const encoding = this.encode(text);
    const ids = [...encoding.ids, ...more];
    if (ids.length > this.transformer.config.max_len) throw new Error("The text is longer than the model can read.");
    const like = JSON.stringify([sites, edits]);
    const before = this.passes.find((pass) => pass.like === like) ?? NO_PASS;
    const past = this.past(ids, before);
    const recorder = recorderOf({ edits, sites, past, length: ids.length, before: before.values });
    const { tap } = recorder;
    const x = this.transformer.stream(ids.slice(past), tap, past);
    recorder.seen.add("logits");
    if (recorder.wants("logits")) tap("logits", this.transformer.logits(x));
    recorder.check();
    const made = { ids, values: { ...recorder.values, [STREAM]: recorder.whole(STREAM, x) }, like, edits };
    this.passes = [made, ...this.passes.filter((pass) => pass !== before)].slice(0, REMEMBERED);
    const kept = Object.entries(recorder.values).filter(([site]) => recorder.wants(site));
    const { tokens, offsets, dropped } = encoding;
    const texts = { target: { labels: tokens.map(visible), tokens } };
    return { facts: { title, texts, ids: encoding.ids, offsets, dropped }, sites: Object.fromEntries(kept) };
  }

  get last() {
    return this.passes[0] ?? NO_PASS;
  }

  /** The model's scores and probabilities after a token of a text, the last one at first, or for what fills a gap. */
  next(
    position: number = this.last.ids.length - 1,
    { pass: { values, edits } = this.last, temperature = 1 }: { pass?: Pass; temperature?: number } = {},
  ): { logits: Float32Array; probabilities: Float32Array } {
    const stream = values[STREAM];
    const { memory, loaded } = this.transformer;
    memory.free = loaded;
    const width = stream.shape[1];
    const x = memory.of(stream.data.subarray(position * width, (position + 1) * width), [1, width]);
    const own = edits.filter((edit) => siteOf(edit) === "logits");
    const logits = Float32Array.from(withEdits(own, "logits", this.transformer.logits(x)).data);
    const probabilities = logits.map((logit) => logit / temperature);
    softmaxInto(probabilities, probabilities);
    return { logits, probabilities };
  }

  /** The `n` likeliest entries of the vocabulary there, as they are written, with their probabilities. */
  likeliest(position: number, n: number, temperature?: number): [label: string, probability: number][] {
    const { probabilities } = this.next(position, { temperature });
    return largest(probabilities, n).map((id) => [this.words[id], probabilities[id]]);
  }

  /** An entry as it stands in a text: with the space before it, and a sign for what cannot be seen. */
  running(id: number) {
    const token = this.tokenizer.vocabulary[id];
    return (/^ +[^ ]/.test(token) ? " " : "") + wholeLabel(token);
  }

  encode(text: string): Encoding {
    const encoding = this.tokenizer.encode(text, this.transformer.config.max_len);
    if (!encoding.ids.length) throw new Error(NO_TEXT);
    return encoding;
  }

  /** How many tokens need not be read again: those before the first change, unless an edit is about single tokens. */
  past(ids: number[], { ids: read, edits }: Pass) {
    const isAlike = edits.every(({ kind }) => kind === "Scale");
    if (this.transformer.config.architecture !== "decoder-only" || !isAlike) return 0;
    const changed = ids.findIndex((id, n) => id !== read[n]);
    return Math.min(changed < 0 ? ids.length : changed, ids.length - 1); // the last one is always read
  }
}
