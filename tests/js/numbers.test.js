import assert from "node:assert/strict";
import { test } from "node:test";
import { barLength, number, plus, share, shortShare, tiny } from "../../tfmviz/views/shared/numbers.ts";

test("numbers of a matrix keep three decimals, more where they would look like nothing", () => {
  const written = [0, 0.5, -0.5, 12.3456, -123.456, 0.01, 0.0099, -0.00123, 0.00012, -1.5e-6].map(number);
  const expected = "0.000 0.500 −0.500 12.346 −123.46 0.010 0.0099 −0.0012 1.2·10⁻⁴ −1.5·10⁻⁶";
  assert.equal(written.join(" "), expected);
});

test("a masked score is minus infinity, no number is a dash", () => {
  assert.equal(number(-Infinity), "−∞");
  assert.equal(number(Number.NaN), "–");
  assert.equal(number(Infinity), "–");
});

test("a tiny share has a bar that is seen, no share and no number have none", () => {
  assert.deepEqual([0.5, 2 ** -10, 0, Number.NaN].map(barLength), [
    "max(2px, 50%)",
    "max(2px, 0.09765625%)",
    "0px",
    "0px",
  ]);
});

test("a term carries its sign before it", () => {
  assert.equal(plus(0.412), " + 0.412");
  assert.equal(plus(-0.08), " − 0.080");
});

test("powers of ten have raised digits and true signs", () => {
  assert.equal(tiny(-3.1e-12), "−3.1·10⁻¹²");
  assert.equal(tiny(4.04e16), "4.0·10¹⁶");
});

test("a share of attention, in full and short", () => {
  const expected = [
    [1, "1.00", "1.0"],
    [0.996, "1.00", "1.0"],
    [0.42, "0.42", ".42"],
    [0.0123, "0.01", ".01"],
    [0.004, "0.004", "·"],
    [0.0001, "0", "·"],
    [0, "0", "·"],
  ];
  assert.deepEqual(
    expected.map(([weight]) => [weight, share(weight), shortShare(weight)]),
    expected,
  );
});
