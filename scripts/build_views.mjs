// Bundles the views: `npm run build`, or with a folder as argument. `alone` holds each script as one text that needs no
// other, for Streamlit, the site and saved pages; `split` holds the same views cut into pieces that they share, under
// names that follow from their content, for the command `tfmviz`, and in `split.json` the pieces of each view, that
// with which it begins first.

import { globSync, rmSync, writeFileSync } from "node:fs";
import { basename, relative, resolve } from "node:path";
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

// What views share is one piece, Preact included: a first visit waits for each file, however small, in one of six lines.
const modules = [
  ...globSync("shared/*.{ts,tsx}", { cwd: views })
    .sort()
    .map((path) => `./${path}`),
  "preact",
];
const contents = [
  ...modules.map((path) => `export * from "${path}";`),
  'export { jsx, jsxs } from "preact/jsx-runtime";',
].join("\n");
const { metafile: one } = await build({
  ...common,
  stdin: { contents, resolveDir: views },
  outdir: `${dist}/split`,
  entryNames: "[hash]",
  metafile: true,
});
const shared = basename(Object.keys(one.outputs)[0]);
const fromShared = {
  name: "from shared",
  setup: ({ onResolve }) =>
    onResolve({ filter: /\/shared\/\w+\.tsx?$|^preact/ }, () => ({ path: `./${shared}`, external: true })),
};
const { metafile } = await build({
  ...common,
  plugins: [fromShared],
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
    for (const { path: next, kind, external } of metafile.outputs[path].imports)
      if (external) found.add(`${dist}/split/${shared}`);
      else if (kind === "import-statement") piecesOf(next, found);
  }
  return found;
};
const entries = Object.entries(metafile.outputs).filter(([, { entryPoint }]) => entryPoint);
const pieces = entries.map(([path, { entryPoint }]) => [entryPoint.split("/")[0], [...piecesOf(path)].map(nameOf)]);
writeFileSync(`${dist}/split.json`, `${JSON.stringify(Object.fromEntries(pieces.sort()), null, 2)}\n`);
