// The whole model on the sentence. What the picture consists of is described in a file beside the model's weights, for
// each of its blocks and heads; the numbers are those of the pass here.

/** @import { Drawn } from "../whole_model/of_sites.js" */
/** @import { Model, Site } from "./site.js" */
import { saysOf, sceneOf } from "../whole_model/of_sites.js";
import { Whole } from "../whole_model/whole.js";

class WholePart {
  zoom = "model";
  /** @type {Map<string, Record<string, Drawn> | null>} by model; null while they are on their way */
  scenes = new Map();

  /**
   * @param {Site} site
   * @param {HTMLElement} parent
   */
  constructor(site, parent) {
    this.site = site;
    this.view = new Whole(parent, {
      report: ({ zoom, layer, head, token }) => {
        this.zoom = zoom;
        const chosen = token === site.token ? site.place.token : token;
        site.choose({ layer: Number(layer.split(".")[1]), head, token: chosen });
      },
    });
    this.views = [this.view];
  }

  /** @param {URLSearchParams} address */
  look(address) {
    const zoom = address.get("zoom") ?? "";
    this.zoom = ["block", "head"].includes(zoom) ? zoom : "model";
  }

  run() {
    const { site, view, zoom } = this;
    const { engine, model, layer, place } = site;
    const scenes = this.scenes.get(model.model);
    if (scenes === undefined) this.fetch(model);
    if (!scenes || !engine) return;
    const block = layer.slice(0, layer.lastIndexOf("."));
    const scene = scenes[{ model: "model", block, head: `${block}.${place.head}` }[zoom] ?? "model"];
    const record = site.trace(site.text, null);
    const { token } = site;
    view.show(sceneOf(scene, record, engine));
    const says = saysOf(scene, record, engine, token);
    view.select({ layer, head: place.head, token, says, sequence: view.sequence });
  }

  /** @param {Model} model */
  async fetch({ model, scenes, inside }) {
    this.scenes.set(model, null);
    try {
      const text = inside ? document.getElementById(scenes)?.textContent : await (await fetch(scenes)).text();
      this.scenes.set(model, JSON.parse(String(text)));
      if (this.site.page === "whole_model") this.site.run();
    } catch {
      this.scenes.delete(model);
      this.site.say("The picture of the whole model cannot be shown. Load the page again.");
    }
  }

  said() {
    return { zoom: this.zoom === "model" ? "" : this.zoom };
  }
}

/** @type {{tfmvizSite: Site}} */
const { tfmvizSite } = /** @type {any} */ (globalThis);
tfmvizSite.add("whole_model", (site, parent) => new WholePart(site, parent));
