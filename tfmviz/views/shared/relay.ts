// Brings a view what Python has chosen. It is a component of its own, so that the view's data do not travel again when
// only the choice changes.

import { type Component, meetingOf } from "./meet.ts";
import type { Answer } from "./shell.ts";

export default function ({ data }: Component) {
  const selection = data as Answer & { view: string };
  const meeting = meetingOf(selection.view);
  meeting.selection = selection;
  meeting.view?.select(selection);
}
