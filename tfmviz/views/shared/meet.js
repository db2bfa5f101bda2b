// Ties a view to Streamlit. A view has `show(data)`, `select(selection)`, `redraw()` and `leave()`; it reports through
// the function it is made with.

export function meet(name, makeView, { data, parentElement, setStateValue }) {
  const meeting = ((globalThis.tfmvizViews ??= {})[name] ??= {});
  parentElement.report_ = (selection) => setStateValue("selection", selection);
  const view = (parentElement.view_ ??= makeView(parentElement, (selection) => parentElement.report_(selection)));
  meeting.view = view;
  if (parentElement.data_ !== data) {
    parentElement.data_ = data;
    view.show(data);
    if (meeting.selection) view.select(meeting.selection);
  } else view.redraw(); // the page turned dark or light
  return () => {
    if (meeting.view === view) meeting.view = null;
    view.leave();
  };
}
