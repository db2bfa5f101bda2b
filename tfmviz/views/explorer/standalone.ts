// The explorer on a page of its own: the payload stands in the page as base64.

import { Explorer } from "./explorer.ts";

const [text, parent] = ["payload", "explorer"].map((id) => document.getElementById(id) as HTMLElement);
export const explorer = new Explorer(parent);
explorer.show(Uint8Array.from(atob(String(text.textContent)), (character) => character.charCodeAt(0)));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => explorer.followLook());
