// The menu of models: a button with the name of the chosen one opens a list of all, by what they are for.

import { button, make } from "../shared/elements.js";
import { moved } from "./moves.js";

/** @typedef {{ model: string, group: string, name: string, line: string, size: string }} Model */

/**
 * @typedef {object} Data
 * @property {string} models in their order, each group together: `Model`s as JSON
 * @property {string} chosen
 * @property {string} command that converts a model
 * @property {string} folder where it puts it
 */

/** @typedef {(model: string) => void} Pick */

const OWN = "Your own model…";

/**
 * @param {object} component
 * @param {Data} component.data
 * @param {ShadowRoot & { menu_?: Menu, pick_?: Pick }} component.parentElement
 * @param {(name: string, value: unknown) => void} component.setTriggerValue
 */
export default function ({ data, parentElement, setTriggerValue }) {
  parentElement.pick_ = (model) => setTriggerValue("picked", model);
  parentElement.menu_ ??= new Menu(parentElement, (model) => parentElement.pick_?.(model));
  parentElement.menu_.show(data);
}

class Menu {
  /**
   * @param {ShadowRoot} parent
   * @param {Pick} pick
   */
  constructor(parent, pick) {
    this.pick = pick;
    /** @type {Model[]} */
    this.models = [];
    this.at = 0; // the option that Enter takes
    this.name = make("span", { className: "name" });
    this.opener = button("", { onclick: () => this.open() });
    this.opener.setAttribute("aria-haspopup", "dialog");
    this.opener.append(this.name);
    this.list = make("div", { role: "listbox", tabIndex: 0, ariaLabel: "Models" });
    this.command = make("code");
    this.folder = make("code");
    this.own = ownModel(this.command, this.folder, () => this.offer());
    this.dialog = make("dialog", { ariaLabel: "Models" }, this.list, this.own);
    const label = make("span", { className: "label", textContent: "Model", ariaHidden: "true" });
    parent.append(make("div", { className: "view" }, label, this.opener, this.dialog));
    this.list.addEventListener("click", (event) => this.take(optionOf(event)));
    this.list.addEventListener("keydown", (event) => this.press(event));
    this.dialog.addEventListener("keydown", (event) => event.stopPropagation()); // letters are no keys of the page here
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close()); // beside it
  }

  /** @param {Data} data */
  show({ models, chosen, command, folder }) {
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
    const titles = new Set(this.models.map(({ group }) => group));
    const own = make("div", { role: "option" }, make("span", { className: "name", textContent: OWN }));
    this.list.replaceChildren(...[...titles].map((title) => this.group(title)), own);
    for (const [n, node] of this.options().entries()) node.id = `model-${n}`;
    this.dialog.showModal();
    this.offer();
    this.move(
      Math.max(
        0,
        this.models.findIndex(({ model }) => model === this.chosen),
      ),
    );
  }

  offer() {
    this.list.hidden = false;
    this.own.hidden = true;
    this.list.focus();
  }

  /** @param {string} title */
  group(title) {
    const models = this.models.filter(({ group }) => group === title);
    const heading = make("div", { className: "title", textContent: title, ariaHidden: "true" });
    return make("div", { role: "group", ariaLabel: title }, heading, ...models.map((model) => this.option(model)));
  }

  /** @param {Model} model */
  option({ model, name, line, size }) {
    return make(
      "div",
      { role: "option", ariaSelected: String(model === this.chosen) },
      make("span", { className: "name", textContent: name }),
      make("code", { textContent: model === name ? "" : model }),
      make("span", { className: "line", textContent: `${line} ${size}.` }),
    );
  }

  options() {
    return /** @type {HTMLElement[]} */ ([...this.list.querySelectorAll("[role=option]")]);
  }

  /** @param {number} to */
  move(to) {
    this.at = to;
    for (const [n, node] of this.options().entries()) node.classList.toggle("at", n === to);
    this.list.setAttribute("aria-activedescendant", `model-${to}`);
    this.options()[to]?.scrollIntoView({ block: "nearest" });
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.take(this.at);
      return;
    }
    const to = moved(event.key, this.at, [...this.models.map(({ name }) => name), OWN]);
    if (to === null) return;
    event.preventDefault();
    this.move(to);
  }

  /** @param {number} n */
  take(n) {
    if (n < 0) return;
    if (n === this.models.length) {
      this.list.hidden = true;
      this.own.hidden = false;
      this.own.querySelector("button")?.focus();
      return;
    }
    this.dialog.close();
    const { model } = this.models[n];
    if (model !== this.chosen) this.pick(model);
  }
}

/** @param {Event} event */
function optionOf(event) {
  const node = event.target instanceof Element ? event.target.closest("[role=option]") : null;
  return node ? Number(node.id.replace("model-", "")) : -1;
}

/**
 * How a model of the reader's comes into the menu. It changes nothing.
 * @param {HTMLElement} command
 * @param {HTMLElement} folder
 * @param {() => void} back
 */
function ownModel(command, folder, back) {
  return make(
    "section",
    { hidden: true },
    make("h2", { textContent: "Your own model" }),
    make("p", {
      textContent: "Run this on the app's computer, with the name of a Hugging Face model or a folder:",
    }),
    make("pre", {}, command),
    make(
      "p",
      {},
      "It converts the weights, compares every pattern with the original's, and writes the model into ",
      folder,
      ". Then load this page again: the model is under “Yours”.",
    ),
    button("Back to the models", { onclick: back }),
  );
}
