function n(e){let[t]=e.composedPath();return t instanceof Element&&t.matches("input, textarea, select, [contenteditable=true]")}export{n as a};
