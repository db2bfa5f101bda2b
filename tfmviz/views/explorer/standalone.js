// The explorer on a page of its own: the payload stands in the page as base64.

import { Explorer } from "./explorer.js";

const text = document.getElementById("payload").textContent;
const explorer = new Explorer(document.getElementById("explorer"));
explorer.show(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => explorer.followTheme());
