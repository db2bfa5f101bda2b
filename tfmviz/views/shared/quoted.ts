// How sentences name the tokens of a text, as tfmviz/words/labels.py does it.

/** “bird”, but “the” (token 3) where another token of the text looks the same. */
export const quoted = (labels: string[], at: number) =>
  `“${labels[at]}”${labels.indexOf(labels[at]) === labels.lastIndexOf(labels[at]) ? "" : ` (token ${at})`}`;
