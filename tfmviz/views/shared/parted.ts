// Long words of column heads, and where a narrow column breaks them: no browser does so alone that lacks a dictionary.

const SOFT = "\u00ad";
const PARTED = [`multipli${SOFT}cations`, `tempera${SOFT}ture`];

export const parted = (head: string) => PARTED.reduce((text, word) => text.replace(word.replace(SOFT, ""), word), head);
