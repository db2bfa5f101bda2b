// Step by step: how one head computes its numbers for the sentence.

import { ADDRESS_CELL, ADDRESS_STAGE } from "../shared/constants.ts";
import { stepsOf } from "../steps/of_sites.ts";
import { Steps } from "../steps/steps.ts";
import type { Site } from "./site.ts";

const STAGE = new RegExp(`^${ADDRESS_STAGE}$`);
const CELL = new RegExp(`^${ADDRESS_CELL}$`);

class StepsPart {
  asked: { stage: string; at: string } | null = null; // what the address asks for, until that is shown

  site: Site;
  view: Steps;
  views: Steps[];

  constructor(site: Site, parent: HTMLElement) {
    this.site = site;
    this.view = new Steps(parent, {
      report: ({ token }) => {
        if (token !== site.token) site.place = { ...site.place, token };
        site.later();
      },
    });
    this.views = [this.view];
  }

  look(address: URLSearchParams) {
    const [stage, at] = [address.get("stage") ?? "", address.get("at") ?? ""];
    this.asked = { stage: STAGE.test(stage) ? stage : "sentence", at: CELL.test(at) ? at : "" };
  }

  run() {
    const { site, view } = this;
    const { engine, layer, place } = site;
    if (!engine) return;
    const record = site.trace(site.text, null);
    const shown = { title: site.model.name, layer, head: place.head };
    view.show(stepsOf(record, engine, shown, { withWeights: true }), { first: site.token });
    if (this.asked) view.select({ ...this.asked, token: site.token, sequence: view.sequence });
    this.asked = null;
  }

  said() {
    const { stage, at } = this.view.head ? this.view.chosen() : { stage: "sentence", at: "" };
    return { stage, at };
  }
}

tfmvizSite.add("step_by_step", (site, parent) => new StepsPart(site, parent));
