// Two arrows on a circle, and products against distance.

import { fresh, type Pen, setPen, strokes } from "../shared/canvas.ts";
import type { Colours } from "../shared/colours.ts";
import { decimal, number } from "../shared/numbers.ts";
import { angleBetween, headingOf, type Pair } from "./pairs.ts";

const HEAD = 0.11; // of an arrow, as a part of the radius
const MARGIN = 26; // pixels for the letters at the arrows' ends
const APART = 0.12; // radians by which the letters of two arrows keep clear of each other
const LEFT = 78;
const BOTTOM = 42;
const TICKS = [8, 16, 32, 64, 128, 256, 512, 1024];

/** On a canvas y points down, so an angle, in radians, is drawn with the other sign. */
export const onCanvas = (angle: number) => (angle === 0 ? 0 : -angle);

/** A query and a key as arrows to the circle; faint ones show position 0. Without these the dial is a small one. */
export function paintDial(
  canvas: HTMLCanvasElement,
  { size, q, k, before, colours }: { size: number; q: Pair; k: Pair; before?: { q: Pair; k: Pair }; colours: Colours },
) {
  const context = fresh(canvas, size, size);
  const radius = size / 2 - (before ? MARGIN : 3);
  const { looks, looked, accent } = colours;
  const between = angleBetween(q, k);
  context.translate(size / 2, size / 2);
  const axes = { strokeStyle: colours.grid, lineWidth: 1 };
  strokes(context, axes, [-radius, 0, radius, 0], [0, -radius, 0, radius]);
  context.beginPath();
  context.arc(0, 0, radius, 0, 2 * Math.PI);
  context.stroke();
  if (before) {
    setPen(context, { fillStyle: accent, globalAlpha: 0.25 });
    context.beginPath();
    context.moveTo(0, 0);
    context.arc(0, 0, radius * 0.36, onCanvas(headingOf(k)), onCanvas(headingOf(k) + between), between > 0);
    context.fill();
    setPen(context, { globalAlpha: 0.3, lineWidth: 2 });
    paintArrow(context, before.q, radius, looks);
    paintArrow(context, before.k, radius, looked);
  }
  setPen(context, { globalAlpha: 1, lineWidth: before ? 5 : 2.5 });
  paintArrow(context, k, radius, looked);
  paintArrow(context, q, radius, looks);
  if (!before) return;
  const aside = Math.abs(between) < 2 * APART ? APART * Math.sign(between || 1) : 0;
  setPen(context, { font: `bold 20px ${colours.font}`, textAlign: "center", textBaseline: "middle" });
  const write = (text: string, heading: number, fillStyle: string) => {
    const angle = onCanvas(heading);
    context.fillStyle = fillStyle;
    context.fillText(text, (radius + 14) * Math.cos(angle), (radius + 14) * Math.sin(angle));
  };
  write("k", headingOf(k) - aside, looked);
  write("q", headingOf(q) + aside, looks);
}

function paintArrow(context: CanvasRenderingContext2D, to: Pair, radius: number, colour: string) {
  const head = Math.max(5, radius * HEAD);
  context.save();
  context.rotate(onCanvas(headingOf(to)));
  context.fillStyle = colour;
  strokes(context, { strokeStyle: colour }, [0, 0, radius - head / 2, 0]);
  context.beginPath();
  context.moveTo(radius, 0);
  context.lineTo(radius - head, head / 2);
  context.lineTo(radius - head, -head / 2);
  context.fill();
  context.restore();
}

type Scales = { x: (distance: number) => number; y: (value: number) => number };

type Frame = { width: number; height: number; reach: number; colours: Colours };

/** Curves over distances −reach … reach, and where on them the two positions are now. */
export function paintCurves(
  canvas: HTMLCanvasElement,
  curves: { values: number[]; colour: string; thick: number }[],
  { width, height, reach, at, colours }: Frame & { at: number },
) {
  const context = fresh(canvas, width, height);
  const largest = Math.max(...curves.flatMap(({ values }) => values.map(Math.abs)), 1e-9);
  const x = (distance: number) => LEFT + ((distance + reach) / (2 * reach)) * (width - LEFT - 8);
  const y = (value: number) => (height - BOTTOM) * (0.5 - 0.43 * (value / largest));
  paintAxes(context, { x, y }, largest, { reach, width, height, colours });
  for (const { values, colour, thick } of curves) {
    const points = values.flatMap((value, n) => [x(n - reach), y(value)]);
    strokes(context, { strokeStyle: colour, lineWidth: thick }, points);
  }
  strokes(context, { strokeStyle: colours.text, lineWidth: 1.5 }, [x(at), 0, x(at), height - BOTTOM]);
  for (const { values, colour } of curves) {
    context.fillStyle = colour;
    context.beginPath();
    context.arc(x(at), y(values[at + reach]), 6, 0, 2 * Math.PI);
    context.fill();
  }
}

function paintAxes(context: Pen, { x, y }: Scales, largest: number, { reach, width, height, colours }: Frame) {
  const step = TICKS.find((tick) => (reach / tick) * 90 <= width / 2) ?? reach;
  setPen(context, { strokeStyle: colours.grid, fillStyle: colours.text, font: `${colours.letters}px ${colours.font}` });
  setPen(context, { lineWidth: 1, textBaseline: "middle", textAlign: "right" });
  for (const value of [-largest, 0, largest]) {
    strokes(context, {}, [LEFT, y(value), width - 8, y(value)]);
    context.fillText(number(value), LEFT - 6, y(value));
  }
  context.textAlign = "center";
  for (let tick = -Math.floor(reach / step) * step; tick <= reach; tick += step)
    context.fillText(decimal(tick, 0), x(tick), height - BOTTOM + 10);
  context.fillText("distance i − j", x(0), height - 9);
}
