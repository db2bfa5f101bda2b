// Views that stand side by side, as A and B: what is pointed at or chosen in one shows in the other in the same frame.
// Tokens go by their places, which are the same on both sides; see tfmviz/analysis/side_by_side.py.

/**
 * What ties a view to those beside it.
 * @typedef {object} Link
 * @property {string[]} views their keys
 * @property {Record<string, number[]>} places of the tokens of each text that the view draws
 * @property {boolean} [follows] another one leads, and alone reports what is chosen
 */

/**
 * @param {Link} link
 * @param {string} text
 * @param {number} [position]
 * @returns {number | undefined}
 */
export const placeOfToken = ({ places }, text, position = -1) => places[text]?.[position];

/**
 * The token that has a place, in any of the texts or in one; null if it is missing here.
 * @param {Link} link
 * @param {number | undefined} place
 * @param {string[]} [texts]
 */
export function tokenAtPlace({ places }, place = -1, texts = Object.keys(places)) {
  const text = texts.find((name) => places[name]?.includes(place));
  return text === undefined ? null : { text, position: places[text].indexOf(place) };
}
