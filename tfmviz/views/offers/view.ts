// Three words above the keys of a phone. A tap puts one into the sentence box and enters the text.

import { button } from "../shared/elements.ts";
import { component, ViewBase } from "../shared/view_base.ts";

class Offers extends ViewBase {
  data!: { before: string; words: string[] }; // from the first `show` on
  node = this.mount({ className: "offers", ariaLabel: "Words to tap" });

  draw() {
    const { before, words } = this.data;
    const taps = words.map((word) =>
      button(word, {
        onmousedown: (event: Event) => event.preventDefault(), // the box keeps the hand, and its text
        onclick: () => enterText(`${before}${word} `) || this.page.pick?.(`${before}${word} `),
      }),
    );
    this.node.replaceChildren(...taps, this.live);
  }
}

/** Types a text into Streamlit's box and enters it, or it would not take what Python says. False without a box. */
function enterText(text: string) {
  const box = document.querySelector(".st-key-text textarea");
  if (!(box instanceof HTMLTextAreaElement)) return false;
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value")?.set?.call(box, text);
  box.dispatchEvent(new Event("input", { bubbles: true }));
  const enter = () => box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, bubbles: true }));
  setTimeout(enter); // as soon as the box has taken it
  return true;
}

export default component((parent, page) => new Offers(parent, page));
