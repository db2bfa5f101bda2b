// Ties a view to Streamlit. A view and what Python has chosen for it (`views/selection`) are two components, which
// find each other by the view's key, whichever comes first.

import type { Answer, Page, ViewBase } from "./view_base.ts";

/** The root under which a view is drawn, and what is kept there from one time to the next. */
type Kept = HTMLElement & { host: Element; page_?: Page; view_?: View; data_?: unknown };

/** What Streamlit hands to a component each time it draws it. What is kept for the next time is kept on the element. */
interface Component {
  data: unknown;
  parentElement: Kept;
  setStateValue: (name: string, value: unknown) => void;
  setTriggerValue: (name: string, value: unknown) => void;
}

/** What a view does for Streamlit. One in which a pass of the model is changed says how. */
type Edited = { edited?: () => string | undefined };
type View = Pick<ViewBase, "show" | "select" | "mirror" | "followLook" | "leave" | "locate"> & Edited;

/** A view, and what Python has said last. `live` is told of data and touches, and says whether pictures follow. */
type RegistryEntry = {
  view?: View | null;
  data?: unknown;
  selection?: Answer;
  onData?: (key: string) => void;
  onChange?: () => boolean;
};

declare global {
  var tfmvizViews: Record<string, RegistryEntry> | undefined;
}

export function registryEntry(key: string): RegistryEntry {
  globalThis.tfmvizViews ??= {};
  globalThis.tfmvizViews[key] ??= {};
  return globalThis.tfmvizViews[key];
}

/** The key that Python gave to a component: Streamlit names the element around it `st-key-…`. */
export function keyOf({ host }: { host: Element }) {
  const named = host.closest('[class*="st-key-"]');
  return /(?:^|\s)st-key-([\w-]+)/.exec(named?.getAttribute("class") ?? "")?.[1] ?? "";
}

/** A component that makes its view once, then shows it what is new. It returns what to do when it leaves the page. */
export const component =
  (makeView: (parent: HTMLElement, page: Page) => View): ((component: Component) => () => void) =>
  ({ data, parentElement, setStateValue, setTriggerValue }) => {
    const key = keyOf(parentElement);
    const meeting = registryEntry(key);
    parentElement.page_ ??= {};
    Object.assign(parentElement.page_, {
      report: (selection: unknown) => setStateValue("selection", selection),
      pick: (value: unknown) => setTriggerValue("picked", value),
      beside: (views: string[], seen: object) =>
        views.map((key) => registryEntry(key).view?.mirror(seen)).includes(true),
      onChange: () => registryEntry("live").onChange?.() ?? false,
    });
    parentElement.view_ ??= makeView(parentElement, parentElement.page_);
    const view: View = parentElement.view_;
    meeting.view = view;
    if (parentElement.data_ !== data) {
      const isFirst = !parentElement.data_;
      parentElement.data_ = meeting.data = data;
      view.show(data);
      if (isFirst && meeting.selection) view.select(meeting.selection); // later ones find the view themselves
      registryEntry("live").onData?.(key);
    } else view.followLook();
    return () => {
      if (meeting.view === view) meeting.view = null;
      view.leave();
    };
  };

/** Something on the page that is no view: it may take data each time, and ends when it leaves the page. */
type Part<Data> = { take?: (data: Data) => void; leave?: () => void };
type Trigger = Component["setTriggerValue"];
type Ends = (() => void)[];
type KeptPart<Data> = ShadowRoot & { part_?: Part<Data>; trigger_?: Trigger; ends_?: Ends };
/** with the first data; `trigger` tells Python something, once; what `atEnd` is given is called when the part leaves */
type Around<Data> = { parent: ShadowRoot; data: Data; trigger: Trigger; atEnd: (...ends: Ends) => void };

/** A component that builds such a part. */
export const part =
  <Data>(build: (around: Around<Data>) => Part<Data>) =>
  (drawn: { data: Data; parentElement: KeptPart<Data>; setTriggerValue: Trigger }) => {
    const { data, parentElement: kept } = drawn;
    kept.trigger_ = drawn.setTriggerValue;
    kept.ends_ ??= [];
    const { ends_: ends } = kept;
    const trigger: Trigger = (name, value) => kept.trigger_?.(name, value);
    kept.part_ ??= build({ parent: kept, data, trigger, atEnd: (...more) => ends.push(...more) });
    kept.part_.take?.(data);
    return () => {
      for (const end of ends) end();
      kept.part_?.leave?.();
    };
  };
