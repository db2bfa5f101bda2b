// What the page around has chosen, on its way to the explorer: in a component of its own, so that a changed choice does
// not send the weights again.

export default function ({ data }) {
  const meeting = (globalThis.tfmvizExplorer ??= {});
  const details = data.details && Uint8Array.from(atob(data.details), (character) => character.charCodeAt(0));
  meeting.selection = { ...data, details };
  meeting.explorer?.select(meeting.selection);
}
