// The header of the app's pages, and on every page the word that the server is away.

import { hear, make, put } from "../shared/elements.ts";
import { go, kept } from "../shared/going.ts";
import { showTabs } from "../shared/looking.ts";
import { onServer } from "../shared/server.ts";
import { part } from "../shared/streamlit_bridge.ts";
import { Header } from "./header.tsx";

const AWAY = "Connection lost. Your text stays in its box.";

const PAGE_TURNS_MS = 200; // a run that begins before would still be told the former colours

type Data = { title: string; groups: string }; // of the open page; as JSON

export default part<Data>(({ parent, trigger, atEnd }) => {
  const header = new Header(parent, {
    kept,
    go: (address) => go(kept(address)),
    shared: () => location.href,
    says: "the link holds the text, the model and all settings.",
  });
  const away = make("p", { className: "away", role: "status" });
  parent.append(away);
  const say = (textContent: string) => put(away, { textContent });
  // Streamlit turns the page dark with the system, but charts and the page's own colours come with a run.
  const endFollowing = hear(matchMedia("(prefers-color-scheme: dark)"), ["change"], () => {
    setTimeout(() => trigger("picked", "other colours"), PAGE_TURNS_MS);
  });
  let endLooking = () => {};
  atEnd(onServer({ away: () => say(AWAY), back: () => say("") }), endFollowing, () => endLooking(), ...header.ends);
  return {
    take({ title, groups }) {
      const isNew = title !== header.title;
      header.show(title, JSON.parse(groups));
      if (!isNew) return;
      endLooking();
      endLooking = showTabs(named());
    },
  };
});

/** What the address chooses; a step of a lecture brings into the window what it speaks of (walk/sight.ts). */
function named() {
  const choices = new URLSearchParams(location.search);
  return choices.has("lecture") ? [] : [...choices.keys()];
}
