// Masked cells that are large enough have fine lines across them: so that "may not be" is no shade of a value.

import { contextOf, type Pen } from "./canvas.ts";
import type { Colours } from "./colours.ts";

const LEAST = 8; // pixels a cell must measure
const APART = 6; // pixels from line to line, along a row

type Range = number | [from: number, to: number];

/** How many rows and columns there are, or from and to which they are looked at; `wide`, `high`: pixels of a cell. */
export type Sheet = { rows: Range; columns: Range; wide: number; high: number };

/** Hatches the cells of a sheet that are masked, one rectangle for all that touch in a row. */
export function hatch(pen: Pen, sheet: Sheet, { hatch }: Colours, isMasked: (row: number, column: number) => boolean) {
  const { wide, high } = sheet;
  const [rows, columns] = [sheet.rows, sheet.columns].map((range) => (typeof range === "number" ? [0, range] : range));
  if (Math.min(wide, high) < LEAST) return;
  pen.fillStyle = pen.hatching?.(hatch, APART) ?? patternOf(pen, hatch) ?? hatch;
  for (let row = rows[0]; row < rows[1]; row++) {
    let begin = columns[0];
    for (let column = begin; column <= columns[1]; column++) {
      if (column < columns[1] && isMasked(row, column)) continue;
      if (column > begin) pen.fillRect(begin * wide, row * high, (column - begin) * wide, high);
      begin = column + 1;
    }
  }
}

const patterns = new Map<string, CanvasPattern | null>();

function patternOf(pen: Pen | CanvasRenderingContext2D, colour: string) {
  if (!("getTransform" in pen)) return null;
  const scale = Math.max(1, Math.round(pen.getTransform().a));
  const name = `${colour} ${scale}`;
  if (!patterns.has(name)) {
    const side = APART * scale;
    const tile = contextOf(Object.assign(document.createElement("canvas"), { width: side, height: side }));
    Object.assign(tile, { strokeStyle: colour, lineWidth: scale });
    for (const shift of [-side, 0, side]) {
      tile.moveTo(shift - scale, side + scale);
      tile.lineTo(shift + side + scale, -scale);
    }
    tile.stroke();
    const pattern = tile.createPattern(tile.canvas, "repeat");
    pattern?.setTransform(new DOMMatrix().scale(1 / scale));
    patterns.set(name, pattern);
  }
  return patterns.get(name) ?? null;
}
