// Moves the constant data that no function of the first part can reach to the part that brings the functions that use it: most sentences,
// the examples, the tables of pages. The linker keeps every constant in a segment of its own, so that its place is known. What a
// function may reach: each segment that one of its numbers lies in, just behind, or not far before, and what the numbers in those
// segments point to in turn.
import {readFileSync, writeFileSync} from 'node:fs';
import {CODE, DATA, DATA_COUNT, Reader, leb, module, numbersIn, sections, wordsOf} from './binary.mjs';

// How far before a segment a number still means it: table[c - '0'] is written as an address 48 items before the table.
const isText = (bytes) => bytes.every((byte, i) => byte >= 9 || (byte === 0 && i === bytes.length - 1));
const before = (bytes, isTable) => isTable ? BEFORE_TABLE : isText(bytes) ? 8 : 1024;
const BEFORE_TABLE = 64;  // the pointer to a table of functions lies within it, or it is an array that begins to count at a few
const BEHIND = 8;
const GAP = 8;  // bytes that cost less than the beginning of a new segment

/** The segments of a data section: where each begins in memory, its bytes, and from where to where a number means it. */
export function segments(contents, tables = new Set()) {
  const reader = new Reader(contents), count = reader.number();
  return Array.from({length: count}, () => {
    if (reader.number() !== 0 || reader.take(1)[0] !== 0x41) throw new Error('a segment that has no fixed place cannot be moved');
    const start = reader.number(true);
    reader.take(1);
    const bytes = reader.take(reader.number());
    return {start, bytes, from: start - before(bytes, tables.has(start)), to: start + bytes.length + BEHIND};
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
    for (const word of wordsOf(todo.pop())) mean(word, 'start');
  }
  return found;
}

/** `parts` are files, the first of which has all of the data. `texts` are all of them but the last in WebAssembly's text format; `tables` is where there are
 * addresses of functions. */
export function moveLateData(parts, texts, tables) {
  const modules = parts.map((file) => readFileSync(file)), contents = modules.map(sections);
  const all = segments(contents[0].find(([id]) => id === DATA)[1], tables), numbers = new Set(), placed = new Set();
  contents.forEach((list, i) => {
    if (i > 0 && list.some(([id]) => id === DATA)) throw new Error(`${parts[i]} has data of its own`);
    if (i < texts.length) for (const line of texts[i].split('\n')) if (!line.startsWith(' (data')) numbersIn(line, numbers);
    const reached = i < texts.length ? reachable(all, numbers) : new Set(all), mine = all.filter((segment) => reached.has(segment) && !placed.has(segment));
    // What the parts before it have may have been changed by then: nothing is written over it.
    const starts = [...placed].map(({start}) => start);
    const made = dataSection(mine, (from, to) => !starts.some((start) => from <= start && start < to));
    for (const segment of mine) placed.add(segment);
    for (const part of list) if (part[0] === DATA_COUNT) part[1] = Buffer.from(leb(made.count));
    const kept = list.filter(([id]) => id !== DATA);
    kept.splice(kept.findIndex(([id]) => id === CODE) + 1, 0, [DATA, made.contents]);
    writeFileSync(parts[i], module(modules[i], kept));
  });
}
