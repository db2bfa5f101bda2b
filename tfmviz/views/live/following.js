// What the pictures show while somebody types: the newest text wins, and one question at a time is on its way.
//
// A source computes what a text's pictures are. Here and in the pictures nobody knows which one did.

/** @import { Parcel } from "../engine/fetching.js" */
/** @import { Typed } from "../shared/shell.js" */

/** @typedef {{model: string, layer: string, head: number, zoom: string, token: number | null}} Page what is chosen */

/**
 * What Python knows of the page: the text is the one that was entered last, the views are those that can follow, the
 * parcel is the model for a browser, if one can compute it, and `opening` the words that examples open with.
 * @typedef {{page: Page, text: string, views: string[], parcel: Parcel | null, opening: Record<string, string>}} Known
 */

/** @typedef {{typed: Typed, views: Record<string, any>}} Pictures the data of each view */

/**
 * Gives the pictures of a text; null where it cannot, and the next source is asked.
 * @typedef {{trace: (text: string, known: Known) => Promise<Pictures | null>}} Source
 */

/**
 * The page, as far as it is needed here.
 * @typedef {object} Around
 * @property {() => string | null} text that stands in the box, null if there is none
 * @property {(view: string) => boolean} has whether a view is there now
 * @property {() => boolean} isOn whether pictures are to follow
 * @property {(pictures: Pictures) => void} show
 * @property {(views: string[]) => void} restore shows what Python has sent last
 * @property {(isTyped: boolean) => void} mark says whether the pictures are those of a text that nobody has entered
 */

export class Following {
  /** @type {Known | null} */
  known = null;
  /** @type {string | null} the text whose pictures are on the page */
  shown = null;
  /** @type {string | null} the text whose pictures Python has sent last */
  sent = null;
  isAsking = false;

  /**
   * @param {Source[]} sources those that are asked first come first
   * @param {Around} around
   */
  constructor(sources, around) {
    this.sources = sources;
    this.around = around;
  }

  /**
   * Python says what the page shows. The data of its pictures come after this; see `told`.
   * @param {Known} known
   */
  know(known) {
    this.shown ??= known.text;
    this.sent ??= known.text;
    this.known = known;
    this.mark();
  }

  /**
   * Python has sent a picture of what was entered. Somebody may have gone on typing meanwhile.
   * @param {string} view
   */
  told(view) {
    if (!this.known?.views.includes(view)) return;
    this.sent = this.shown = this.known.text;
    this.mark();
    this.ask();
  }

  mark() {
    this.around.mark(this.shown !== this.known?.text);
  }

  /** The text that is wanted: that of the box, unless there is nothing to show of it. */
  wanted() {
    const text = this.around.isOn() ? inOneLine(this.around.text() ?? "") : "";
    return text.trim() ? text : null;
  }

  /** Asks for what stands in the box, if that is not on the page, and nothing else is being asked. */
  async ask() {
    const text = this.wanted();
    if (!this.known || text === null || text === this.shown || this.isAsking) return;
    const known = { ...this.known, views: this.known.views.filter(this.around.has) };
    if (!known.views.length) return;
    if (text === known.text && text === this.sent) {
      this.around.restore(known.views);
      this.shown = text;
      this.mark();
      return;
    }
    this.isAsking = true;
    const pictures = await this.trace(text, known).finally(() => {
      this.isAsking = false;
    });
    const isFitting = this.isFor(text, known);
    if (pictures && isFitting) {
      this.around.show(pictures);
      this.shown = text;
      this.mark();
    }
    if (!isFitting || text !== this.wanted()) this.ask();
  }

  /**
   * Whether the pictures of a text may be shown: the page is the same, and if another text has been entered meanwhile,
   * Python's pictures of that are better.
   * @param {string} text
   * @param {Known} known when it was asked for
   */
  isFor(text, { page }) {
    const now = this.known;
    const wanted = this.wanted();
    if (!now || wanted === null || JSON.stringify(now.page) !== JSON.stringify(page)) return false;
    return text === wanted || wanted !== now.text;
  }

  /**
   * @param {string} text
   * @param {Known} known
   */
  async trace(text, known) {
    for (const source of this.sources) {
      const pictures = await source.trace(text, known);
      if (pictures) return pictures;
    }
    return null;
  }
}

/**
 * A text as models read it: pasted lines are one text (`in_one_line` in ui/sentences.py).
 * @param {string} text
 */
export const inOneLine = (text) => text.replaceAll("\r", "").replaceAll("\n", " ");
