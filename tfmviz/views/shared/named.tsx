// A token's name in a view that Preact draws.

import { partsOf } from "./kinds.ts";

export const Named = ({ label }: { label: string }) => (
  <span class="label" dir="auto">
    {partsOf(label).map(({ text, isChip }) => (isChip ? <span class="chip">{text}</span> : text))}
  </span>
);
