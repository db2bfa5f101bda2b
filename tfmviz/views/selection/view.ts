// Brings a view what Python has chosen, so that the view's data do not travel again when only the choice changes.

import { part, registryEntry } from "../shared/streamlit_bridge.ts";
import type { Answer } from "../shared/view_base.ts";

export default part<Answer & { view: string }>(() => ({
  take: (selection) => {
    const meeting = registryEntry(selection.view);
    meeting.selection = selection;
    meeting.view?.select(selection);
  },
}));
