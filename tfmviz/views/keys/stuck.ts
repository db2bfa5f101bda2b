// A page that nothing reaches any more. What is clicked just before a page is left may be answered after that; where
// Streamlit has no place for the answer, it fails, and tries the same answer first at all that comes later. Or the
// server refers to a message that the browser has just forgotten; then Streamlit gives the connection up.

const STATE = "data-test-connection-state";
const LOST = "DISCONNECTED_FOREVER";

const FAILS = /delta path/; // "Bad delta path index 1 …", "Cannot set a node at a delta path"

const MOST = 3; // times within so many milliseconds: a page that fails at once each time is not to load for ever
const WITHIN = 30_000;
const TIMES = "tfmviz-stuck";

/**
 * Loads the page anew when it is stuck: its address holds what is on it. Whoever asks for this again changes nothing,
 * and it has no end: between two pages, where answers come late, no view is there that could ask.
 */
export function reloadIfStuck(reload: () => void = () => location.reload()) {
  const page = globalThis as typeof globalThis & { tfmvizReloads?: boolean };
  if (page.tfmvizReloads) return;
  page.tfmvizReloads = true;
  const again = () => {
    const now = Date.now();
    const times = (sessionStorage.getItem(TIMES)?.split(",") ?? []).filter((time) => now - Number(time) < WITHIN);
    if (times.length >= MOST) return;
    sessionStorage.setItem(TIMES, [...times, now].join());
    reload();
  };
  const fail = (event: ErrorEvent | PromiseRejectionEvent) => {
    const error = "reason" in event ? event.reason : event.error;
    if (FAILS.test(String(error?.message ?? ""))) again();
  };
  const app = document.querySelector(`[${STATE}]`);
  const look = () => app?.getAttribute(STATE) === LOST && again();
  if (app) new MutationObserver(look).observe(app, { attributeFilter: [STATE] });
  window.addEventListener("error", fail);
  window.addEventListener("unhandledrejection", fail);
}
