// Probabilities as bars, the largest first; a bar as long as its ground would be certainty. Labels become text, never
// HTML. With a run A and a run B each label has two bars.

import { figureOf } from "../shared/drawn.ts";
import { make, named } from "../shared/elements.ts";
import { growing } from "../shared/motion.ts";
import { barLength } from "../shared/numbers.ts";
import { component, ViewBase } from "../shared/view_base.ts";

/** of each bar its length, then how that is written */
type Row = [label: string, ...bars: (number | string)[]];

class Bars extends ViewBase {
  rows: Row[] = [];
  series: string[] = []; // the names of the runs, where there are two
  legend = make("p", { className: "legend" });
  list = make("ol");
  figureNode = make("div", {}, this.legend, this.list);
  node = this.mount({ className: "bars" }, this.figureNode, this.bar());

  /** @param data rows alone are of the runs that are known already */
  read(data: Row[] | { series: string[]; rows: Row[] }) {
    if (Array.isArray(data)) this.rows = data;
    else Object.assign(this, data);
  }

  draw() {
    this.legend.hidden = !this.series.length;
    this.legend.replaceChildren(...this.series.map((name) => make("span", {}, make("i"), make("span", {}, name))));
    const before = new Map([...this.list.children].map((node) => [nameOf(node), barsOf(node).map(widthOf)]));
    this.list.replaceChildren(...this.rows.map(row));
    for (const node of this.list.children) {
      const bars = barsOf(node);
      const old = before.get(nameOf(node));
      if (old?.length === bars.length) for (const [n, bar] of bars.entries()) growing(bar, old[n]);
    }
  }

  figure() {
    return { ...figureOf(this.figureNode), name: "shares", title: "Shares", caption: "" };
  }

  values() {
    const columns = ["name", ...(this.series.length ? this.series : ["share"])];
    const rows = this.rows.map(([label, ...bars]) => [label, ...bars.filter((_, n) => n % 2 === 0)]);
    return { title: "Shares", columns, rows };
  }
}

const nameOf = (node: Element) => node.firstElementChild?.textContent;
const barsOf = (node: Element) => [...node.querySelectorAll<HTMLElement>(".length")];
const widthOf = ({ clientWidth }: HTMLElement) => clientWidth;

function row([label, ...bars]: Row) {
  const tracks = [];
  for (let n = 0; n < bars.length; n += 2) {
    const bar = make("span", { className: "length", style: { width: barLength(Number(bars[n])) } });
    const number = make("span", { className: "number", textContent: bars[n + 1] });
    tracks.push(make("span", { className: "track" }, bar, number));
  }
  const name = named(label, { title: label });
  return make("li", {}, name, make("span", { className: "tracks" }, ...tracks));
}

export default component((parent, page) => new Bars(parent, page));
