// A page in node: happy-dom's elements, and what these lack: sizes, ARIA as properties, styles, pens.

import { Window } from "happy-dom";

/** What the page's style says. */
export const look = { "--ground": "#ffffff", "--masked": "#d9dbe0", "--least-letters": "10" };
for (const role of ["little", "middling", "much"]) look[`--${role}`] = "#808080";

const window = new Window({ url: "http://127.0.0.1/" });
const { document, Element, HTMLElement, HTMLCanvasElement } = window;
for (const name of Object.getOwnPropertyNames(window))
  if (/^(Document|Node|Text|ShadowRoot|ResizeObserver|localStorage)$|(Element|Event)$/.test(name))
    globalThis[name] = window[name];
Object.assign(globalThis, {
  document: Object.assign(document, { fullscreenEnabled: true }),
  window: globalThis,
  location: window.location,
  getComputedStyle: () => ({ color: "#000", fontFamily: "a", getPropertyValue: (name) => look[name] ?? "" }),
  requestAnimationFrame: (act) => setTimeout(act, 16),
  cancelAnimationFrame: clearTimeout,
  matchMedia: () => ({ matches: true }), // nothing is to move
  innerHeight: 800,
});

for (const name of ["Checked", "Current", "Expanded", "Hidden", "Label", "Pressed", "Selected", "Sort"]) {
  const attribute = `aria-${name.toLowerCase()}`;
  Object.defineProperty(Element.prototype, `aria${name}`, {
    get() {
      return this.getAttribute(attribute);
    },
    set(value) {
      if (value === null) this.removeAttribute(attribute);
      else this.setAttribute(attribute, value);
    },
  });
}
Object.defineProperty(window.HTMLTableSectionElement.prototype, "rows", {
  get() {
    return this.children;
  },
});
Object.defineProperty(HTMLElement.prototype, "clientWidth", { value: 600, writable: true });
HTMLElement.prototype.getBoundingClientRect = () => new window.DOMRect(0, 0, 600, 20);
HTMLCanvasElement.prototype.getContext = function () {
  this.filled = [];
  const noted = {
    fillRect: (...box) => this.filled.push({ box, alpha: pen.globalAlpha, ink: pen.fillStyle }),
    createImageData: (width, height) => ({ data: new Uint8ClampedArray(4 * width * height) }),
    getImageData: () => ({ data: [255, 255, 255, 255] }),
    measureText: (text) => ({ width: 6 * text.length }),
  };
  const pen = new Proxy(noted, { get: (known, name) => (name in known ? known[name] : () => {}) });
  return pen;
};

/** The root for a component that Python has given this key. */
export function parentOf(key) {
  const named = Object.assign(document.createElement("div"), { className: `stElementContainer st-key-${key} other` });
  document.body.append(named);
  return named.attachShadow({ mode: "open" });
}

/** The view that a component makes of its data. */
export function viewOf(draw, data, key = "view") {
  const parentElement = parentOf(key);
  draw({ data, parentElement, setStateValue() {}, setTriggerValue() {} });
  return parentElement.view_;
}

/** Channels that deliver at once, as all windows of a browser have them. */
export function channels() {
  const all = new Set();
  return class {
    constructor() {
      all.add(this);
    }
    postMessage(data) {
      for (const other of all) if (other !== this) other.onmessage?.({ data: structuredClone(data) });
    }
    close() {
      all.delete(this);
    }
  };
}
