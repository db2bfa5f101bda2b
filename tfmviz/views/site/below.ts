// Below the heads: what comes next, which heads are off, and another sentence beside.

import { isSame } from "../explorer/state.ts";
import { inOneLine } from "../live/updater.ts";
import { FOLLOWED_SITES, MOST_TYPED } from "../shared/constants.ts";
import { button, hearTyping, make, put } from "../shared/elements.ts";
import type { Head } from "./heads.ts";
import type { Site } from "./site.ts";
import { nextWords } from "./word_rows.ts";

const LISTED = 8; // next words

export type Below = ReturnType<typeof below>;

function below(site: Site, parent: HTMLElement, address: URLSearchParams) {
  let temperature = 1;
  let holdsFirst = false; // whether the engine's last pass is that of the first box, whose words are listed
  const words = make("ol", { className: "words" });
  const asked = make("p", { className: "asked" });
  const heads = make("div", { className: "off" });
  const second = make("textarea", { rows: 2, value: address.get("b") || site.box.value, maxLength: MOST_TYPED });
  second.ariaLabel = "The other sentence";
  let text = second.value.trim() ? second.value : site.text; // last shown
  const place = make("div", { className: "beside" });
  const summary = make("summary", { textContent: "Compare with another sentence" });
  const compare = make("details", { open: address.has("b") }, summary, second, place);
  const range = { type: "range", min: "0.1", max: "2", step: "0.1", value: "1", ariaLabel: "Temperature" };
  const slider = make("input", { ...range, oninput: warm });
  const told = make("output", { textContent: "1.0" });
  const line = make("label", { className: "line" }, "Temperature", slider, told);
  parent.append(make("section", { className: "next" }, asked, words, line), heads, compare);
  const explorer = site.heads.explorerIn(place, (selection) => site.choose(selection));
  site.heads.views.push(explorer);
  hearTyping(second, () => site.run());
  compare.addEventListener("toggle", () => site.run());

  function warm() {
    temperature = Number(slider.value);
    told.textContent = temperature.toFixed(1);
    listWords();
  }

  /** After the first sentence's heads those of the second; the first one's words are listed. */
  function run() {
    holdsFirst = true;
    listHeads();
    listWords();
    if (!compare.open) return;
    const typed = inOneLine(second.value);
    if (typed.trim()) text = typed; // of an empty box the last text stays
    holdsFirst = false;
    site.heads.show(explorer, site.trace(text, FOLLOWED_SITES.explorer, { isOther: true }));
  }

  /** What was chosen in the first explorer shows in the second, and the words follow. */
  function follow() {
    const { sequence } = explorer;
    if (explorer.attention) explorer.select({ ...site.heads.explorer.chosen(), sequence, first: null });
    listHeads();
    listWords();
  }

  function listHeads() {
    const chosen = { layer: site.layer, head: site.place.head };
    const isOff = site.off.some((one) => isSame(one, chosen));
    const act = button(`Switch head ${nameOf(chosen)} ${isOff ? "on" : "off"}`, {
      onclick: () => switchOff(isOff ? site.off.filter((one) => !isSame(one, chosen)) : [...site.off, chosen]),
    });
    const names = site.off.map(nameOf).join(", ");
    const all = button("All on", { hidden: !names, onclick: () => switchOff([]) });
    const whose = names.includes(",") ? "Their outputs are" : "Its output is";
    const textContent = names ? `Off: ${names}. ${whose} 0 everywhere.` : "";
    heads.replaceChildren(act, all, make("span", { textContent }));
  }

  function switchOff(off: Head[]) {
    site.off = off;
    site.run();
  }

  function listWords() {
    if (!site.facts) return;
    if (!holdsFirst) site.trace(site.text, FOLLOWED_SITES.explorer);
    holdsFirst = true;
    const { textContent, rows } = nextWords(site, LISTED, temperature);
    put(asked, { textContent });
    words.replaceChildren(...rows);
  }

  return { run, follow, said: () => (compare.open ? text : "") };
}

const nameOf = ({ layer, head }: Head) => `${layer.split(".")[1]}.${head}`;

const parent = document.getElementById("below") as HTMLElement;
tfmvizSite.heads.below = below(tfmvizSite, parent, tfmvizSite.address);
if (tfmvizSite.page === "explorer") tfmvizSite.run();
