// Ties a view to Streamlit. A view and what Python has chosen for it are two components, so that the data do not travel
// again when only the choice changes; the two find each other by the view's key, whichever comes first.

/** @import { Page, Shell } from "./shell.js" */

/**
 * What Streamlit hands to a component each time it draws it. What is kept for the next time is kept on the element.
 * @typedef {object} Component
 * @property {any} data
 * @property {any} parentElement
 * @property {(name: string, value: any) => void} setStateValue
 * @property {(name: string, value: any) => void} setTriggerValue
 */

/**
 * What a view does for Streamlit. One in which a pass of the model is changed says how.
 * @typedef {{edited?: () => string | undefined}} Edited
 * @typedef {Pick<Shell, "show" | "select" | "mirror" | "followLook" | "leave"> & Edited} View
 */

/**
 * A view, the data and the choice that Python has for it last. What is called `live` here is told when data come, and
 * when the reader touches a view; then it says whether pictures follow at once.
 * @typedef {{view?: View | null, data?: any, selection?: any, told?: (key: string) => void,
 *   touched?: () => boolean}} Meeting
 */

/**
 * What is known of the view with this key.
 * @param {string} key
 * @returns {Meeting}
 */
export function meetingOf(key) {
  const page = /** @type {typeof globalThis & {tfmvizViews?: Record<string, Meeting>}} */ (globalThis);
  page.tfmvizViews ??= {};
  page.tfmvizViews[key] ??= {};
  return page.tfmvizViews[key];
}

/**
 * The key that Python gave to a component: Streamlit names the element around it `st-key-…`.
 * @param {{host: Element}} parentElement
 */
export function keyOf({ host }) {
  const named = host.closest('[class*="st-key-"]');
  return /(?:^|\s)st-key-([\w-]+)/.exec(named?.getAttribute("class") ?? "")?.[1] ?? "";
}

/**
 * A component that makes its view once, and then shows it what is new. It returns what to do when it leaves the page.
 * @param {(parent: HTMLElement, page: Page) => View} makeView
 * @returns {(component: Component) => () => void}
 */
export const component =
  (makeView) =>
  ({ data, parentElement, setStateValue, setTriggerValue }) => {
    const key = keyOf(parentElement);
    const meeting = meetingOf(key);
    parentElement.page_ ??= {};
    Object.assign(parentElement.page_, {
      report: (/** @type {any} */ selection) => setStateValue("selection", selection),
      pick: (/** @type {any} */ value) => setTriggerValue("picked", value),
      beside: (/** @type {string[]} */ views, /** @type {any} */ seen) =>
        views.map((key) => meetingOf(key).view?.mirror(seen)).includes(true),
      touched: () => meetingOf("live").touched?.() ?? false,
    });
    parentElement.view_ ??= makeView(parentElement, parentElement.page_);
    /** @type {View} */
    const view = parentElement.view_;
    meeting.view = view;
    if (parentElement.data_ !== data) {
      const isFirst = !parentElement.data_;
      parentElement.data_ = meeting.data = data;
      view.show(data);
      if (isFirst && meeting.selection) view.select(meeting.selection); // later ones find the view themselves
      meetingOf("live").told?.(key);
    } else view.followLook();
    return () => {
      if (meeting.view === view) meeting.view = null;
      view.leave();
    };
  };
