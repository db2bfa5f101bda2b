// The picture of a second model beside this one: what happens there shows here, as far as this one has it.

/** @import { Found } from "./layout.js" */
/** @import { Opening, Whole } from "./whole.js" */
import { tokenAtPlace } from "../shared/beside.js";

/**
 * Tokens go by their places, columns by their names.
 * @typedef {object} Seen
 * @property {number} [token] that is chosen
 * @property {number} [delay]
 * @property {{token?: number, column?: string} | null} [over] what is pointed at
 * @property {string | null} [box] that is pointed at
 * @property {string | null} [stage] the column that plays
 * @property {Opening} [opening]
 */

/**
 * @param {Whole} view
 * @param {Seen} seen
 */
export function mirrored(view, { token, delay, over, box, stage, opening }) {
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

/** @type {(view: Whole, over: {token?: number, column?: string}) => Found | null} */
function foundAt(view, over) {
  const found = tokenAtPlace(view.link, over.token);
  const lane = view.laneOf(found?.text);
  const place = view.columns.find(({ column }) => column.id === over.column) ?? null;
  return found && lane ? { stack: found.text, row: found.position, lane, place } : null;
}
