// Moves the constant data that no function of FILE.wasm can reach to FILE.rest.wasm, which brings it with the functions that use
// it: most sentences, the examples, the tables of pages. The linker keeps every constant in a segment of its own, so that its
// place is known. What a function of the first part may reach: each segment that one of its numbers lies in, just behind, or
// not far before, and what the numbers in those segments point to in turn.
import {readFileSync, writeFileSync} from 'node:fs';

// How far before a segment a number still means it: table[c - '0'] is written as an address 48 items before the table.
const isText = (bytes) => bytes.every((byte, i) => byte >= 9 || (byte === 0 && i === bytes.length - 1));
const before = (bytes) => isText(bytes) ? 8 : 1024;
const BEHIND = 8;
const GAP = 8;  // bytes that cost less than the beginning of a new segment
const [CODE, DATA, DATA_COUNT] = [10, 11, 12];

/** Reads unsigned and signed LEB128 numbers. */
class Reader {
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

function leb(value, signed = false) {
  const out = [];
  for (;;) {
    const byte = value & 127;
    value = signed ? value >> 7 : value >>> 7;
    if (signed ? value === (byte & 64 ? -1 : 0) : value === 0) return [...out, byte];
    out.push(byte | 128);
  }
}

/** [id, contents] of each section of a module. */
function sections(bytes) {
  const reader = new Reader(bytes, 8), found = [];
  while (reader.at < bytes.length) {
    const id = bytes[reader.at++];
    found.push([id, reader.take(reader.number())]);
  }
  return found;
}

const module = (head, parts) => Buffer.concat([head.subarray(0, 8), ...parts.flatMap(([id, contents]) => [Buffer.from([id, ...leb(contents.length)]), contents])]);

/** The segments of a data section: where each begins in memory, and its bytes. */
function segments(contents) {
  const reader = new Reader(contents), count = reader.number();
  return Array.from({length: count}, () => {
    if (reader.number() !== 0 || reader.take(1)[0] !== 0x41) throw new Error('a segment that has no fixed place cannot be moved');
    const start = reader.number(true);
    reader.take(1);
    const bytes = reader.take(reader.number());
    return {start, bytes, from: start - before(bytes), to: start + bytes.length + BEHIND};
  }).sort((a, b) => a.start - b.start);
}

/** A data section. Neighbours become one segment where nothing but a few zeros lies between them. */
function dataSection(list, isFree) {
  const joined = [];
  for (const {start, bytes} of list) {
    const last = joined.at(-1), end = last ? last.start + last.bytes.length : -Infinity;
    if (start - end <= GAP && isFree(end, start)) last.bytes = Buffer.concat([last.bytes, Buffer.alloc(start - end), bytes]);
    else joined.push({start, bytes});
  }
  const parts = joined.flatMap(({start, bytes}) => [Buffer.from([0, 0x41, ...leb(start, true), 0x0b, ...leb(bytes.length)]), bytes]);
  return {count: joined.length, contents: Buffer.concat([Buffer.from(leb(joined.length)), ...parts])};
}

/** The segments that numbers may mean, and those that their words may mean, and so on. */
function reachable(list, numbers) {
  const found = new Set(), todo = [];
  const first = list[0].from, last = list.at(-1).to;
  const mean = (value, begin) => {
    if (value < first || value > last) return;
    for (const segment of list) {
      if (segment[begin] <= value && value <= segment.to && !found.has(segment)) found.add(segment), todo.push(segment);
    }
  };
  for (const value of numbers) mean(value, 'from');
  while (todo.length > 0) {
    const {start, bytes} = todo.pop();
    for (let at = -start & 3; at + 4 <= bytes.length; at += 4) mean(bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16 | bytes[at + 3] << 24, 'start');
  }
  return found;
}

/** `text` is the first part in WebAssembly's text format. Returns how many bytes were moved. */
export function moveLateData(first, rest, text) {
  const numbers = new Set();
  for (const line of text.split('\n')) {
    if (line.startsWith(' (data')) continue;
    for (const [, narrow, offset, wide, vector] of line.matchAll(/\(i32\.const (-?\d+)\)|offset=(\d+)|\(i64\.const (-?\d+)\)|\(v128\.const i32x4 ([^)]+)\)/g)) {
      if (narrow ?? offset) numbers.add(Number(narrow ?? offset));
      else if (vector) for (const word of vector.split(' ')) numbers.add(Number(word));
      else for (const word of [BigInt(wide), BigInt(wide) >> 32n]) numbers.add(Number(BigInt.asIntN(32, word)));  // an address and a length
    }
  }
  const bytes = readFileSync(first), parts = sections(bytes), data = parts.find(([id]) => id === DATA), all = segments(data[1]);
  const kept = reachable(all, numbers), late = all.filter((segment) => !kept.has(segment));
  const left = dataSection(all.filter((segment) => kept.has(segment)), () => true);
  data[1] = left.contents;
  for (const part of parts) if (part[0] === DATA_COUNT) part[1] = Buffer.from(leb(left.count));
  writeFileSync(first, module(bytes, parts));

  // What the first part has may have been changed by then: nothing is written over it.
  const starts = [...kept].map(({start}) => start);
  const moved = dataSection(late, (from, to) => !starts.some((start) => from <= start && start < to));
  const whole = readFileSync(rest), others = sections(whole);
  if (others.some(([id]) => id === DATA)) throw new Error(`${rest} has data of its own`);
  for (const part of others) if (part[0] === DATA_COUNT) part[1] = Buffer.from(leb(moved.count));
  others.splice(others.findIndex(([id]) => id === CODE) + 1, 0, [DATA, moved.contents]);
  writeFileSync(rest, module(whole, others));
  return late.reduce((sum, segment) => sum + segment.bytes.length, 0);
}
