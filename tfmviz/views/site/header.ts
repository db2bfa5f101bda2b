// The header, as every page of the app has it: the parts of the site are its menu.

import { type Group, Header } from "../frame/header.tsx";
import { type Keys, keysList, OPENS } from "../keys/list.ts";
import { SITE_PARTS } from "../shared/constants.ts";
import type { PageName, Site } from "./site.ts";

const KEYS: Keys = [
  ["f", "projector mode on or off"],
  ["?", "this list"],
  ["[ and ]", "previous and next layer (heads)"],
  ["p", "play through the layers (heads)"],
  ["arrows", "move within the selected figure"],
  ["Escape", "release the keyboard from a figure or text box"],
];

const pageOf = (address: string) => (new URLSearchParams(address).get("page") ?? "explorer") as PageName;

/** Puts the header on the page. Returns what says in it which part is open. */
export function headerOf(site: Site, host: HTMLElement) {
  const root = shadowOf(host, String(document.querySelector("style")?.textContent)); // has what all views share
  const project = () => site.project(!site.isProjected);
  const keys = keysList({}, ({ key }) => key === "f" && project());
  keys.list(KEYS);
  const header = new Header(root, {
    kept: (address) => `?${site.kept(pageOf(address))}`,
    go: (address) => site.open(pageOf(address)),
    shared: location.protocol === "about:" ? null : () => site.writeAddress(), // a notebook's page has no address
    says: "the link holds your sentence, the model and all settings.",
    tools: [
      ["Projector", "Larger letters, no header (key F)", project],
      ["?", OPENS, keys.open],
    ],
  });
  root.append(keys.dialog);
  const entries = [["tfmviz", "?"], ...site.given.parts.map((page) => [SITE_PARTS[page], `?page=${page}`])];
  const groups: Group[] = entries.map(([title, address]) => ({ name: "", short: "", pages: [[title, address, ""]] }));
  return (page: PageName) => header.show(SITE_PARTS[page], groups);
}

/** The shadow of an element, with the styles of the script that asks for it, and those that are `shared`. */
export function shadowOf(host: HTMLElement, shared = "") {
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(shared + tfmvizStyle);
  root.adoptedStyleSheets = [sheet];
  return root;
}
