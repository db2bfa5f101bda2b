// Arrays in the memory of the kernel, and the products of matrices there.

import bytes from "./kernel.json" with { type: "json" };

/** of a site: a tensor, or a mask */
export type Value = { shape: number[]; data: Float32Array | Uint8Array };

/** a matrix as the kernel reads the right one of two */
export type Panels = { at: number; inner: number; columns: number };

/** x Wᵀ + b; the bias is an address, 0 where there is none */
export type Affine = { panels: Panels; bias: number };

const BEGINS = 1024; // below lies what the kernel takes for itself
const PAGE = 65536; // bytes by which WebAssembly's memory grows

const kernel = Uint8Array.from(atob(bytes.join("")), (c) => c.charCodeAt(0));

export const sizeOf = (shape: number[]) => shape.reduce((size, n) => size * n, 1);

/** Numbers row by row. */
export class Tensor {
  memory: Memory;
  at: number;
  shape: number[];

  constructor(memory: Memory, at: number, shape: number[]) {
    this.memory = memory;
    this.at = at;
    this.shape = shape;
  }

  /** A view that no longer holds once the memory has grown. */
  get data() {
    return new Float32Array(this.memory.buffer, this.at, sizeOf(this.shape));
  }

  /** One of the arrays along the first axis, such as one head; it shares the numbers. */
  part(index: number) {
    const shape = this.shape.slice(1);
    return new Tensor(this.memory, this.at + 4 * index * sizeOf(shape), shape);
  }
}

export class Memory {
  pages = new WebAssembly.Memory({ initial: 16 });
  instance = new WebAssembly.Instance(new WebAssembly.Module(kernel), { env: { memory: this.pages } });
  multiply = this.instance.exports.product as (...numbers: number[]) => void;
  free = BEGINS;

  get buffer() {
    return this.pages.buffer;
  }

  /** A tensor of numbers that are still to be set. */
  tensor(...shape: number[]) {
    const at = this.free;
    this.free += Math.ceil(sizeOf(shape) / 4) * 16;
    const lacking = this.free + 16 - this.buffer.byteLength;
    if (lacking > 0) this.pages.grow(Math.ceil(lacking / PAGE) + 64);
    return new Tensor(this, at, shape);
  }

  of(numbers: ArrayLike<number>, shape: number[]) {
    const made = this.tensor(...shape);
    made.data.set(numbers);
    return made;
  }

  /** Does some work, keeps the tensor that comes out, and gives back all other room that it took. */
  keeping(work: () => Tensor) {
    const before = this.free;
    const { at, shape } = work();
    this.free = before;
    const kept = this.tensor(...shape);
    new Uint8Array(this.buffer).copyWithin(kept.at, at, at + 4 * sizeOf(shape));
    return kept;
  }

  /** B (inner, columns) in panels of eight columns, row by row, filled up with zeros; `down`, `across` are strides. */
  panels(
    source: { data: ArrayLike<number> },
    { inner, columns, down, across }: { inner: number; columns: number; down: number; across: number },
  ): Panels {
    const wide = Math.ceil(columns / 8);
    const { at, data } = this.tensor(wide * inner * 8);
    const numbers = source.data; // only now: the memory may have grown
    for (let panel = 0, to = 0; panel < wide; panel++) {
      for (let row = 0; row < inner; row++) {
        for (let column = 8 * panel; column < 8 * panel + 8; column++, to++)
          data[to] = column < columns ? numbers[row * down + column * across] : 0;
      }
    }
    return { at, inner, columns };
  }

  /** The product A B, to be put into `to`, with the bias at an address added to each row; A is (rows, inner). */
  product(
    { at, shape }: Tensor,
    { at: b, inner, columns }: Panels,
    { bias = 0, to = this.tensor(shape[0], columns) }: { bias?: number; to?: Tensor } = {},
  ) {
    this.multiply(at, b, bias, to.at, shape[0], inner, columns);
    return to;
  }
}

export const linear = (x: Tensor, { panels, bias }: Affine) => x.memory.product(x, panels, { bias });

export function added(x: Tensor, y: Tensor) {
  const made = x.memory.tensor(...x.shape);
  const [to, left, right] = [made.data, x.data, y.data];
  for (let n = 0; n < to.length; n++) to[n] = left[n] + right[n];
  return made;
}

export function each(x: Tensor, f: (value: number) => number) {
  const made = x.memory.tensor(...x.shape);
  const [to, from] = [made.data, x.data];
  for (let n = 0; n < to.length; n++) to[n] = f(from[n]);
  return made;
}
