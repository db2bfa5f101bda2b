// How sentences name the tokens of a text, as tfmviz/words/labels.py does it.

/**
 * “bird”, but “the” (token 3) where another token of the text looks the same.
 * @param {string[]} labels of all tokens
 * @param {number} at
 */
export const quoted = (labels, at) =>
  `“${labels[at]}”${labels.indexOf(labels[at]) === labels.lastIndexOf(labels[at]) ? "" : ` (token ${at})`}`;
