// Predict, then reveal. The button sets the stage; `ui/page.css` hides what Python has put into containers for it.
// Nothing is computed, and a new sentence stays hidden too. An address with `guess=1` arrives hidden.

import { button, hear, isChord, isTyping, make } from "../shared/elements.ts";
import { type Stage, setStageOfGuess, stageOfGuess } from "../shared/guessing.ts";
import { part } from "../shared/streamlit_bridge.ts";

export default part(({ parent, atEnd }) => {
  const node = button("Guess", { title: "Hide the values until everyone has guessed (key g)" });
  const go = (stage: Stage) => {
    const isHidden = stage === "hidden";
    node.textContent = isHidden ? "Show" : "Guess";
    node.ariaPressed = String(isHidden);
    setStageOfGuess(stage);
  };
  const toggle = () => go(stageOfGuess() === "hidden" ? "shown" : "hidden");
  const arrive = () => go(new URLSearchParams(location.search).get("guess") === "1" ? "hidden" : "");
  const listen = (event: KeyboardEvent) => {
    if (event.key === "g" && !isChord(event) && !isTyping(event)) toggle();
  };
  node.onclick = toggle;
  atEnd(
    hear(document, ["keydown"], listen, true), // pictures keep keys from the page
    hear(window, ["popstate"], arrive),
    () => go(""),
  );
  parent.append(make("div", { className: "view in-header" }, node));
  arrive();
  return {};
});
