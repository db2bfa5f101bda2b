// Sliders: pictures follow each touch; the page around hears of it when the hand is still.

import { render } from "preact";
import { make } from "../shared/elements.ts";
import { component, ViewBase } from "../shared/view_base.ts";

type Slider = [label: string, min: number, max: number, step: number];

class Sliders extends ViewBase {
  data!: { sliders: Record<string, Slider> }; // from the first `show` on
  set: Record<string, number> = {}; // nothing until Python has said what is set
  body = make("div");
  node = this.mount({ className: "sliders", ariaLabel: "Settings" }, this.body);

  draw() {
    const sliders = Object.entries(this.data.sliders).map(([name, [label, min, max, step]]) => {
      const onInput = ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
        this.take({ set: { ...this.set, [name]: Number(currentTarget.value) } });
        this.page.onChange?.();
        this.notify();
      };
      return (
        <label key={name}>
          {label} <output>{this.set[name]}</output>
          <input type="range" aria-label={label} {...{ min, max, step, value: this.set[name], onInput }} />
        </label>
      );
    });
    render(sliders, this.body);
  }

  chosen = () => ({ set: this.set });

  edited() {
    const set = Object.entries(this.set).map((one) => one.join("="));
    return set.join() || undefined;
  }

  take({ set }: { set: Record<string, number> }) {
    this.set = set;
    this.redraw();
  }
}

export default component((parent, page) => new Sliders(parent, page));
