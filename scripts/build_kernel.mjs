// Compiles the engine's kernel into WebAssembly, in base64: `npm run kernel`, or with a path as argument.

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

const lines = Buffer.from(made["kernel.wasm"])
  .toString("base64")
  .match(/.{1,100}/g);
writeFileSync(process.argv[2] ?? new URL("kernel.json", folder), `${JSON.stringify(lines, null, 2)}\n`);
