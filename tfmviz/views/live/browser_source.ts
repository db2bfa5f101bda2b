// The reader's own browser as a source: for models that it can compute, once one has arrived.

import type { Engine } from "../engine/engine.ts";
import type script from "../engine/view.ts";
import type { ModelBundle } from "../engine/view.ts";
import { FOLLOWED_SITES, MOST_FOLLOWED, NEXT_WORDS } from "../shared/constants.ts";
import { firstOf } from "../shared/first.ts";
import { perCent } from "../shared/numbers.ts";
import { type Plain, recordOf } from "../shared/record.ts";
import { registryEntry } from "../shared/streamlit_bridge.ts";
import { isOn, TYPING } from "../shared/switches.ts";
import type { Typed } from "../shared/view_base.ts";
import { turningOf } from "../turning/pairs.ts";
import type { Drawn } from "../whole_model/from_record.ts";
import type { Page, PageState, Pictures } from "./updater.ts";

/** what makes a view's data of a record */
type Makers = Pick<typeof script, "saysOf" | "sceneOf" | "stepsOf">;

const SHOWN: Record<string, string[]> = FOLLOWED_SITES;

export const NO_MEMORY = "Your browser lacks the memory for this model; the server computes instead.";

export class BrowserSource {
  /** by the weights' address; null while one is on its way, or cannot come */
  engines: Map<string, Engine | null> = new Map();
  makers: Makers | null = null; // as soon as an engine is here
  n = 0;
  trouble = ""; // why the browser does not compute, in a sentence
  onChange = () => {}; // called when there is such a sentence, or an engine

  sent = (view: string) => registryEntry(view).data as Uint8Array | Plain<Drawn>; // what Python has sent to a view last

  get: typeof fetched;

  constructor(get = fetched, sent?: BrowserSource["sent"]) {
    this.get = get;
    if (sent) this.sent = sent;
  }

  /** The engine of a model, null until it is here. The first key asks for it, unless the reader's line is dear. */
  engine(parcel: ModelBundle) {
    const found = this.engines.get(parcel.at);
    if (found !== undefined) return found;
    const { connection } = navigator as Navigator & { connection?: { saveData: boolean } };
    if (connection?.saveData) return null;
    this.engines.set(parcel.at, null);
    this.get(parcel).then(
      ({ engine, makers }) => {
        this.makers = makers;
        this.engines.set(parcel.at, engine);
        this.onChange();
      },
      (error) => {
        // The server goes on computing; if it was away, the next key asks again. Plain errors are readers' sentences.
        if (error instanceof TypeError) this.engines.delete(parcel.at);
        if (error instanceof RangeError) this.trouble = NO_MEMORY;
        else if (error instanceof Error && error.name === "Error") this.trouble = error.message;
        this.onChange();
      },
    );
    return null;
  }

  /** Whether the browser computes what the page shows. */
  isHere(known: PageState | null) {
    return isOn(TYPING) && Boolean(this.engines.get(known?.parcel?.at ?? ""));
  }

  async trace(text: string, { page, parcel, opening, views }: PageState): Promise<Pictures | null> {
    if (!parcel || !views.every((view) => view in SHOWN)) return null;
    const engine = this.engine(parcel);
    const { makers } = this;
    if (!makers || !engine?.tokenizer.knows(text)) return null;
    const { ids } = engine.encode(text);
    if (ids.length > MOST_FOLLOWED) return null;
    this.n += 1;
    const sites = views.flatMap((view) => (view === "predictions" ? [] : SHOWN[view])); // one row of logits is enough
    const record = engine.trace(text, { sites: sites.includes("*") ? null : sites, title: page.model });
    const { tokens } = record.facts.texts.target;
    const typed: Typed = { first: firstOf(tokens, page.token, opening[text], engine.tokenizer.fillsGaps) };
    const drawn: Pictures["views"] = {};
    for (const view of views) {
      if (view === "explorer") drawn.explorer = { ...record, facts: { ...record.facts, id: -this.n } };
      if (view === "predictions")
        drawn.predictions = engine.likeliest(typed.first, NEXT_WORDS).map(([label, p]) => [label, p, perCent(p)]);
      if (view === "turning") drawn.turning = turningOf(record, engine, page);
      if (view === "steps") drawn.steps = makers.stepsOf(record, engine, { title: page.model, ...page });
      if (view === "whole_model") {
        const scene = recordOf(this.sent(view)).facts;
        if (!isOfPage(scene, page)) return null;
        drawn.whole_model = makers.sceneOf(scene, record, engine);
        typed.says = makers.saysOf(scene, record, engine, typed.first);
      }
    }
    return { typed, views: drawn };
  }
}

/** Whether a picture of the whole model is of the page's part (`place` in tfmviz/ui/whole_model_data.py). */
function isOfPage({ made, zoom, layer, head }: Drawn, page: Page) {
  const isZoom = zoom === (["block", "head"].includes(page.zoom) ? page.zoom : "model");
  return made && isZoom && (zoom === "model" || layer === page.layer) && (zoom !== "head" || head === page.head);
}

/** The script and the model: nobody who only looks waits for either. */
async function fetched(parcel: ModelBundle): Promise<{ engine: Engine; makers: Makers }> {
  const { href } = new URL(parcel.script ?? "", document.baseURI);
  const { default: made }: { default: typeof script } = await import(href);
  return { engine: await made.fetchEngine(parcel), makers: made };
}
