// A translation that grows word by word: lines of attention from the source, and a matrix with a row for each word.

import { render } from "preact";
import { largest } from "../shared/arrays.ts";
import { fresh, strokes } from "../shared/canvas.ts";
import { css, inkOn } from "../shared/colours.ts";
import { figureOf } from "../shared/drawn.ts";
import { arrowed, make, watched } from "../shared/elements.ts";
import { Head, Named, type Tool, Tools } from "../shared/named.tsx";
import { perCent, shortShare } from "../shared/numbers.ts";
import { quoted } from "../shared/quoted.ts";
import { component, ViewBase } from "../shared/view_base.ts";

type Data = { about: string; source: string[]; steps: Written[]; heads: string };

const BEAT = 600; // ms a word while playing
const FAINTEST = 0.04; // weaker looks have no line
const WIDE = 14; // words of a source up to which the cells hold numbers

class Translation extends ViewBase {
  data!: Data; // from the first `read` on
  asked: number | null = null; // how many words are written; null: all
  step: number | null = null; // the step that was chosen
  hovered: number | null = null; // the step under the pointer or the keyboard
  player: ReturnType<typeof setTimeout> | undefined;
  tools = make("div", { style: { display: "contents" } });
  body = this.watch(make("div", { className: "both" }), () => this.paintLines());
  node = this.mount(
    { className: "translating", ariaLabel: "A translation, word by word" },
    make("div", { className: "bar" }, this.tools, this.bar()),
    this.body,
  );

  leave() {
    super.leave();
    this.stop();
  }

  read(data: Data) {
    if (this.data && this.data.about !== data.about) {
      this.stop();
      this.asked = this.step = null;
    }
    this.data = data;
    this.hovered = null;
  }

  take({ shown, step }: { shown: number | null; step: number | null }) {
    this.asked = shown;
    this.step = step;
    if ((this.hovered ?? 0) >= this.shown) this.hovered = null;
    this.redraw();
  }

  chosen() {
    return { about: this.data?.about, shown: this.asked, step: this.step };
  }

  get isPlaying() {
    return this.player !== undefined;
  }

  get most() {
    return this.data?.steps.length ?? 0;
  }

  get shown() {
    return Math.max(0, Math.min(this.asked ?? this.most, this.most));
  }

  /** The step that is looked at: the one asked for if it is written, else the last one; null before the first. */
  get looked() {
    const [asked, last] = [this.hovered ?? this.step, this.shown - 1];
    return asked !== null && asked <= last ? asked : last < 0 ? null : last;
  }

  go(shown: number) {
    this.asked = shown >= this.most ? null : Math.max(0, shown);
    this.step = null;
    this.hovered = null;
    this.redraw();
    this.notify();
  }

  choose(step: number) {
    this.stop();
    this.step = step === this.step ? null : step;
    this.draw();
    this.notify(0);
  }

  hover(step: number, isOn: boolean) {
    if (isOn === (step === this.hovered)) return;
    this.hovered = isOn ? step : null;
    this.draw();
  }

  /** Plays, from the beginning if all is written; or pauses. */
  play() {
    const goes = !this.isPlaying;
    this.stop();
    this.touch();
    if (goes) {
      if (this.shown === this.most) this.go(0);
      this.player = setTimeout(() => this.tick(), BEAT);
    } else this.notify();
    this.draw();
  }

  tick() {
    this.player = this.shown + 1 < this.most ? setTimeout(() => this.tick(), BEAT) : undefined;
    this.go(this.shown + 1);
  }

  stop() {
    clearTimeout(this.player);
    this.player = undefined;
  }

  get sentence() {
    const { data, looked } = this;
    if (looked === null) return "The encoder has read the source, the decoder only the start token.";
    return stepSentence(data.steps[looked], data.source, looked);
  }

  draw() {
    const { source, steps, heads } = this.data;
    const { shown, looked, most } = this;
    const written = steps.slice(0, shown);
    const weights = looked === null ? null : steps[looked].weights;
    const jump = (to: number) => {
      this.stop();
      this.go(to);
    };
    const tools: Tool[] = [
      ["Next word", () => jump(shown + 1), shown >= most],
      ["Step back", () => jump(shown - 1), !shown],
      [this.isPlaying ? "Pause" : "Play", () => this.play(), false],
      ["To the end", () => jump(most), shown >= most],
      ["Start again", () => jump(0), !shown],
    ];
    render(<Tools tools={tools} />, this.tools);
    render(
      <>
        <div class="looks">
          <div class="pair">
            <canvas aria-hidden="true" />
            <p class="source" dir="auto" aria-label="Source">
              {source.map((text, k) => (
                <span style={weights ? shadeOf(weights[k]) : undefined}>{text}</span>
              ))}
            </p>
            <div class="target" role="group" aria-label="Translation" onKeyDown={(event) => arrowed(event)}>
              {written.map((step, n) => (
                <button
                  type="button"
                  class={n === looked ? "looked" : ""}
                  tabIndex={n === looked ? 0 : -1}
                  aria-label={stepSentence(step, source, n)}
                  aria-pressed={n === this.step}
                  onClick={() => this.choose(n)}
                  {...watched((isOn) => this.hover(n, isOn))}
                >
                  <b>
                    <Named label={step.writes} />
                  </b>
                  <small>
                    <Named label={step.reads} />
                  </small>
                </button>
              ))}
            </div>
          </div>
          <p class="says">{this.sentence}</p>
        </div>
        <div class="scroller" tabIndex={0} role="group" aria-label="Attention">
          <table class="matrix" hidden={!shown}>
            <caption>{heads}</caption>
            <Head names={["reads → writes", ...source]} />
            <tbody>
              {written.map((step, n) => (
                <tr class={n === looked ? "looked" : ""} {...watched((isOn) => this.hover(n, isOn))}>
                  <th scope="row">
                    <Named label={`${step.reads} → ${step.writes}`} />
                  </th>
                  {step.weights.map((weight) => (
                    <td title={perCent(weight)} style={shadeOf(weight)}>
                      {source.length > WIDE ? <span class="unseen">{perCent(weight)}</span> : shortShare(weight)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </>,
      this.body,
    );
    this.paintLines();
  }

  get pair() {
    return this.body.querySelector(".pair") as HTMLElement;
  }

  paintLines() {
    if (!this.width) return;
    const { colours } = this;
    const frame = this.pair.getBoundingClientRect();
    const boxesOf = (kind: string) => [...this.pair.querySelectorAll(kind)].map((node) => node.getBoundingClientRect());
    const [words, written] = [".source span", ".target button"].map(boxesOf);
    const context = fresh(this.pair.querySelector("canvas") as HTMLCanvasElement, frame.width, frame.height);
    context.lineCap = "round";
    context.translate(-frame.left, -frame.top);
    const isDown = getComputedStyle(this.pair).display === "grid"; // on a phone the texts run from top to bottom
    const center = ({ left, right }: DOMRect) => (left + right) / 2;
    const middle = ({ top, bottom }: DOMRect) => (top + bottom) / 2;
    for (const [n, to] of written.entries()) {
      for (const [k, above] of words.entries()) {
        const weight = this.data.steps[n].weights[k];
        if (weight < FAINTEST) continue;
        const isLooked = n === this.looked;
        const look = { strokeStyle: colours.looks, lineWidth: isLooked ? 4 : 2 };
        const begin = isDown ? [above.right, middle(above)] : [center(above), above.bottom];
        const end = isDown ? [to.left, middle(to)] : [center(to), to.top];
        strokes(context, { ...look, globalAlpha: Math.sqrt(weight) * (isLooked ? 1 : 0.3) }, [...begin, ...end]);
      }
    }
  }

  figure() {
    return { ...figureOf(this.pair), name: "translation", title: this.data.heads, caption: this.sentence };
  }

  values() {
    const { source, steps, heads } = this.data;
    const rows = steps.map(({ reads, writes, p, weights }) => [reads, writes, p, ...weights]);
    return { title: heads, columns: ["reads", "writes", "probability", ...source], rows };
  }
}

interface Written {
  reads: string; // the last word that the decoder has read
  writes: string;
  p: number; // what the model gave the word
  weights: number[]; // attention to each word of the source
}

/** A step, counted from 0, for screen readers and for the line under the figure. */
export function stepSentence({ reads, writes, p, weights }: Written, source: string[], n: number) {
  const looks = largest(weights, 3).map((position) => `${quoted(source, position)} ${perCent(weights[position])}`);
  const does = `the decoder reads “${reads}” and writes “${writes}” (${perCent(p)})`;
  return `Step ${n + 1}: ${does}. It looks most at ${looks.join(", ")}.`;
}

function shadeOf(weight: number) {
  const shade = Math.sqrt(weight);
  return { background: css(shade), color: inkOn(shade) };
}

export default component((parent, page) => new Translation(parent, page));
