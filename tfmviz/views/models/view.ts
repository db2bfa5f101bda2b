// The menu of models: a button with the name of the chosen one opens a list of all, by what they are for.

import { button, isChord, make } from "../shared/elements.ts";
import { part } from "../shared/streamlit_bridge.ts";

type Model = { model: string; group: string; name: string; line: string; size: string };

interface Data {
  models: string; // in their order, each group together: `Model`s as JSON
  chosen: string;
  command: string; // that converts a model
  folder: string; // where it puts it
  converts: boolean; // whether the server does it
}

const OWN = "Your own model…";
const ASK = "/own"; // see ui/menu.py

class Menu {
  pick: (model: string) => void;
  models: Model[] = [];
  options: HTMLElement[] = []; // the models, and the reader's own
  at = 0; // the option that Enter takes
  chosen: string | undefined;
  converts = false;
  name = make("span", { className: "name" });
  opener = button("", { onclick: () => this.open() });
  list = make("div", { role: "listbox", tabIndex: 0, ariaLabel: "Models" });
  command = make("code");
  folder = make("code");
  own = ownModel(this.command, this.folder, () => this.offer());
  dialog = make("dialog", { ariaLabel: "Models" }, this.list, this.own);

  constructor(parent: ShadowRoot, pick: Menu["pick"]) {
    this.pick = pick;
    this.opener.setAttribute("aria-haspopup", "dialog");
    this.opener.append(this.name);
    const label = make("span", { className: "label", textContent: "Model", ariaHidden: "true" });
    parent.append(make("div", { className: "view" }, label, this.opener, this.dialog));
    this.list.addEventListener("keydown", (event) => this.press(event));
    this.dialog.addEventListener("keydown", (event) => event.stopPropagation()); // letters are no keys of the page here
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close()); // beside it
  }

  take({ models, chosen, command, folder, converts }: Data) {
    this.converts = converts;
    this.models = JSON.parse(models);
    this.chosen = chosen;
    this.command.textContent = command;
    this.folder.textContent = folder;
    const found = this.models.find(({ model }) => model === chosen);
    this.name.textContent = found?.name ?? chosen;
    this.opener.ariaLabel = `Model: ${this.name.textContent}`;
    this.opener.title = found ? `${found.line} ${found.size}.` : "";
  }

  open() {
    const own = make("div", { role: "option" }, make("span", { className: "name", textContent: OWN }));
    this.options = [...this.models.map((model) => option(model, this.chosen)), own];
    for (const [n, node] of this.options.entries())
      Object.assign(node, { id: `model-${n}`, onclick: () => this.choose(n) });
    const titles = [...new Set(this.models.map(({ group }) => group))];
    const groups = titles.map((title) => {
      const heading = make("div", { className: "title", textContent: title, ariaHidden: "true" });
      const inside = this.options.filter((_, n) => this.models[n]?.group === title);
      return make("div", { role: "group", ariaLabel: title }, heading, ...inside);
    });
    this.list.replaceChildren(...groups, own);
    this.dialog.showModal();
    this.offer();
    const chosen = this.models.findIndex(({ model }) => model === this.chosen);
    this.move(Math.max(0, chosen));
  }

  offer() {
    this.list.hidden = false;
    this.own.hidden = true;
    this.list.focus();
  }

  move(to: number) {
    this.at = to;
    for (const [n, node] of this.options.entries()) node.classList.toggle("at", n === to);
    this.list.setAttribute("aria-activedescendant", `model-${to}`);
    this.options[to]?.scrollIntoView({ block: "nearest" });
  }

  press(event: KeyboardEvent) {
    if (isChord(event)) return;
    const isTaken = event.key === "Enter" || event.key === " ";
    const to = moved(event.key, this.at, [...this.models.map(({ name }) => name), OWN]);
    if (!isTaken && to === null) return;
    event.preventDefault();
    if (isTaken) this.choose(this.at);
    else if (to !== null) this.move(to);
  }

  choose(n: number) {
    if (n === this.models.length && !this.converts) {
      this.list.hidden = true;
      this.own.hidden = false;
      this.own.querySelector("button")?.focus();
      return;
    }
    this.dialog.close();
    const model = this.models[n]?.model ?? ASK;
    if (model !== this.chosen) this.pick(model);
  }
}

function option({ model, name, line, size }: Model, chosen?: string) {
  const title = make("span", { className: "name", textContent: name });
  const code = make("code", { textContent: model === name ? "" : model });
  const about = make("span", { className: "line", textContent: `${line} ${size}.` });
  return make("div", { role: "option", ariaSelected: String(model === chosen) }, title, code, about);
}

function ownModel(command: HTMLElement, folder: HTMLElement, back: () => void) {
  return make(
    "section",
    {},
    make("h2", { textContent: "Your own model" }),
    make("p", {}, "On the app's computer, with any folder or name on the Hub:"),
    make("pre", {}, command),
    make(
      "p",
      {},
      "It saves the model in ",
      folder,
      ". Reload: it appears under “Yours”. Or start ",
      make("code", { textContent: "tfmviz --convert FOLDER" }),
      " to do it here. Others: ",
      make("code", { textContent: "tfmviz.show" }),
      " in a notebook.",
    ),
    button("Back to the models", { onclick: back }),
  );
}

/** The place that a key leads to, null for none. A letter leads to the next name that begins with it. */
export function moved(key: string, at: number, names: string[]): number | null {
  const last = names.length - 1;
  if (key === "ArrowDown") return Math.min(at + 1, last);
  if (key === "ArrowUp") return Math.max(at - 1, 0);
  if (key === "Home") return 0;
  if (key === "End") return last;
  if ([...key].length !== 1) return null;
  const order = names.map((_, n) => (at + 1 + n) % names.length);
  return order.find((n) => names[n].toLowerCase().startsWith(key.toLowerCase())) ?? null;
}

export default part<Data>(({ parent, trigger }) => new Menu(parent, (model) => trigger("picked", model)));
