// The list of keys. Opened by a button or by `?`, closed by Escape. In it single letters can be switched off.

import { button, hear, isChord, isTyping, make } from "../shared/elements.ts";
import { isOn, LETTERS, turnSwitch } from "../shared/switches.ts";

export type Keys = [key: string, does: string][];

export const OPENS = "Keyboard shortcuts";

/** The list, in a dialog that has to be put on the page; `more` are other switches, `press` hears of other keys. */
export function keysList(more: Record<string, string>, press: (event: KeyboardEvent) => void) {
  const table = make("table");
  const close = button("Close", { onclick: () => dialog.close() });
  const named = Object.entries({ [LETTERS]: "Single-letter shortcuts", ...more });
  const switches = named.map(([name, text]) => switchOf(name, text));
  const labels = switches.map(({ label }) => label);
  const dialog = make("dialog", { ariaLabel: "Keys" }, make("h2", { textContent: "Keys" }), table, ...labels, close);
  const open = () => {
    for (const { show } of switches) show();
    dialog.showModal();
  };
  const listen = (event: KeyboardEvent) => {
    if (isTyping(event) || dialog.open || isChord(event)) return;
    if (event.key === "?") open();
    press(event);
  };
  const ends = [hear(window, ["keydown"], withhold, true), hear(document, ["keydown"], listen)];
  const row = ([key, does]: Keys[number]) =>
    make("tr", {}, make("th", { scope: "row", textContent: key }), make("td", { textContent: does }));
  const list = (keys: Keys) => table.replaceChildren(...keys.map(row));
  return { dialog, open, list, ends };
}

function switchOf(name: string, text: string) {
  const box = make("input", { type: "checkbox", onchange: () => turnSwitch(name, box.checked) });
  const show = () => {
    box.checked = isOn(name);
  };
  return { label: make("label", {}, box, text), show };
}

/** Keeps single characters that are not typed into a box from all shortcuts, while these are off; not Space. */
export function withhold(event: KeyboardEvent) {
  const isCharacter = [...event.key].length === 1 && event.key !== " ";
  if (isCharacter && !isChord(event) && !isOn(LETTERS) && !isTyping(event)) event.stopImmediatePropagation();
}
