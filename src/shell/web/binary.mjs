// The binary format of WebAssembly, as far as needed to edit the page's module after linking.
export const [IMPORT, TABLE, MEMORY, EXPORT, ELEMENT, CODE, DATA, DATA_COUNT] = [2, 4, 5, 7, 9, 10, 11, 12];

/** Reads unsigned and signed LEB128 numbers. */
export class Reader {
  constructor(bytes, at = 0) { Object.assign(this, {bytes, at}); }

  number(signed = false) {
    let value = 0, shift = 0, byte;
    do {
      byte = this.bytes[this.at++];
      value |= (byte & 127) << shift;
      shift += 7;
    } while (byte & 128);
    return signed && byte & 64 && shift < 32 ? value | -1 << shift : value;
  }

  take(length) { return this.bytes.subarray(this.at, this.at += length); }
}

export function leb(value, signed = false) {
  const out = [];
  for (;;) {
    const byte = value & 127;
    value = signed ? value >> 7 : value >>> 7;
    if (signed ? value === (byte & 64 ? -1 : 0) : value === 0) return [...out, byte];
    out.push(byte | 128);
  }
}

/** The [id, contents] of each section of a module. */
export function sections(bytes) {
  const reader = new Reader(bytes, 8), found = [];
  while (reader.at < bytes.length) {
    const id = bytes[reader.at++];
    found.push([id, reader.take(reader.number())]);
  }
  return found;
}

export const module = (head, parts) => Buffer.concat([head.subarray(0, 8), ...parts.flatMap(([id, contents]) => [Buffer.from([id, ...leb(contents.length)]), contents])]);

/** Adds the numbers in a piece of text format that may be addresses. */
export function numbersIn(text, found = new Set()) {
  for (const [, narrow, offset, wide, vector] of text.matchAll(/\(i32\.const (-?\d+)\)|offset=(\d+)|\(i64\.const (-?\d+)\)|\(v128\.const i32x4 ([^)]+)\)/g)) {
    if (narrow ?? offset) found.add(Number(narrow ?? offset));
    else if (vector) for (const word of vector.split(' ')) found.add(Number(word));
    else for (const word of [BigInt(wide), BigInt(wide) >> 32n]) found.add(Number(BigInt.asIntN(32, word)));  // an address and a length
  }
  return found;
}

/** The words of a segment at multiples of 4, as signed numbers. */
export function wordsOf({start, bytes}) {
  const found = [], view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = -start & 3; at + 4 <= bytes.length; at += 4) found.push(view.getInt32(at, true));
  return found;
}
