// Making elements. What comes from the reader becomes text nodes and attributes, never HTML.

import { inWords, partOf, runsOf } from "./bytes.ts";
import { joinsOf, partsOf } from "./kinds.ts";

/** A short visible label for each token, and itself; its part, where a text has such as the sentences of a pair. */
export type Texts = { labels: string[]; tokens: string[]; said?: string[]; segments?: string[] };

export type Properties<Node> = {
  [Name in Exclude<keyof Node, "dataset" | "style">]?: Node[Name] extends string ? string | number : Node[Name];
} & { dataset?: Record<string, unknown>; style?: Record<string, string | number> };

export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Properties<HTMLElementTagNameMap[Name]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const { dataset, style, ...rest } = properties;
  const node = Object.assign(document.createElement(name), rest);
  Object.assign(node.dataset, dataset);
  Object.assign(node.style, style);
  node.append(...children);
  return node;
}

export const button = (text: string, properties?: Properties<HTMLButtonElement>) =>
  make("button", { type: "button", textContent: text, ...properties });

export const optionsOf = (entries: string[][]) =>
  entries.map(([value, text]) => make("option", { value, textContent: text }));

export function select(label: string, options: Record<string, string>, onChange: (value: string) => void) {
  const box = make(
    "select",
    { ariaLabel: label || null, onchange: () => onChange(box.value) },
    ...optionsOf(Object.entries(options)),
  );
  return { box, node: make("label", {}, `${label} `, box) };
}

/** A style of lengths, given in pixels. */
export const inPixels = (lengths: Record<string, number>) =>
  Object.fromEntries(Object.entries(lengths).map(([name, length]) => [name, `${length}px`]));

/** Sets properties of an element where they differ: to set even the same value costs the browser work. */
export function put<Node extends Element>(node: Node, properties: Partial<Node>) {
  for (const name of Object.keys(properties) as (keyof Node)[]) {
    const value = properties[name] as Node[typeof name];
    if (node[name] !== value) node[name] = value;
  }
}

/** The button that an event happened on or in, null if there is none. */
export const buttonOf = (event: Event): HTMLButtonElement | null =>
  event.target instanceof Element ? event.target.closest("button") : null;

/** Hears of events, `isFirst` before anything on the page can keep them to itself. Returns what ends that. */
export function hear<Name extends keyof WindowEventMap>(
  target: EventTarget,
  names: Name[],
  listener: (event: WindowEventMap[Name]) => void,
  isFirst = false,
) {
  for (const name of names) target.addEventListener(name, listener as EventListener, isFirst);
  return () => {
    for (const name of names) target.removeEventListener(name, listener as EventListener, isFirst);
  };
}

/** Hears of what is typed into a box, not of what an input method still proposes. */
export const hearTyping = (box: HTMLTextAreaElement, listener: () => void) =>
  hear(box, ["input", "compositionend"], (event) => (event instanceof InputEvent && event.isComposing) || listener());

const ARROWS: Record<string, [rows: number, columns: number] | undefined> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/** How far an arrow key moves, null for any other key. */
export const arrowOf = ({ key }: { key: string }) => ARROWS[key] ?? null;

/** The nearest of so many places. */
export const within = (place: number, count: number) => Math.min(count - 1, Math.max(0, place));

/** The same as `arrowOf`, and the key is meant for nothing else, such as the page's own shortcuts. */
export function takenArrow(event: KeyboardEvent) {
  const arrow = arrowOf(event);
  if (arrow) event.stopPropagation();
  if (arrow) event.preventDefault();
  return arrow;
}

/** Lets an arrow key move the focus between the buttons of a group, in `columns`. Returns the button it leads to. */
export function arrowed(event: KeyboardEvent, columns = 1) {
  const from = buttonOf(event);
  const arrow = from && takenArrow(event);
  if (!arrow) return null;
  const buttons = [...(event.currentTarget as HTMLElement).querySelectorAll("button")];
  const next = buttons[buttons.indexOf(from) + arrow[0] * columns + arrow[1]] ?? null;
  next?.focus();
  return next;
}

/** Arrow keys move between the buttons of a group, of which Tab reaches one. */
export const roving = (group: HTMLElement, columns = () => 1) =>
  group.addEventListener("keydown", (event) => rove(event, columns()));

/** The same, for a group that Preact draws. */
export function rove(event: KeyboardEvent, columns = 1) {
  const next = arrowed(event, columns);
  if (!next) return;
  for (const node of (event.currentTarget as HTMLElement).querySelectorAll("button")) node.tabIndex = -1;
  next.tabIndex = 0; // also after a click, which had left the stop where it was
}

/** The `ref` of a button there: each drawing says anew which one Tab reaches, wherever arrow keys have led since. */
export const reached = (isReached: boolean) => (node: HTMLElement | null) => {
  if (node) node.tabIndex = isReached ? 0 : -1;
};

export function named(label: string, properties?: Properties<HTMLSpanElement>) {
  const chip = (textContent: string) => make("span", { className: "chip", textContent });
  const parts = partsOf(label).map(({ text, isChip }) => (isChip ? chip(text) : text));
  return make("span", { className: "label", dir: "auto", ...properties }, ...parts);
}

/** So many nodes: those there are used again, so that the keyboard stays where it is; `add` puts one at the end. */
export function reused<Kind extends Element>(nodes: Kind[], count: number, add: (n: number) => Kind): Kind[] {
  for (const node of nodes.splice(count)) node.remove();
  while (nodes.length < count) nodes.push(add(nodes.length));
  return nodes;
}

/** Gives a group a button for every token, and returns them; Tab reaches the chosen one. Those there are used again. */
export function tokenButtons(group: HTMLElement, { labels, tokens }: Texts, chosen: number) {
  const buttons = reused([...group.querySelectorAll("button")], labels.length, (position) =>
    group.appendChild(button("", { tabIndex: -1, dataset: { position } })),
  );
  const joins = joinsOf(tokens);
  for (const [position, node] of buttons.entries()) {
    const label = partOf(labels[position]);
    node.replaceChildren(named(label));
    node.title = `Token ${position}: “${inWords(tokens[position])}”`;
    node.tabIndex = position === chosen ? 0 : -1;
    node.className = joins[position];
    node.ariaPressed = "false";
    node.ariaLabel = label === labels[position] ? null : inWords(labels[position]);
  }
  // The bytes of a character stand under one line, and the character over it.
  for (const { start, end, character } of runsOf(labels))
    for (let n = start; n < end; n++) {
      buttons[n].className = n === end - 1 ? "byte last" : "byte";
      const textContent = n === Math.floor((start + end - 1) / 2) ? character : "\u00a0";
      buttons[n].prepend(make("span", { className: "over", textContent, ariaHidden: "true" }));
    }
  return buttons;
}

/** Marks tokens of a group: the one in focus, the pinned one, the one that is asked about with it. */
export function mark(buttons: HTMLButtonElement[], focus: number | null, pin: number | null, to: number | null = null) {
  for (const [n, node] of buttons.entries()) {
    node.classList.toggle("focus", n === focus);
    node.classList.toggle("to", n === to);
    put(node, { ariaPressed: String(n === pin) });
  }
}

/** Tells which button of a group is clicked, and which the keyboard is on, or a pointer that has moved there. */
export function listen(
  group: HTMLElement,
  pick: (position: number, event: MouseEvent) => void,
  hover: (position: number | null) => void = () => {},
  columns = () => 1,
) {
  roving(group, columns);
  const positionOf = (event: Event) => {
    const node = buttonOf(event);
    return node && [...group.querySelectorAll("button")].indexOf(node);
  };
  let over: number | null = null;
  const go = (position: number | null) => {
    over = position;
    hover(position);
  };
  group.addEventListener("pointermove", (event) => {
    const position = event.pointerType === "touch" ? null : positionOf(event);
    if (position !== null && position !== over) go(position);
  });
  const away = () => go(null);
  group.addEventListener("pointerleave", away);
  group.addEventListener("focusin", (event) => {
    if (buttonOf(event)?.matches(":focus-visible")) hover(positionOf(event));
  });
  group.addEventListener("focusout", away);
  group.addEventListener("click", (event) => {
    const position = positionOf(event);
    if (position !== null) pick(position, event);
  });
}

export const watched = (tell: (isOn: boolean) => void) => ({
  onPointerEnter: () => tell(true),
  onPointerLeave: () => tell(false),
  onFocusIn: () => tell(true),
  onFocusOut: () => tell(false),
});

export const isChord = (event: KeyboardEvent) => event.ctrlKey || event.metaKey || event.altKey;

/** Whether a text box has the focus, also one inside the shadow of another view. */
export function isTyping(event: KeyboardEvent) {
  const [target] = event.composedPath();
  return target instanceof Element && target.matches("input, textarea, select, [contenteditable=true]");
}

/** Fades the right edge of a scroller that hides something beyond it. */
export function fadeEnd(scroller: HTMLElement) {
  scroller.classList.toggle("fades", scroller.scrollWidth - scroller.clientWidth - scroller.scrollLeft > 1);
}
