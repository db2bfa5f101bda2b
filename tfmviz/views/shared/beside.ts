// Views that stand side by side, as A and B: what is pointed at or chosen in one shows in the other in the same frame.
// Tokens go by their places, which are the same on both sides; see tfmviz/analysis/side_by_side.py.

export interface Link {
  views: string[]; // their keys
  places: Record<string, number[]>; // of the tokens of each text that the view draws
  follows?: boolean; // another one leads, and alone reports what is chosen
}

export const placeOfToken = ({ places }: Link, text: string, position: number = -1): number | undefined =>
  places[text]?.[position];

/** The token that has a place, in any of the texts or in one; null if it is missing here. */
export function tokenAtPlace({ places }: Link, place: number | undefined = -1, texts: string[] = Object.keys(places)) {
  const text = texts.find((name) => places[name]?.includes(place));
  return text === undefined ? null : { text, position: places[text].indexOf(place) };
}
