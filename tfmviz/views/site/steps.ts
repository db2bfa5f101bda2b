// Step by step: how one head computes its numbers for the sentence.

import { stepsOf } from "../engine/weights.ts";
import { ADDRESS_CELL, ADDRESS_STAGE } from "../shared/constants.ts";
import { Steps } from "../steps/view.ts";

const STAGE = new RegExp(`^${ADDRESS_STAGE}$`);
const CELL = new RegExp(`^${ADDRESS_CELL}$`);

tfmvizSite.add("step_by_step", (site, parent) => {
  let asked: URLSearchParams | null = site.address; // until that is shown
  const view = new Steps(parent, { report: site.chooses });
  return {
    views: [view],
    run(engine) {
      const { layer, place } = site;
      const record = site.trace(site.text, null);
      const shown = { title: site.model.name, layer, head: place.head };
      view.show(stepsOf(record, engine, shown, { withWeights: true }), { first: site.token });
      if (!asked) return;
      const [stage, at] = [asked.get("stage") ?? "", asked.get("at") ?? ""];
      asked = null;
      const answer = { stage: STAGE.test(stage) ? stage : "sentence", at: CELL.test(at) ? at : "", token: site.token };
      view.select({ ...answer, sequence: view.sequence });
    },
    said() {
      const { stage, at } = view.head ? view.chosen() : { stage: "sentence", at: "" };
      return { stage, at };
    },
  };
});
