// While a sentence is being typed, the pictures follow each key; while B's pass is changed by hand, each touch.
// Streamlit's own box stays the box: this only listens.

import { hear, make, put } from "../shared/elements.ts";
import { isAway, onServer } from "../shared/server.ts";
import { part, registryEntry } from "../shared/streamlit_bridge.ts";
import { isOn, TYPING } from "../shared/switches.ts";
import { BrowserSource } from "./browser_source.ts";
import { comparisonSource } from "./comparison_source.ts";
import { Socket } from "./socket.ts";
import { inOneLine, LiveUpdater, type PageState } from "./updater.ts";
import { offers, settings } from "./writing_sources.ts";

/** `at` is the server's address */
type Data = Omit<PageState, "views"> & { views: string; at: string };

const BOX = ".st-key-text textarea";
const BOX_OF_B = ".st-key-b textarea";
const MARK = "data-typing"; // on the page's root: what pictures show has not been entered; see ui/page.css
const GONE = "Connection lost. Your browser goes on computing.";
const NOTE = { margin: "0", fontSize: "max(0.85rem, var(--least-letters, 12) * 1px)" };

export default part<Data>(({ parent, data: { at } }) => {
  const note = make("p", { role: "status", style: NOTE });
  parent.append(note);
  const own = new BrowserSource();
  const say = (sentence: string) => put(note, { textContent: sentence || own.trouble }); // said once
  own.onChange = () => say("");
  const address = new URL(at, document.baseURI);
  address.protocol = address.protocol.endsWith("s:") ? "wss:" : "ws:";
  const socket = new Socket(address.href, say, { again: () => following.ask() });
  const sources = [own, comparisonSource(own), settings(own), offers(own), socket];
  const boxes = new Boxes();
  const following = new LiveUpdater(sources, {
    text: () => boxes.in(BOX, following.known?.text),
    edited: (name) => {
      if (name !== "b") return registryEntry(name).view?.edited?.();
      const text = inOneLine(boxes.in(BOX_OF_B, following.known?.change) ?? "");
      return text.trim() ? text : undefined; // an empty box says nothing
    },
    has: (name) => Boolean(registryEntry(name).view),
    isOn: () => isOn(TYPING),
    show: ({ typed, views }) => {
      for (const [name, data] of Object.entries(views)) registryEntry(name).view?.show(data, typed);
      say(isAway() ? GONE : "");
    },
    restore: (views) => {
      for (const { view, data, selection } of views.map(registryEntry)) {
        view?.show(data);
        if (selection) view?.select(selection);
      }
    },
    mark: (since) => {
      if (since) document.documentElement.setAttribute(MARK, since);
      else document.documentElement.removeAttribute(MARK);
      if (!since) say("");
    },
  });
  const listen = (event: Event) => {
    const { target } = event;
    if (!(target instanceof HTMLTextAreaElement && target.matches(`${BOX}, ${BOX_OF_B}`))) return;
    if (event instanceof InputEvent && event.isComposing) return; // an input method still proposes
    boxes.hear(target);
    following.ask();
  };
  const meeting = registryEntry("live");
  meeting.onData = (key) => following.onData(key);
  let isNext = false;
  const askNow = () => {
    isNext = false;
    following.ask();
  };
  meeting.onChange = () => {
    if (!isNext) requestAnimationFrame(() => setTimeout(askNow)); // a touch is seen first, then what comes of it
    isNext = true;
    return own.isHere(following.known);
  };
  const endTyping = hear(document, ["input", "compositionend"], listen);
  const endReturn = onServer({ back: () => socket.returned() });
  const take = ({ at: _, views, ...known }: Data) => {
    boxes.enter(BOX, known.text);
    if (known.page.edited?.by === "b") boxes.enter(BOX_OF_B, known.change);
    following.know({ ...known, views: views.split(" ") });
  };
  const leave = () => {
    endTyping();
    endReturn();
    meeting.onData = meeting.onChange = undefined;
    following.known = null;
    socket.leave();
    document.documentElement.removeAttribute(MARK);
  };
  return Object.assign(following, { take, leave });
});

/** What the reader has typed. When another page comes, the boxes hold the texts of the page before for a moment. */
class Boxes {
  texts = new Map<Element, string>();

  hear(box: HTMLTextAreaElement) {
    this.texts.set(box, box.value);
  }

  /** What stands in a box, if that was typed; else what was entered. Null if there is no such box. */
  in(selector: string, entered?: string) {
    const box = document.querySelector<HTMLTextAreaElement>(selector);
    if (!box) return null;
    return box.value === this.texts.get(box) || entered === undefined ? box.value : entered;
  }

  /** It has been entered, so whatever else stands in the box was not typed after it. */
  enter(selector: string, text?: string) {
    const box = document.querySelector(selector);
    if (box && inOneLine(this.texts.get(box) ?? "") === text) this.texts.delete(box);
  }
}
