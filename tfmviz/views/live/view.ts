// While a sentence is being typed, the pictures follow each key; while B's pass is changed by hand, each touch.
// Streamlit's own box stays the box: this only listens.

import { onReturn } from "../keys/returning.ts";
import { make, put } from "../shared/elements.ts";
import { meetingOf, part } from "../shared/meet.ts";
import { isOn, TYPING } from "../shared/switches.ts";
import { changed } from "./changed.ts";
import { type Around, Following, inOneLine, type Known } from "./following.ts";
import { offers } from "./offers.ts";
import { Own } from "./own.ts";
import { settings } from "./settings.ts";
import { numbersSet, watchSliders } from "./sliders.ts";
import { Socket } from "./socket.ts";

/** `at` is the server's address */
type Data = Omit<Known, "views"> & { views: string; at: string };

const BOX = ".st-key-text textarea";
const BOX_OF_B = ".st-key-b textarea";
const MARK = "data-typing"; // on the page's root: what pictures show has not been entered; see ui/page.css
const CUT_OFF = "[data-test-connection-state]:not([data-test-connection-state=CONNECTED])";
const GONE = "Connection lost. Your browser goes on computing.";
const NOTE = { margin: "0", fontSize: "max(0.85rem, var(--least-letters, 12) * 1px)" };

export default part<Data>((parent, { at }) => {
  const note = make("p", { role: "status", style: NOTE });
  parent.append(note);
  const own = new Own();
  const say = (sentence: string) => put(note, { textContent: sentence || own.trouble }); // said once
  own.told = () => say("");
  const address = new URL(at, document.baseURI);
  address.protocol = address.protocol.endsWith("s:") ? "wss:" : "ws:";
  const socket = new Socket(address.href, say, { again: () => following.ask() });
  const sources = [own, changed(own), settings(own), offers(own), socket];
  const following = new Following(sources, around(say));
  const listen = (event: Event) => {
    const { target } = event;
    if (!(target instanceof Element && target.matches(`${BOX}, ${BOX_OF_B}`))) return;
    if (event instanceof InputEvent && event.isComposing) return; // an input method still proposes
    following.ask();
  };
  const meeting = meetingOf("live");
  meeting.told = (key) => following.told(key);
  meeting.touched = () => {
    following.ask();
    return own.isHere(following.known);
  };
  const over = new AbortController();
  for (const event of ["input", "compositionend"]) document.addEventListener(event, listen, over);
  const leaveSliders = watchSliders(() => following.ask());
  const endReturn = onReturn(() => socket.returned());
  const take = ({ at: _, views, ...known }: Data) => following.know({ ...known, views: views.split(" ") });
  const leave = () => {
    over.abort();
    leaveSliders();
    endReturn();
    meeting.told = meeting.touched = undefined;
    following.known = null;
    socket.leave();
    document.documentElement.removeAttribute(MARK);
  };
  return Object.assign(following, { take, leave });
});

const textIn = (box: string) => (document.querySelector(box) as HTMLTextAreaElement | null)?.value ?? null;

/** What says how B differs, where it is no view of ours. An empty box says nothing. */
const STREAMLITS: Record<string, () => string | undefined> = {
  sliders: numbersSet,
  b: () => {
    const text = inOneLine(textIn(BOX_OF_B) ?? "");
    return text.trim() ? text : undefined;
  },
};

const around = (say: (sentence: string) => void): Around => ({
  text: () => textIn(BOX),
  edited: (name) => (name in STREAMLITS ? STREAMLITS[name]() : meetingOf(name).view?.edited?.()),
  has: (name) => Boolean(meetingOf(name).view),
  isOn: () => isOn(TYPING),
  show: ({ typed, views }) => {
    for (const [name, data] of Object.entries(views)) meetingOf(name).view?.show(data, typed);
    say(document.querySelector(CUT_OFF) ? GONE : "");
  },
  restore: (views) => {
    for (const { view, data, selection } of views.map(meetingOf)) {
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
