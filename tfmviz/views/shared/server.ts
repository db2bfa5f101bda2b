// What Streamlit's page says of its server, and what is lost between two servers or two pages: one observer for all
// that stands on the page.

const [CONNECTION, SCRIPT] = ["data-test-connection-state", "data-test-script-state"];
const [CONNECTED, LOST] = ["CONNECTED", "DISCONNECTED_FOREVER"];
const BOXES = "[data-testid=stTextArea] textarea, [data-testid=stTextInput] input";

const FAILS = /delta path/; // "Bad delta path index 1 …", "Cannot set a node at a delta path"
const MOST = 3; // reloads within so many milliseconds: a page that fails at once each time is not to load for ever
const WITHIN = 30_000;
const TIMES = "tfmviz-stuck";

type Listener = { away?: () => void; back?: () => void };

declare global {
  var tfmvizServer: Set<Listener> | undefined;
}

const stateOf = (name: string) => document.querySelector(`[${CONNECTION}]`)?.getAttribute(name);

export const isAway = () => (stateOf(CONNECTION) ?? CONNECTED) !== CONNECTED;

/** Nothing runs, and the server is there: what stands on the page is all that comes. */
export const isReady = () => stateOf(CONNECTION) === CONNECTED && stateOf(SCRIPT) === "notRunning";

/**
 * Tells when the connection is lost and when it is back. There may be another server then, a replica or the same one
 * started anew, which knows nothing of the page and may ignore what the reader does until its first run has ended: if
 * the reader has done anything, `back` is called once more after that. Returns what ends this.
 */
export function onServer(listener: Listener) {
  globalThis.tfmvizServer ??= watch();
  globalThis.tfmvizServer.add(listener);
  return () => globalThis.tfmvizServer?.delete(listener);
}

/** Without an end: between two pages, where answers come late, no view is there that could ask for it. */
function watch() {
  const listeners = new Set<Listener>();
  const tell = (news: keyof Listener) => {
    for (const listener of [...listeners]) listener[news]?.();
  };
  let before = stateOf(CONNECTION);
  let [isAwaited, hasBegun, wasTouched] = [false, false, false]; // the new server's first run, and the reader since
  const look = () => {
    const now = stateOf(CONNECTION);
    const [wasAway, isNew] = [before !== CONNECTED, before !== now];
    before = now;
    if (isNew && now === LOST) reload(); // the server has named a message that the browser had just forgotten
    if (now !== CONNECTED) {
      // Streamlit disables its boxes, and would let every key fall. They are opened before the browser looks where the
      // cursor is, so it stays; what is entered Streamlit sends when the connection is back.
      for (const box of document.querySelectorAll(BOXES)) box.removeAttribute("disabled");
      if (!wasAway) tell("away");
    } else if (wasAway) {
      [isAwaited, hasBegun, wasTouched] = [true, false, false];
      tell("back");
    } else if (isAwaited && !isReady()) hasBegun = true;
    else if (isAwaited && hasBegun) {
      isAwaited = false;
      if (wasTouched) tell("back");
    }
  };
  const app = document.querySelector(`[${CONNECTION}]`);
  const attributeFilter = [CONNECTION, SCRIPT, "disabled"];
  if (app) new MutationObserver(look).observe(app, { attributeFilter, subtree: true });
  const touch = () => {
    wasTouched = true;
  };
  for (const event of ["keydown", "click"]) document.addEventListener(event, touch, true);
  // What is clicked just before a page is left may be answered after that. Where Streamlit has no place for the answer
  // it fails, and tries the same answer first at all that comes later.
  const fail = (event: ErrorEvent | PromiseRejectionEvent) => {
    const error = "reason" in event ? event.reason : event.error;
    if (FAILS.test(String(error?.message ?? ""))) reload();
  };
  window.addEventListener("error", fail);
  window.addEventListener("unhandledrejection", fail);
  return listeners;
}

/** Loads a page anew that nothing reaches any more: its address holds what is on it. */
function reload() {
  const now = Date.now();
  const times = (sessionStorage.getItem(TIMES)?.split(",") ?? []).filter((time) => now - Number(time) < WITHIN);
  if (times.length >= MOST) return;
  sessionStorage.setItem(TIMES, [...times, now].join());
  location.reload();
}
