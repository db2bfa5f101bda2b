// Takes apart what tfmviz/views/shared frames, a header and data, and what has become letters on its way.

/** @param letters base64 */
export const bytesIn = (letters: string) => Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0));

export function unframed<Header>(bytes: Uint8Array): { header: Header; data: Uint8Array } {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return {
    header: JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))),
    data: bytes.subarray(4 + length),
  };
}
