// The list of lectures: every step is a link with what to say there.

import { make } from "../shared/elements.ts";

type Lecture = { title: string; steps: [say: string, address: string][] };

export default function ({
  data,
  parentElement,
}: {
  data: Lecture[];
  parentElement: ShadowRoot & { list_?: HTMLElement };
}) {
  parentElement.list_ ??= parentElement.appendChild(make("div", { className: "view" }));
  parentElement.list_.replaceChildren(...data.map(lecture));
}

function lecture({ title, steps }: Lecture) {
  const links = steps.map(([textContent, href]) => make("li", {}, make("a", { href, textContent })));
  return make("section", {}, make("h2", { textContent: title }), make("ol", {}, ...links));
}
