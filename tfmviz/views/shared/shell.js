// What every interactive view shares: reports to the page around, numbers that tell an answer from an old one, the
// hand that must be still, light and dark, sizes, frames, and words for screen readers.
//
// A view reads its data (`read`), draws them (`draw`), says what is chosen (`chosen`) and takes what the page around
// has chosen (`take`). A figure has a bar (`bar`): the view gives its values (`values`), what it is called (`titles`)
// and what is painted (`figure`).

/** @import { Link } from "./beside.js" */
/** @import { Colours } from "./colours.js" */
/** @import { Figure } from "./picture.js" */
/** @import { Values } from "./table.js" */
import { figureBar } from "./bar.js";
import { coloursOf, isDark } from "./colours.js";
import { make } from "./elements.js";
import { save } from "./picture.js";

export const STILL = 400; // milliseconds without a touch after which the hand counts as still

/**
 * Whom a view tells what the reader does: a choice that lasts, one click, what views beside it are to show, and that it
 * would change a pass of the model otherwise now; the answer is whether pictures follow. Nobody, where a view stands
 * alone.
 * @typedef {{report?: (selection: any) => void, pick?: (value: any) => void,
 *   beside?: (views: string[], seen: any) => boolean, touched?: () => boolean | void}} Page
 */

/** @typedef {{first: number, says?: any}} Typed the token to look at, and what a model would say there */

/** @type {Link} */
const ALONE = { views: [], places: {} };

/** @typedef {{name: string, title: string, caption: string}} Titles of a saved figure; `name` is the file's */

/** @template {Colours} [Look=Colours] */
export class Shell {
  /** @type {HTMLElement} */
  node;
  /** @type {Look} */
  colours;
  width = 0; // 0 while nothing is drawn: there are no data yet, or another tab is open
  live = make("p", { className: "unseen", role: "status" });
  /** @type {Typed | null} while the data are those of a text that is being typed */
  typed = null;
  sequence = 0; // the number that an answer must have; from a touch on, that of the report to come
  /** @type {Link} */
  link = ALONE;
  #reported = 0;
  #said = ""; // the last report, if the page around has chosen nothing else since
  #look = "";
  #hasData = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #telling;
  /** @type {number | null} */
  #frame = null;
  /** @type {(() => void)[]} */
  #ends = [];

  /** @param {Page} page */
  constructor(page) {
    this.page = page;
  }

  /**
   * Puts the view on the page.
   * @param {HTMLElement} parent
   * @param {{className: string, ariaLabel?: string}} properties a label makes it a group
   * @param {...(Node | string)} children
   */
  mount(parent, { className, ariaLabel }, ...children) {
    const group = ariaLabel ? { role: "group", ariaLabel } : {};
    this.node = make("div", { className: `view ${className}`, ...group }, ...children, this.live);
    this.node.addEventListener("fullscreenchange", () => this.redraw());
    parent.append(this.node);
    const watcher = new ResizeObserver(() => this.node.clientWidth !== this.width && this.redraw());
    watcher.observe(this.node);
    this.atEnd(() => watcher.disconnect());
  }

  /**
   * Remembers what is to be done when the view leaves the page.
   * @param {() => void} end
   */
  atEnd(end) {
    this.#ends.push(end);
  }

  leave() {
    clearTimeout(this.#telling);
    for (const end of this.#ends) end();
  }

  /**
   * Takes other data.
   * @param {any} data
   * @param {Typed | null} [typed] of a text that somebody is still typing
   */
  show(data, typed = null) {
    this.typed = typed;
    this.read(data);
    this.#hasData = true;
    this.redraw();
  }

  /** @param {any} _data */
  read(_data) {}

  /** Draws everything anew, with other data, another width or another look. */
  redraw() {
    this.width = this.#hasData ? this.node.clientWidth : 0;
    if (!this.width) return;
    this.node.dataset.dark = String(isDark(this.node));
    this.#look = this.#lookNow();
    this.colours = this.palette();
    this.draw();
  }

  draw() {}

  /** @returns {Look} */
  palette() {
    return /** @type {Look} */ (coloursOf(this.node));
  }

  /** Draws again if the page has turned dark or light, or its letters have grown for a projector. */
  followLook() {
    if (this.width && this.#lookNow() !== this.#look) this.redraw();
  }

  #lookNow() {
    const style = getComputedStyle(this.node);
    return ["--ground", "--least-letters"].map((name) => style.getPropertyValue(name)).join();
  }

  /**
   * Does something once before the next frame, however many touches ask for it until then.
   * @param {() => void} [act]
   */
  later(act = () => this.draw()) {
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = null;
      if (this.width) act();
    });
  }

  /**
   * What is reported.
   * @returns {Record<string, any>}
   */
  chosen() {
    return {};
  }

  /** @param {any} _answer what the page around has chosen */
  take(_answer) {}

  /**
   * Takes what the page around has chosen, unless that answers an older report.
   * @param {any} answer
   */
  select(answer) {
    this.link = answer.link ?? ALONE;
    if (answer.sequence < this.sequence) return;
    this.trust(answer.sequence);
    this.take(answer);
    if (JSON.stringify(this.chosen()) !== this.#said) this.#said = "";
  }

  /**
   * From now on an answer with this number counts.
   * @param {number} sequence
   */
  trust(sequence) {
    this.sequence = this.#reported = sequence;
    clearTimeout(this.#telling);
  }

  /** @param {any} seen to show in the views beside this one, if they have it */
  tellBeside(seen) {
    return this.page.beside?.(this.link.views, seen) ?? false;
  }

  /**
   * Shows what a view beside this one shows.
   * @param {any} seen
   * @returns {boolean} whether there is such a thing here
   */
  mirror({ sequence }) {
    if (sequence !== undefined && this.link.follows) this.sequence = sequence;
    return false;
  }

  /** The reader has touched something: from now on an answer to an older report is out of date. */
  touch() {
    this.sequence = this.#reported + 1;
    this.tellBeside({ sequence: this.sequence });
  }

  /** Whether the view goes on by itself; it reports what is chosen when that ends. */
  get isPlaying() {
    return false;
  }

  /**
   * Reports what is chosen once the hand has been still for so long, if that is not known already.
   * @param {number} [delay] milliseconds
   * @param {Record<string, any>} [asks] what is asked for besides, once
   */
  tell(delay = STILL, asks) {
    if (this.link.follows) return; // the other one does
    this.touch();
    clearTimeout(this.#telling);
    this.#telling = setTimeout(() => this.isPlaying || this.#report(asks), delay);
  }

  /**
   * Reports how a pass is to be changed. Where pictures follow at once, the page around hears of it when the hand is
   * still: what it draws then would hold up the next touch.
   */
  tellChange() {
    this.tell(this.page.touched?.() ? STILL : 0);
  }

  /** What else is done once the hand is still. */
  still() {}

  /** @param {Record<string, any>} [asks] */
  #report(asks) {
    this.still();
    const chosen = this.chosen();
    const said = JSON.stringify(chosen);
    const isNew = asks || said !== this.#said;
    if (isNew) this.#reported += 1;
    this.sequence = this.#reported;
    this.tellBeside({ sequence: this.sequence });
    this.#said = said;
    if (isNew) this.page.report?.({ ...chosen, ...asks, sequence: this.sequence });
  }

  /** The bar of the figure: values, files, the whole screen. */
  bar() {
    /** @param {"svg" | "png"} format */
    const file = (format) =>
      this.width > 0 && save({ ...this.figure(), ...this.titles(), colours: this.colours }, format);
    return figureBar({ whole: () => this.node, file, values: () => this.values() });
  }

  /** @returns {Figure} */
  figure() {
    return { width: 0, height: 0, paint: () => {} };
  }

  /** @returns {Titles} */
  titles() {
    return { name: "figure", title: "", caption: "" };
  }

  /** @returns {Values} */
  values() {
    return { title: this.titles().title, columns: [], rows: [] };
  }

  /** @param {string | null} text for screen readers */
  say(text) {
    this.live.textContent = text;
  }
}
