// Tokens as buttons, and what elements tell of the pointer and the keyboard.

import type { ButtonHTMLAttributes } from "preact";
import { inWords, partOf, runsOf } from "./bytes.ts";
import type { Texts } from "./elements.ts";

type More = ButtonHTMLAttributes & { class?: string };

/**
 * A button for every token. The bytes of a character stand under one line, and the character over it.
 * @param props.stop the one that Tab reaches
 * @param props.more what else a button has; its children stand behind the label
 */
export function Tokens({
  texts: { labels, tokens },
  stop,
  more = () => ({}),
}: {
  texts: Texts;
  stop: number;
  more?: (position: number) => More;
}) {
  const runs = runsOf(labels);
  return labels.map((label, position) => {
    const run = runs.find(({ start, end }) => start <= position && position < end);
    const { class: kind, children, ...properties } = more(position);
    const classes = [run && "byte", run?.end === position + 1 && "last", kind].filter(Boolean);
    const isMiddle = run && position === Math.floor((run.start + run.end - 1) / 2);
    return (
      <button
        key={position}
        type="button"
        class={classes.join(" ")}
        tabIndex={position === stop ? 0 : -1}
        data-position={position}
        title={`Token ${position}: “${inWords(tokens[position])}”`}
        aria-label={partOf(label) === label ? undefined : inWords(label)}
        aria-pressed={false}
        {...properties}
      >
        {run && (
          <span class="over" aria-hidden="true">
            {isMiddle ? run.character : "\u00a0"}
          </span>
        )}
        <span class="label" dir="auto">
          {partOf(label)}
        </span>
        {children}
      </button>
    );
  });
}

/** Handlers that tell when the pointer or the keyboard comes to an element, and when it leaves it. */
export const watched = (tell: (isOn: boolean) => void) => ({
  onPointerEnter: () => tell(true),
  onPointerLeave: () => tell(false),
  onFocusIn: () => tell(true),
  onFocusOut: () => tell(false),
});
