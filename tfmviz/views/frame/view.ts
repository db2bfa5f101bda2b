// The header of the app's pages, and on every page the word that the server is away.

import { make, put } from "../shared/elements.ts";
import { go, kept } from "../shared/going.ts";
import { onServer } from "../shared/server.ts";
import { part } from "../shared/streamlit_bridge.ts";
import { Header } from "./header.tsx";

const AWAY = "Connection lost. Your text stays in its box.";

const PAGE_TURNS_MS = 200; // a run that begins before would still be told the former colours

type Data = { title: string; groups: string }; // of the open page; as JSON

export default part<Data>((parent, _, trigger) => {
  const header = new Header(parent, {
    kept,
    go: (address) => go(kept(address)),
    shared: () => location.href,
    says: "the link holds the text, the model and all settings.",
  });
  const away = make("p", { className: "away", role: "status" });
  parent.append(away);
  const say = (textContent: string) => put(away, { textContent });
  const endWatch = onServer({ away: () => say(AWAY), back: () => say("") });
  // Streamlit turns the page dark with the system, but charts and the page's own colours come with a run.
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const followScheme = () => setTimeout(() => trigger("picked", "other colours"), PAGE_TURNS_MS);
  scheme.addEventListener("change", followScheme);
  return {
    take: ({ title, groups }) => header.show(title, JSON.parse(groups)),
    leave() {
      scheme.removeEventListener("change", followScheme);
      endWatch();
      header.leave();
    },
  };
});
