// How sentences name the tokens of a text, as tfmviz/words/labels.py does it.

/** “bird”, but “the” (token 3) where another token of the text looks the same. */
export const quoted = (labels: string[], at: number) =>
  `“${labels[at]}”${labels.indexOf(labels[at]) === labels.lastIndexOf(labels[at]) ? "" : ` (token ${at})`}`;

/** The part of a name that tells what is meant: "decoder.4.self_attn" is layer 4. */
export function plainSite(site: string) {
  const [stack, layer, part] = site.split(".");
  if (layer === undefined) return site;
  return `${stack} layer ${layer}${part === "cross_attn" ? " cross-attention" : ""}`;
}
