// Parts of sentences.

/** @param {{rows: number, columns: number}} matrix */
export const shape = ({ rows, columns }) => `${rows} × ${columns}`;
