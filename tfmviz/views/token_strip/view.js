// The reader's text reaches the page through textContent and attributes only, never as HTML.

export default function ({ data, parentElement, setTriggerValue }) {
  let strip = parentElement.querySelector(".strip");
  if (!strip) {
    strip = document.createElement("div");
    strip.className = "strip";
    strip.setAttribute("role", "group");
    strip.setAttribute("aria-label", "The sentence, token by token. Choose a token to see what it looks at.");
    strip.addEventListener("click", (event) => pick(event.target.closest("button")));
    strip.addEventListener("keydown", move);
    parentElement.append(strip);
  }
  strip._pick = (position) => setTriggerValue("picked", position);
  strip.replaceChildren(...data.tokens.map((token, position) => chip(token, position, position === data.chosen)));
  const chosen = strip.children[data.chosen];
  strip.scrollTop = chosen.offsetTop - strip.clientHeight / 2; // a long text scrolls within the strip

  function pick(button) {
    if (button) strip._pick(Number(button.dataset.position));
  }

  // Arrow keys move between tokens; the event stops here so that page shortcuts do not fire as well.
  function move(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.stopPropagation();
    event.preventDefault();
    const buttons = [...strip.children];
    buttons[buttons.indexOf(event.target) + step]?.focus();
  }
}

function chip(token, position, chosen) {
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.position = position;
  button.title = token.title;
  button.setAttribute("aria-pressed", chosen);
  const masked = token.weight === null;
  button.classList.toggle("masked", masked);
  button.style.setProperty("--shade", masked ? 0 : Math.sqrt(token.weight)); // small weights stay visible
  button.append(line("label", token.label), line("weight", masked ? "–" : number(token.weight)));
  return button;
}

function line(kind, text) {
  const span = document.createElement("span");
  span.className = kind;
  span.textContent = text;
  return span;
}

function number(weight) {
  if (weight >= 0.995) return "1.0";
  return weight < 0.005 ? "·" : weight.toFixed(2).slice(1);
}
