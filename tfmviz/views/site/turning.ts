// RoPE: a query and a key of the chosen head as arrows that turn with their positions.

import { ADDRESS_TURN } from "../shared/constants.ts";
import { make } from "../shared/elements.ts";
import { turningOf } from "../turning/pairs.ts";
import { Turning } from "../turning/view.ts";

const TURN = new RegExp(`^${ADDRESS_TURN}$`);

tfmvizSite.add("positions_rope", (site, parent) => {
  const without = make("p", { textContent: "This model does not turn its queries and keys. Choose one with RoPE." });
  const place = make("div");
  parent.append(without, place);
  const view = new Turning(place, { report: site.chooses });
  return {
    views: [view],
    run(engine) {
      const { layer } = site;
      const { theta } = engine.transformer.positions;
      without.hidden = Boolean(theta);
      place.hidden = !theta;
      if (!theta) return;
      const record = site.trace(site.text, [`${layer}.q`, `${layer}.k`, `${layer}.rot_*`]);
      view.show(turningOf(record, engine, { layer, head: site.place.head }));
      if (view.choice) return;
      const turn = site.address.get("turn") ?? "";
      view.select({ token: site.place.token, turn: TURN.test(turn) ? turn : "", sequence: view.sequence });
    },
    said: () => ({ turn: view.chosen().turn ?? "" }),
  };
});
