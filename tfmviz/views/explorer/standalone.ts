// The explorer on a page of its own: the payload stands in the page as base64.

import { bytesIn } from "../shared/record.ts";
import { Explorer } from "./explorer.ts";

const [text, parent] = ["payload", "explorer"].map((id) => document.getElementById(id) as HTMLElement);
export const explorer = new Explorer(parent);
explorer.show(bytesIn(String(text.textContent)));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => explorer.followLook());
