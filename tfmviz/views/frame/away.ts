// While the server is away the page says so, and its boxes go on taking what is typed. Streamlit would disable them,
// and let every key fall. It keeps what is in a box, and sends what was entered when the connection is there again.

const CONNECTION = "data-test-connection-state";
const BOXES = "[data-testid=stTextArea] textarea, [data-testid=stTextInput] input";

export const AWAY = "Connection lost. Your text stays in its box.";

/** Says whenever the connection is lost, or "" when it is there again. Returns what ends this. */
export function watchConnection(say: (sentence: string) => void) {
  const app = document.querySelector(`[${CONNECTION}]`);
  const look = () => {
    const isAway = app?.getAttribute(CONNECTION) !== "CONNECTED";
    say(isAway ? AWAY : "");
    if (!isAway) return;
    // Before the browser looks where the cursor is now: it stays.
    for (const box of document.querySelectorAll(BOXES)) box.removeAttribute("disabled");
  };
  const observer = new MutationObserver(look);
  if (app) observer.observe(app, { attributeFilter: [CONNECTION, "disabled"], subtree: true });
  return () => observer.disconnect();
}
