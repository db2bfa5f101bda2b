// Texts cut into pieces: a table with a row for each way to cut. All of it becomes text, never HTML.

import { figureOf } from "../shared/drawn.ts";
import { make } from "../shared/elements.ts";
import { numberIn } from "../shared/table.ts";
import { component, ViewBase } from "../shared/view_base.ts";

type Piece = [text: string, kind: string, ...below: string[]];
type Row = { name: string; note: string; pieces: Piece[]; left_out: number };
type Pieces = { caption: string; titles: string[]; rows: Row[] };

const SAID = {
  part: "part of a character",
  mark: "a special token",
  next: "merged next",
  new: "new",
  only: "only here",
  tap: "one tap",
};

class Cuts extends ViewBase {
  data!: Pieces; // from the first `show` on
  body = make("div");
  node = this.mount({ className: "pieces" }, this.body, this.bar());

  get title() {
    return this.data.caption || "Pieces";
  }

  draw() {
    const { caption, titles, rows } = this.data;
    const head = titles.map((title) => make("th", { scope: "col", textContent: title }));
    const parts = [make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows.map(row))];
    const table = make("table", { ariaLabel: caption }, ...parts);
    this.body.replaceChildren(make("p", { textContent: caption, hidden: !caption }), table);
  }

  figure() {
    return { ...figureOf(this.body), name: "pieces", title: this.title, caption: "" };
  }

  values() {
    const { titles, rows } = this.data;
    const below = Math.max(0, ...rows.flatMap(({ pieces }) => pieces.map((piece) => piece.length - 2)));
    return {
      title: this.title,
      columns: [...titles, ...Array.from({ length: below }, (_, n) => `line ${n + 1} below`)],
      rows: rows.flatMap(({ name, note, pieces }) =>
        pieces.map(([text, , ...lines]) => {
          const filled = Array.from({ length: below }, (_, n) => numberIn(lines[n] ?? ""));
          return [name, note, text, ...filled];
        }),
      ),
    };
  }
}

function row({ name, note, pieces, left_out }: Row) {
  const boxes = pieces.map(pieceBox);
  if (left_out)
    boxes.push(make("li", { className: "rest", textContent: `… and ${left_out.toLocaleString("en")} more` }));
  const head = make("th", { scope: "row", textContent: name, dir: "auto" });
  const about = make("td", { className: "note", textContent: note });
  return make("tr", {}, head, about, make("td", {}, make("ol", {}, ...boxes)));
}

function pieceBox([text, kind, ...below]: Piece) {
  const said = SAID[kind as keyof typeof SAID];
  const node = make("li", { className: kind, title: said ? `${text}: ${said}` : text });
  node.append(make("span", { textContent: text, dir: "auto" }));
  if (said) node.append(make("span", { className: "unseen", textContent: `(${said})` }));
  for (const line of below) node.append(make("span", { className: "below", textContent: line }));
  return node;
}

export default component((parent, page) => new Cuts(parent, page));
