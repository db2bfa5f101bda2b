// A lecture's window and its presenter's window, in the same browser. Each asks now and then whether the other is
// there. The other answers at once: while nobody sees a window, its timers almost stand still, but not its answers.

import { hear } from "../shared/elements.ts";

export type Way = "back" | "on";

export const WAYS: Record<string, Way> = { ArrowLeft: "back", PageUp: "back", ArrowRight: "on", PageDown: "on" };

/** One step of a lecture. Addresses are those of a file, relative to the page; "" where there is none. */
export interface Step {
  step: string; // its name
  chosen: string; // names of what the step chooses
  title: string;
  section: string;
  minutes: number; // of the whole lecture
  place: string;
  say: string;
  next: string; // what is said at the step after it
  show: string[]; // key of the figure that is spoken of, and names of a part
  back: string;
  on: string;
  all: string;
}

/** What a lecture's window says: its step, and when the first was shown (milliseconds). What the presenter's says. */
export type Said = { step?: Step; began?: number; way?: Way; again?: boolean };

type Side = "lecture" | "presenter";
type Message = Said & { of: string; from: Side; asks?: boolean; leaves?: boolean };

type Heard = (it: Said, isThere: boolean) => void;

const EVERY = 400; // milliseconds

/** Unanswered questions until the other is taken for gone. A lecture's window may be busy with its next page. */
const MOST = { lecture: 3, presenter: 25 };

const [NAME, OF] = ["tfmviz-lecture-", "tfmviz-presenter-"];

/** The number of this lecture's window. The browser keeps the name that bears it while the window is open. */
export function ownNumber() {
  if (!window.name.startsWith(NAME)) window.name = NAME + Math.random().toString().slice(2);
  return window.name.slice(NAME.length);
}

/** The number of the lecture's window that has opened this one; "" if none has. */
export const openersNumber = () => (window.name.startsWith(OF) ? window.name.slice(OF.length) : "");

/** Opens the presenter's window of this one, or brings it to the front. Says whether the browser allows that. */
export const openPresenters = () =>
  window.open("./lectures?presenter=1", OF + ownNumber(), "popup,width=640,height=480") !== null;

/** `answer`: what it says each time; `isThere`: whether the other one was there last */
export type End = { from: Side; of: string; isThere?: boolean; answer?: () => Said };

/** One end of the talk: it has `heard` what the other says and whether it is there. */
export function pair({ from, of, isThere, answer = () => ({}) }: End, heard: Heard) {
  const channel = new BroadcastChannel("tfmviz-lecture");
  let unanswered = isThere ? 0 : MOST[from];
  const say = (more: Partial<Message> = {}) => channel.postMessage({ ...answer(), of, from, ...more });
  const ask = () => {
    if (from === "lecture" && unanswered >= MOST[from]) return; // the presenter's window will ask
    say({ asks: true });
    unanswered += 1;
    if (unanswered === MOST[from]) heard({}, false);
  };
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.of !== of || data.from === from) return;
    unanswered = data.leaves ? MOST[from] : 0;
    if (data.asks) say();
    heard(data, !data.leaves);
  };
  const endHiding = hear(window, ["pagehide"], () => say({ leaves: true }));
  const timer = setInterval(ask, EVERY);
  ask();
  const end = () => {
    clearInterval(timer);
    endHiding();
    channel.close();
  };
  return { say, end };
}
