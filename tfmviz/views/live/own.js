// The reader's own browser as a source: for models that it can compute, once one has arrived. Until then, and for all
// else, the next source is asked.

/** @import { Engine } from "../engine/engine.js" */
/** @import { Parcel } from "../engine/fetching.js" */
/** @import { Typed } from "../shared/shell.js" */
/** @import { Plain } from "../shared/record.js" */
/** @import { Drawn } from "../whole_model/of_sites.js" */
/** @import { Known, Page, Source } from "./following.js" */
import { firstOf } from "../shared/first.js";
import { meetingOf } from "../shared/meet.js";
import { perCent } from "../shared/numbers.js";
import { recordOf } from "../shared/record.js";
import { isOn, TYPING } from "../shared/switches.js";
import { turningOf } from "../turning/of_sites.js";

/** @typedef {typeof import("../engine/view.js").default} Script */

/** @typedef {Pick<Script, "saysOf" | "sceneOf" | "stepsOf">} Makers what makes a view's data of a record */

const SITES = ["*.pattern", "*.mask"];
const TURNED = ["*.q", "*.k", "*.rot_*"];
const DRAWS = new Set(["explorer", "predictions", "whole_model", "steps", "turning"]);
const OF_ALL_SITES = ["whole_model", "steps"];
export const WORDS = 10;
export const MOST = 128; // tokens; a longer text would hold the hand up

export const NO_MEMORY = "Your browser has no memory for this model. The server computes.";

export class Own {
  /** @type {Map<string, Engine | null>} by the weights' address; null while one is on its way, or cannot come */
  engines = new Map();
  /** @type {Makers | null} as soon as an engine is here */
  makers = null;
  n = 0;
  trouble = ""; // why the browser does not compute, in a sentence
  told = () => {}; // called when there is such a sentence

  /**
   * @param {(parcel: Parcel) => Promise<{engine: Engine, makers: Makers}>} [get]
   * @param {(view: string) => Uint8Array | Plain} [sent] what Python has sent to a view last
   */
  constructor(get = fetched, sent = (view) => meetingOf(view).data) {
    this.get = get;
    this.sent = sent;
  }

  /**
   * The engine of a model, null until it is here. The first key asks for it, unless the reader's line is dear.
   * @param {Parcel} parcel
   */
  engine(parcel) {
    const found = this.engines.get(parcel.at);
    if (found !== undefined) return found;
    const { connection } = /** @type {Navigator & {connection?: {saveData: boolean}}} */ (navigator);
    if (connection?.saveData) return null;
    this.engines.set(parcel.at, null);
    this.get(parcel).then(
      ({ engine, makers }) => {
        this.makers = makers;
        this.engines.set(parcel.at, engine);
      },
      (error) => this.complain(error, parcel),
    );
    return null;
  }

  /**
   * Whether the browser computes what the page shows.
   * @param {Known | null} known
   */
  isHere(known) {
    return isOn(TYPING) && Boolean(this.engines.get(known?.parcel?.at ?? ""));
  }

  /**
   * The server goes on computing. If it was away, the next key asks again.
   * @param {unknown} error plain ones are sentences for the reader
   * @param {Parcel} parcel
   */
  complain(error, { at }) {
    if (error instanceof TypeError) this.engines.delete(at);
    if (error instanceof RangeError) this.trouble = NO_MEMORY;
    else if (error instanceof Error && error.name === "Error") this.trouble = error.message;
    this.told();
  }

  /** @type {Source["trace"]} */
  async trace(text, { page, parcel, opening, views }) {
    if (!parcel || !views.every((view) => DRAWS.has(view))) return null;
    const engine = this.engine(parcel);
    const { makers } = this;
    if (!makers || !engine?.tokenizer.knows(text)) return null;
    try {
      const { ids } = engine.encode(text);
      if (ids.length > MOST) return null;
      this.n += 1;
      const some = views.includes("turning") ? TURNED : SITES;
      const sites = views.some((view) => OF_ALL_SITES.includes(view)) ? null : some;
      const record = engine.trace(text, { sites, title: page.model });
      const { tokens } = record.facts.texts.target;
      /** @type {Typed} */
      const typed = { first: firstOf(tokens, page.token, opening[text], engine.tokenizer.fillsGaps) };
      /** @type {Record<string, any>} */
      const drawn = {};
      for (const view of views) {
        if (view === "explorer") drawn.explorer = { ...record, facts: { ...record.facts, id: -this.n } };
        if (view === "predictions") {
          drawn.predictions = engine.likeliest(typed.first, WORDS).map(([label, p]) => [label, p, perCent(p)]);
        }
        if (view === "turning") drawn.turning = turningOf(record, engine, page);
        if (view === "steps") drawn.steps = makers.stepsOf(record, engine, { title: page.model, ...page });
        if (view === "whole_model") {
          const scene = /** @type {Drawn} */ (recordOf(this.sent(view)).facts);
          if (!isOfPage(scene, page)) return null;
          drawn.whole_model = makers.sceneOf(scene, record, engine);
          typed.says = makers.saysOf(scene, record, engine, typed.first);
        }
      }
      return { typed, views: drawn };
    } catch {
      return null; // whatever it is, the server says it
    }
  }
}

/**
 * Whether a picture of the whole model is of the part that the page shows (`place` in tfmviz/ui/scenes.py).
 * @param {Drawn} scene
 * @param {Page} page
 */
function isOfPage({ made, zoom, layer, head }, page) {
  const isZoom = zoom === (["block", "head"].includes(page.zoom) ? page.zoom : "model");
  return made && isZoom && (zoom === "model" || layer === page.layer) && (zoom !== "head" || head === page.head);
}

/**
 * The script and the model: nobody who only looks waits for either.
 * @param {Parcel} parcel
 * @returns {Promise<{engine: Engine, makers: Makers}>}
 */
async function fetched(parcel) {
  const { default: script } = await import(new URL(parcel.script ?? "", document.baseURI).href);
  return { engine: await script.fetchEngine(parcel), makers: script };
}
