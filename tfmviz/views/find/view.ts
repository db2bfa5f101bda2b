// Find anything: Ctrl K or the button opens a box; arrows choose among what is found, Enter goes there.

import { button, hear, make } from "../shared/elements.ts";
import { follow, go, kept } from "../shared/going.ts";
import { part } from "../shared/streamlit_bridge.ts";
import { type Entry, prepared, ranked } from "./ranking.ts";

type Data = { entries: string; at: string }; // as JSON, or where they are, if they are not here

const MOST = 12; // that are shown
const NAMES = { term: "", page: "page", tab: "tab", model: "model", step: "lecture" };

export default part<Data>(({ parent, data: { entries, at }, atEnd }) => {
  const opener = button("Find", { title: "Find a term, a page or a model (Ctrl K)", ariaKeyShortcuts: "Control+K" });
  opener.append(make("kbd", { textContent: "Ctrl K" }));
  const list = make("div", { id: "found", role: "listbox", ariaLabel: "Found" });
  const none = make("p", { role: "status" });
  const input = make("input", {
    type: "text",
    role: "combobox",
    ariaLabel: "Find a term, a page or a model",
    ariaExpanded: "true",
    ariaAutoComplete: "list",
    placeholder: "√d, RoPE, why is there a mask in the decoder …",
    autocomplete: "off",
    spellcheck: false,
    maxLength: 200,
  });
  input.setAttribute("aria-controls", list.id);
  const dialog = make("dialog", { ariaLabel: "Find" }, input, none, list);
  parent.append(make("div", { className: "view in-header" }, opener, dialog));

  let index: Promise<ReturnType<typeof prepared>> | undefined;
  let chosen = 0;

  const draw = async () => {
    index ??= entriesOf(entries, at).then(prepared);
    const all = await index;
    const isEmpty = !input.value.trim();
    const pages = all.map(({ entry }) => entry).filter(({ kind }) => kind === "page");
    const found = isEmpty ? pages : ranked(all, input.value, MOST);
    list.replaceChildren(...found.map((entry, n) => option(entry, n, visit)));
    none.textContent = found.length ? "" : "Nothing found. “All pages” lists everything.";
    choose(0);
  };
  const choose = (n: number) => {
    const options = [...list.children];
    chosen = options.length ? (n + options.length) % options.length : 0;
    for (const [at, node] of options.entries()) node.ariaSelected = String(at === chosen);
    if (options.length) input.setAttribute("aria-activedescendant", options[chosen].id);
    else input.removeAttribute("aria-activedescendant");
    options[chosen]?.scrollIntoView({ block: "nearest" });
  };
  const visit = (address: string) => {
    dialog.close();
    go(address);
  };
  const open = () => {
    dialog.showModal();
    input.select();
    draw();
  };
  const isOurs = (event: KeyboardEvent) => (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
  const listen = (event: KeyboardEvent) => {
    if (!isOurs(event) || event.altKey) return;
    event.preventDefault();
    if (dialog.open) dialog.close();
    else open();
  };
  opener.onclick = open;
  input.oninput = draw;
  dialog.onkeydown = (event) => {
    if (!isOurs(event)) event.stopPropagation(); // or the page's own keys would answer to letters typed here
    if (event.isComposing) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter" && event.target === input) {
      event.preventDefault();
      (list.children[chosen] as HTMLAnchorElement | undefined)?.click();
    }
  };
  dialog.onclick = (event) => event.target === dialog && dialog.close(); // beside it
  atEnd(hear(document, ["keydown"], listen));
  return {};
});

const entriesOf = async (entries: string, at: string): Promise<Entry[]> =>
  entries ? JSON.parse(entries) : (await fetch(new URL(at, document.baseURI))).json();

function option({ kind, title, says, place, address }: Entry, n: number, visit: (address: string) => void) {
  // A lecture's step has a sentence and a model of its own, and so may another entry.
  const isOwn = kind === "step" || /[?&]model=/.test(address);
  const href = kept(address, isOwn ? ["projector"] : ["text", "model", "projector"]);
  const where = [place === title ? "" : place, NAMES[kind]].filter(Boolean).join(" · ");
  const onclick = (event: MouseEvent) => follow(event, visit);
  const look = { id: `found-${n}`, dataset: { kind }, role: "option", tabIndex: -1, href, onclick };
  const texts = Object.entries({ title, place: where, says });
  return make("a", look, ...texts.map(([className, textContent]) => make("span", { className, textContent })));
}
