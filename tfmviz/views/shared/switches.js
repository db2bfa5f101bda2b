// What a reader can switch off, for this browser. At first all of it is on.

export const LETTERS = "tfmviz-letters"; // single letters act as shortcuts; the name is that in the browser's storage
export const TYPING = "tfmviz-typing"; // pictures follow while a sentence is being typed

/** @param {string} name */
export function isOn(name) {
  try {
    return localStorage.getItem(name) !== "off";
  } catch {
    return true; // a browser that stores nothing
  }
}

/**
 * @param {string} name
 * @param {boolean} on
 */
export function turnSwitch(name, on) {
  try {
    if (on) localStorage.removeItem(name);
    else localStorage.setItem(name, "off");
  } catch {
    // as above: the switch does not outlive the page
  }
}
