// Cells as a text, and what a touch does to one.

const INKS = "0123456789abcdefg";

export const DARKEST = INKS.length - 1;

/**
 * Reads what `to_text` of tfmviz/views/picture writes.
 * @param {string} text
 */
export const fromText = (text) => [...text].map((digit) => INKS.indexOf(digit));

/**
 * Writes what `from_text` of tfmviz/views/picture reads.
 * @param {number[]} cells
 */
export const toText = (cells) => cells.map((cell) => INKS[cell]).join("");

/**
 * What a gesture leaves that begins on this cell: ink, or nothing where there is mostly ink.
 * @param {number} cell
 */
export const drawn = (cell) => (2 * cell > DARKEST ? 0 : DARKEST);
