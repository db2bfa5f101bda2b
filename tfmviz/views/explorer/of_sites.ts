// The attention that a record of sites holds, as the explorer reads it.

import { type Plain, recordOf } from "../shared/record.ts";
import { type Given, type Kind, type Layer, Mask, type Source } from "./payload.ts";

/** Every site "STACK.LAYER.PART.pattern" is a layer of the kind "STACK.PART". */
const PATTERN = /^(encoder|decoder)\.(\d+)\.(self_attn|cross_attn)\.pattern$/;

export function ofSites(plain: Plain<Given>): Source {
  const record = recordOf(plain);
  const masks: Map<string, Mask> = new Map();
  const weights = ({ name }: Layer, head: number) => record.head(`${name}.pattern`, head).values as Float32Array;
  return {
    facts: { id: 0, words: {}, kinds: kindsOf(plain), ...plain.facts },
    isWhole: true,
    mask({ name }) {
      const known = masks.get(name);
      if (known) return known;
      const { rows, columns, values } = record.head(`${name}.mask`, 0);
      const made = new Mask({ rows, columns }, Uint8Array.from(values));
      masks.set(name, made);
      return made;
    },
    weights,
    tile(layer, head, mask, side) {
      const found = weights(layer, head);
      return mask.tile(side, (n) => found[mask.cells[n]]);
    },
  };
}

/** The kinds of attention there are, each with its layers in order. Nobody has judged their heads. */
function kindsOf({ facts, sites }: Plain<Given>): Kind[] {
  const layers: Map<string, string[]> = new Map();
  for (const site of Object.keys(sites)) {
    const [, stack, , part] = PATTERN.exec(site) ?? [];
    if (stack) layers.set(`${stack}.${part}`, [...(layers.get(`${stack}.${part}`) ?? []), site]);
  }
  const indexOf = (site: string) => Number(site.split(".")[1]);
  return [...layers].map(([name, found]) => {
    const crosses = name === "decoder.cross_attn";
    const own = name.startsWith("encoder") && facts.texts.source ? "source" : "target";
    const heads = sites[found[0]].shape[0];
    const none = found.map(() => Array.from({ length: heads }, () => [] as []));
    const ordered = found.sort((a, b) => indexOf(a) - indexOf(b));
    return {
      name,
      queries: crosses && facts.texts.rows ? "rows" : own,
      keys: crosses ? "source" : own,
      heads,
      layers: ordered.map((site) => ({ name: site.slice(0, -".pattern".length), mask: 0 })),
      scores: {},
      verdicts: none,
      repeats: none,
    };
  });
}
