// The stages of a second head beside this one: what is chosen there is chosen here, as far as this one has it.

import { type Link, placeOfToken, tokenAtPlace } from "../shared/beside.ts";
import type { MatrixId, Selection } from "./head.ts";
import type { Steps } from "./view.ts";

/** Tokens go by their places. */
export interface Seen {
  stage?: string; // that is chosen
  part?: Partial<Selection>; // that is chosen
  id?: MatrixId | null; // of the matrix whose number is explained
  over?: { id: MatrixId; part: Partial<Selection> } | null; // what is pointed at
}

/** What is chosen, with the places of tokens for their positions. */
export const named = (link: Link, part: Partial<Selection>) => ({
  ...part,
  query: placeOfToken(link, "query", part.query),
  key: placeOfToken(link, "key", part.key),
});

export function mirrored(view: Steps, { stage, part, id = null, over }: Seen) {
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

function goTo(view: Steps, stage: string): boolean {
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
 */
function own(view: Steps, part: Partial<Selection>): Partial<Selection> | null {
  const { link, selection } = view;
  const query = part.query === undefined ? selection.query : tokenAtPlace(link, part.query, ["query"])?.position;
  const key = part.key === undefined ? selection.key : tokenAtPlace(link, part.key, ["key"])?.position;
  if (query === undefined || (key === undefined && !link.follows)) return null;
  return { ...part, query, key: key ?? view.strongestKey(query) };
}
