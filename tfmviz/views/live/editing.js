// What the reader changes by hand, as edits of a pass: those that ui/masks and ui/switch_off make of it in Python.

/** @import { Edit } from "../engine/edits.js" */
/** @import { Edited } from "./changed.js" */
import { fromBits, rowCount } from "../masks/bits.js";

const CODE = /^([de])([ml]?)(\d+)(?:\.(\d+))?$/; // of a part, see tfmviz/analysis/ablation.py

/**
 * Null where only Python knows: the mask is one for another number of tokens, or no factor says what a part becomes.
 * @param {string} change what a view says
 * @param {Edited} edited
 * @param {number} length tokens of the text
 * @returns {Edit[] | null}
 */
export function editsOf(change, { by, layers = [], heads, tokens, isOwn, factor }, length) {
  if (by === "masks" && tokens !== length) return isOwn ? [] : null; // its own mask has every length
  if (by === "masks") return masked(change, layers, heads, length);
  if (typeof factor !== "number") return null;
  return change
    .split(",")
    .filter(Boolean)
    .flatMap((code) => scaled(code, factor));
}

/**
 * A row that sees nothing looks at itself: a softmax over no key is 0/0.
 * @param {string} bits
 * @param {string[]} layers
 * @param {boolean[] | null | undefined} heads
 * @param {number} length
 * @returns {Edit[]}
 */
function masked(bits, layers, heads, length) {
  const drawn = fromBits({ rows: length, columns: length, bits });
  const mask = Array.from({ length }, (_, row) => {
    const isEmpty = rowCount(drawn, row) === 0;
    return Array.from(
      { length },
      (_, column) => Boolean(drawn.open[row * length + column]) || (isEmpty && row === column),
    );
  });
  return layers.map((layer) => ({ kind: "SetMask", layer, mask, heads }));
}

/**
 * @param {string} code of a part
 * @param {number} factor
 * @returns {Edit[]}
 */
function scaled(code, factor) {
  const [, letter, kind, index, head] = CODE.exec(code) ?? [];
  if (!index) throw new Error(`${code} is no part.`);
  const layer = `${letter === "e" ? "encoder" : "decoder"}.${index}`;
  const scale = (/** @type {string} */ site, /** @type {number | null} */ which = null) =>
    /** @type {Edit} */ ({ kind: "Scale", site: `${layer}.${site}`, factor, head: which });
  if (kind === "m") return [scale("mlp.out")];
  if (kind === "l") return [scale("self_attn.out"), scale("mlp.out")];
  return [scale("self_attn.z", Number(head))];
}
