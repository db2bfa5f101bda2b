// What Streamlit's menu lacks: the group of the open page is marked, and on a phone the menu closes after a tap. And on
// every page the word that the server is away.

import { make, put } from "../shared/elements.ts";
import { part } from "../shared/meet.ts";
import { watchConnection } from "./away.ts";

const PHONE = "(max-width: 768px)"; // where Streamlit lays the menu over the page

export default part<{ group: string }>((parent) => {
  let group = "";
  const away = parent.appendChild(make("p", { role: "status" }));
  const endWatch = watchConnection((sentence) => put(away, { textContent: sentence }));
  const watcher = new MutationObserver(() => mark(group)); // Streamlit draws the menu anew for another width
  watcher.observe(document.body, { childList: true, subtree: true, attributeFilter: ["inert"] });
  document.addEventListener("click", closeMenu);
  const take = (data: { group: string }) => {
    group = data.group;
    mark(group);
  };
  const leave = () => {
    watcher.disconnect();
    endWatch();
    document.removeEventListener("click", closeMenu);
  };
  return { take, leave };
});

/** Marks the group of the open page, or “5 more” if there is no room for the group. */
function mark(group: string) {
  const sections = [...document.querySelectorAll("[data-testid=stTopNavSection]")];
  const own = sections.find(({ textContent }) => textContent === group);
  const more = sections.find(({ textContent }) => /^\d+ more$/.test(textContent ?? ""));
  const marked = own?.closest("[inert]") ? more : own;
  for (const node of sections) {
    if ((node === marked) === node.hasAttribute("aria-current")) continue;
    if (node === marked) node.setAttribute("aria-current", "true");
    else node.removeAttribute("aria-current");
  }
}

function closeMenu({ target }: MouseEvent) {
  if (!(target instanceof Element) || !target.closest("[data-testid=stSidebarNavLink]")) return;
  if (!matchMedia(PHONE).matches) return;
  (document.querySelector("[data-testid=stSidebarCollapseButton] button") as HTMLElement | null)?.click();
}
