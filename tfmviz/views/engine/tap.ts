// Naming a value where it is computed, keeping it, changing it:
//
//     const pattern = tap("pattern", softmaxRows(scores));
//
// The pass goes on with what a tap returns.

import { sizeOf, Tensor, type Value } from "./tensors.ts";

/** The tap for a part of the model, its `scope`, names its sites `name.…`. */
export type Tap = { <V extends Value>(name: string, value: V): V; scope: (name: string) => Tap };

const KEYS_OR_VALUES = /\.[kv]$/;

/** Names of sites may have * for anything; null: all of them. Values of the tokens before `past` are in `before`. */
type ToKeep = { edits: Edit[]; sites: string[] | null; past: number; length: number; before: Record<string, Value> };

/** Applies edits, then keeps the values of one pass, beside what tokens before `past` left behind in an earlier one. */
export function recorderOf({ edits, sites, past, length, before }: ToKeep) {
  const values: Record<string, Value> = {};
  const seen: Set<string> = new Set();
  const wanted = sites?.map((site) => new RegExp(`^${site.split("*").map(escaped).join(".*")}$`, "s")) ?? null;
  const wants = (site: string) => wanted === null || wanted.some((one) => one.test(site));

  /** A value of all tokens, outside of the kernel's memory. Later keys are not there for earlier queries. */
  const whole = (site: string, { shape, data }: Value): Value => {
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
  };

  const meet = (site: string, value: Value) => {
    seen.add(site);
    const own = withEdits(edits, site, value);
    if (!KEYS_OR_VALUES.test(site) && !wants(site)) return own;
    values[site] = whole(site, own);
    const { data, shape } = values[site];
    return KEYS_OR_VALUES.test(site) && own instanceof Tensor ? own.memory.of(data, shape) : own;
  };

  const tapOf = (prefix: string): Tap => {
    const tap = ((name, value) => meet(prefix + name, value)) as Tap;
    tap.scope = (name) => tapOf(`${prefix}${name}.`);
    return tap;
  };

  /** Call after the pass. It throws where it met nothing that a wanted name or an edit's site fits. */
  const check = () => {
    const there = [...seen];
    const missing =
      sites?.find((_, n) => !there.some((site) => wanted?.[n].test(site))) ??
      edits.map(siteOf).find((site) => !seen.has(site));
    if (missing) throw new Error(`No site named '${missing}' was captured. There are: ${there.join(", ")}.`);
  };

  return { values, seen, wants, whole, tap: tapOf(""), check };
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

export function withEdits(edits: Edit[], site: string, value: Value) {
  const own = edits.filter((edit) => siteOf(edit) === site);
  if (!own.length) return value;
  const made = own.reduce((before, edit) => edited(edit, before), value);
  return value instanceof Tensor ? value.memory.of(made.data, made.shape) : made;
}

// Interventions on a pass, as data: those of tfmviz/record/edits.py that a browser makes, by their names and fields.

/** without `head` or `heads`: all of them */
export type Edit =
  | { kind: "SetMask"; layer: string; mask: boolean[][]; heads?: boolean[] | null }
  | { kind: "Scale"; site: string; factor: number; head?: number | null };

export const siteOf = (edit: Edit) => (edit.kind === "SetMask" ? `${edit.layer}.mask` : edit.site);

/** The value at the site of an edit after it. The one given stays as it is. */
function edited(edit: Edit, value: Value): Value {
  if (edit.kind === "SetMask") return withMask(edit, value);
  const { factor, head = null } = edit;
  const size = value.data.length / value.shape[0]; // of a head
  const isScaled = (n: number) => head === null || Math.floor(n / size) === head;
  return { ...value, data: value.data.map((number, n) => (isScaled(n) ? number * factor : number)) };
}

function withMask({ mask, heads }: Extract<Edit, { kind: "SetMask" }>, { shape, data }: Value): Value {
  const [rows, columns] = shape.slice(-2);
  const cells = Uint8Array.from(mask.flat(), Number);
  if (!heads) return { shape: [rows, columns], data: cells };
  const made = new Uint8Array(heads.length * cells.length);
  for (const [head, gets] of heads.entries()) {
    const own = shape.length > 2 ? head * cells.length : 0;
    made.set(gets ? cells : data.slice(own, own + cells.length), head * cells.length);
  }
  return { shape: [heads.length, rows, columns], data: made };
}
