// A page that nothing reaches any more. What is clicked just before a page is left may be answered after that; where
// Streamlit has no place for the answer, it fails, and tries the same answer first at all that comes later.

const FAILS = /delta path/; // "Bad delta path index 1 …", "Cannot set a node at a delta path"

const NOT_AGAIN = 10_000; // milliseconds: a page that fails at once each time is not to load for ever
const LAST = "tfmviz-stuck";

/**
 * Loads the page anew when it is stuck: its address holds what is on it. Returns what ends this.
 * @param {() => void} [reload]
 */
export function reloadIfStuck(reload = () => location.reload()) {
  /** @param {ErrorEvent | PromiseRejectionEvent} event */
  const fail = (event) => {
    const error = "reason" in event ? event.reason : event.error;
    if (!FAILS.test(String(error?.message ?? ""))) return;
    if (Date.now() - Number(sessionStorage.getItem(LAST)) < NOT_AGAIN) return;
    sessionStorage.setItem(LAST, String(Date.now()));
    reload();
  };
  window.addEventListener("error", fail);
  window.addEventListener("unhandledrejection", fail);
  return () => {
    window.removeEventListener("error", fail);
    window.removeEventListener("unhandledrejection", fail);
  };
}
