// The whole model on the sentence. What the picture consists of is described in a file beside the model's weights, for
// each of its blocks and heads; the numbers are those of the pass here.

import { type Drawn, saysOf, sceneOf } from "../whole_model/of_sites.ts";
import { Whole } from "../whole_model/whole.ts";
import type { Model, Site } from "./site.ts";

class WholePart {
  zoom = "model";
  scenes: Map<string, Record<string, Drawn> | null> = new Map(); // by model; null while they are on their way

  site: Site;
  view: Whole;
  views: Whole[];

  constructor(site: Site, parent: HTMLElement) {
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

  look(address: URLSearchParams) {
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

  async fetch({ model, scenes, inside }: Model) {
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

tfmvizSite.add("whole_model", (site, parent) => new WholePart(site, parent));
