// The picture of a second model beside this one: what happens there shows here, as far as this one has it.

import { tokenAtPlace } from "../shared/beside.ts";
import type { Found } from "./layout.ts";
import type { Opening, Whole } from "./view.ts";

/** Tokens go by their places, columns by their names. */
export interface Seen {
  token?: number; // that is chosen
  delay?: number;
  over?: { token?: number; column?: string } | null; // what is pointed at
  box?: string | null; // that is pointed at
  stage?: string | null; // the column that plays
  opening?: Opening;
}

export function mirrored(view: Whole, { token, delay, over, box, stage, opening }: Seen) {
  if (opening) view.open(opening);
  if (over !== undefined) {
    view.hovered = over && foundAt(view, over);
    view.later(() => view.drawFollowed());
  }
  if (box !== undefined) {
    view.hoveredBox = box;
    view.drawFollowed();
  }
  if (stage !== undefined) view.showStage(view.columns.findIndex(({ column }) => column.id === stage));
  const found = tokenAtPlace(view.link, token);
  if (!found) return false;
  const own = { stack: found.text, row: found.position };
  if (view.link.follows) view.followToken(own);
  else view.choose(own, delay);
  return true;
}

function foundAt(view: Whole, over: { token?: number; column?: string }): Found | null {
  const found = tokenAtPlace(view.link, over.token);
  const lane = view.laneOf(found?.text);
  const place = view.columns.find(({ column }) => column.id === over.column) ?? null;
  return found && lane ? { stack: found.text, row: found.position, lane, place } : null;
}
