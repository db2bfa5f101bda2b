// The list of lectures: every step is a link with what to say there.

import { make } from "../shared/elements.ts";
import { part } from "../shared/meet.ts";

type Lecture = { title: string; steps: [say: string, address: string][] };

function lecture({ title, steps }: Lecture) {
  const links = steps.map(([textContent, href]) => make("li", {}, make("a", { href, textContent })));
  return make("section", {}, make("h2", { textContent: title }), make("ol", {}, ...links));
}

export default part<Lecture[]>((parent) => {
  const list = parent.appendChild(make("div", { className: "view" }));
  return { take: (lectures) => list.replaceChildren(...lectures.map(lecture)) };
});
