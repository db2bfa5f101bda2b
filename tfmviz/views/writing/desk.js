// The desk: the text, the buttons that write it, the words that stood against each other, and the branches. Words that
// Python has sent ahead are written at once; the page hears of them when the hand is still.

/** @import { Page } from "../shared/shell.js" */
/** @import { Place } from "./words.js" */
/** @import { Settings } from "./settled.js" */
/** @import { Tree } from "./tree.js" */
import { css, inkOn } from "../shared/colours.js";
import { figureOf } from "../shared/drawn.js";
import { button, buttonOf, make, put, roving } from "../shared/elements.js";
import { Shell, STILL } from "../shared/shell.js";
import { branchList } from "./branches.js";
import { cumulatedParts, rivalTable } from "./rivals.js";
import { settled } from "./settled.js";
import { choose, codeOf, goTo, NOTHING, startsWith, stepBack, treeOf, writtenIn } from "./tree.js";
import { drawWords, entropyWords, LEGEND, wordSentence } from "./words.js";

/**
 * What Python sends.
 * @typedef {object} Data
 * @property {string} about model and text: the words belong to them
 * @property {string[]} prompt
 * @property {string} lead what stands before the text: the source of a translation
 * @property {string[]} stages the model's distribution and the settings in their order
 * @property {Place[]} places
 * @property {Record<string, string>} texts of the tokens in the tree
 * @property {number[]} ends the tokens that end a text
 * @property {number} limit the most words
 * @property {number} undecided the largest entropy there is, in nats
 * @property {(string | null)[]} edits the text that was typed before this one, and the one after it
 */

const [PACE, FAST] = [300, 30]; // ms a word while playing; shorter than STILL: the page does not run for every word
const FEW = 4; // words ahead at which more are asked for

export class Desk extends Shell {
  /** @type {Data | null} */
  data = null;
  /** @type {Tree} */
  tree = NOTHING;
  /** @type {number | null} the place looked at; null: the next word */
  looked = null;
  asked = ""; // the code for which more words were asked
  note = "";
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  player;
  /** @type {"" | "play" | "end"} */
  mode = "";
  owed = 0; // words asked for one by one that Python has yet to send

  /**
   * @param {HTMLElement} parent
   * @param {Page} page
   */
  constructor(parent, page) {
    super(page);
    this.buttons = {
      next: button("Next word", { onclick: () => this.next() }),
      back: button("Step back", { onclick: () => this.act(() => this.change(stepBack(this.tree))) }),
      play: button("Play", { onclick: () => this.play("play", PACE) }),
      end: button("To the end", { onclick: () => this.play("end", FAST) }),
      again: button("Start again", { onclick: () => this.act(() => this.change(NOTHING)) }),
      undo: button("Undo edit", { onclick: () => this.act(() => this.edit(-1)) }),
      redo: button("Redo edit", { onclick: () => this.act(() => this.edit(1)) }),
    };
    this.status = make("p", { className: "status", role: "status" });
    this.text = make("p", { className: "text", dir: "auto" });
    this.rivals = make("table", { className: "rivals" });
    this.cumulated = make("div", { className: "cumulated", role: "img" });
    this.says = make("p", { className: "says" });
    this.branches = make("div", { className: "branches", role: "group", ariaLabel: "Branches of the text" });
    this.mount(
      parent,
      { className: "writing", ariaLabel: "A text that the model writes" },
      make("div", { className: "bar" }, ...Object.values(this.buttons)),
      this.text,
      this.status,
      this.bar(),
      make(
        "div",
        { className: "scroller", tabIndex: 0, role: "region", ariaLabel: "Words at this place" },
        this.rivals,
      ),
      this.cumulated,
      this.says,
      this.branches,
    );
    this.listen();
    this.atEnd(() => this.stop());
  }

  listen() {
    roving(this.text, () => 1);
    roving(this.branches, () => 1);
    roving(this.rivals, () => 1);
    this.text.addEventListener("click", (event) => {
      const node = buttonOf(event);
      if (node) this.act(() => this.look(Number(node.dataset.place)));
    });
    this.rivals.addEventListener("click", (event) => {
      const node = buttonOf(event);
      if (node) this.act(() => this.put(this.place, Number(node.dataset.token)));
    });
    this.branches.addEventListener("click", (event) => {
      const node = buttonOf(event);
      if (node) this.act(() => this.change(goTo(this.tree, Number(node.dataset.branch))));
    });
  }

  /** @param {Data | Settings} data of another text, or other settings for this one */
  show(data) {
    if (this.data && "about" in data && this.data.about !== data.about) {
      this.stop();
      this.tree = NOTHING;
      this.looked = null;
      this.trust(0); // whatever the page knows of the new text is newer
    }
    this.asked = "";
    super.show(data);
    if (this.mode) this.schedule();
    else if (this.owed) this.pay();
  }

  /** @param {Data | Settings} data */
  read(data) {
    if ("about" in data) this.data = data;
    else if (this.data && this.places[this.place])
      Object.assign(this.data, settled(this.places, writtenIn(this.tree), this.place, data));
  }

  /** @param {{path: string, word: number | null}} answer */
  take({ path, word }) {
    this.tree = treeOf(path);
    this.looked = word;
    this.redraw();
    if (this.mode) this.schedule();
  }

  chosen() {
    return { about: this.data?.about, path: codeOf(this.tree), word: this.looked, edit: 0 };
  }

  /** The place that the table is about. */
  get place() {
    return this.looked ?? this.tree.shown;
  }

  /** What is known of the places of the text, as far as it is the one that Python has read. */
  get places() {
    if (!this.data) return [];
    const { places } = this.data;
    const tokens = places.map(({ token }) => token);
    const written = writtenIn(this.tree);
    if (startsWith(tokens, written)) return places;
    const same = written.findIndex((token, n) => token !== tokens[n]);
    return places.slice(0, same); // the rest is on its way
  }

  /**
   * Something the reader does: it ends the playing.
   * @param {() => void} action
   */
  act(action) {
    this.stop();
    this.note = "";
    action();
  }

  /**
   * Shows another tree, and tells the page when the hand is still.
   * @param {Tree | null} tree null: there are too many branches
   */
  change(tree) {
    if (tree) {
      this.tree = tree;
      this.looked = null;
    } else this.note = "No more branches fit. Start again to grow new ones.";
    this.draw();
    this.tell();
  }

  /**
   * Goes to the text that was typed before this one (-1) or after it (1); its tree comes with it.
   * @param {number} step
   */
  edit(step) {
    super.tell(0, { edit: step });
  }

  /** @param {number} place */
  look(place) {
    this.looked = place === this.looked ? null : place;
    this.draw();
    this.tell();
  }

  /**
   * Puts a token at a place of the text. Returns whether that was possible.
   * @param {number} place
   * @param {number} token
   */
  put(place, token) {
    if (!this.data || this.data.ends.includes(token) || place >= this.data.limit) return false;
    const text = this.data.places[place]?.rivals.find((rival) => rival.token === token)?.text;
    if (text !== undefined) this.data.texts[token] = text;
    const tree = choose(this.tree, place, token);
    this.change(tree);
    return tree !== null;
  }

  /** Writes one word more, as soon as it is there. */
  next() {
    if (this.mode) this.stop();
    this.note = "";
    this.owed += 1;
    this.pay();
  }

  pay() {
    while (this.owed && this.write()) this.owed -= 1;
    if (this.stops) this.owed = 0;
    if (this.owed) this.tell(0);
  }

  /** Writes the next word. Returns whether there was one to write. */
  write() {
    const next = this.places[this.tree.shown];
    if (!next || this.stops) return false;
    if (!this.put(this.tree.shown, next.token)) this.stop();
    return true;
  }

  /** Why no word can follow, "" if one can or is on its way. */
  get stops() {
    if (!this.data) return "";
    const { shown } = this.tree;
    const next = this.places[shown];
    if (next && this.data.ends.includes(next.token)) {
      const when = shown ? "Here the model ends the text" : "The model ends the text at once";
      return `${when}. Choose another word in the table.`;
    }
    return shown >= this.data.limit ? `The page writes ${this.data.limit} words at most.` : "";
  }

  /**
   * Plays or, if it plays already, pauses.
   * @param {"play" | "end"} mode
   * @param {number} pace ms a word
   */
  play(mode, pace) {
    const goes = this.mode !== mode;
    this.stop();
    this.note = "";
    if (goes) {
      this.mode = mode;
      this.pace = pace;
      this.tick();
    } else this.tell(0);
    this.paintButtons();
  }

  stop() {
    clearTimeout(this.player);
    this.player = undefined;
    this.mode = "";
    this.owed = 0;
  }

  schedule() {
    this.player ??= setTimeout(() => {
      this.player = undefined;
      this.tick();
    }, this.pace);
  }

  /** Writes a word while playing. If none is there yet, `show` goes on when Python has sent more. */
  tick() {
    if (!this.mode) return;
    if (this.stops) {
      this.stop();
      this.draw();
      this.tell(0);
    } else if (!this.write()) this.tell(0);
    else if (this.mode) this.schedule();
  }

  /**
   * Reports the tree when the hand is still, or at once if few words are left to write while playing.
   * @param {number} [delay]
   */
  tell(delay = STILL) {
    const code = codeOf(this.tree);
    const isShort = !this.stops && this.places.length - this.tree.shown <= FEW;
    const now = delay === 0 || (this.mode && isShort && this.asked !== code && this.asked === "");
    if (now) this.asked = code;
    super.tell(now ? 0 : delay);
  }

  draw() {
    if (!this.data) return;
    this.paintText(this.data);
    this.paintButtons();
    this.paintRivals(this.data);
    this.paintBranches(this.data);
  }

  paintButtons() {
    const { next, back, play, end, again, undo, redo } = this.buttons;
    const [before, after] = this.data?.edits ?? [null, null];
    const stopped = this.stops !== "";
    put(next, { disabled: stopped });
    put(back, { disabled: !this.tree.shown });
    put(again, { disabled: codeOf(this.tree) === "" });
    put(undo, { hidden: before === null, title: `Back to “${before}”` });
    put(redo, { hidden: after === null, title: `On to “${after}”` });
    put(play, { disabled: stopped, textContent: this.mode === "play" ? "Pause" : "Play" });
    put(end, { disabled: stopped, textContent: this.mode === "end" ? "Stop" : "To the end" });
    put(this.status, { textContent: this.note || this.stops || (this.tree.shown ? LEGEND : "") });
  }

  /** @param {Data} data */
  paintText({ prompt, lead, texts, undecided }) {
    const written = writtenIn(this.tree);
    const root = this.node.getRootNode();
    const focused = root instanceof ShadowRoot && this.text.contains(root.activeElement);
    const words = written.map((token, n) => this.word(n, texts[token] ?? "…", undecided));
    const begin = lead ? [make("span", { className: "lead", textContent: lead })] : [];
    const caret = make("span", { className: "caret", ariaHidden: "true" });
    this.text.replaceChildren(
      ...begin,
      make("span", { className: "prompt", textContent: prompt.join("") }),
      ...words,
      caret,
    );
    if (focused) words[Math.min(this.place, words.length - 1)]?.focus();
  }

  /**
   * @param {number} n
   * @param {string} text
   * @param {number} undecided
   */
  word(n, text, undecided) {
    const known = this.places[n];
    const node = button(text, {
      dataset: { place: n },
      tabIndex: n === Math.min(this.place, this.tree.shown - 1) ? 0 : -1,
    });
    node.ariaPressed = String(n === this.looked);
    if (!known) return node;
    const shade = Math.sqrt(known.p);
    Object.assign(node.style, { background: css(shade), color: inkOn(shade) });
    node.title = node.ariaLabel = wordSentence(known, n);
    node.append(make("i", { style: { width: `${Math.min(100, (100 * known.entropy) / undecided)}%` } }));
    return node;
  }

  /** @param {Data} data */
  paintRivals({ stages, ends }) {
    const place = this.places[this.place];
    this.rivals.hidden = this.cumulated.hidden = !place;
    if (!place) {
      put(this.says, { textContent: "The model is reading…" });
      return;
    }
    const isWritten = this.place < this.tree.shown;
    const what = isWritten ? `Word ${this.place + 1}, against its rivals` : `Word ${this.place + 1}, the next one`;
    this.rivals.replaceChildren(...rivalTable(place, { what, stages, ends, isWritten }));
    this.cumulated.replaceChildren(...cumulatedParts(place));
    this.cumulated.ariaLabel = drawWords(place, false);
    put(this.says, { textContent: `${drawWords(place, isWritten)} ${entropyWords(place.entropy)}` });
  }

  /** @param {Data} data */
  paintBranches({ texts }) {
    this.branches.hidden = this.tree.branches.length < 2;
    if (!this.branches.hidden) this.branches.replaceChildren(...branchList(this.tree, texts));
  }

  figure() {
    return figureOf(this.node);
  }

  titles() {
    return { name: "writing", title: "A text that the model writes", caption: this.says.textContent ?? "" };
  }

  values() {
    const { rivals = [] } = this.places[this.place] ?? {};
    const rows = rivals.map(({ text, shares }) => [text, ...shares]);
    return { title: `Word ${this.place + 1}`, columns: ["word", ...(this.data?.stages ?? [])], rows };
  }
}
