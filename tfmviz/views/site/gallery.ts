// Masks to start from, for a sentence of any length: those of tfmviz/masks.py that need no settings and no dice.

type Rule = (i: number, j: number) => boolean; // whether query i may look at key j

const [PREFIX, RADIUS, STEP, SIZE] = [5, 2, 3, 5];

const MASKS: Record<string, { title: string; words: string; rule: Rule }> = {
  full: { title: "full", words: "Every token sees every other: encoders, BERT.", rule: () => true },
  causal: { title: "causal", words: "j ≤ i: each token sees itself and those before it.", rule: (i, j) => j <= i },
  prefix: {
    title: "prefix-LM",
    words: `The first ${PREFIX} tokens see one another; later ones see what came before.`,
    rule: (i, j) => j <= i || j < PREFIX,
  },
  window: {
    title: "sliding window",
    words: `Keys at most ${RADIUS} positions away.`,
    rule: (i, j) => Math.abs(i - j) <= RADIUS,
  },
  dilated: {
    title: "dilated",
    words: `Itself and keys ${STEP} and ${2 * STEP} positions away.`,
    rule: (i, j) => Math.abs(i - j) % STEP === 0 && Math.abs(i - j) <= RADIUS * STEP,
  },
  blocks: {
    title: "blocks",
    words: `Each block of ${SIZE} tokens sees only itself.`,
    rule: (i, j) => Math.floor(i / SIZE) === Math.floor(j / SIZE),
  },
  global: {
    title: "global token",
    words: "The first token sees all and is seen by all; the rest see themselves.",
    rule: (i, j) => i === j || i === 0 || j === 0,
  },
};

const LOOK_ANYWHERE = ["full", "causal", "prefix"];

/** The gallery for a text of so many tokens, the model's own mask first. In a decoder none but a few look ahead. */
export function galleryOf(length: number, { isDecoder, window }: { isDecoder: boolean; window: number | null }) {
  const entries = Object.entries(MASKS).map(([id, { rule, ...words }]) => {
    const looksBack = isDecoder && !LOOK_ANYWHERE.includes(id);
    return { id, ...words, rule: (looksBack ? (i, j) => j <= i && rule(i, j) : rule) as Rule };
  });
  if (window !== null && window < length) {
    const words = `The model's own mask: each token sees itself and at most the ${window - 1} tokens before it.`;
    entries.unshift({ id: "own", title: "its own", words, rule: (i, j) => j <= i && i - j < window });
  } else if (isDecoder) entries.splice(0, 2, entries[1], entries[0]);
  return entries.map(({ rule, ...said }) => {
    const mayLook = (_: unknown, n: number) => Number(rule(Math.floor(n / length), n % length));
    const open = Uint8Array.from({ length: length * length }, mayLook);
    return { ...said, usable: true, mask: { rows: length, columns: length, open } };
  });
}
