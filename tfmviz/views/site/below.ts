// Below the heads: what comes next, which heads are off, and another sentence beside.

import type { Explorer } from "../explorer/explorer.ts";
import { FOLLOWED_SITES, MOST_TYPED } from "../shared/constants.ts";
import { button, make, put } from "../shared/elements.ts";
import type { Head } from "./heads.ts";
import type { Site } from "./site.ts";
import { positionOf, questionOf, wordRows } from "./word_rows.ts";

const LISTED = 8; // next words

export class Below {
  temperature = 1;
  holdsFirst = false; // whether the engine's last pass is that of the first box, whose words are listed

  site: Site;
  words: HTMLOListElement;
  asked: HTMLParagraphElement;
  heads: HTMLDivElement;
  second: HTMLTextAreaElement;
  text: string;
  place: HTMLDivElement;
  compare: HTMLDetailsElement;
  explorer: Explorer;

  constructor(site: Site, parent: HTMLElement, address: URLSearchParams) {
    this.site = site;
    this.words = make("ol", { className: "words" });
    this.asked = make("p", { className: "asked" });
    this.heads = make("div", { className: "off" });
    this.second = make("textarea", { rows: 2, value: address.get("b") || site.box.value, maxLength: MOST_TYPED });
    this.second.ariaLabel = "The other sentence";
    this.text = this.second.value.trim() ? this.second.value : site.text; // last shown
    this.place = make("div", { className: "beside" });
    const summary = make("summary", { textContent: "Another sentence beside it" });
    this.compare = make("details", { open: address.has("b") }, summary, this.second, this.place);
    const next = make("section", { className: "next" }, this.asked, this.words, this.slider());
    parent.append(next, this.heads, this.compare);
    this.explorer = site.heads.explorerIn(this.place, (selection) => site.choose(selection));
    site.heads.views.push(this.explorer);
    site.listen(this.second);
    this.compare.addEventListener("toggle", () => site.run());
  }

  slider() {
    const slider = make("input", { type: "range", min: "0.1", max: "2", step: "0.1", value: "1" });
    slider.ariaLabel = "Temperature";
    const told = make("output", { textContent: "1.0" });
    slider.oninput = () => {
      this.temperature = Number(slider.value);
      told.textContent = this.temperature.toFixed(1);
      this.listWords();
    };
    return make("label", { className: "line" }, "Temperature", slider, told);
  }

  /** After the first sentence's heads those of the second; the first one's words are listed. */
  run() {
    const { site } = this;
    this.holdsFirst = true;
    this.listHeads();
    this.listWords();
    if (!this.compare.open) return;
    const typed = site.oneLine(this.second);
    if (typed.trim()) this.text = typed; // of an empty box the last text stays
    this.holdsFirst = false;
    site.heads.show(this.explorer, site.trace(this.text, FOLLOWED_SITES.explorer, { isOther: true }));
  }

  /** What was chosen in the first explorer shows in the second, and the words follow. */
  follow() {
    const { explorer, site } = this;
    const { sequence } = explorer;
    if (explorer.attention) explorer.select({ ...site.heads.explorer.selection(), sequence, first: null });
    this.listHeads();
    this.listWords();
  }

  /** Which heads are off, and the button that switches the chosen one. */
  listHeads() {
    const { site } = this;
    const chosen = { layer: site.layer, head: site.place.head };
    const isSame = (one: Head) => one.layer === chosen.layer && one.head === chosen.head;
    const isOff = site.off.some(isSame);
    const act = button(`Switch head ${nameOf(chosen)} ${isOff ? "on" : "off"}`, {
      onclick: () => this.switchOff(isOff ? site.off.filter((one) => !isSame(one)) : [...site.off, chosen]),
    });
    const names = site.off.map(nameOf).join(", ");
    const all = button("All on", { hidden: !names, onclick: () => this.switchOff([]) });
    const whose = names.includes(",") ? "Their outputs are" : "Its output is";
    const textContent = names ? `Off: ${names}. ${whose} 0, in all pictures and words.` : "";
    this.heads.replaceChildren(act, all, make("span", { textContent }));
  }

  switchOff(off: Head[]) {
    this.site.off = off;
    this.site.run();
  }

  /** The most probable words after the chosen token, or in the gap there. */
  listWords() {
    const { site } = this;
    const { engine, facts } = site;
    if (!engine || !facts) return;
    if (!this.holdsFirst) site.trace(site.text, FOLLOWED_SITES.explorer);
    this.holdsFirst = true;
    const { tokens } = facts.texts.target;
    const { fillsGaps } = engine.tokenizer;
    const position = positionOf(tokens, site.place.token, fillsGaps);
    put(this.asked, { textContent: questionOf(tokens, position, fillsGaps) });
    this.words.replaceChildren(...wordRows(engine.likeliest(position, LISTED, this.temperature)));
  }

  said() {
    return this.compare.open ? this.text : "";
  }
}

const nameOf = ({ layer, head }: Head) => `${layer.split(".")[1]}.${head}`;

const parent = document.getElementById("below") as HTMLElement;
tfmvizSite.heads.below = new Below(tfmvizSite, parent, tfmvizSite.address);
if (tfmvizSite.page === "explorer") tfmvizSite.run();
