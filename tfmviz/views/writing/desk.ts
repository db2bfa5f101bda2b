// The desk: the text, the buttons that write it, the words that stood against each other, and the branches. Words that
// Python has sent ahead are written at once; the page hears of them when the hand is still.

import { css, inkOn } from "../shared/colours.ts";
import { figureOf } from "../shared/drawn.ts";
import { button, buttonOf, make, put, roving } from "../shared/elements.ts";
import { type Page, Shell, STILL } from "../shared/shell.ts";
import { branchList } from "./branches.ts";
import { cumulatedParts, rivalTable } from "./rivals.ts";
import { type Settings, settled } from "./settled.ts";
import { choose, codeOf, goTo, NOTHING, startsWith, stepBack, type Tree, treeOf, writtenIn } from "./tree.ts";
import { drawWords, entropyWords, LEGEND, type Place, wordSentence } from "./words.ts";

/** What Python sends. */
interface Data {
  about: string; // model and text: the words belong to them
  prompt: string[];
  lead: string; // what stands before the text: the source of a translation
  stages: string[]; // the model's distribution and the settings in their order
  places: Place[];
  texts: Record<string, string>; // of the tokens in the tree
  ends: number[]; // the tokens that end a text
  limit: number; // the most words
  undecided: number; // the largest entropy there is, in nats
  edits: (string | null)[]; // the text that was typed before this one, and the one after it
}

const [PACE, FAST] = [300, 30]; // ms a word while playing; shorter than STILL: the page does not run for every word
const FEW = 4; // words ahead at which more are asked for

export class Desk extends Shell {
  data: Data | null = null;
  tree: Tree = NOTHING;
  looked: number | null = null; // the place looked at; null: the next word
  asked = ""; // the code for which more words were asked
  note = "";
  player: ReturnType<typeof setTimeout> | undefined;
  mode: "" | "play" | "end" = "";
  owed = 0; // words asked for one by one that Python has yet to send

  pace = PACE;
  buttons = {
    next: button("Next word", { onclick: () => this.next() }),
    back: button("Step back", { onclick: () => this.act(() => this.change(stepBack(this.tree))) }),
    play: button("Play", { onclick: () => this.play("play", PACE) }),
    end: button("To the end", { onclick: () => this.play("end", FAST) }),
    again: button("Start again", { onclick: () => this.act(() => this.change(NOTHING)) }),
    undo: button("Undo edit", { onclick: () => this.act(() => this.edit(-1)) }),
    redo: button("Redo edit", { onclick: () => this.act(() => this.edit(1)) }),
  };
  status = make("p", { className: "status", role: "status" });
  text = make("p", { className: "text", dir: "auto" });
  rivals = make("table", { className: "rivals" });
  cumulated = make("div", { className: "cumulated", role: "img" });
  says = make("p", { className: "says" });
  branches = make("div", { className: "branches", role: "group", ariaLabel: "Branches of the text" });

  constructor(parent: HTMLElement, page: Page) {
    super(page);
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

  /** @param data of another text, or other settings for this one */
  show(data: Data | Settings) {
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

  read(data: Data | Settings) {
    if ("about" in data) this.data = data;
    else if (this.data && this.places[this.place])
      Object.assign(this.data, settled(this.places, writtenIn(this.tree), this.place, data));
  }

  take({ path, word }: { path: string; word: number | null }) {
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

  /** Something the reader does: it ends the playing. */
  act(action: () => void) {
    this.stop();
    this.note = "";
    action();
  }

  /**
   * Shows another tree, and tells the page when the hand is still.
   * @param tree null: there are too many branches
   */
  change(tree: Tree | null) {
    if (tree) {
      this.tree = tree;
      this.looked = null;
    } else this.note = "No more branches fit. Start again to grow new ones.";
    this.draw();
    this.tell();
  }

  /** Goes to the text that was typed before this one (-1) or after it (1); its tree comes with it. */
  edit(step: number) {
    super.tell(0, { edit: step });
  }

  look(place: number) {
    this.looked = place === this.looked ? null : place;
    this.draw();
    this.tell();
  }

  /** Puts a token at a place of the text. Returns whether that was possible. */
  put(place: number, token: number) {
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
   * @param pace ms a word
   */
  play(mode: "play" | "end", pace: number) {
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

  /** Reports the tree when the hand is still, or at once if few words are left to write while playing. */
  tell(delay: number = STILL) {
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

  paintText({ prompt, lead, texts, undecided }: Data) {
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

  word(n: number, text: string, undecided: number) {
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

  paintRivals({ stages, ends }: Data) {
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

  paintBranches({ texts }: Data) {
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
