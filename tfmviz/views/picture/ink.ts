// Cells as a text, and what a touch does to one.

import { INKS } from "../shared/constants.ts";

export const DARKEST = INKS.length - 1;

/** Reads what `to_text` of tfmviz/views/picture writes. */
export const fromText = (text: string) => [...text].map((digit) => INKS.indexOf(digit));

/** Writes what `from_text` of tfmviz/views/picture reads. */
export const toText = (cells: number[]) => cells.map((cell) => INKS[cell]).join("");

/** What a gesture leaves that begins on this cell: ink, or nothing where there is mostly ink. */
export const drawn = (cell: number) => (2 * cell > DARKEST ? 0 : DARKEST);
