// Interventions on a pass, as data: those of tfmviz/record/edits.py by their names and fields, carried out as there.

import type { Value } from "./tensors.ts";

export type Edit =
  | { kind: "AblateHead"; layer: string; head: number }
  | { kind: "SetMask"; layer: string; mask: boolean[][]; heads?: boolean[] | null }
  | { kind: "Scale"; site: string; factor: number; head?: number | null; coordinate?: number | null }
  | { kind: "Patch"; site: string; vector: number[]; head?: number | null; position?: number | null };

export function siteOf(edit: Edit) {
  if (edit.kind === "AblateHead") return `${edit.layer}.z`;
  return edit.kind === "SetMask" ? `${edit.layer}.mask` : edit.site;
}

/** Whether an edit does the same at every position, so that what earlier tokens left behind still holds. */
export const treatsTokensAlike = (edit: Edit) =>
  edit.kind !== "SetMask" && !(edit.kind === "Patch" && typeof edit.position === "number");

/** The value at the site of an edit after it. The one given stays as it is. */
export function edited(edit: Edit, value: Value): Value {
  if (edit.kind === "SetMask") return withMask(edit, value);
  if (edit.kind === "AblateHead") return changed(value, siteOf(edit), { head: edit.head }, () => 0);
  if (edit.kind === "Scale") return changed(value, edit.site, edit, (number) => number * edit.factor);
  const { site, vector } = edit;
  const width = value.shape[value.shape.length - 1];
  if (vector.length !== width)
    throw new Error(`The vector for ${site} has ${vector.length} numbers; it needs ${width}.`);
  return changed(value, site, edit, (_, column) => vector[column]);
}

/** null: all of them */
type Where = Partial<Record<"head" | "position" | "coordinate", number | null>>;

function changed({ shape, data }: Value, site: string, where: Where, f: (number: number, column: number) => number) {
  const { head, position, coordinate } = where;
  const [width, rows, heads = 0] = [...shape].reverse();
  const wanted = [
    { name: "coordinate", index: coordinate, count: width },
    { name: "position", index: position, count: rows },
    { name: "head", index: head, count: heads },
  ];
  for (const { name, index, count } of wanted) {
    if (typeof index !== "number" || (index >= 0 && index < count)) continue;
    const there = count ? `${name}s 0 to ${count - 1}` : `no ${name}s`;
    throw new Error(`${site} has ${there}; ${name} ${index} does not exist.`);
  }
  const isChosen = (index: number | null | undefined, at: number) => typeof index !== "number" || index === at;
  const made = data.map((number, n) => {
    const [column, row, part] = [n % width, Math.floor(n / width) % rows, Math.floor(n / (width * rows))];
    const all = isChosen(coordinate, column) && isChosen(position, row) && isChosen(head, part);
    return all ? f(number, column) : number;
  });
  return { shape, data: made };
}

function withMask({ layer, mask, heads }: Extract<Edit, { kind: "SetMask" }>, { shape, data }: Value): Value {
  const [rows, columns] = shape.slice(-2);
  const given = `(${mask.length}, ${mask[0]?.length})`;
  if (mask.length !== rows || mask.some((row) => row.length !== columns))
    throw new Error(`The mask is ${given}, the attention of ${layer} (${rows}, ${columns}).`);
  const empty = mask.findIndex((row) => !row.some(Boolean));
  if (empty >= 0) throw new Error(`Row ${empty} of the mask allows no key at all; its softmax would be 0/0.`);
  const cells = Uint8Array.from(mask.flat(), Number);
  if (!heads) return { shape: [rows, columns], data: cells };
  const made = new Uint8Array(heads.length * cells.length);
  for (const [head, gets] of heads.entries()) {
    const own = shape.length > 2 ? head * cells.length : 0;
    made.set(gets ? cells : data.slice(own, own + cells.length), head * cells.length);
  }
  return { shape: [heads.length, rows, columns], data: made };
}
