// A question, what can be answered, and the guess. It is given by a click on a token, here or in the figure that the
// question is about, or in words where it asks for something else. Every guess goes through `keep`.

import { inWords } from "../shared/bytes.ts";
import { hear, make, roving, tokenButtons } from "../shared/elements.ts";
import { onGuess, stageOfGuess } from "../shared/guessing.ts";
import { quoted } from "../shared/quoted.ts";
import { part } from "../shared/streamlit_bridge.ts";

/** `tokens`: labels of those that may be the answer, none if it is no token; `answer`: "" where the figure gives it. */
type Data = [name: string, question: string, tokens: string[], answer: string];

/** the position of a token and how it is named; null for words */
type Guess = { at: number | null; words: string };

class Question {
  data: Data = ["", "", [], ""];
  guess: Guess | null = null;
  marked: HTMLElement | null = null; // the token of the figure that was clicked
  asks = make("p");
  tokens = make("div", { className: "tokens", role: "group", ariaLabel: "Your guess" });
  box = make("input", { ariaLabel: "Your guess", placeholder: "Your guess", maxLength: 60 });
  said = make("p", { className: "guessed", role: "status" });

  node = make("div", { className: "view question" }, this.asks, this.tokens, this.box, this.said);
  ends = [onGuess(() => this.follow()), hear(document, ["click"], (event) => this.click(event), true)];

  constructor(parent: ShadowRoot) {
    this.box.onchange = () => this.keep({ at: null, words: this.box.value.trim() });
    roving(this.tokens);
    parent.append(this.node);
  }

  take(data: Data) {
    const isSame = JSON.stringify(data) === JSON.stringify(this.data);
    this.data = data;
    if (isSame) return;
    const [, question, tokens] = data;
    this.asks.textContent = question;
    tokenButtons(this.tokens, { labels: tokens, tokens }, 0);
    this.forget();
  }

  /** A click on a token while values are hidden is an answer, and nothing else. */
  click(event: MouseEvent) {
    const [name, , tokens] = this.data;
    if (stageOfGuess() !== "hidden" || !tokens.length) return;
    const path = event.composedPath().filter((node) => node instanceof HTMLElement);
    const token = path.find((node) => node.matches("button[data-position]"));
    if (!token || !path.some((node) => node === this.node || node.matches(`.st-key-hidden-${name}`))) return;
    event.stopPropagation();
    event.preventDefault();
    this.mark(path.includes(this.node) ? null : token);
    const at = Number(token.dataset.position);
    const words = token.ariaLabel ?? token.querySelector(".label")?.textContent ?? tokens[at];
    this.keep({ at, words: words === inWords(tokens[at] ?? "") ? inWords(quoted(tokens, at)) : `“${words}”` });
  }

  mark(token: HTMLElement | null) {
    this.marked?.removeAttribute("data-guessed");
    token?.setAttribute("data-guessed", "");
    this.marked = token;
  }

  keep(guess: Guess) {
    this.guess = guess.words ? guess : null;
    this.write();
  }

  forget() {
    this.mark(null);
    this.box.value = "";
    this.keep({ at: null, words: "" });
  }

  follow() {
    if (stageOfGuess() === "shown") this.write();
    else this.forget();
  }

  write() {
    const { guess } = this;
    const [, , tokens, found] = this.data;
    const isShown = stageOfGuess() === "shown";
    this.node.hidden = isShown && !guess;
    this.tokens.hidden = isShown || !tokens.length;
    this.box.hidden = isShown || tokens.length > 0;
    for (const [n, node] of [...this.tokens.children].entries()) node.ariaPressed = String(n === guess?.at);
    const answer = isShown && found ? ` The model: ${found}.` : "";
    this.said.textContent = guess ? `Guessed: ${guess.at === null ? `“${guess.words}”` : guess.words}.${answer}` : "";
  }

  leave = () => {
    this.mark(null);
    for (const end of this.ends) end();
  };
}

export default part<Data>(({ parent }) => new Question(parent));
