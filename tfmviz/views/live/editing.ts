// What the reader changes by hand, as edits of a pass: those that ui/masks and ui/switch_off make of it in Python.

import type { Edit } from "../engine/edits.ts";
import { fromBits } from "../masks/bits.ts";
import { PART_CODES } from "../shared/constants.ts";
import type { ComparisonEdit } from "./comparison_source.ts";

const { encoder, decoder, mlp, layer: whole } = PART_CODES;
const CODE = new RegExp(`^([${decoder}${encoder}])([${mlp}${whole}]?)(\\d+)(?:\\.(\\d+))?$`);

/** Null where only Python knows: the mask has another length, or no factor says what a part becomes. */
export function editsOf(
  change: string,
  { by, layers = [], heads, tokens, isOwn, factor }: ComparisonEdit,
  length: number,
): Edit[] | null {
  if (by === "masks" && tokens !== length) return isOwn ? [] : null; // its own mask has every length
  if (by === "masks") return masked(change, layers, heads, length);
  if (typeof factor !== "number") return null;
  const codes = change.split(",").filter(Boolean);
  return codes.flatMap((code) => scaled(code, factor));
}

/** A row that sees nothing looks at itself: a softmax over no key is 0/0. */
function masked(bits: string, layers: string[], heads: boolean[] | null | undefined, length: number): Edit[] {
  const drawn = fromBits({ rows: length, columns: length, bits });
  const mask = Array.from({ length }, (_, row) => {
    const cells = Array.from(drawn.open.subarray(row * length, (row + 1) * length), Boolean);
    return cells.includes(true) ? cells : cells.map((_, column) => row === column);
  });
  return layers.map((layer) => ({ kind: "SetMask", layer, mask, heads }));
}

function scaled(code: string, factor: number): Edit[] {
  const [, letter, kind, index, head] = CODE.exec(code) ?? [];
  if (!index) throw new Error(`${code} is no part.`);
  const layer = `${letter === encoder ? "encoder" : "decoder"}.${index}`;
  const scale = (site: string, which: number | null = null) =>
    ({ kind: "Scale", site: `${layer}.${site}`, factor, head: which }) as Edit;
  if (kind === mlp) return [scale("mlp.out")];
  if (kind === whole) return [scale("self_attn.out"), scale("mlp.out")];
  return [scale("self_attn.z", Number(head))];
}
