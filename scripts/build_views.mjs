// Bundles the views: `npm run build`, or with a folder as argument. `alone` holds each script as one text that needs no
// other, for Streamlit, the site and saved pages; `split` holds the same views cut into pieces that they share, under
// names that follow from their content, for the command `tfmviz`, and in `split.json` the pieces of each view, that
// with which it begins first.

import { globSync, rmSync, writeFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const views = fileURLToPath(new URL("../tfmviz/views/", import.meta.url));
const dist = resolve(process.argv[2] ?? `${views}dist`);
const shown = globSync("*/view.{ts,tsx}", { cwd: views }).sort();
const pages = ["explorer/standalone.ts", "site", "below", "whole_model", "steps", "masks", "turning"];
const alone = [...shown, ...pages.map((name) => (name.endsWith(".ts") ? name : `site/${name}.ts`))];
const common = {
  absWorkingDir: views,
  outbase: views,
  bundle: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "utf8",
  minify: true,
  legalComments: "none",
  preserveSymlinks: true, // where `node_modules` is a link, pieces have the same names
};

rmSync(dist, { recursive: true, force: true });
const banner = { js: "// npm run build" }; // Streamlit takes a script of one line for the name of a file
await build({ ...common, entryPoints: alone, outdir: `${dist}/alone`, banner });
const { metafile } = await build({
  ...common,
  entryPoints: shown,
  outdir: `${dist}/split`,
  splitting: true,
  metafile: true,
  entryNames: "[hash]",
  chunkNames: "[hash]",
});
const nameOf = (path) => relative(`${dist}/split`, resolve(views, path));
const piecesOf = (path, found = new Set()) => {
  if (!found.has(path)) {
    found.add(path);
    for (const { path: next, kind } of metafile.outputs[path].imports)
      if (kind === "import-statement") piecesOf(next, found);
  }
  return found;
};
const entries = Object.entries(metafile.outputs).filter(([, { entryPoint }]) => entryPoint);
const pieces = entries.map(([path, { entryPoint }]) => [entryPoint.split("/")[0], [...piecesOf(path)].map(nameOf)]);
writeFileSync(`${dist}/split.json`, `${JSON.stringify(Object.fromEntries(pieces.sort()), null, 2)}\n`);
