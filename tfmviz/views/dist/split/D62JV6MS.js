var n=t=>t.ctrlKey||t.metaKey||t.altKey;function o(t){let[e]=t.composedPath();return e instanceof Element&&e.matches("input, textarea, select, [contenteditable=true]")}export{n as a,o as b};
