// RoPE: a query and a key of the chosen head as arrows that turn with their positions.

/** @import { Site } from "./site.js" */
import { make } from "../shared/elements.js";
import { turningOf } from "../turning/of_sites.js";
import { Turning } from "../turning/turning.js";

const TURN = /^\d{1,5}(\.\d{1,5}){3}$/;

class TurningPart {
  /** @type {string | null} what the address asks for, until that is shown */
  asked = null;

  /**
   * @param {Site} site
   * @param {HTMLElement} parent
   */
  constructor(site, parent) {
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

  /** @param {URLSearchParams} address */
  look(address) {
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

/** @type {{tfmvizSite: Site}} */
const { tfmvizSite } = /** @type {any} */ (globalThis);
tfmvizSite.add("positions_rope", (site, parent) => new TurningPart(site, parent));
