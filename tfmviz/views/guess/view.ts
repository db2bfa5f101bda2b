// Predict, then reveal. While the room guesses, rules of style hide what Python has put into containers for it, except
// for controls, and show the questions. Views that can do so hide their values alone, see shared/guessing.ts; charts
// hide their marks, and a lecture its line, which may tell the answer. Nothing is computed, and a new sentence stays
// hidden too. An address with `guess=1` arrives hidden.

import { button, isChord, isTyping, make } from "../shared/elements.ts";
import { HIDDEN, type Stage, setStageOfGuess, stageOfGuess } from "../shared/guessing.ts";
import { part } from "../shared/streamlit_bridge.ts";

const INPUTS = ["TextInput", "TextArea", "NumberInput"];
const CONTROLS = ["Selectbox", "Slider", "ButtonGroup", "Radio", "Checkbox", "MultiSelect", ...INPUTS];
const KEPT = [...CONTROLS.map((name) => `.st${name}`), "[data-veils]", ".stVegaLiteChart"];
const ELEMENT = `${HIDDEN} [data-testid=stElementContainer]:not(:has(${KEPT}))`;

// A question stands above its figure and covers nothing.
const ASKED = `:has(> [class*="st-key-question-"]) { display: flex !important; }`;

const RULES: Record<Stage, string> = {
  "": "",
  hidden: `
    ${ELEMENT} *, ${HIDDEN} :is(.role-mark, .tfmviz-bar) { visibility: hidden !important; }
    ${ELEMENT}:has([data-testid^=stBidiComponent], .stTable) { outline: 2px dashed; outline-offset: -2px; }
    :root { --said: hidden; }
    ${ASKED}`,
  shown: ASKED,
};

export default part((parent) => {
  const rules = make("style");
  const node = button("Guess", { title: "Hide the values until everyone has guessed (key g)" });
  const go = (stage: Stage) => {
    const isHidden = stage === "hidden";
    node.textContent = isHidden ? "Show" : "Guess";
    node.ariaPressed = String(isHidden);
    rules.textContent = RULES[stage];
    setStageOfGuess(stage);
  };
  const toggle = () => go(stageOfGuess() === "hidden" ? "shown" : "hidden");
  const arrive = () => go(new URLSearchParams(location.search).get("guess") === "1" ? "hidden" : "");
  const listen = (event: KeyboardEvent) => {
    if (event.key === "g" && !isChord(event) && !isTyping(event)) toggle();
  };
  node.onclick = toggle;
  document.head.append(rules);
  const over = new AbortController();
  const early = { capture: true, signal: over.signal }; // pictures keep keys from the page
  document.addEventListener("keydown", listen, early);
  window.addEventListener("popstate", arrive, over);
  parent.append(make("div", { className: "view in-header" }, node));
  arrive();
  const leave = () => {
    go("");
    rules.remove();
    over.abort();
  };
  return { leave };
});
