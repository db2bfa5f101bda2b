// The product of two matrices in float32, in AssemblyScript: four rows by eight columns at a time, which fill the
// registers. `npm run kernel` compiles it into kernel.json. Each number is one sum in the order of the columns of A,
// in whatever tile it lies, so that a row is the same to the last bit whether it is computed alone or with others.

const SPARE: usize = 64; // 32 bytes that belong to nobody, for the last columns of C

/** Stores eight columns of a row of C, or the first few of them. */
function store(c: usize, left: v128, right: v128, columns: i32): void {
  const to = columns < 8 ? SPARE : c;
  v128.store(to, left);
  v128.store(to, right, 16);
  if (columns < 8) memory.copy(c, SPARE, columns << 2);
}

/**
 * C = A B + bias: A (m, k), C (m, n), row by row. B (k, n) lies in panels of eight columns, row by row in each; the
 * last panel and the bias have room for all eight. Without a bias its address is 0.
 */
export function product(a: usize, b: usize, bias: usize, c: usize, m: i32, k: i32, n: i32): void {
  const row = (<usize>k) << 2;
  const across = (<usize>n) << 2;
  for (let j = 0; j < n; j += 8, b += row << 3) {
    const left = bias ? v128.load(bias + (j << 2)) : f32x4.splat(0);
    const right = bias ? v128.load(bias + (j << 2), 16) : f32x4.splat(0);
    let from = a;
    let to = c + (j << 2);
    let i = 0;
    for (; i + 4 <= m; i += 4, from += row << 2, to += across << 2) {
      let l0 = left,
        l1 = left,
        l2 = left,
        l3 = left;
      let r0 = right,
        r1 = right,
        r2 = right,
        r3 = right;
      for (let x = from, y = b; x < from + row; x += 4, y += 32) {
        const l = v128.load(y);
        const r = v128.load(y, 16);
        let s = v128.load_splat<f32>(x);
        l0 = f32x4.add(l0, f32x4.mul(s, l));
        r0 = f32x4.add(r0, f32x4.mul(s, r));
        s = v128.load_splat<f32>(x + row);
        l1 = f32x4.add(l1, f32x4.mul(s, l));
        r1 = f32x4.add(r1, f32x4.mul(s, r));
        s = v128.load_splat<f32>(x + 2 * row);
        l2 = f32x4.add(l2, f32x4.mul(s, l));
        r2 = f32x4.add(r2, f32x4.mul(s, r));
        s = v128.load_splat<f32>(x + 3 * row);
        l3 = f32x4.add(l3, f32x4.mul(s, l));
        r3 = f32x4.add(r3, f32x4.mul(s, r));
      }
      store(to, l0, r0, n - j);
      store(to + across, l1, r1, n - j);
      store(to + 2 * across, l2, r2, n - j);
      store(to + 3 * across, l3, r3, n - j);
    }
    for (; i < m; i++, from += row, to += across) {
      let l = left,
        r = right;
      for (let x = from, y = b; x < from + row; x += 4, y += 32) {
        const s = v128.load_splat<f32>(x);
        l = f32x4.add(l, f32x4.mul(s, v128.load(y)));
        r = f32x4.add(r, f32x4.mul(s, v128.load(y, 16)));
      }
      store(to, l, r, n - j);
    }
  }
}
