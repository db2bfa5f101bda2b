// What a reader can switch off, for this browser. At first all of it is on.

export const LETTERS = "tfmviz-letters"; // single letters act as shortcuts; the name is that in the browser's storage
export const TYPING = "tfmviz-typing"; // pictures follow while a sentence is being typed

export function isOn(name: string) {
  try {
    return localStorage.getItem(name) !== "off";
  } catch {
    return true; // a browser that stores nothing
  }
}

export function turnSwitch(name: string, on: boolean) {
  try {
    if (on) localStorage.removeItem(name);
    else localStorage.setItem(name, "off");
  } catch {
    // as above: the switch does not outlive the page
  }
}
