// The attention that a record of sites holds, as the explorer reads it.

import { type Plain, recordOf, type SiteRecord } from "../shared/record.ts";
import type { Given, Header, Kind, Layer, Mask, Tile } from "./payload.ts";

/** Every site "STACK.LAYER.PART.pattern" is a layer of the kind "STACK.PART". */
const PATTERN = /^(encoder|decoder)\.(\d+)\.(self_attn|cross_attn)\.pattern$/;

export class OfSites {
  isWhole = true;

  record: SiteRecord;
  ofCells: typeof Mask;
  facts: Header;
  masks: Map<string, Mask> = new Map();

  constructor(plain: Plain<Given>, ofCells: typeof Mask) {
    this.record = recordOf(plain);
    this.ofCells = ofCells;
    this.facts = { id: 0, words: {}, kinds: kindsOf(plain), ...plain.facts };
  }

  mask({ name }: Layer) {
    const known = this.masks.get(name);
    if (known) return known;
    const { rows, columns, values } = this.record.head(`${name}.mask`, 0);
    const made = new this.ofCells({ rows, columns }, Uint8Array.from(values));
    this.masks.set(name, made);
    return made;
  }

  weights({ name }: Layer, head: number) {
    return this.record.head(`${name}.pattern`, head).values as Float32Array;
  }

  tile(layer: Layer, head: number, mask: Mask, side: number): Tile {
    const weights = this.weights(layer, head);
    return mask.tile(side, (n) => weights[mask.cells[n]]);
  }
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
