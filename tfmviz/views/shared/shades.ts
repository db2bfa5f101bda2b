// The colours of numbers in a matrix, for each kind of vector its own. What is negative is grey, in scores purple.

import { largestSize, type Matrix } from "./arrays.ts";
import { bytesOf, type Colours, mixed, RAMP, type Rgb, shadeIndex } from "./colours.ts";

export type Tone = "q" | "k" | "v" | "x" | "score" | "share";

/** where `allowed` is 0, no number is shown */
export type Masked = Matrix & { allowed?: ArrayLike<number> };

/** The colour of each cell. Small numbers stay visible: colour grows with the square root. */
export function shader(
  { values, tone, allowed }: Masked & { tone: Tone },
  { roles, masked }: Pick<Colours, "roles" | "masked">,
): (cell: number) => Rgb {
  const maskedBytes = bytesOf(masked);
  if (tone === "share")
    return (n) => (allowed && !allowed[n] ? maskedBytes : RAMP[shadeIndex(Math.sqrt(Math.max(0, values[n])))]);
  const second = tone === "score" ? roles.below : roles.faint;
  const [positive, negative, ground] = [roles[tone], second, roles.zero].map(bytesOf);
  const largest = largestSize(values) || 1;
  return (n) => {
    if (values[n] === -Infinity) return maskedBytes;
    const part = Math.sqrt(Math.abs(values[n]) / largest);
    return mixed(ground, values[n] < 0 ? negative : positive, part);
  };
}
