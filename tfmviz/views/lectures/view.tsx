// Lists of links: lectures with their steps, groups of pages with their tabs. What is long is folded.

import { Fragment, render } from "preact";
import { make } from "../shared/elements.ts";
import { follow, kept } from "../shared/going.ts";
import { part } from "../shared/streamlit_bridge.ts";

// What a page is about: a few strokes in a box of 48 × 32, which nobody takes for numbers of a model.
const FUNNEL = "M4 4l16 9v6l-16 9M44 4l-16 9v6l16 9M20 16h8";
const TREE = "M6 5l18 11l-18 11M24 16h18";
const FALLS = "M6 4v24h38M9 5c3 18 12 20 33 20";
const GROWS = "M6 4v24h38M9 26c20-1 28-8 32-21";

const SIGNS: Record<string, string> = {
  bottleneck: FUNNEL,
  complexity: GROWS,
  counting: "M6 7h36M6 16h22M6 25h12",
  efficient: "M10 4h6v6h6v6h6v6h6v6M16 4h6v6h6v6h6v6",
  explorer: "M6 26a9 9 0 0 1 18 0M6 26a18 18 0 0 1 36 0M24 26a9 9 0 0 1 18 0",
  feed_forward: "M6 16L24 4l18 12L24 28zM6 16h36",
  ladder: "M6 27h9v-7h9v-7h9v-7h9",
  masks: "M10 4h7v6h7v6h7v6h7v6h-28z",
  normalisation: "M4 27c12 0 14-22 20-22s8 22 20 22M24 5v22",
  positions: "M4 16q5-18 10 0t10 0t10 0t10 0M4 16q10-18 20 0t20 0",
  positions_compare: "M10 4l28 24M10 16l14 12M24 4l14 12",
  positions_rope: "M24 4a12 12 0 1 0 .01 0M24 8v8l7 4",
  recipe: FALLS,
  residual_stream: "M4 16h40M10 16v-9h10v9M28 16v9h10v-9",
  size: GROWS,
  step_by_step: "M10 4h28v24h-28zM10 12h28M10 20h28M19 4v24M29 4v24",
  switch_off: TREE,
  tokens: "M3 11h9v10h-9zM15 11h18v10h-18zM36 11h9v10h-9z",
  training: FALLS,
  translating: FUNNEL,
  whole_model: "M6 4h36v6h-36zM6 13h36v6h-36zM6 22h36v6h-36z",
  why: TREE,
  writing: "M5 24h24M35 7v18M32 7h6M32 25h6",
};

type Link = [text: string, address: string];

type Entry = {
  title: string;
  address: string;
  says: string[];
  takes: string; // on the line that unfolds the links
  shows: [page: string, Link][]; // some of the links, by the pages that they lead to
  folded: [name: string, Link[]][]; // with names over them
};

/** `of`: what is folded; `opens`: an entry's link, if its title is none; `keeps` the sentence; `groups`: JSON */
type Data = { of: string; opens: string; keeps: boolean; groups: string };

export default part<Data>((parent) => {
  const body = parent.appendChild(make("div", { className: "view" }));
  return {
    take: ({ of, opens, keeps, groups }: Data) => {
      const link = ([text, address]: Link, label?: string) => (
        <a aria-label={label} href={keeps ? kept(address) : address} onClick={follow}>
          {text}
        </a>
      );
      const sign = ([page, [says, address]]: [string, Link]) => (
        <a key={address} href={address} onClick={follow}>
          <svg viewBox="0 0 48 32">
            <title>{says}</title>
            <path d={SIGNS[page]} />
          </svg>
        </a>
      );
      const entry = ({ title, address, says, takes, shows, folded }: Entry, Heading: "h2" | "h3") => (
        <section key={title}>
          <Heading>{opens ? title : link([title, address])}</Heading>
          {shows.length > 0 && <div class="signs">{shows.map(sign)}</div>}
          {says.map((text) => (
            <p key={text}>{text}</p>
          ))}
          {opens && link([opens, address], `${opens} ${title}`)}
          {folded.length > 0 && (
            <details>
              <summary>
                {folded.flatMap(([, links]) => links).length} {of}
                {takes}
              </summary>
              {folded.map(([name, links], n) => (
                <Fragment key={name}>
                  {name && <h3>{name}</h3>}
                  <ol start={1 + folded.slice(0, n).flatMap(([, before]) => before).length}>
                    {links.map((one) => (
                      <li key={one[1]}>{link(one)}</li>
                    ))}
                  </ol>
                </Fragment>
              ))}
            </details>
          )}
        </section>
      );
      render(
        (JSON.parse(groups) as [name: string, entries: Entry[]][]).map(([name, entries]) => (
          <div key={name} class={name ? "group" : "cards"}>
            {name && <h2>{name}</h2>}
            {entries.map((one) => entry(one, name ? "h3" : "h2"))}
          </div>
        )),
        body,
      );
    },
  };
});
