// The tree of a beam search as a Streamlit component. A page may hold several, so each stands for itself.

import { BeamTree } from "./tree.js";

/**
 * @param {{data: any, parentElement: any, setTriggerValue: (name: string, value: any) => void}} component
 */
export default function ({ data, parentElement, setTriggerValue }) {
  parentElement.pick_ = (/** @type {number | null} */ n) => setTriggerValue("picked", n ?? -1);
  parentElement.view_ ??= new BeamTree(parentElement, (/** @type {number | null} */ n) => parentElement.pick_(n));
  const view = parentElement.view_;
  if (parentElement.data_ !== data) {
    parentElement.data_ = data;
    view.show(data);
  } else view.followTheme();
  return () => view.leave();
}
