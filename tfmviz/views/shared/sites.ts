// What sites are called where somebody reads them.

/** The part of a name that tells what is meant: "decoder.4.self_attn" is layer 4. */
export function plainSite(site: string) {
  const [stack, layer, part] = site.split(".");
  if (layer === undefined) return site;
  return `${stack} layer ${layer}${part === "cross_attn" ? " cross-attention" : ""}`;
}
