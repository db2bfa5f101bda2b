// One step of a lecture: what to say, and the ways back and on. ←, → and what a presenter's remote sends (Page Up, Page
// Down) take these wherever the focus is, but in a box that somebody types in and on what was reached by Tab, which a
// frame shows. Enter ends typing, and Escape takes the focus from all of them.

import { render } from "preact";
import { hear, isChord, isTyping, make } from "../shared/elements.ts";
import { follow } from "../shared/going.ts";
import { showTabs } from "../shared/looking.ts";
import { part } from "../shared/streamlit_bridge.ts";
import { type End, openPresenters, ownNumber, pair, type Step, WAYS } from "./pair.ts";
import { keepInSight } from "./sight.ts";
import { arrive, step } from "./stepping.ts";

/** Boxes in which nobody types, at least not now. */
const UNTYPED = "select, [type=range], [type=radio], [type=checkbox], [role=combobox][aria-expanded=false]";

const BLOCKED = "The browser blocked the presenter's window. Allow pop-ups for this page and press N again.";

export default part<Step>(({ parent, atEnd }) => {
  const node = parent.appendChild(make("div", { className: "view" }));
  const root = document.documentElement.dataset; // it knows of the presenter from one page to the next
  let shown: Step | undefined;
  let [began, isBlocked] = [0, false];
  let isPointed = false; // whether what has the focus was clicked, not reached by Tab
  let endScroll = () => {};

  const draw = () => {
    if (!shown) return;
    const { title, section, place, say, all } = shown;
    const [name] = title.split(" ");
    const way = (sign: string, address: string, label: string) =>
      address ? (
        <a class="way" href={address} aria-label={label} title={label} onClick={(event) => follow(event, step)}>
          {sign}
        </a>
      ) : (
        <span class="way" aria-hidden="true" />
      );
    render(
      <nav class="walk" aria-label="Lecture">
        {way("←", shown.back, "Previous step")}
        <p>
          {!root.presented && (
            <>
              <a href={all} title={`${title}. All lectures`}>
                {name}
              </a>
              {section && ` · ${section}`}
              <span class="place"> · {place} </span>
              <span class="say">{say}</span>
            </>
          )}
          {isBlocked && <span role="status"> {BLOCKED}</span>}
        </p>
        {way("→", shown.on, "Next step")}
      </nav>,
      node,
    );
  };

  const answer = () => ({ step: shown, began });
  const lecture: End = { from: "lecture", of: ownNumber(), isThere: Boolean(root.presented), answer };
  const { say, end } = pair(lecture, ({ way, again }, isThere) => {
    if (again) began = keepTime(shown, true);
    root.presented = isThere ? "true" : "";
    isBlocked &&= !isThere;
    draw();
    if (way && shown?.[way]) step(shown[way]);
    if (again) say();
  });

  const take = (data: Step) => {
    const isNew = shown?.title !== data.title || shown.place !== data.place;
    shown = data;
    arrive(data.step);
    began = keepTime(data, isNew && !data.back);
    draw();
    say({ asks: true });
    if (!isNew) return;
    endScroll();
    endScroll = data.show.length ? keepInSight(node, data.show) : showTabs(data.chosen.split(" "));
  };

  const walk = (event: KeyboardEvent) => {
    const way = WAYS[event.key];
    if (!way || isChord(event) || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation(); // a view that listens on the whole page is not meant
    letGo(); // or the browser frames what was clicked, as soon as a key is pressed
    if (shown?.[way]) step(shown[way]);
  };
  const early = (event: KeyboardEvent) => {
    if (event.key === "Escape" && !event.isComposing) window.addEventListener("keyup", letGo, { once: true });
    if (event.key === "Tab") isPointed = false;
    const [target] = event.composedPath();
    const isTyped = isTyping(event) && !(target instanceof Element && target.matches(UNTYPED));
    if (isPointed && !isTyped) walk(event);
  };
  /** @param event what nothing in focus has used */
  const late = (event: KeyboardEvent) => {
    if (!event.defaultPrevented && !isTyping(event)) walk(event);
  };
  const present = (event: KeyboardEvent) => {
    if (event.key !== "n" || isChord(event) || isTyping(event) || event.repeat) return;
    isBlocked = !openPresenters();
    draw();
  };
  /** @param event by the time it comes here, Streamlit has taken what was typed */
  const typed = (event: KeyboardEvent) => {
    const [target] = event.composedPath();
    const isTaken = event.key === "Enter" && !event.isComposing && target instanceof Element;
    if (isTaken && target.matches(event.ctrlKey || event.metaKey ? "textarea" : ".stNumberInput input")) letGo();
  };
  const point = () => {
    isPointed = true;
  };
  atEnd(
    hear(window, ["pointerdown"], point, true),
    hear(window, ["keydown"], early, true),
    hear(document, ["keydown"], present, true), // pictures keep keys from the page
    hear(document.documentElement, ["keydown"], late),
    hear(window, ["keydown"], typed),
    end,
    () => endScroll(),
  );
  return { take };
});

/** When this window has shown the first step of a lecture: now, if it is the first or no step was shown before. */
function keepTime(step: Step | undefined, isFirst: boolean) {
  const key = `tfmviz-began ${step?.title}`;
  if (isFirst || !sessionStorage.getItem(key)) sessionStorage.setItem(key, Date.now().toString());
  return Number(sessionStorage.getItem(key));
}

/** Takes the focus from what has it, once Escape has done there what it does. */
function letGo() {
  let node = document.activeElement;
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
  if (node instanceof HTMLElement || node instanceof SVGElement) node.blur();
}
