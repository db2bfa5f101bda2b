// The explorer as a Streamlit component: its data are a payload's bytes.

import { component } from "../shared/streamlit_bridge.ts";
import { Explorer } from "./explorer.ts";
import type { Selection } from "./state.ts";

export default component((parent, page) => new Explorer(parent, page, linkTo));

function linkTo({ kind, layer, head, token, to, look }: Selection) {
  const address = new URL(location.href);
  const hasSeveral = address.searchParams.has("kind");
  const parts = { layer, head, token, to, look: look || null, ...(hasSeveral ? { kind } : {}) };
  for (const [key, value] of Object.entries(parts)) {
    if (value === null) address.searchParams.delete(key);
    else address.searchParams.set(key, String(value));
  }
  return address.href;
}
