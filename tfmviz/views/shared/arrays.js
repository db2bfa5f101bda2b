// Reads what tfmviz/views/shared packs: {header, arrays: {name: {rows, columns, values}}}. A vector is one row.

export function unpack(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const arrays = {};
  for (const [name, { shape, at }] of Object.entries(header.arrays)) {
    const [rows, columns] = shape.length === 1 ? [1, shape[0]] : shape;
    const start = 4 + length + at;
    const copy = bytes.slice(start, start + 4 * rows * columns); // a copy lies where float32 may lie
    arrays[name] = { rows, columns, values: new Float32Array(copy.buffer) };
  }
  return { header, arrays };
}
