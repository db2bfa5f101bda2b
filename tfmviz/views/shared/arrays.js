// Reads what tfmviz/views/shared packs: {header, arrays: {name: {rows, columns, values}}}. A vector is one row.

import { unframed } from "./framed.js";

export function unpack(bytes) {
  const { header, data } = unframed(bytes);
  const arrays = {};
  for (const [name, { shape, at }] of Object.entries(header.arrays)) {
    const [rows, columns] = shape.length === 1 ? [1, shape[0]] : shape;
    const copy = data.slice(at, at + 4 * rows * columns); // a copy lies where float32 may lie
    arrays[name] = { rows, columns, values: new Float32Array(copy.buffer) };
  }
  return { header, arrays };
}
