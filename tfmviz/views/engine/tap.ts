// Naming a value where it is computed, keeping it, changing it:
//
//     const pattern = tap("pattern", softmaxRows(scores));
//
// The pass goes on with what a tap returns.

import { type Edit, edited, siteOf } from "./edits.ts";
import { sizeOf, Tensor, type Value } from "./tensors.ts";

/** The tap for a part of the model, its `scope`, names its sites `name.…`. */
export type Tap = { <V extends Value>(name: string, value: V): V; scope: (name: string) => Tap };

const KEYS_OR_VALUES = /\.[kv]$/;

/** Names of sites may have * for anything; null: all of them. Values of the tokens before `past` are in `before`. */
type ToKeep = { edits: Edit[]; sites: string[] | null; past: number; length: number; before: Record<string, Value> };

/** Applies edits, then keeps the values of one pass, beside what tokens before `past` left behind in an earlier one. */
export class Recorder {
  values: Record<string, Value> = {};
  seen: Set<string> = new Set();

  pass: ToKeep;
  wanted: RegExp[] | null;

  constructor(pass: ToKeep) {
    this.pass = pass;
    this.wanted = pass.sites?.map((site) => new RegExp(`^${site.split("*").map(escaped).join(".*")}$`, "s")) ?? null;
  }

  meet(site: string, value: Value) {
    this.seen.add(site);
    const own = withEdits(this.pass.edits, site, value);
    if (!KEYS_OR_VALUES.test(site) && !this.wants(site)) return own;
    const whole = this.whole(site, own);
    this.values[site] = whole;
    return KEYS_OR_VALUES.test(site) && own instanceof Tensor ? own.memory.of(whole.data, whole.shape) : own;
  }

  wants(site: string) {
    return this.wanted === null || this.wanted.some((wanted) => wanted.test(site));
  }

  /** A value of all tokens, outside of the kernel's memory. Later keys are not there for earlier queries. */
  whole(site: string, { shape, data }: Value): Value {
    const { past, length, before } = this.pass;
    const [rows, width] = shape.slice(-2);
    if (rows === length) return { shape, data: data.slice() };
    const { shape: shapeBefore, data: earlier } = before[site];
    const [rowsBefore, widthBefore] = shapeBefore.slice(-2);
    const made = { shape: [...shape.slice(0, -2), length, width], data: data.slice(0, 0) };
    made.data = data instanceof Uint8Array ? new Uint8Array(sizeOf(made.shape)) : new Float32Array(sizeOf(made.shape));
    if (site.endsWith(".scores")) made.data.fill(Number.NEGATIVE_INFINITY);
    const shared = Math.min(width, widthBefore);
    for (let part = 0; part < sizeOf(shape.slice(0, -2)); part++) {
      for (let row = 0; row < past; row++) {
        const from = (part * rowsBefore + row) * widthBefore;
        made.data.set(earlier.subarray(from, from + shared), (part * length + row) * width);
      }
      const fresh = data.subarray(part * rows * width, (part + 1) * rows * width);
      made.data.set(fresh, (part * length + past) * width);
    }
    return made;
  }

  /** Call after the pass. It throws where it met nothing that a wanted name or an edit's site fits. */
  check() {
    const there = [...this.seen];
    const missing =
      this.pass.sites?.find((_, n) => !there.some((site) => this.wanted?.[n].test(site))) ??
      this.pass.edits.map(siteOf).find((site) => !this.seen.has(site));
    if (missing) throw new Error(`No site named '${missing}' was captured. There are: ${there.join(", ")}.`);
  }
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

export function withEdits(edits: Edit[], site: string, value: Value) {
  const own = edits.filter((edit) => siteOf(edit) === site);
  if (!own.length) return value;
  const made = own.reduce((before, edit) => edited(edit, before), value);
  return value instanceof Tensor ? value.memory.of(made.data, made.shape) : made;
}

export function tapOf(recorder: Recorder, prefix = ""): Tap {
  const tap = ((name, value) => recorder.meet(prefix + name, value)) as Tap;
  tap.scope = (name) => tapOf(recorder, `${prefix}${name}.`);
  return tap;
}
