// RoPE: a query and a key of the chosen head as arrows that turn with their positions.

import { ADDRESS_TURN } from "../shared/constants.ts";
import { make } from "../shared/elements.ts";
import { turningOf } from "../turning/of_sites.ts";
import { Turning } from "../turning/view.ts";

const TURN = new RegExp(`^${ADDRESS_TURN}$`);

tfmvizSite.add("positions_rope", (site, parent) => {
  let asked: string | null = null; // what the address asks for, until that is shown
  const without = make("p", { textContent: "This model does not turn its queries and keys. Choose one with RoPE." });
  const place = make("div");
  parent.append(without, place);
  const view = new Turning(place, { report: site.chooses });
  return {
    views: [view],
    look(address) {
      const turn = address.get("turn") ?? "";
      asked = TURN.test(turn) ? turn : "";
    },
    run() {
      const { engine, layer } = site;
      const theta = engine?.transformer.positions.theta;
      without.hidden = Boolean(theta);
      place.hidden = !theta;
      if (!engine || !theta) return;
      const record = site.trace(site.text, [`${layer}.q`, `${layer}.k`, `${layer}.rot_*`]);
      view.show(turningOf(record, engine, { layer, head: site.place.head }));
      if (asked !== null) view.select({ token: site.place.token, turn: asked, sequence: view.sequence });
      asked = null;
    },
    said: () => ({ turn: view.chosen().turn ?? "" }),
  };
});
