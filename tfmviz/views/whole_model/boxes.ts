// The boxes of the picture, with the parts of a block and the heads of an attention layer in them.

import type { Brush } from "./brush.ts";
import { BYPASS, type Place, type Rect, TEXT_LINE, TILE } from "./layout.ts";
import { type Column, hasBypass, written } from "./scene.ts";

type PictureOf = (column: Column, head: number) => HTMLCanvasElement;

export function paintBox(brush: Brush, { column, box }: Place, pictureOf: PictureOf) {
  const colour = brush.colour(column.kind);
  brush.fill(brush.colours.ground, box.x, box.y, box.width, box.height);
  brush.frame(colour, 1.5, box);
  brush.fill(colour, box.x, box.y, box.width, 3);
  const middle = box.x + box.width / 2;
  let y = box.y + 4;
  for (const [n, line] of [column.title, ...column.lines].entries()) {
    brush.text(line, middle, y + TEXT_LINE / 2, { align: "center", isBold: n === 0 });
    y += TEXT_LINE;
  }
  if (column.heads) {
    const rows = Math.ceil(column.heads.count / 4);
    paintHeads(brush, column, box, pictureOf);
    y += rows * (TILE + TEXT_LINE + 4) + 2;
  }
  y = paintParts(brush, column, box, y + 2);
  if (column.parameters === undefined) return;
  const look = { align: "center", colour: brush.colours.roles.faint } as const;
  brush.text(written(column.parameters), middle, y + TEXT_LINE / 2, look);
}

/** The parts of a block; beside them the residual connection goes from sum to sum. Returns where they end. */
function paintParts(brush: Brush, column: Column, box: Rect, from: number) {
  if (!column.parts) return from - 2;
  const bypass = hasBypass(column) ? BYPASS : 0;
  const [way, inner] = [box.x + 7, box.x + 2 + bypass];
  const sums = [];
  const end = from + column.parts.reduce((sum, part) => sum + heightOf(part), 0);
  const { text, ground } = brush.colours;
  if (bypass) brush.line(text, 1.5, [way, from - 2], [way, end - 2]);
  let y = from;
  for (const part of column.parts) {
    if (part.kind === "add") sums.push(y - 3);
    else {
      const x = part.onStream ? box.x + 2 : inner;
      const rect = { x, y, width: box.x + box.width - 3 - x, height: heightOf(part) - 5 };
      brush.fill(ground, rect.x, rect.y, rect.width, rect.height);
      brush.frame(brush.colour(part.kind), 1, rect);
      for (const [n, line] of part.lines.entries())
        brush.text(line, x + rect.width / 2, y + 2 + TEXT_LINE * (n + 0.5), { align: "center" });
    }
    y += heightOf(part);
  }
  for (const sum of sums) {
    brush.line(text, 1.5, [way, sum], [inner, sum]);
    brush.text("+", way, sum, { isBold: true, align: "center" });
    brush.frame(text, 1.5, { x: way - 5, y: sum - 5, width: 10, height: 10 });
  }
  return y;
}

/** @param part with the room below it; a sum lies in the room of what is above it */
const heightOf = ({ kind, lines }: { kind: string; lines: string[] }) =>
  kind === "add" ? 0 : TEXT_LINE * lines.length + 8;

/** Small pictures of the heads, four in a row; the amounts below them are painted with what follows the token. */
function paintHeads({ pen }: Brush, column: Column, box: Rect, pictureOf: PictureOf) {
  for (let head = 0; head < (column.heads?.count ?? 0); head++) {
    const { x, y } = tileOf(column, box, head);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(pictureOf(column, head), x, y, TILE, TILE);
  }
}

export function tileOf({ heads, lines }: Column, box: Rect, head: number): Rect {
  const across = Math.min(heads?.count ?? 0, 4);
  const start = box.x + (box.width - across * (TILE + 6) + 6) / 2;
  const y = box.y + 4 + TEXT_LINE * (1 + lines.length) + Math.floor(head / 4) * (TILE + TEXT_LINE + 4);
  return { x: start + (head % 4) * (TILE + 6), y, width: TILE, height: TILE };
}
