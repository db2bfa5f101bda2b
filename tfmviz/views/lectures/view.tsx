// Lists of links: lectures with their steps, groups of pages with their tabs. What is long is folded.

import { Fragment, render } from "preact";
import { make } from "../shared/elements.ts";
import { follow, kept } from "../shared/going.ts";
import { part } from "../shared/streamlit_bridge.ts";
import signs from "./signs.json" with { type: "json" };

/** What a page is about: a few strokes in a box of 48 × 32, which nobody takes for numbers of a model. */
const SIGNS: Record<string, string> = signs;

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

export default part<Data>(({ parent }) => {
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
