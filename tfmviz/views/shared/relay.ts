// Brings a view what Python has chosen. It is a component of its own, so that the view's data do not travel again when
// only the choice changes.

import { meetingOf, part } from "./meet.ts";
import type { Answer } from "./shell.ts";

export default part<Answer & { view: string }>(() => ({
  take: (selection) => {
    const meeting = meetingOf(selection.view);
    meeting.selection = selection;
    meeting.view?.select(selection);
  },
}));
