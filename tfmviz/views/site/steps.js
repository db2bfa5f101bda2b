// Step by step: how one head computes its numbers for the sentence.

/** @import { Site } from "./site.js" */
import { stepsOf } from "../steps/of_sites.js";
import { Steps } from "../steps/steps.js";

const STAGE = /^[a-z]{1,12}$/;
const CELL = /^[A-Za-z_]{0,12}(\.\d{1,4}){4}$/;

class StepsPart {
  /** @type {{stage: string, at: string} | null} what the address asks for, until that is shown */
  asked = null;

  /**
   * @param {Site} site
   * @param {HTMLElement} parent
   */
  constructor(site, parent) {
    this.site = site;
    this.view = new Steps(parent, {
      report: ({ token }) => {
        if (token !== site.token) site.place = { ...site.place, token };
        site.later();
      },
    });
    this.views = [this.view];
  }

  /** @param {URLSearchParams} address */
  look(address) {
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

/** @type {{tfmvizSite: Site}} */
const { tfmvizSite } = /** @type {any} */ (globalThis);
tfmvizSite.add("step_by_step", (site, parent) => new StepsPart(site, parent));
