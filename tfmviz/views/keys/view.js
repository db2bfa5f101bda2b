// The list of keys. Opened by a button or by `?`, closed by Escape. And two keys themselves: Enter ends the sentence,
// and C opens the choice of what to compare with.
//
// As it stands on every page, it also asks for the whole page when a lost connection is there again. The server may be
// another one then, which does not know the part below the title and does not answer what is asked for it. And it gives
// every chart its bar.

import { barCharts } from "../charts/bar.js";
import { button, make } from "../shared/elements.js";
import { isOn, LETTERS, TYPING, turnSwitch } from "../shared/switches.js";
import { isTyping } from "../shared/typing.js";
import { withhold } from "./letters.js";
import { onReturn } from "./returning.js";
import { reloadIfStuck } from "./stuck.js";

/** @typedef {{ table: HTMLTableElement, leave: () => void }} List */

/**
 * @param {object} component
 * @param {[key: string, does: string][]} component.data
 * @param {ShadowRoot & { list_?: List, ask_?: () => void }} component.parentElement
 * @param {(name: string, value: unknown) => void} component.setTriggerValue
 */
export default function ({ data, parentElement, setTriggerValue }) {
  parentElement.ask_ = () => setTriggerValue("returned", true);
  parentElement.list_ ??= build(parentElement);
  const { table, leave } = parentElement.list_;
  table.replaceChildren(
    ...data.map(([key, does]) =>
      make("tr", {}, make("th", { scope: "row", textContent: key }), make("td", { textContent: does })),
    ),
  );
  return leave;
}

/**
 * @param {ShadowRoot & { ask_?: () => void }} parent
 * @returns {List}
 */
function build(parent) {
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
  /** @param {KeyboardEvent} event */
  const listen = (event) => {
    if (isTyping(event) || dialog.open || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "?") open();
    if (event.key === "c" && compare()) event.preventDefault(); // else the letter is typed into the choice
  };
  window.addEventListener("keydown", withhold, true); // before all others
  document.addEventListener("keydown", listen);
  document.addEventListener("beforeinput", enter);
  const endReturn = onReturn(() => parent.ask_?.());
  const endBars = barCharts();
  reloadIfStuck();
  parent.append(opener, dialog);
  return {
    table,
    leave: () => {
      window.removeEventListener("keydown", withhold, true);
      document.removeEventListener("keydown", listen);
      document.removeEventListener("beforeinput", enter);
      endReturn();
      endBars();
    },
  };
}

/**
 * A box to switch something off and on, and what shows in it how the switch stands.
 * @param {string} name
 * @param {string} text
 */
function switchOf(name, text) {
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
 *
 * @param {InputEvent} event
 */
function enter(event) {
  const { target } = event;
  if (event.inputType !== "insertLineBreak") return;
  if (!(target instanceof HTMLTextAreaElement) || !target.closest(".st-key-text, .st-key-b")) return;
  event.preventDefault();
  target.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, bubbles: true }));
}
