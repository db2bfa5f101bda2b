// RoPE: a query and a key of the chosen head as arrows that turn with their positions.

import { ADDRESS_TURN } from "../shared/constants.ts";
import { make } from "../shared/elements.ts";
import { turningOf } from "../turning/of_sites.ts";
import { Turning } from "../turning/turning.ts";
import type { Site } from "./site.ts";

const TURN = new RegExp(`^${ADDRESS_TURN}$`);

class TurningPart {
  asked: string | null = null; // what the address asks for, until that is shown

  site: Site;
  without: HTMLParagraphElement;
  place: HTMLDivElement;
  view: Turning;
  views: Turning[];

  constructor(site: Site, parent: HTMLElement) {
    this.site = site;
    this.without = make("p", { textContent: "This model does not turn its queries and keys. Choose one with RoPE." });
    this.place = make("div");
    parent.append(this.without, this.place);
    this.view = new Turning(this.place, {
      report: ({ token }) => {
        if (token !== site.token) site.place = { ...site.place, token };
        site.later();
      },
    });
    this.views = [this.view];
  }

  look(address: URLSearchParams) {
    const turn = address.get("turn") ?? "";
    this.asked = TURN.test(turn) ? turn : "";
  }

  run() {
    const { site, view } = this;
    const { engine, layer, place } = site;
    const theta = engine?.transformer.positions.theta;
    this.without.hidden = Boolean(theta);
    this.place.hidden = !theta;
    if (!engine || !theta) return;
    const record = site.trace(site.text, [`${layer}.q`, `${layer}.k`, `${layer}.rot_*`]);
    view.show(turningOf(record, engine, { layer, head: place.head }));
    if (this.asked !== null) view.select({ token: place.token, turn: this.asked, sequence: view.sequence });
    this.asked = null;
  }

  said() {
    const { turn = "" } = this.view.chosen();
    return { turn };
  }
}

tfmvizSite.add("positions_rope", (site, parent) => new TurningPart(site, parent));
