// Buttons over the boxes and the heads, for pointer, keyboard and screen reader. They have no look of their own.

import { make } from "../shared/elements.ts";
import { tileOf } from "./boxes.ts";
import type { Place, Rect } from "./layout.ts";
import type { Column } from "./scene.ts";
import { aboutBox } from "./words.ts";

/** @param open a head; null where heads cannot be opened */
export function hitsOf(
  places: Place[],
  press: (column: Column) => void,
  open: ((layer: string, head: number) => void) | null,
) {
  const nodes = places.flatMap(({ column, box }) => [
    hit(column.id, box, aboutBox(column), () => press(column)),
    ...(open ? headHits(column, box, open) : []),
  ]);
  nodes[0].tabIndex = 0;
  return nodes;
}

function headHits(column: Column, box: Rect, open: (layer: string, head: number) => void): HTMLButtonElement[] {
  const { layer, count } = column.heads ?? { layer: "", count: 0 };
  return Array.from({ length: count }, (_, head) =>
    hit(`${column.id}/${head}`, tileOf(column, box, head), `Open head ${head}`, () => open(layer, head)),
  );
}

function hit(id: string, { x, y, width, height }: Rect, label: string, onclick: () => void): HTMLButtonElement {
  const style = { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` };
  return make("button", { type: "button", tabIndex: -1, ariaLabel: label, dataset: { id }, style, onclick });
}
