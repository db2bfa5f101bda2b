// Three words above the keys of a phone. A tap puts one into the sentence box and enters the text.

/** @import { Page } from "../shared/shell.js" */
import { button } from "../shared/elements.js";
import { component } from "../shared/meet.js";
import { Shell } from "../shared/shell.js";

/** @typedef {{before: string, words: string[]}} Offered what stands before the word, and the words */

class Offers extends Shell {
  /** @type {Offered} */
  data = { before: "", words: [] };

  /**
   * @param {HTMLElement} parent
   * @param {Page} page
   */
  constructor(parent, page) {
    super(page);
    this.mount(parent, { className: "offers", ariaLabel: "Words to tap" });
  }

  /** @param {Offered} data */
  read(data) {
    this.data = data;
  }

  draw() {
    const { before, words } = this.data;
    const taps = words.map((word) =>
      button(word, {
        onmousedown: (/** @type {Event} */ event) => event.preventDefault(), // the box keeps the hand, and its text
        onclick: () => enterText(`${before}${word} `) || this.page.pick?.(`${before}${word} `),
      }),
    );
    this.node.replaceChildren(...taps, this.live);
  }
}

/**
 * Types a text into Streamlit's box and enters it. The box does not take what Python says while it holds something that
 * has not been entered. False where there is no box.
 * @param {string} text
 */
function enterText(text) {
  const box = document.querySelector(".st-key-text textarea");
  if (!(box instanceof HTMLTextAreaElement)) return false;
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value")?.set?.call(box, text);
  box.dispatchEvent(new Event("input", { bubbles: true }));
  const enter = () => box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, bubbles: true }));
  setTimeout(enter); // as soon as the box has taken it
  return true;
}

export default component((parent, page) => new Offers(parent, page));
