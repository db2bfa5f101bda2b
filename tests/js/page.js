// A page without a browser: elements keep what is put into them, and pens note what they fill.

export class Element {
  constructor(name) {
    Object.assign(this, { name, dataset: {}, style: {}, children: [], className: "", clientWidth: 600, filled: [] });
    this.classList = { toggle: (word, isOn) => Object.assign(this, { className: isOn ? word : "" }) };
  }
  set textContent(text) {
    this.children = text === "" ? [] : [String(text)];
  }
  get textContent() {
    return this.children.map((child) => child.textContent ?? child).join("");
  }
  get tBodies() {
    return this.children.filter(({ name }) => name === "tbody");
  }
  get rows() {
    return this.children;
  }
  get cells() {
    return this.children;
  }
  append(...children) {
    this.children.push(...children);
  }
  replaceChildren(...children) {
    this.children = children;
  }
  /** By the name, the class or the role that the selector ends with. */
  querySelectorAll(selector) {
    const [, name, word, role] = /(?:([a-z]+)|\.([a-z]+)|\[role=([a-z]+)\])$/.exec(selector);
    const inside = this.children.filter((child) => child instanceof Element);
    const isMeant = (node) => (name ? node.name === name : word ? node.className === word : node.role === role);
    return inside.flatMap((child) => [...(isMeant(child) ? [child] : []), ...child.querySelectorAll(selector)]);
  }
  querySelector(selector) {
    return this.querySelectorAll(selector)[0] ?? null;
  }
  getContext() {
    const { filled } = this;
    const noted = {
      fillRect(...box) {
        filled.push({ box, alpha: this.globalAlpha });
      },
      getImageData: () => ({ data: [255, 255, 255, 255] }),
      measureText: (text) => ({ width: 6 * text.length }),
    };
    return new Proxy(noted, { get: (pen, name) => (name in pen ? pen[name] : () => {}) });
  }
  getBoundingClientRect() {
    return { left: 0, top: 0, right: 600, bottom: 20, width: 600, height: 20 };
  }
  matches() {
    return false;
  }
}
for (const name of ["addEventListener", "setAttribute", "focus", "scrollIntoView", "showModal", "close"])
  Element.prototype[name] = () => {};

/** What the page's style says. */
export const look = { "--ground": "#ffffff", "--masked": "#d9dbe0", "--least-letters": "10" };
for (const role of ["little", "middling", "much"]) look[`--${role}`] = "#808080";

Object.assign(globalThis, {
  Element,
  HTMLElement: Element,
  document: { createElement: (name) => new Element(name), fullscreenEnabled: true },
  window: globalThis,
  getComputedStyle: () => ({ color: "#000", fontFamily: "a", getPropertyValue: (name) => look[name] ?? "" }),
  ResizeObserver: class {
    observe() {}
    disconnect() {}
  },
  requestAnimationFrame: (act) => setTimeout(act, 16),
});

/** An element for a component that Python has given this key. */
export function parentOf(key) {
  const named = { getAttribute: () => `stElementContainer st-key-${key} other` };
  return Object.assign(new Element("root"), { host: { closest: () => named } });
}

/** The view that a component makes of its data. */
export function viewOf(draw, data, key = "view") {
  const parentElement = parentOf(key);
  draw({ data, parentElement, setStateValue() {}, setTriggerValue() {} });
  return parentElement.view_;
}
