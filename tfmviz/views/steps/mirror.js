// The stages of a second head beside this one: what is chosen there is chosen here, as far as this one has it.

/** @import { Link } from "../shared/beside.js" */
/** @import { MatrixId, Selection } from "./head.js" */
/** @import { Steps } from "./steps.js" */
import { placeOfToken, tokenAtPlace } from "../shared/beside.js";

/**
 * Tokens go by their places.
 * @typedef {object} Seen
 * @property {string} [stage] that is chosen
 * @property {Partial<Selection>} [part] that is chosen
 * @property {MatrixId | null} [id] of the matrix whose number is explained
 * @property {{id: MatrixId, part: Partial<Selection>} | null} [over] what is pointed at
 */

/**
 * What is chosen, with the places of tokens for their positions.
 * @param {Link} link
 * @param {Partial<Selection>} part
 */
export const named = (link, part) => ({
  ...part,
  query: placeOfToken(link, "query", part.query),
  key: placeOfToken(link, "key", part.key),
});

/**
 * @param {Steps} view
 * @param {Seen} seen
 */
export function mirrored(view, { stage, part, id = null, over }) {
  if (over !== undefined) {
    const pointed = over && view.isDrawn(over.id) ? own(view, over.part) : null;
    view.hovered = over && pointed && { id: over.id, part: pointed };
    view.later(() => view.drawSelection());
  }
  if (stage !== undefined) return goTo(view, stage);
  const chosen = part && own(view, part);
  if (!chosen) return false;
  if (!view.link.follows) view.choose(id === null ? { query: chosen.query } : chosen, id);
  else {
    const explained = id && view.isDrawn(id) ? id : null;
    Object.assign(view, { selection: view.fitted({ ...view.selection, ...chosen }), explained, hovered: null });
    view.drawSelection();
  }
  return true;
}

/** @type {(view: Steps, stage: string) => boolean} */
function goTo(view, stage) {
  if (!view.stages.some(({ id }) => id === stage)) return false;
  if (!view.link.follows) view.go(stage);
  else {
    Object.assign(view, { stage, explained: null });
    view.redraw();
  }
  return true;
}

/**
 * With the positions that tokens have here; null if the one that asks is missing. In the place of a key that a view
 * lacks which follows stands the one that the token looks at most.
 * @param {Steps} view
 * @param {Partial<Selection>} part
 * @returns {Partial<Selection> | null}
 */
function own(view, part) {
  const { link, selection } = view;
  const query = part.query === undefined ? selection.query : tokenAtPlace(link, part.query, ["query"])?.position;
  const key = part.key === undefined ? selection.key : tokenAtPlace(link, part.key, ["key"])?.position;
  if (query === undefined || (key === undefined && !link.follows)) return null;
  return { ...part, query, key: key ?? view.strongestKey(query) };
}
