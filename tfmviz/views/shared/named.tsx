// What views that Preact draws have in common: a token's name, buttons in a row, the head of a table.

import { partsOf } from "./kinds.ts";

export const Named = ({ label }: { label: string }) => (
  <span class="label" dir="auto">
    {partsOf(label).map(({ text, isChip }) => (isChip ? <span class="chip">{text}</span> : text))}
  </span>
);

export type Tool = [label: string, act: () => void, isOff: boolean, title?: string, isHidden?: boolean];

export const Tools = ({ tools }: { tools: Tool[] }) =>
  tools.map(([label, act, isOff, title, isHidden], n) => (
    <button type="button" key={n} disabled={isOff} title={title} hidden={isHidden} onClick={act}>
      {label}
    </button>
  ));

export const Head = ({ names }: { names: string[] }) => (
  <thead>
    <tr>
      {names.map((name, n) => (
        <th key={n} scope="col" dir="auto">
          {name}
        </th>
      ))}
    </tr>
  </thead>
);
