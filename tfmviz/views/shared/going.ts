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

/** Whether a click on a link asks for another tab or window. */
export const isElsewhere = (event: MouseEvent) => event.ctrlKey || event.metaKey || event.shiftKey;
