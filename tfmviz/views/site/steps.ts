// Step by step: how one head computes its numbers for the sentence.

import { stepsOf } from "../engine/weights.ts";
import { ADDRESS_CELL, ADDRESS_STAGE } from "../shared/constants.ts";
import { Steps } from "../steps/view.ts";

const STAGE = new RegExp(`^${ADDRESS_STAGE}$`);
const CELL = new RegExp(`^${ADDRESS_CELL}$`);

tfmvizSite.add("step_by_step", (site, parent) => {
  const view = new Steps(parent, { report: site.chooses });
  return {
    views: [view],
    run(engine) {
      const { layer, place, address } = site;
      const isFirst = !view.head;
      const record = site.trace(site.text, null);
      const shown = { title: site.model.name, layer, head: place.head };
      view.show(stepsOf(record, engine, shown, { withWeights: true }), { first: site.token });
      if (!isFirst) return;
      const [stage, at] = [address.get("stage") ?? "", address.get("at") ?? ""];
      const answer = { stage: STAGE.test(stage) ? stage : "sentence", at: CELL.test(at) ? at : "", token: site.token };
      view.select({ ...answer, sequence: view.sequence });
    },
    said() {
      const { stage, at } = view.head ? view.chosen() : { stage: "sentence", at: "" };
      return { stage, at };
    },
  };
});
