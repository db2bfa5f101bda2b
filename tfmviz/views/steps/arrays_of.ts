// What a record holds of one head and its layer.

import type { Arrays, Matrix } from "../shared/arrays.ts";
import type { SiteRecord } from "../shared/record.ts";
import type { HeadFacts } from "./head.ts";

const OF_HEAD = "q k v rot_q rot_k mask pattern z bias W_Q W_K W_V b_Q b_K b_V".split(" ");
const OF_LAYER = ["x", "memory", "before", "out", "W_O", "b_O", "angles"];

export function arraysOf(record: SiteRecord<HeadFacts>): Arrays {
  const { layer, head, heads } = record.facts;
  const arrays: Arrays = {};
  const own = (name: string) => record.has(`${layer}.${name}`);
  for (const name of OF_HEAD.filter(own)) arrays[name] = record.head(`${layer}.${name}`, head, heads);
  for (const name of OF_LAYER.filter(own)) arrays[name] = record.matrix(`${layer}.${name}`);
  arrays.concat = own("concat") ? record.matrix(`${layer}.concat`) : sideBySideOf(record, heads);
  return arrays;
}

/** The z of all heads side by side: (q_len, heads × d_head). */
function sideBySideOf(record: SiteRecord<HeadFacts>, heads: number): Matrix {
  const all = Array.from({ length: heads }, (_, n) => record.head(`${record.facts.layer}.z`, n));
  const { rows, columns } = all[0];
  const values = Float32Array.from({ length: rows * columns * heads }, (_, at) => {
    const [row, column] = [Math.floor(at / (columns * heads)), at % (columns * heads)];
    return all[Math.floor(column / columns)].values[row * columns + (column % columns)];
  });
  return { rows, columns: columns * heads, values };
}
