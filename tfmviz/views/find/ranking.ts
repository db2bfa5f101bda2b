// Which entries of the index a reader means.

export interface Entry {
  kind: "term" | "page" | "tab" | "model" | "step";
  title: string;
  also: string; // other words for it
  says: string;
  place: string; // the page it is on
  address: string; // relative to any page
}

type Words = { entry: Entry; whole: string; title: string[]; also: string[]; says: string[] };

const FIRST = "a an and are can do does for from has have how i in is it its my of on or the";
const EMPTY = new Set(`${FIRST} there this to what when where which who why with you`.split(" "));

/** What a word counts where it is found: as it is, and as the beginning of a longer one. */
const COUNTS = { title: [8, 6], also: [7, 5], says: [3, 2] };

/** Of two that fit equally well, what explains comes before what is only a place. */
const KINDS = { term: 1.3, page: 1.25, tab: 1.15, model: 1, step: 0.8 };

const EXACT = 20; // for a title that is the question

/** Lower-case words without accents. √d is a word. */
export const wordsOf = (text: string) =>
  text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .split(/[^\p{L}\p{N}√]+/u)
    .filter(Boolean);

export const prepared = (entries: Entry[]): Words[] =>
  entries.map((entry) => {
    const title = wordsOf(entry.title);
    return { entry, whole: title.join(""), title, also: wordsOf(entry.also), says: wordsOf(entry.says) };
  });

/** The entries that a question means, the likeliest first. Rare words say more; half of the words must be found. */
export function ranked(all: Words[], question: string, most: number): Entry[] {
  const typed = wordsOf(question);
  const telling = typed.filter((word) => !EMPTY.has(word));
  const asked = [...new Set(telling.length ? telling : typed)];
  const worth = asked.map((word) => all.map((words) => worthOf(word, words)));
  const rarity = worth.map((values) => Math.log(1 + all.length / Math.max(1, values.filter(Boolean).length)));
  const whole = typed.join("");
  const scored = all.map((words, n) => {
    const values = worth.map((ofWord) => ofWord[n]);
    const sum = values.reduce((sum, value, word) => sum + value * rarity[word], words.whole === whole ? EXACT : 0);
    return { entry: words.entry, found: values.filter(Boolean).length, score: sum * KINDS[words.entry.kind] };
  });
  return scored
    .filter(({ found }) => found > 0 && found >= asked.length / 2)
    .sort((a, b) => b.score - a.score)
    .slice(0, most)
    .map(({ entry }) => entry);
}

function worthOf(word: string, words: Words) {
  const worthIn = (place: keyof typeof COUNTS) => {
    const [same, begins] = COUNTS[place];
    if (words[place].includes(word)) return same;
    return words[place].some((other) => other.startsWith(word)) ? begins : 0;
  };
  return Math.max(worthIn("title"), worthIn("also"), worthIn("says"));
}
