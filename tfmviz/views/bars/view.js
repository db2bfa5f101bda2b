// Probabilities as bars, the largest first; a bar as long as its ground would be certainty. Labels become text, never
// HTML.

/** @typedef {[label: string, probability: number, written: string]} Row how it is written stands at the end */

/** @param {{data: Row[], parentElement: any}} component */
export default function ({ data, parentElement }) {
  parentElement.list_ ??= parentElement.appendChild(document.createElement("ol"));
  parentElement.list_.replaceChildren(...data.map(row));
}

/** @param {Row} row */
function row([label, probability, written]) {
  const node = document.createElement("li");
  const [name, bar, number, track] = ["label", "bar", "number", "track"].map((className) =>
    Object.assign(document.createElement("span"), { className }),
  );
  name.textContent = label;
  name.dir = "auto";
  bar.style.width = `${100 * probability}%`;
  number.textContent = written;
  track.append(bar, number);
  node.append(name, track);
  return node;
}
