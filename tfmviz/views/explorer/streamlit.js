// The explorer as a Streamlit component: its data are a payload's bytes.

import { Explorer } from "./explorer.js";

export default function ({ data, parentElement, setStateValue }) {
  const meeting = (globalThis.tfmvizExplorer ??= {});
  const explorer = (parentElement.explorer_ ??= new Explorer(parentElement, {
    report: (selection) => parentElement.report_(selection),
    linkTo,
  }));
  parentElement.report_ = (selection) => setStateValue("selection", selection);
  meeting.explorer = explorer;
  if (parentElement.data_ !== data) {
    const first = !parentElement.data_;
    parentElement.data_ = data;
    explorer.show(data);
    if (first && meeting.selection) explorer.select(meeting.selection); // later ones find the explorer themselves
  } else explorer.followTheme();
  return () => {
    if (meeting.explorer === explorer) meeting.explorer = null;
    explorer.watcher.disconnect();
  };
}

function linkTo({ kind, layer, head, token, look }) {
  const address = new URL(location.href);
  const several = address.searchParams.has("kind");
  const parts = { layer, head, token, look: look || null, ...(several ? { kind } : {}) };
  for (const [key, value] of Object.entries(parts)) {
    if (value === null) address.searchParams.delete(key);
    else address.searchParams.set(key, value);
  }
  return address.href;
}
