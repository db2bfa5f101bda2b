// The engine as a script of its own, with what makes the data of views of its records: a browser fetches it when
// somebody begins to type, and not before. It gets a model from our server, in parts, and makes an engine of it.

import { aTask } from "../shared/motion.ts";
import { unframed } from "../shared/record.ts";
import { saysOf, sceneOf } from "../whole_model/from_record.ts";
import { Engine } from "./engine.ts";
import { byteTokens } from "./tokens.ts";
import { type Config, type Tensors, transformerOf } from "./transformer.ts";
import { stepsOf } from "./weights.ts";

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

/** @param digest hexadecimal SHA-256 */
async function isIntact(bytes: Uint8Array<ArrayBuffer>, digest: string) {
  if (!globalThis.crypto?.subtle) return true; // the page came unencrypted: the length has to do
  const found = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(found, (byte) => byte.toString(16).padStart(2, "0")).join("") === digest;
}

const parsed = (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes));

/**
 * An engine from a package, see tfmviz/views/engine, in steps between which frames are drawn. Tried once, it reads the
 * first sentence as fast as others.
 */
export async function engineOf(whole: Uint8Array) {
  const { header, data } = unframed<{ config: Config; tokenizer: number }>(whole);
  const tokenizer = byteTokens(parsed(data.subarray(0, header.tokenizer)));
  await aTask();
  const transformer = transformerOf(header.config, tensorsOf(data.subarray(header.tokenizer)));
  await aTask();
  const engine = new Engine(transformer, tokenizer);
  engine.trace("The cat sat on the mat.");
  return engine;
}

type Entry = { dtype: "F32" | "F16"; shape: number[]; data_offsets: [from: number, to: number] };

/** Weights as safetensors stores them: the length of a header (8 bytes), the header (JSON), the numbers. */
export function tensorsOf(bytes: Uint8Array): Tensors {
  const begins = 8 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const { __metadata__, ...entries }: Record<string, Entry> = parsed(bytes.subarray(8, begins));
  const found: Tensors = {};
  for (const [name, { dtype, shape, data_offsets }] of Object.entries(entries)) {
    const [from, to] = data_offsets.map((at) => begins + at);
    const numbers = () => bytes.slice(from, to).buffer; // begins where a float32 may
    found[name] = {
      shape,
      get data() {
        return dtype === "F32" ? new Float32Array(numbers()) : fromHalves(new Uint16Array(numbers()));
      },
    };
  }
  return found;
}

/** Finite numbers from float16 to float32, without loss. A loop over indices: this is most of an engine's beginning. */
function fromHalves(halves: Uint16Array) {
  const bits = new Uint32Array(halves.length);
  const numbers = new Float32Array(bits.buffer);
  for (let n = 0; n < halves.length; n++) {
    const half = halves[n];
    const size = half & 0x7fff;
    if (size >= 0x0400) bits[n] = ((half & 0x8000) << 16) | ((size << 13) + 0x38000000);
    else numbers[n] = (half & 0x8000 ? -1 : 1) * size * 2 ** -24;
  }
  return numbers;
}

export default { fetchEngine, stepsOf, saysOf, sceneOf };
