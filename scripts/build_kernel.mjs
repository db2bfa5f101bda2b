// Compiles the engine's kernel into a module that holds its bytes: `npm run kernel`, or with a path as argument.

import { readFileSync, writeFileSync } from "node:fs";
import asc from "assemblyscript/asc";

const folder = new URL("../tfmviz/views/engine/", import.meta.url);
const made = { "kernel.wasm": new Uint8Array() };
const small = ["--runtime", "stub", "--importMemory", "--noAssert", "-O3"];
const features = ["--enable", "simd,bulk-memory", "--disable", "relaxed-simd"];
const { error, stderr } = await asc.main(["kernel.ts", "--outFile", "kernel.wasm", ...small, ...features], {
  readFile: (name) => (name === "kernel.ts" ? readFileSync(new URL(name, folder), "utf8") : null),
  writeFile: (name, bytes) => {
    made[name] = bytes;
  },
});
if (error) throw new Error(`${error.message}\n${stderr}`);

const text = Buffer.from(made["kernel.wasm"]).toString("base64");
const lines = text.match(/.{1,100}/g).map((line) => `  "${line}",`);
writeFileSync(
  process.argv[2] ?? new URL("kernel_bytes.ts", folder),
  `// kernel.ts, compiled by \`npm run kernel\`: WebAssembly in base64.

export const KERNEL_BYTES = [
${lines.join("\n")}
].join("");
`,
);
