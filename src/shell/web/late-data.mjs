// Moves constant data that no function of the first part can reach to the part with the functions that use it: most sentences, the
// examples, the tables of pages. The linker keeps every constant in a segment of its own, so that its position is known. A function can
// reach each segment that one of its numbers points into, just behind, or, unless another one begins or has a word there, shortly before, and all
// segments reachable from the numbers in these.
import {readFileSync, writeFileSync} from 'node:fs';
import {CODE, DATA, DATA_COUNT, Reader, leb, module, numbersIn, sections, wordsOf} from './binary.mjs';

// How far before a segment a number may still refer to it: table[c - '0'] is compiled to an address 48 items before the table.
const isText = (bytes) => bytes.every((byte, i) => byte >= 9 || (byte === 0 && i === bytes.length - 1));
const before = (bytes, isTable) => isTable ? BEFORE_TABLE : isText(bytes) ? 8 : 1024;
const BEFORE_TABLE = 64;  // pointers to function tables point inside, and arrays may be indexed from a small offset
const BEHIND = 8;  // not for texts, of which nothing behind the last letter is read
const FONT = /^(OTTO|\0\x01\0\0)/;  // holds no addresses, but words that look like some
const GAP = 8;  // bytes that are cheaper than a new segment

/** The segments of a data section: start address, bytes, and the range of numbers that refer to each. */
export function segments(contents, tables = new Set()) {
  const reader = new Reader(contents), count = reader.number();
  return Array.from({length: count}, () => {
    if (reader.number() !== 0 || reader.take(1)[0] !== 0x41) throw new Error('a segment that has no fixed place cannot be moved');
    const start = reader.number(true);
    reader.take(1);
    const bytes = reader.take(reader.number());
    return {start, bytes, from: start - before(bytes, tables.has(start)), to: start + bytes.length + (isText(bytes) ? 0 : BEHIND)};
  }).sort((a, b) => a.start - b.start);
}

/** Encodes a data section. Segments separated only by a few zeros are joined. */
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

/** All segments reachable from the numbers: those that they refer to, those that the words of these refer to, and so on. */
function reachable(list, numbers) {
  const found = new Set(), todo = [];
  const first = list[0].from, last = list.at(-1).to;
  const mean = (value, begin) => {
    if (value < first || value > last) return;
    for (const segment of list) {
      if (segment[begin] <= value && value <= segment.to && !found.has(segment)) found.add(segment), todo.push(segment);
    }
  };
  const begins = new Set(list.map(({start}) => start));
  // A number that points at a word of a segment means that one, and no table behind it.
  const inside = (value) => list.some(({start, bytes}) => start <= value && value < start + bytes.length && !isText(bytes) && (value - start) % 4 === 0);
  for (const value of numbers) mean(value, begins.has(value) || inside(value) ? 'start' : 'from');
  while (todo.length > 0) {
    const segment = todo.pop();
    if (!FONT.test(segment.bytes.toString('latin1', 0, 4))) for (const word of wordsOf(segment)) mean(word, 'start');
  }
  return found;
}

/** `parts` are files, the first of which contains all data. `texts` are all of them except the last in WebAssembly's text format; `tables`
 * are the start addresses of segments that contain function addresses. */
export function moveLateData(parts, texts, tables) {
  const modules = parts.map((file) => readFileSync(file)), contents = modules.map(sections);
  const all = segments(contents[0].find(([id]) => id === DATA)[1], tables), numbers = new Set(), placed = new Set();
  contents.forEach((list, i) => {
    if (i > 0 && list.some(([id]) => id === DATA)) throw new Error(`${parts[i]} has data of its own`);
    if (i < texts.length) for (const line of texts[i].split('\n')) if (!line.startsWith(' (data')) numbersIn(line, numbers);
    const reached = i < texts.length ? reachable(all, numbers) : new Set(all), mine = all.filter((segment) => reached.has(segment) && !placed.has(segment));
    // Earlier parts may have changed their data by then, so it must not be overwritten.
    const starts = [...placed].map(({start}) => start);
    const made = dataSection(mine, (from, to) => !starts.some((start) => from <= start && start < to));
    for (const segment of mine) placed.add(segment);
    for (const part of list) if (part[0] === DATA_COUNT) part[1] = Buffer.from(leb(made.count));
    const kept = list.filter(([id]) => id !== DATA);
    kept.splice(kept.findIndex(([id]) => id === CODE) + 1, 0, [DATA, made.contents]);
    writeFileSync(parts[i], module(modules[i], kept));
  });
}
