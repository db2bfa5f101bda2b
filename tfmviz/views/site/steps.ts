// Step by step: how one head computes its numbers for the sentence.

import { ADDRESS_CELL, ADDRESS_STAGE } from "../shared/constants.ts";
import { stepsOf } from "../steps/of_sites.ts";
import { Steps } from "../steps/view.ts";

const STAGE = new RegExp(`^${ADDRESS_STAGE}$`);
const CELL = new RegExp(`^${ADDRESS_CELL}$`);

tfmvizSite.add("step_by_step", (site, parent) => {
  let asked: { stage: string; at: string } | null = null; // what the address asks for, until that is shown
  const view = new Steps(parent, { report: site.chooses });
  return {
    views: [view],
    look(address) {
      const [stage, at] = [address.get("stage") ?? "", address.get("at") ?? ""];
      asked = { stage: STAGE.test(stage) ? stage : "sentence", at: CELL.test(at) ? at : "" };
    },
    run() {
      const { engine, layer, place } = site;
      if (!engine) return;
      const record = site.trace(site.text, null);
      const shown = { title: site.model.name, layer, head: place.head };
      view.show(stepsOf(record, engine, shown, { withWeights: true }), { first: site.token });
      if (asked) view.select({ ...asked, token: site.token, sequence: view.sequence });
      asked = null;
    },
    said() {
      const { stage, at } = view.head ? view.chosen() : { stage: "sentence", at: "" };
      return { stage, at };
    },
  };
});
