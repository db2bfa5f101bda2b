// All heads of the sentence: the explorer, with the heads that are off.

import { Explorer } from "../explorer/explorer.ts";
import type { Selection } from "../explorer/state.ts";
import { FOLLOWED_SITES, LONGEST_LOOK } from "../shared/constants.ts";
import { firstOf } from "../shared/first.ts";
import type { Plain } from "../shared/record.ts";
import type { Below } from "./below.ts";
import type { Site } from "./site.ts";

/** `layer` is the path of an attention layer */
export type Head = { layer: string; head: number };

export class Heads {
  below: Below | null = null; // what stands below the picture, once its script is here
  asked: Partial<Selection> | null; // what the address asks of the explorer, until that is shown
  n = 0; // of the pass that is shown

  site: Site;
  explorer: Explorer;
  views: Explorer[];

  constructor(site: Site, parent: HTMLElement) {
    this.site = site;
    const to = Number(site.address.get("to") ?? Number.NaN);
    const look = (site.address.get("look") ?? "").slice(0, LONGEST_LOOK);
    this.asked = { to: Number.isNaN(to) ? null : to, look };
    this.explorer = this.explorerIn(parent, (selection) => {
      site.place = { ...site.place, ...selection };
      this.below?.follow();
      site.later();
    });
    this.views = [this.explorer];
  }

  explorerIn(parent: HTMLElement, report: (selection: Site["place"]) => void) {
    return new Explorer(parent, { report: ({ layer, head, token }) => report({ layer, head, token }) });
  }

  run() {
    this.show(this.explorer, this.site.trace(this.site.text, FOLLOWED_SITES.explorer));
    this.below?.run();
  }

  show(explorer: Explorer, record: Plain) {
    const { place, engine } = this.site;
    const isNew = !explorer.attention;
    this.n += 1;
    explorer.show({ ...record, facts: { ...record.facts, id: this.n } });
    const first = firstOf(record.facts.texts.target.tokens, null, "", engine?.tokenizer.fillsGaps);
    const { layer, head, token } = place;
    const before = explorer.chosen();
    const isSame = before.layer === layer && before.head === head && before.token === token;
    const asked = explorer === this.explorer ? this.asked : isNew ? (this.asked ?? this.explorer.chosen()) : null;
    if (explorer === this.explorer) this.asked = null;
    if (isSame && first === explorer.first && !asked) return;
    explorer.select({ ...before, ...asked, layer, head, token, sequence: explorer.sequence, first });
  }

  said() {
    const { to, look } = this.explorer.chosen();
    const { off } = this.site;
    const names = off.map((one) => `${one.layer}.${one.head}`).join(" ");
    return { to: to === null ? "" : String(to), look, off: names, b: this.below?.said() ?? "" };
  }
}

export function offFrom(text: string) {
  const found = text.slice(0, 2000).matchAll(/\b((?:encoder|decoder)\.\d{1,3}\.self_attn)\.(\d{1,3})\b/g);
  return Array.from(found, ([, layer, head]) => ({ layer, head: Number(head) }));
}
