// All heads at once, a row per layer. Pointing previews a head, a click locks it, leaving shows the locked one again.

import { fresh, type Pen, setPen, widest } from "../shared/canvas.ts";
import { type Colours, packedShade, pixels } from "../shared/colours.ts";
import { TILE_MASKED, TILE_STEPS } from "../shared/constants.ts";
import { button, buttonOf, inPixels, listen, make, put, reused } from "../shared/elements.ts";
import { hatch } from "../shared/hatch.ts";
import { decimal } from "../shared/numbers.ts";
import type { Figure } from "../shared/picture.ts";
import type { Explorer } from "./explorer.ts";
import type { Attention, Kind, Tile } from "./payload.ts";
import { isSame, type State } from "./state.ts";
import { SCALES_OF_SHADE, type Scale } from "./weights.ts";
import type { Place } from "./words.ts";

const LABEL = "Heads. Arrow keys move, Enter chooses, Shift Enter adds.";
const GAP = 3;
const SMALLEST_TILE = 24; // pixels, to be hit with a finger
const LARGEST_TILE = 54;

type Cell = Place & { text?: string };

export class Overview {
  colours!: Colours; // the explorer gives them before it draws
  cells: Cell[] = [];
  buttons: HTMLButtonElement[] = []; // one for each cell
  tiles: Tile[] = [];
  scale: Scale = "root";
  columns = 1;
  byPlace = true;
  left = 0;
  layers: string[] = []; // their names at the edge
  top = 0;
  side = SMALLEST_TILE;
  row = SMALLEST_TILE;
  width = 0;
  height = 0;

  canvas = make("canvas", { ariaHidden: "true" });
  grid = make("div", { className: "tiles", role: "group", ariaLabel: LABEL });
  node = make("div", { className: "overview-picture" }, this.canvas, this.grid);

  constructor(explorer: Explorer) {
    const lock = (n: number, shift: boolean) => explorer.choose(this.cells[n], shift || explorer.controls.adds);
    const hover = (n: number | null) => explorer.showPreview(n === null ? null : this.cells[n]);
    const pick = (n: number, { shiftKey }: MouseEvent) => lock(n, shiftKey);
    listen(this.grid, pick, hover, () => this.columns);
    this.grid.addEventListener("keydown", (event) => {
      const node = event.key === "Enter" && event.shiftKey ? buttonOf(event) : null;
      if (!node) return;
      event.preventDefault(); // or the click that follows would know nothing of Shift
      lock(this.buttons.indexOf(node), true);
    });
  }

  draw(attention: Attention, { kind, order, scale }: State, name: (place: Place) => string) {
    const { layers, heads } = attention.kinds[kind];
    this.cells = ordered(attention.kinds[kind], order);
    this.columns = heads;
    this.byPlace = order === "place";
    const width = this.node.parentElement?.clientWidth ?? 0;
    // Layers are named by as much as there is room for.
    const { letters, font } = this.colours;
    const names = ["layer ", "L"].map((word) => layers.map((_, n) => `${word}${n}`));
    const widths = names.map((some) => widest(some, `${letters}px ${font}`) + 5);
    const which = widths[0] <= width - heads * SMALLEST_TILE ? 0 : 1;
    this.layers = names[which];
    this.left = this.byPlace ? widths[which] : 0;
    const room = Math.floor((width - this.left) / heads);
    this.side = Math.max(SMALLEST_TILE, Math.min(LARGEST_TILE, room));
    this.row = this.side + (this.byPlace ? 0 : letters + 1);
    this.top = this.byPlace ? 20 : 0;
    this.width = this.left + this.side * heads;
    this.height = this.top + this.row * layers.length;
    this.tiles = this.cells.map(({ layer, head }) => attention.tile(kind, layer, head, this.side - GAP));
    this.scale = scale;
    this.paint(fresh(this.canvas, this.width, this.height), this.colours);
    // One invisible button lies over each tile: for pointer, keyboard and screen reader.
    reused(this.buttons, this.cells.length, () => this.grid.appendChild(button("", { tabIndex: -1 })));
    for (const [n, cell] of this.cells.entries()) {
      const [left, top] = this.placeOf(n);
      put(this.buttons[n], { ariaLabel: name(cell), title: name(cell) });
      Object.assign(this.buttons[n].style, inPixels({ left, top, width: this.side, height: this.side }));
    }
  }

  paint(pen: Pen, colours: Colours): void {
    pen.imageSmoothingEnabled = false;
    const sheet = sheetOf(this.tiles, this.columns, this.scale, colours.maskedPacked);
    const { rows, columns } = this.tiles[0];
    const side = this.side - GAP;
    for (const n of this.cells.keys()) {
      const [x, y] = this.placeOf(n);
      const [left, top] = [(n % this.columns) * columns, Math.floor(n / this.columns) * rows];
      pen.fillStyle = colours.soft;
      if (colours.areVeiled) pen.fillRect(x + GAP / 2, y + GAP / 2, side, side);
      else {
        const cells = { rows, columns, wide: side / columns, high: side / rows };
        const { values } = this.tiles[n];
        pen.save();
        pen.translate(x + GAP / 2, y + GAP / 2);
        pen.drawImage(sheet, left, top, columns, rows, 0, 0, side, side);
        hatch(pen, cells, colours, (i, j) => values[i * columns + j] === TILE_MASKED);
        pen.restore();
      }
    }
    setPen(pen, { font: `${colours.letters}px ${colours.font}`, textBaseline: "middle", fillStyle: colours.text });
    // Layers and heads are named once, at the edges; in another order every tile has its name.
    for (const [n, { layer, head, text }] of this.cells.entries()) {
      const [x, y] = this.placeOf(n);
      const name = this.side >= 40 ? `${layer}·${head} ${text}` : `${layer}·${head}`;
      pen.textAlign = "center";
      if (!this.byPlace) pen.fillText(name, x + this.side / 2, y + this.side + 7);
      else if (layer === 0) pen.fillText(String(head), x + this.side / 2, 11);
      pen.textAlign = "right";
      if (this.byPlace && head === 0) pen.fillText(this.layers[layer], this.left - 4, y + this.side / 2);
    }
  }

  placeOf(n: number): [number, number] {
    return [this.left + (n % this.columns) * this.side, this.top + Math.floor(n / this.columns) * this.row];
  }

  mark({ heads, aggregate }: { heads: Place[]; aggregate: string }) {
    for (const [n, cell] of this.cells.entries()) {
      const at = heads.findIndex((place) => isSame(place, cell));
      const isReached = at === heads.length - 1; // by Tab
      put(this.buttons[n], { ariaPressed: String(aggregate === "heads" && at >= 0), tabIndex: isReached ? 0 : -1 });
      this.buttons[n].style.setProperty("--frame", heads.length > 1 ? `var(--head-${at})` : "var(--accent)");
    }
  }

  figure(colours: Colours): Figure {
    return { width: this.width, height: this.height, paint: (pen) => this.paint(pen, colours) };
  }
}

/** Heads in reading order, or by a score, the highest first; a head whose score is undefined comes last. */
function ordered({ layers, heads, scores }: Kind, order: string): Cell[] {
  const cells = layers.flatMap((_, layer) => Array.from({ length: heads }, (_, head) => ({ layer, head })));
  if (order === "place") return cells;
  const scored = cells.map((cell) => ({ ...cell, score: scores[order][cell.layer][cell.head] ?? -1 }));
  return scored
    .sort((a, b) => b.score - a.score)
    .map(({ layer, head, score }) => ({ layer, head, text: score < 0 ? "–" : decimal(score) }));
}

/** All tiles on one canvas, `across` in a row, a pixel a cell. */
function sheetOf(tiles: Tile[], across: number, scale: Scale, masked: number) {
  const { rows, columns } = tiles[0];
  const width = across * columns;
  const shade = SCALES_OF_SHADE[scale];
  const lines = tiles.map(({ values }) =>
    Array.from({ length: rows }, (_, i) => {
      const row = values.subarray(i * columns, (i + 1) * columns);
      return { row, largest: scale === "row" ? largestOf(row) : 1 };
    }),
  );
  return pixels(width, Math.ceil(tiles.length / across) * rows, (n) => {
    const x = n % width;
    const y = Math.floor(n / width);
    const line = lines[Math.floor(y / rows) * across + Math.floor(x / columns)]?.[y % rows];
    const value = line?.row[x % columns] ?? TILE_MASKED;
    if (value === TILE_MASKED) return line ? masked : 0;
    return packedShade(shade(TILE_WEIGHTS[value], line.largest));
  });
}

const TILE_WEIGHTS = Float64Array.from({ length: TILE_MASKED }, (_, value) => (value / TILE_STEPS) ** 2);

const largestOf = (row: Uint8Array) =>
  TILE_WEIGHTS[row.reduce((most, value) => (value === TILE_MASKED ? most : Math.max(most, value)), 0)];
