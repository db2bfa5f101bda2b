// The whole model on the sentence: described in a file beside its weights, with the numbers of the pass here.

import { type Drawn, saysOf, sceneOf } from "../whole_model/from_record.ts";
import { Whole } from "../whole_model/view.ts";
import type { Model } from "./site.ts";

tfmvizSite.add("whole_model", (site, parent) => {
  const asked = site.address.get("zoom") ?? "";
  let zoom = ["block", "head"].includes(asked) ? asked : "model";
  const all: Map<string, Record<string, Drawn> | null> = new Map(); // by model; null while they are on their way
  const view = new Whole(parent, {
    report({ zoom: part, layer, head, token }) {
      zoom = part;
      const chosen = token === site.token ? site.place.token : token;
      site.choose({ layer: Number(layer.split(".")[1]), head, token: chosen });
    },
  });
  const fetchScenes = async ({ model, scenes, inside }: Model) => {
    all.set(model, null);
    try {
      const text = inside ? document.getElementById(scenes)?.textContent : await (await fetch(scenes)).text();
      all.set(model, JSON.parse(String(text)));
      if (site.page === "whole_model") site.run();
    } catch {
      all.delete(model);
      site.say("The whole model cannot be drawn. Reload the page.");
    }
  };
  return {
    views: [view],
    run(engine) {
      const { model, layer, place } = site;
      const scenes = all.get(model.model);
      if (scenes === undefined) fetchScenes(model);
      if (!scenes) return;
      const block = layer.slice(0, layer.lastIndexOf("."));
      const scene = scenes[{ model: "model", block, head: `${block}.${place.head}` }[zoom] ?? "model"];
      const record = site.trace(site.text, null);
      const { token } = site;
      view.show(sceneOf(scene, record, engine));
      const says = saysOf(scene, record, engine, token);
      view.select({ layer, head: place.head, token, says, sequence: view.sequence });
    },
    said: () => ({ zoom: zoom === "model" ? "" : zoom }),
  };
});
