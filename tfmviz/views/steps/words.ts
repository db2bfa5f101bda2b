// Parts of sentences.

export const shape = ({ rows, columns }: { rows: number; columns: number }) => `${rows} × ${columns}`;
