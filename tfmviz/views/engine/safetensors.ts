// Reads weights as safetensors stores them: the length of a header (8 bytes, little-endian), the header (JSON: per name
// kind, shape and place of an array), the numbers.

import type { Tensors } from "./stored.ts";

const LONGEST = 1_000_000; // bytes of a header

const DTYPES: Record<string, (bytes: ArrayBuffer) => Float32Array> = {
  F32: (bytes) => new Float32Array(bytes),
  F16: (bytes) => fromHalves(new Uint16Array(bytes)),
};

/** of a header, which nobody has checked */
type Entry = { dtype?: unknown; shape?: unknown; data_offsets?: unknown };

export function tensorsOf(bytes: Uint8Array): Tensors {
  const [low = 0, high = 0] = new Uint32Array(bytes.slice(0, 8 * Math.floor(Math.min(bytes.length, 8) / 8)).buffer);
  const begins = 8 + low;
  if (high || low < 2 || low > LONGEST || begins > bytes.length)
    throw new Error("The weights have no readable header.");
  const data = bytes.subarray(begins);
  let entries: [string, Entry | null][];
  try {
    entries = Object.entries(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(8, begins))));
  } catch {
    throw new Error("The header of the weights is damaged.");
  }
  const found: Tensors = Object.create(null);
  for (const [name, entry] of entries) {
    if (name === "__metadata__") continue;
    const { dtype, shape, from, to } = checked(name, entry, data.length);
    const get = () => DTYPES[dtype](data.slice(from, to).buffer);
    found[name] = Object.defineProperty({ shape, data: new Float32Array() }, "data", { get });
  }
  return found;
}

/** @param size bytes of all numbers */
function checked(name: string, entry: Entry | null, size: number) {
  const { dtype, shape, data_offsets: offsets } = entry ?? {};
  if (!Object.hasOwn(DTYPES, String(dtype)))
    throw new Error(`${name} holds ${dtype} numbers; only F32 and F16 are read.`);
  const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
  if (!Array.isArray(shape) || !Array.isArray(offsets) || !shape.every(isCount) || !offsets.every(isCount))
    throw new Error(`${name} has no shape or no place in the weights.`);
  const [from, to] = offsets;
  const needed = shape.reduce((product, n) => product * n, dtype === "F16" ? 2 : 4);
  if (offsets.length !== 2 || to > size || to - from !== needed)
    throw new Error(`${name} does not fit its place in the weights, which may be cut off.`);
  return { dtype: String(dtype), shape: shape as number[], from: Number(from), to: Number(to) };
}

/** float16 to float32, without loss. */
function fromHalves(halves: Uint16Array) {
  const bits = new Uint32Array(halves.length);
  const numbers = new Float32Array(bits.buffer);
  for (let n = 0; n < halves.length; n++) {
    const half = halves[n];
    const size = half & 0x7fff;
    if (size >= 0x0400 && size < 0x7c00) bits[n] = ((half & 0x8000) << 16) | ((size << 13) + 0x38000000);
    else numbers[n] = (half & 0x8000 ? -1 : 1) * (size < 0x0400 ? size * 2 ** -24 : Number.POSITIVE_INFINITY);
  }
  return numbers;
}
