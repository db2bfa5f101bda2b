// Interventions on a pass, as data: those of tfmviz/record/edits.py that a browser makes, by their names and fields.

import type { Value } from "./tensors.ts";

/** without `head` or `heads`: all of them */
export type Edit =
  | { kind: "SetMask"; layer: string; mask: boolean[][]; heads?: boolean[] | null }
  | { kind: "Scale"; site: string; factor: number; head?: number | null };

export const siteOf = (edit: Edit) => (edit.kind === "SetMask" ? `${edit.layer}.mask` : edit.site);

/** The value at the site of an edit after it. The one given stays as it is. */
export function edited(edit: Edit, value: Value): Value {
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
