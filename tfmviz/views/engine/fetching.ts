// Gets a model from our server, in parts, and makes an engine of it.

import { unframed } from "../shared/record.ts";
import { Engine } from "./engine.ts";
import { tensorsOf } from "./safetensors.ts";
import type { Config } from "./transformer.ts";

/** What tfmviz/ui/weights.py says; `script` is this one's own address, where it is a file of its own. */
export type ModelBundle = { at: string; parts: number; bytes: number; digest: string; script?: string };

export async function fetchEngine(
  { at, parts, bytes, digest }: ModelBundle,
  get: (address: string) => Promise<Response> = (address) => fetch(address),
) {
  const whole = new Uint8Array(bytes);
  let filled = 0;
  for (let n = 0; n < parts; n++) {
    const response = await get(new URL(`${at}/${n}`, document.baseURI).href);
    if (!response.ok) throw new Error("The server no longer has this model. Reload the page.");
    const part = new Uint8Array(await response.arrayBuffer());
    if (filled + part.length > bytes) throw new Error(CHANGED);
    whole.set(part, filled);
    filled += part.length;
  }
  if (filled !== bytes || !(await isIntact(whole, digest))) throw new Error(CHANGED);
  return engineOf(whole);
}

const CHANGED = "The weights were damaged in transit. Reload the page.";

/** An engine from a package, see tfmviz/views/engine. Tried once, it reads the first sentence as fast as others. */
export function engineOf(whole: Uint8Array) {
  const { header, data } = unframed<{ config: Partial<Config>; tokenizer: number }>(whole);
  const tokenizer = JSON.parse(new TextDecoder().decode(data.subarray(0, header.tokenizer)));
  const engine = Engine.of(header.config, tensorsOf(data.subarray(header.tokenizer)), tokenizer);
  engine.trace("The cat sat on the mat.");
  return engine;
}

/** @param digest hexadecimal SHA-256 */
async function isIntact(bytes: Uint8Array<ArrayBuffer>, digest: string) {
  if (!globalThis.crypto?.subtle) return true; // the page came unencrypted: the length has to do
  const found = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(found, (byte) => byte.toString(16).padStart(2, "0")).join("") === digest;
}
