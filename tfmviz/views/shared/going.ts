// Going to another address of the app.

/** Asks Streamlit for the page of the address that the browser shows. */
export const turn = () => window.dispatchEvent(new PopStateEvent("popstate"));

/** What the event of `go` carries: the reader means this address, and it is no late answer of Streamlit's. */
export const MEANT = "meant";

/** Goes to an address as the browser's back button would: Streamlit draws its page, and the app is not loaded anew. */
export function go(address: string) {
  history.pushState({}, "", address);
  window.dispatchEvent(new PopStateEvent("popstate", { state: MEANT }));
}

const KEPT = ["text", "model", "kind", "layer", "head", "projector"];

/** An address with what the reader has chosen for all pages, unless it says something else. */
export function kept(address: string, names = KEPT) {
  const [page, own] = address.split("?");
  const chosen = new URLSearchParams(location.search);
  const choices = names.filter((name) => chosen.has(name)).map((name) => [name, chosen.get(name) ?? ""]);
  const all = new URLSearchParams({ ...Object.fromEntries(choices), ...Object.fromEntries(new URLSearchParams(own)) });
  return all.size ? `${page}?${all}` : page;
}

/** A click on a link: goes there without loading the app anew, unless it asks for another tab or window. */
export function follow(event: MouseEvent, visit: (address: string) => void = go) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  visit((event.currentTarget as HTMLAnchorElement).href);
}
