// The button that lists the keys, and two keys: Enter ends the sentence, C opens the choice of what to compare with. As
// it stands on every page, it also gives every chart its bar, and asks for the whole page when a lost connection is
// there again: another server may be there then, which does not know the part below the title. And it says when all of
// the page is drawn.

import { barCharts } from "../charts/bar.ts";
import { button, hear } from "../shared/elements.ts";
import { isReady, onServer } from "../shared/server.ts";
import { part } from "../shared/streamlit_bridge.ts";
import { TYPING } from "../shared/switches.ts";
import { type Keys, keysList, OPENS } from "./list.ts";

export default part<Keys>(({ parent, trigger, atEnd }) => {
  const { dialog, open, list, ends } = keysList({ [TYPING]: "Update figures as you type" }, (event) => {
    if (event.key === "c" && compare()) event.preventDefault(); // else the letter is typed into the choice
  });
  const endReturn = onServer({ back: () => trigger("returned", true) });
  atEnd(...ends, hear(document, ["beforeinput"], enter), endReturn, barCharts());
  markWhenDrawn();
  parent.append(button("?", { title: OPENS, ariaLabel: OPENS, onclick: open }), dialog);
  return { take: list };
});

/** Opens the choice of what to compare with, or ends the comparison. Says whether the page has that choice. */
function compare() {
  const [clear] = document.querySelectorAll(".st-key-with button[aria-label='Clear value']");
  const [opener] = document.querySelectorAll(".st-key-with button[aria-label=Open]");
  const found = clear ?? opener;
  if (found instanceof HTMLElement) found.click();
  return found !== undefined;
}

/** Enter in the sentence box, whose several lines would wait for Ctrl+Enter. Input methods never come here. */
function enter(event: InputEvent) {
  const { target } = event;
  if (event.inputType !== "insertLineBreak") return;
  if (!(target instanceof HTMLTextAreaElement) || !target.closest(".st-key-text, .st-key-b")) return;
  event.preventDefault();
  target.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, bubbles: true }));
}

// A page that opens is seen when all of it is there. Its parts come one after another and take their heights when they
// are drawn, so what stands below would jump; until then `ui/waiting.css` keeps all but the header out of sight.

const MARK = "data-drawn"; // on the page's root
const PAGE = ".stMainBlockContainer > *";
const TO_COME = "[data-testid=stSkeleton], [data-stale=true]";
const CHARTS = ".stVegaLiteChart, .stPlotlyChart";
const VIEWS = "[data-testid^=stBidiComponent]:not(.st-key-header *)";

const STEADY = 4; // looks: a chart may be drawn once more when it knows its width

const LONGEST = 12_000; // milliseconds: the style has shown the page by then, and a look a second is enough

/** Marks the page's root, once nothing is still to come and the page's height has stayed. */
function markWhenDrawn() {
  const began = performance.now();
  let [before, looks]: [number | undefined, number] = [undefined, 0];
  const look = () => {
    const height = isDrawn() ? document.querySelector(PAGE)?.scrollHeight : undefined;
    looks = height && height === before ? looks + 1 : 0;
    if (looks === STEADY) document.documentElement.setAttribute(MARK, "");
    else if (performance.now() - began < LONGEST) requestAnimationFrame(look);
    else setTimeout(look, 1000);
    before = height;
  };
  look();
}

function isDrawn() {
  const every = (selector: string, has: (node: Element) => unknown) =>
    [...document.querySelectorAll(selector)].every(has);
  return (
    isReady() &&
    !document.querySelector(TO_COME) &&
    document.fonts.status === "loaded" &&
    every(CHARTS, (chart) => chart.querySelector("svg, canvas")) &&
    every(VIEWS, ({ shadowRoot }) => shadowRoot && ("view_" in shadowRoot || "part_" in shadowRoot)) // its bridge
  );
}
