// Small pictures of the sentence on the stage, each a link to its page. While another sentence is typed there, the
// links keep that one, and the pictures say of which they are.

import { render } from "preact";
import { contextOf } from "../shared/canvas.ts";
import { css } from "../shared/colours.ts";
import { make } from "../shared/elements.ts";
import { follow } from "../shared/going.ts";
import { Named } from "../shared/named.tsx";
import { perCent } from "../shared/numbers.ts";
import { bytesIn } from "../shared/record.ts";
import { component, ViewBase } from "../shared/view_base.ts";

/** Squares of `size` × `size` bytes in base64: shares of attention, or codes for masked and for hidden by hand. */
type Grids = { cells: string; size: number; across: number } & Record<"masked" | "hidden", number>;

type Door = {
  title: string;
  asks: string;
  says: string;
  address: string;
  own?: boolean; // the picture is of no sentence
  grids?: Grids;
  clocks?: [query: number, key: number][]; // angles of two hands
  river?: [kind: string, along: number][];
  lens?: [word: string, probability: number][];
};

class Doors extends ViewBase {
  data!: { text: string; doors: string }; // from the first `show` on
  text = ""; // that the links keep
  body = make("nav", { className: "doors", ariaLabel: "Pages about this sentence" });
  node = this.mount({ className: "" }, this.body);

  read(data: Doors["data"]) {
    this.data = data;
    this.text = data.text;
  }

  mirror({ text }: { text: string }) {
    if (this.data && text !== this.text) {
      this.text = text;
      this.redraw();
    }
    return true;
  }

  draw() {
    const doors: Door[] = JSON.parse(this.data.doors);
    const isOther = this.text !== this.data.text;
    render(
      doors.map((door) => (
        <a key={door.title} href={this.addressOf(door)} class={isOther && !door.own ? "other" : ""} onClick={follow}>
          <div class="picture" aria-hidden="true">
            {door.grids && <canvas ref={(canvas) => this.paint(canvas, door.grids)} />}
            {door.clocks && clocks(door.clocks)}
            {door.river && river(door.river)}
            {door.lens && lens(door.lens)}
          </div>
          <div>
            <h2>{door.title}</h2>
            <p>{door.asks}</p>
            <p class="says">{isOther && !door.own ? "The picture is of the sentence before." : door.says}</p>
          </div>
        </a>
      )),
      this.body,
    );
  }

  addressOf({ address }: Door) {
    const [page, query] = address.split("?");
    const choices = new URLSearchParams(query);
    choices.set("text", this.text);
    if (this.text !== this.data.text) choices.delete("token"); // of the other text
    return `${page}?${choices}`;
  }

  /** A pixel for each cell; the style makes them larger. */
  paint(canvas: HTMLCanvasElement | null, grids?: Grids) {
    if (!canvas || !grids) return;
    const { cells, size, across, masked, hidden } = grids;
    const bytes = bytesIn(cells);
    const [wide, high] = [across, Math.ceil(bytes.length / size / size / across)].map((n) => n * (size + 1) - 1);
    Object.assign(canvas, { width: wide, height: high });
    const pen = contextOf(canvas);
    for (const [n, byte] of bytes.entries()) {
      const [grid, cell] = [Math.floor(n / size / size), n % (size * size)];
      const x = (grid % across) * (size + 1) + (cell % size);
      const y = Math.floor(grid / across) * (size + 1) + Math.floor(cell / size);
      const shade = () => css(byte / (hidden - 1));
      pen.fillStyle = byte === masked ? this.colours.masked : byte === hidden ? this.colours.accent : shade();
      pen.fillRect(x, y, 1, 1);
    }
  }
}

const clocks = (angles: NonNullable<Door["clocks"]>) => {
  const across = Math.ceil(Math.sqrt(angles.length));
  return (
    <svg aria-hidden="true" viewBox={`0 0 ${across} ${Math.ceil(angles.length / across)}`}>
      {angles.map((hands, n) => (
        <g key={n} transform={`translate(${(n % across) + 0.5} ${Math.floor(n / across) + 0.5})`}>
          <circle r="0.44" />
          {hands.map((angle, of) => (
            <line key={of ? "k" : "q"} class={of ? "key" : ""} x2={0.4 * Math.cos(angle)} y2={-0.4 * Math.sin(angle)} />
          ))}
        </g>
      ))}
    </svg>
  );
};

const river = (parts: NonNullable<Door["river"]>) => {
  const ends = [0];
  for (const [, along] of parts) ends.push(ends[ends.length - 1] + along);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const x = (end: number) => (100 * (end - low)) / (high - low || 1);
  return (
    <svg aria-hidden="true" viewBox={`0 0 100 ${8 * parts.length}`} preserveAspectRatio="none">
      {parts.map(([kind], n) => {
        const [from, to] = [x(ends[n]), x(ends[n + 1])].sort((a, b) => a - b);
        return <rect key={n} class={kind} x={from} y={8 * n + 1} width={Math.max(to - from, 0.6)} height="6" />;
      })}
    </svg>
  );
};

const lens = (lines: NonNullable<Door["lens"]>) => (
  <table>
    {lines.map(([word, probability], layer) => (
      <tr key={layer}>
        <th>
          <Named label={word} />
        </th>
        <td>
          <span class="bar" style={{ width: perCent(probability) }} />
        </td>
      </tr>
    ))}
  </table>
);

export default component((parent, page) => new Doors(parent, page));
