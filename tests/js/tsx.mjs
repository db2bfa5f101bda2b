// Lets node load what is written in TSX; it reads plain TypeScript by itself. `node --import ./tests/js/tsx.mjs`

import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { transformSync } from "esbuild";

registerHooks({
  load(url, context, next) {
    if (!url.endsWith(".tsx")) return next(url, context);
    const code = readFileSync(fileURLToPath(url), "utf8");
    const options = { loader: "tsx", format: "esm", jsx: "automatic", jsxImportSource: "preact", sourcemap: "inline" };
    return { format: "module", source: transformSync(code, options).code, shortCircuit: true };
  },
});
