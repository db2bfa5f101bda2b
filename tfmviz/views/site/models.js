// The models of the site: which there are, and how one gets here.

import { Engine } from "../engine/engine.js";
import { tensorsOf } from "../engine/safetensors.js";

/**
 * @typedef {object} Model
 * @property {string} model what it is in an address
 * @property {string} name
 * @property {string} about a line on it, with its size
 * @property {Record<string, any>} config
 * @property {string[]} parts of its weights: addresses, or elements of this page that hold them as base64
 * @property {string} tokenizer the same
 * @property {string} digest SHA-256 of the weights, as hexadecimal digits
 * @property {number} size of the weights in bytes
 */

/**
 * @param {Model} model
 * @param {(share: number) => void} arrived from 0 to 1
 */
export async function engineOf(model, arrived) {
  let bytes = 0;
  const [tokenizer, ...parts] = await Promise.all(
    [model.tokenizer, ...model.parts].map(async (part) => {
      const found = await fetched(part);
      if (part !== model.tokenizer) bytes += found.length;
      arrived(bytes / model.size);
      return found;
    }),
  );
  const weights = new Uint8Array(model.size);
  if (bytes !== model.size) throw new Error("The model's weights are cut off. Reload the page.");
  let at = 0;
  for (const part of parts) {
    weights.set(part, at);
    at += part.length;
  }
  const digest = await digestOf(weights);
  if (digest && digest !== model.digest) throw new Error("The model's weights are damaged. Reload the page.");
  return Engine.of(model.config, tensorsOf(weights), JSON.parse(new TextDecoder().decode(tokenizer)));
}

/** @param {string} part */
async function fetched(part) {
  if (part.startsWith("#")) {
    const text = document.querySelector(part)?.textContent ?? "";
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  }
  const answer = await fetch(part);
  if (!answer.ok) throw new Error(`The web server has no ${part} (${answer.status}).`);
  return new Uint8Array(await answer.arrayBuffer());
}

/**
 * Browsers compute digests for https, this machine and files only; elsewhere nothing is checked.
 * @param {Uint8Array<ArrayBuffer>} bytes
 */
async function digestOf(bytes) {
  if (!globalThis.crypto?.subtle) return "";
  const found = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(found, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
