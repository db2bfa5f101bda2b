// What the pictures show while somebody types, draws a mask or switches parts off: the newest wish wins, and one
// question at a time is on its way. Nobody here knows which source has computed the pictures.

import type { ModelBundle } from "../engine/view.ts";
import type { Typed } from "../shared/view_base.ts";
import type { ComparisonEdit } from "./comparison_source.ts";

/** What is chosen; `edited` says how B's pass is changed, and by which view, on pages that compare A with B. */
export type Page = {
  model: string;
  layer: string;
  head: number;
  zoom: string;
  token: number | null;
  edited?: ComparisonEdit;
};

/** What Python knows of the page. A source gets the text and the change that are wanted. */
export type PageState = {
  page: Page;
  text: string; // that was entered last; sources have it as `entered`
  change?: string; // what the view says that changes B's pass
  views: string[]; // that can follow
  parcel: ModelBundle | null; // the model, if a browser can compute it
  opening: Record<string, string>; // the words that examples open with
  entered?: string;
};

type LiveRequest = { text: string; change: string };

/** the data of each view */
export type Pictures = { typed: Typed; views: Record<string, unknown> };

/** Gives the pictures of a text; null where it cannot, and the next source is asked. */
export type Source = { trace: (text: string, known: PageState) => Promise<Pictures | null> };

/** The page, as far as it is needed here. */
export interface PageAdapter {
  text: () => string | null; // that stands in the box, null if there is none
  edited: (view: string) => string | undefined; // what a view says of B's pass; undefined if it is not there
  has: (view: string) => boolean; // whether a view is there now
  isOn: () => boolean; // whether pictures are to follow
  show: (pictures: Pictures) => void;
  restore: (views: string[]) => void; // shows what Python has sent last
  mark: (since: Since) => void; // says whether the pictures are of something that Python has not heard of
}

/** what Python has not heard of: nothing, a text, a change */
type Since = "" | "Enter" | "change";

export class LiveUpdater {
  known: PageState | null = null;
  shown: LiveRequest | null = null; // what the pictures on the page show
  sent: LiveRequest | null = null; // what the pictures show that Python has sent last
  isAsking = false;

  sources: Source[];
  around: PageAdapter;

  /** The sources that are asked first come first. */
  constructor(sources: Source[], around: PageAdapter) {
    this.sources = sources;
    this.around = around;
  }

  /** Python says what the page shows. The data of its pictures come after this; see `told`. */
  know(known: PageState) {
    const isPythons = !this.shown || (this.known && areAlike(this.shown, wishOf(this.known)));
    if (isPythons) this.shown = wishOf(known); // what is on the page Python replaces, or it is the same
    this.sent ??= wishOf(known);
    this.known = known;
    this.mark();
  }

  /** Python has sent a picture of what was entered. Somebody may have gone on typing meanwhile. */
  onData(view: string) {
    if (!this.known?.views.includes(view)) return;
    this.sent = this.shown = wishOf(this.known);
    this.mark();
    this.ask();
  }

  mark() {
    const { shown, known } = this;
    if (!shown || !known || areAlike(shown, wishOf(known))) this.around.mark("");
    else this.around.mark(shown.text === known.text ? "change" : "Enter");
  }

  /** What is wanted: the text of the box and the change that is drawn, unless there is nothing to show. */
  wanted(): LiveRequest | null {
    const text = this.around.isOn() ? inOneLine(this.around.text() ?? "") : "";
    const by = this.known?.page.edited?.by;
    const change = (by ? this.around.edited(by) : undefined) ?? this.known?.change ?? "";
    return text.trim() ? { text, change } : null;
  }

  /** Asks for what is wanted, if that is not on the page, and nothing else is being asked. */
  async ask() {
    const wish = this.wanted();
    if (!this.known || !wish || areAlike(wish, this.shown) || this.isAsking) return;
    const views = this.known.views.filter(this.around.has);
    const known = { ...this.known, entered: this.known.text, change: wish.change, views };
    if (!views.length) return;
    if (areAlike(wish, wishOf(this.known)) && areAlike(wish, this.sent)) {
      this.shown = wish; // first: a view that draws asks again
      this.around.restore(views);
      return this.mark();
    }
    this.isAsking = true;
    let pictures: Pictures | null = null;
    for (const source of this.sources) // whatever goes wrong in one, the server says it
      pictures ??= await source.trace(wish.text, known).catch(() => null);
    this.isAsking = false;
    const isFitting = this.isFor(wish, known);
    if (pictures && isFitting) {
      this.shown = wish;
      this.around.show(pictures);
      this.mark();
    }
    if (!isFitting || !areAlike(wish, this.wanted())) this.ask();
  }

  /** Whether its pictures may be shown: on the same page, unless Python's of what was entered since are better. */
  isFor(wish: LiveRequest, { page }: PageState) {
    const now = this.known;
    const wanted = this.wanted();
    if (!now || !wanted || JSON.stringify(now.page) !== JSON.stringify(page)) return false;
    return areAlike(wish, wanted) || !areAlike(wanted, wishOf(now));
  }
}

const wishOf = ({ text, change = "" }: PageState): LiveRequest => ({ text, change });

const areAlike = (one: LiveRequest, other: LiveRequest | null) =>
  one.text === other?.text && one.change === other.change;

/** A text as models read it: pasted lines are one text (`in_one_line` in ui/sentences.py). */
export const inOneLine = (text: string) => text.replaceAll("\r", "").replaceAll("\n", " ");
