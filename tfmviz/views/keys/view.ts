// The list of keys. Opened by a button or by `?`, closed by Escape. And two keys themselves: Enter ends the sentence,
// and C opens the choice of what to compare with.
//
// As it stands on every page, it also asks for the whole page when a lost connection is there again. The server may be
// another one then, which does not know the part below the title and does not answer what is asked for it. And it gives
// every chart its bar.

import { barCharts } from "../charts/bar.ts";
import { button, make } from "../shared/elements.ts";
import { part } from "../shared/meet.ts";
import { isOn, LETTERS, TYPING, turnSwitch } from "../shared/switches.ts";
import { isTyping } from "../shared/typing.ts";
import { markWhenDrawn } from "./drawn.ts";
import { withhold } from "./letters.ts";
import { onReturn } from "./returning.ts";
import { reloadIfStuck } from "./stuck.ts";

type Keys = [key: string, does: string][];

export default part<Keys>((parent, _, trigger) => {
  const table = make("table");
  const close = button("Close", { onclick: () => dialog.close() });
  const switches = [
    switchOf(LETTERS, "Single letters act as shortcuts"),
    switchOf(TYPING, "Pictures change as you type"),
  ];
  const labels = switches.map(({ label }) => label);
  const dialog = make("dialog", { ariaLabel: "Keys" }, make("h2", { textContent: "Keys" }), table, ...labels, close);
  const open = () => {
    for (const { show } of switches) show();
    dialog.showModal();
  };
  const opener = button("?", { title: "What the keys do", ariaLabel: "What the keys do", onclick: open });
  const listen = (event: KeyboardEvent) => {
    if (isTyping(event) || dialog.open || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "?") open();
    if (event.key === "c" && compare()) event.preventDefault(); // else the letter is typed into the choice
  };
  const over = new AbortController();
  window.addEventListener("keydown", withhold, { capture: true, signal: over.signal }); // before all others
  document.addEventListener("keydown", listen, over);
  document.addEventListener("beforeinput", enter, over);
  const endReturn = onReturn(() => trigger("returned", true));
  const endBars = barCharts();
  reloadIfStuck();
  markWhenDrawn();
  parent.append(opener, dialog);
  const row = ([key, does]: Keys[number]) =>
    make("tr", {}, make("th", { scope: "row", textContent: key }), make("td", { textContent: does }));
  const leave = () => {
    over.abort();
    endReturn();
    endBars();
  };
  return { take: (keys) => table.replaceChildren(...keys.map(row)), leave };
});

/** A box to switch something off and on, and what shows in it how the switch stands. */
function switchOf(name: string, text: string) {
  const box = make("input", { type: "checkbox", onchange: () => turnSwitch(name, box.checked) });
  const show = () => {
    box.checked = isOn(name);
  };
  return { label: make("label", {}, box, text), show };
}

/** Opens the choice of what to compare with, or ends the comparison. Says whether the page has that choice. */
function compare() {
  const [clear] = document.querySelectorAll(".st-key-with button[aria-label='Clear value']");
  const [opener] = document.querySelectorAll(".st-key-with button[aria-label=Open]");
  const found = clear ?? opener;
  if (found instanceof HTMLElement) found.click();
  return found !== undefined;
}

/**
 * Enter in the sentence box. The box has several lines, so that it shows all of a long sentence; Streamlit then waits
 * for Ctrl+Enter. A line break that confirms what an input method proposes never comes here.
 */
function enter(event: InputEvent) {
  const { target } = event;
  if (event.inputType !== "insertLineBreak") return;
  if (!(target instanceof HTMLTextAreaElement) || !target.closest(".st-key-text, .st-key-b")) return;
  event.preventDefault();
  target.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, bubbles: true }));
}
