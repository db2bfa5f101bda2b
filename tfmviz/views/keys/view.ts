// The button that lists the keys, and two keys: Enter ends the sentence, C opens the choice of what to compare with. As
// it stands on every page, it also gives every chart its bar, and asks for the whole page when a lost connection is
// there again: another server may be there then, which does not know the part below the title.

import { barCharts } from "../charts/bar.ts";
import { button, hear } from "../shared/elements.ts";
import { onServer } from "../shared/server.ts";
import { part } from "../shared/streamlit_bridge.ts";
import { TYPING } from "../shared/switches.ts";
import { markWhenDrawn } from "./drawn.ts";
import { type Keys, keysList, OPENS } from "./list.ts";

export default part<Keys>((parent, _, trigger) => {
  const { dialog, open, list, leave } = keysList({ [TYPING]: "Update figures as you type" }, (event) => {
    if (event.key === "c" && compare()) event.preventDefault(); // else the letter is typed into the choice
  });
  const endEnter = hear(document, ["beforeinput"], enter);
  const endReturn = onServer({ back: () => trigger("returned", true) });
  const endBars = barCharts();
  markWhenDrawn();
  parent.append(button("?", { title: OPENS, ariaLabel: OPENS, onclick: open }), dialog);
  return {
    take: list,
    leave() {
      leave();
      endEnter();
      endReturn();
      endBars();
    },
  };
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
