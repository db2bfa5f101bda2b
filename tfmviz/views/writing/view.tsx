// The desk: the text, the buttons that write it, the words that stood against each other, and the branches. Words that
// Python has sent ahead are written at once; the page hears of them when the hand is still.

import { render } from "preact";
import { painted, probable } from "../shared/colours.ts";
import { figureOf } from "../shared/drawn.ts";
import { make, reached, rove } from "../shared/elements.ts";
import { Head, Named, type Tool, Tools } from "../shared/named.tsx";
import { decimal, perCent } from "../shared/numbers.ts";
import { parted } from "../shared/parted.ts";
import { component, DEBOUNCE_MS, ViewBase } from "../shared/view_base.ts";
import { type Settings, settled } from "./decoding.ts";
import { Cumulated, drawWords, entropyWords, type Place, type Rival, rivalSentence, Shares } from "./rivals.tsx";
import { choose, codeOf, goTo, NOTHING, pathOf, stepBack, type Tree, treeOf, writtenIn } from "./tree.ts";

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

const TITLE = "A text that the model writes";
const LEGEND = "Colour: probability (yellow is 1). Line: entropy.";

const wordSentence = ({ text, p, entropy }: Place, n: number) =>
  `Word ${n + 1} “${text.trim() || text}”: probability ${perCent(p)}, entropy ${decimal(entropy)} nats`;

class Desk extends ViewBase {
  data!: Data; // from the first `read` on
  tree: Tree = NOTHING;
  looked: number | null = null; // the place looked at; null: the next word
  asked = ""; // the code for which more words were asked
  note = "";
  player: ReturnType<typeof setTimeout> | undefined;
  pace = 0; // ms a word while it plays, else 0
  owed = 0; // words asked for one by one that Python has yet to send

  above = make("div");
  below = make("div"); // the bar of the figure
  node = this.mount({ className: "writing", ariaLabel: TITLE }, this.above, this.bar(), this.below);

  leave() {
    super.leave();
    this.stop();
  }

  show(data: Data | Settings) {
    if (this.data && "about" in data && this.data.about !== data.about) {
      this.stop();
      this.tree = NOTHING;
      this.looked = null;
      this.trust(0); // whatever the page knows of the new text is newer
    }
    this.asked = "";
    super.show(data);
    if (this.pace) this.schedule();
    else if (this.owed) this.pay();
  }

  read(data: Data | Settings) {
    if ("about" in data) this.data = data;
    else if (this.places[this.place])
      Object.assign(this.data, settled(this.places, writtenIn(this.tree), this.place, data));
  }

  take({ path, word }: { path: string; word: number | null }) {
    this.tree = treeOf(path);
    this.looked = word;
    this.redraw();
    if (this.pace) this.schedule();
  }

  chosen() {
    return { about: this.data?.about, path: codeOf(this.tree), word: this.looked, edit: 0 };
  }

  get place() {
    return this.looked ?? this.tree.shown;
  }

  get isWritten() {
    return this.place < this.tree.shown;
  }

  /** What is known of the places of the text, as far as it is the one that Python has read. */
  get places() {
    const { places } = this.data;
    const other = writtenIn(this.tree).findIndex((token, n) => token !== places[n]?.token);
    return other < 0 ? places : places.slice(0, other); // the rest is on its way
  }

  /** Something the reader does: it ends the playing. */
  act(action: () => void = () => {}) {
    this.stop();
    this.note = "";
    action();
  }

  /** Shows another tree, and tells the page when the hand is still; null: there are too many branches. */
  change(tree: Tree | null) {
    if (tree) {
      this.tree = tree;
      this.looked = null;
    } else this.note = "No more branches fit. Start again to create new ones.";
    this.draw();
    this.notify();
  }

  look(place: number) {
    this.looked = place === this.looked ? null : place;
    this.draw();
    this.notify();
  }

  /** Puts a token at a place of the text. Returns whether that was possible. */
  put(place: number, token: number) {
    if (this.data.ends.includes(token) || place >= this.data.limit) return false;
    const text = this.data.places[place]?.rivals.find((rival) => rival.token === token)?.text;
    if (text !== undefined) this.data.texts[token] = text;
    const tree = choose(this.tree, place, token);
    this.change(tree);
    return tree !== null;
  }

  next() {
    if (this.pace) this.stop();
    this.note = "";
    this.owed += 1;
    this.pay();
  }

  pay() {
    while (this.owed && this.write()) this.owed -= 1;
    if (this.stops) this.owed = 0;
    if (this.owed) this.notify(0);
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
    const { shown } = this.tree;
    const next = this.places[shown];
    if (next && this.data.ends.includes(next.token)) {
      const when = shown ? "The model ends the text here" : "The model ends the text immediately";
      return `${when}. Choose another word in the table.`;
    }
    return shown >= this.data.limit ? `The limit is ${this.data.limit} words.` : "";
  }

  /** Plays or, if it plays already, pauses; `pace` is in ms a word. */
  play(pace: number) {
    const goes = this.pace !== pace;
    this.act();
    this.pace = goes ? pace : 0;
    if (goes) this.tick();
    else this.notify(0);
    this.draw();
  }

  stop() {
    clearTimeout(this.player);
    this.player = undefined;
    this.pace = 0;
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
    if (!this.pace) return;
    if (this.stops) {
      this.stop();
      this.draw();
      this.notify(0);
    } else if (!this.write()) this.notify(0);
    else if (this.pace) this.schedule();
  }

  /** Reports the tree when the hand is still, or at once if few words are left to write while playing. */
  notify(delay: number = DEBOUNCE_MS) {
    const code = codeOf(this.tree);
    const isShort = !this.stops && this.places.length - this.tree.shown <= FEW;
    const now = delay === 0 || (this.pace && isShort && this.asked !== code && this.asked === "");
    if (now) this.asked = code;
    super.notify(now ? 0 : delay);
  }

  draw() {
    const place = this.places[this.place];
    const [before, after] = this.data.edits;
    const stopped = this.stops !== "";
    const edit = (step: number) => this.act(() => super.notify(0, { edit: step })); // its tree comes with the text
    const tools: Tool[] = [
      ["Next word", () => this.next(), stopped],
      ["Step back", () => this.act(() => this.change(stepBack(this.tree))), !this.tree.shown],
      [this.pace === PACE ? "Pause" : "Play", () => this.play(PACE), stopped],
      [this.pace === FAST ? "Stop" : "To the end", () => this.play(FAST), stopped],
      ["Start again", () => this.act(() => this.change(NOTHING)), codeOf(this.tree) === ""],
      ["Undo edit", () => edit(-1), false, `Back to “${before}”`, before === null],
      ["Redo edit", () => edit(1), false, `On to “${after}”`, after === null],
    ];
    render(
      <>
        <div class="bar">
          <Tools tools={tools} />
        </div>
        {this.text()}
        <p class="status" role="status">
          {this.note || this.stops || (this.tree.shown > 0 && LEGEND)}
        </p>
      </>,
      this.above,
    );
    render(
      <>
        <section class="scroller" tabIndex={0} aria-label="Candidates at this position">
          {place && this.rivals(place)}
        </section>
        {place && <Cumulated place={place} />}
        <p class="says">{this.says}</p>
        {this.tree.branches.length > 1 && this.branches()}
      </>,
      this.below,
    );
  }

  get says() {
    const place = this.places[this.place];
    return place ? `${drawWords(place, this.isWritten)} ${entropyWords(place.entropy)}` : "The model is reading…";
  }

  text() {
    const { prompt, lead, texts, undecided } = this.data;
    const stop = Math.min(this.place, this.tree.shown - 1);
    const word = (token: number, n: number) => {
      const known = this.places[n];
      const said = known && wordSentence(known, n);
      return (
        <button
          type="button"
          key={n}
          ref={reached(n === stop)}
          aria-pressed={n === this.looked}
          aria-label={said}
          title={said}
          style={known && painted(probable(known.p, this.colours.roles))}
          onClick={() => this.act(() => this.look(n))}
        >
          {texts[token] ?? "…"}
          {known && <i style={{ width: `${Math.min(100, (100 * known.entropy) / undecided)}%` }} />}
        </button>
      );
    };
    return (
      <p class="text" dir="auto" onKeyDown={rove}>
        {lead && <span class="lead">{lead}</span>}
        <span class="prompt">{prompt.join("")}</span>
        {writtenIn(this.tree).map(word)}
        <span class="caret" aria-hidden="true" />
      </p>
    );
  }

  rivals(place: Place) {
    const { stages, ends } = this.data;
    const what = this.isWritten ? `Word ${this.place + 1} and its alternatives` : "Next word";
    const row = (rival: Rival, n: number) => (
      <tr key={rival.token} class={rival.token === place.falls ? "falls" : rival.shares.includes(null) ? "gone" : ""}>
        <th scope="row">
          <button
            type="button"
            dir="auto"
            ref={reached(n === 0)}
            aria-pressed={this.isWritten && rival.token === place.token}
            aria-label={rivalSentence(rival, stages)}
            title={ends.includes(rival.token) ? "The end token cannot be written" : "Put this word here"}
            disabled={ends.includes(rival.token)}
            onClick={() => this.act(() => this.put(this.place, rival.token))}
          >
            <Named label={rival.text} />
          </button>
        </th>
        <Shares shares={rival.shares} />
      </tr>
    );
    return (
      <table class="rivals" onKeyDown={rove}>
        <Head names={[what, ...stages.map(parted)]} />
        <tbody>{place.rivals.map(row)}</tbody>
      </table>
    );
  }

  /** The branches as a list of buttons, each below and to the right of the one that it leaves. */
  branches() {
    const { tree } = this;
    const textOf = (token: number) => this.data.texts[token] ?? "…";
    const depthOf = (branch: number): number => (branch ? 1 + depthOf(tree.branches[branch].parent) : 0);
    const row = ({ at, tokens }: Tree["branches"][number], n: number) => (
      <div key={n} style={{ marginLeft: `${1.2 * depthOf(n)}rem` }}>
        <small>{n ? `from word ${at + 1}` : "first text"}</small>
        <button
          type="button"
          ref={reached(n === tree.branch)}
          dir="auto"
          aria-pressed={n === tree.branch}
          title={`${pathOf(tree, n).length} words`}
          onClick={() => this.act(() => this.change(goTo(tree, n)))}
        >
          {tokens.map(textOf).join("").trim() || "(the beginning)"}
        </button>
      </div>
    );
    return (
      <div class="branches" role="group" aria-label="Branches of the text" onKeyDown={rove}>
        <p>Branches: click one to continue it.</p>
        {tree.branches.map(row)}
      </div>
    );
  }

  figure() {
    return { ...figureOf(this.node), name: "writing", title: TITLE, caption: this.says };
  }

  values() {
    const { rivals = [] } = this.places[this.place] ?? {};
    const rows = rivals.map(({ text, shares }) => [text, ...shares]);
    return { title: `Word ${this.place + 1}`, columns: ["word", ...this.data.stages], rows };
  }
}

export default component((parent, page) => new Desk(parent, page));
