// What is drawn is the end from the first moment; only its old picture lies above it for 200 milliseconds and fades.

import { contextOf } from "./canvas.ts";

const DURATION = 200; // milliseconds

const moves = () => !matchMedia("(prefers-reduced-motion: reduce)").matches && !document.hidden;

const ghosts: WeakMap<HTMLCanvasElement, HTMLCanvasElement> = new WeakMap(); // of each canvas the one above it

/** The old picture of a canvas fades while one of the same size is drawn there that shows something else. */
export function fading(canvas: HTMLCanvasElement, isOther: boolean, draw: () => void) {
  const { width, height } = canvas;
  const old = isOther && width && height && canvas.isConnected && moves() ? copyOf(canvas) : null;
  draw();
  if (old && canvas.width === width && canvas.height === height) layOver(canvas, old);
}

/** The picture of one canvas becomes that of another, which has taken its place or stands elsewhere. */
export function becoming(from: HTMLCanvasElement, draw: () => HTMLCanvasElement | undefined) {
  const old = from.width && from.isConnected && moves() ? copyOf(from) : null;
  const before = from.getBoundingClientRect();
  const to = draw();
  if (!old || !to?.width) return;
  const after = to.getBoundingClientRect();
  const [x, y] = [before.left - after.left, before.top - after.top];
  const [wide, high] = [before.width / after.width, before.height / after.height];
  layOver(to, old, `translate(${x}px, ${y}px) scale(${wide}, ${high})`);
}

function copyOf(canvas: HTMLCanvasElement) {
  const copy = document.createElement("canvas");
  Object.assign(copy, { width: canvas.width, height: canvas.height, ariaHidden: "true" });
  contextOf(copy).drawImage(canvas, 0, 0);
  return copy;
}

/** @param start where the old picture was, as a transformation of the new one's place */
function layOver(canvas: HTMLCanvasElement, ghost: HTMLCanvasElement, start = "none") {
  if (!ghost.animate) return;
  ghosts.get(canvas)?.remove();
  // In the flow, with no height left: nothing has to be measured before the next frame.
  const { width, height } = canvas.style;
  Object.assign(ghost.style, { width, height, marginBottom: `-${height}`, transformOrigin: "0 0" });
  Object.assign(ghost.style, { position: "relative", zIndex: "1", display: "block", pointerEvents: "none" });
  canvas.before(ghost);
  const frames = [
    { opacity: 1, transform: start },
    { opacity: 0, transform: "none" },
  ];
  const animation = ghost.animate(frames, { duration: DURATION, easing: "ease-out" });
  animation.onfinish = () => ghost.remove();
  ghosts.set(canvas, ghost);
}

/** Draws numbers on their way to new ones, a frame at a time; at once where nothing may move. Returns what ends it. */
export function gliding(from: number[], to: number[], draw: (now: number[]) => void) {
  const isStill = !moves() || from.every((value, n) => value === to[n]);
  const begin = performance.now();
  let frame = 0;
  const step = () => {
    const part = isStill ? 1 : Math.min(1, (performance.now() - begin) / DURATION);
    draw(part < 1 ? to.map((end, n) => from[n] + (end - from[n]) * (1 - (1 - part) ** 2)) : to);
    if (part < 1) frame = requestAnimationFrame(step);
  };
  step();
  return () => cancelAnimationFrame(frame);
}

/** A bar grows or shrinks from its old width, in pixels, to its own. */
export function growing(bar: HTMLElement, from: number) {
  const frames = [from, bar.clientWidth].map((width) => ({ width: `${width}px` }));
  if (moves() && bar.animate && from !== bar.clientWidth)
    bar.animate(frames, { duration: DURATION, easing: "ease-out" });
}

/** Goes on in a task of its own: a frame may be drawn before. */
export const aTask = () => new Promise((resolve) => setTimeout(resolve));
