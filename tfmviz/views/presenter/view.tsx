// What a presenter sees and the class does not: the line of the step in the class's window, the next one, and a clock.

import { render } from "preact";
import { hear, isChord, make } from "../shared/elements.ts";
import { part } from "../shared/streamlit_bridge.ts";
import { openersNumber, pair, type Said, WAYS, type Way } from "../walk/pair.ts";

const WAITS = "This window shows speaker notes. To connect it, press N in a lecture's window.";
const GONE = "The lecture's window does not answer: it is closed or has left the lecture.";

export default part(({ parent, atEnd }) => {
  const node = parent.appendChild(make("div", { className: "view" }));
  let { step, began }: Said = {};
  let isThere = false;

  const draw = () => {
    const ways: [way: Way, sign: string, label: string][] = [
      ["back", "←", "Previous step"],
      ["on", "→", "Next step"],
    ];
    render(
      <section class="presenter">
        {step && (
          <>
            <header>
              <h1>{step.title}</h1>
              <button type="button" title="Set the clock to 0" onClick={() => say({ again: true })}>
                {clock(Date.now() - (began ?? 0))} of {step.minutes} min
              </button>
            </header>
            <p class="place">
              {step.section && `${step.section} · `}
              {step.place}
            </p>
            <p class="say">{step.say}</p>
            <p class="next">{step.next ? `Next: ${step.next}` : "This is the last step."}</p>
            <div class="ways">
              {ways.map(([way, sign, label]) => (
                <button key={way} type="button" aria-label={label} disabled={!step?.[way]} onClick={() => say({ way })}>
                  {sign}
                </button>
              ))}
            </div>
          </>
        )}
        {!isThere && <p role="status">{step ? GONE : WAITS}</p>}
      </section>,
      node,
    );
  };

  const { say, end } = pair({ from: "presenter", of: openersNumber() }, (said, is) => {
    isThere = is;
    if (said.step) ({ step, began } = said);
    draw();
  });
  const walk = (event: KeyboardEvent) => {
    const way = WAYS[event.key];
    if (!way || isChord(event) || event.shiftKey) return;
    event.preventDefault();
    say({ way });
  };
  const timer = setInterval(draw, 1000);
  atEnd(end, () => clearInterval(timer), hear(window, ["keydown"], walk, true));
  document.documentElement.setAttribute("data-drawn", ""); // there is nothing to wait for, see keys/view.ts
  draw();
  return {};
});

function clock(milliseconds: number) {
  const seconds = Math.max(Math.floor(milliseconds / 1000), 0);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
