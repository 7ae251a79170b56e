// wasm-split generates names for the functions shared between the parts of the module, some 1,500 before the first frame. Two-letter
// names, whose first letter no name of the linker begins with, save 0.6 KB after Brotli.
import {readFileSync, writeFileSync} from 'node:fs';
import {EXPORT, IMPORT, leb, module, Reader, sections} from './binary.mjs';

const FIRST = '!"#$%&\'()*+,-./:;<=>?@[]^`{|}~', SECOND = 64;
const [FUNCTION, TABLE, MEMORY, GLOBAL] = [0, 1, 2, 3];

function shortName(i) {
  if (i >= FIRST.length * SECOND) throw new Error('the parts share more functions than there are names of two letters');
  return FIRST[Math.floor(i / SECOND)] + String.fromCharCode(32 + i % SECOND);
}

const text = (reader) => reader.take(reader.number()).toString();
const written = (name) => [...leb(Buffer.byteLength(name)), ...Buffer.from(name)];

/** What follows the names of an import. */
function described(reader) {
  const from = reader.at, limits = () => {
    const flags = reader.number();
    for (let i = 0; i < 1 + (flags & 1); i++) reader.number();
  };
  switch (reader.number()) {
    case FUNCTION: reader.number(); break;
    case TABLE: reader.number(); limits(); break;
    case MEMORY: limits(); break;
    case GLOBAL: reader.take(2); break;
    default: throw new Error('an import of a kind that the parts have not shared so far');
  }
  return reader.bytes.subarray(from, reader.at);
}

/** Edits a section: `read` parses one entry, `write` encodes all of them. */
function edit(file, id, read, write) {
  const bytes = readFileSync(file), list = sections(bytes), part = list.find(([one]) => one === id);
  if (!part) return;
  const reader = new Reader(part[1]), entries = Array.from({length: reader.number()}, () => read(reader));
  part[1] = Buffer.concat([Buffer.from(leb(entries.length)), ...write(entries)]);
  writeFileSync(file, module(bytes, list));
}

/** Renames what begins with `prefix` among the exports of a part, in the order of what they mean, and the imports that others have of it as `space`. */
export function shortenNames(file, space, others, prefix) {
  const names = new Map();
  const anExport = (reader) => ({name: text(reader), kind: reader.number(), index: reader.number()});
  edit(file, EXPORT, anExport, (all) => {
    const isOwn = ({name}) => !name.startsWith(prefix), shared = all.filter((one) => !isOwn(one)).sort((a, b) => a.kind - b.kind || a.index - b.index);
    shared.forEach(({name}, i) => names.set(name, shortName(i)));
    return [...all.filter(isOwn), ...shared].map(({name, kind, index}) => Buffer.from([...written(names.get(name) ?? name), kind, ...leb(index)]));
  });
  for (const other of others) {
    edit(other, IMPORT, (reader) => ({from: text(reader), name: text(reader), what: described(reader)}),
      (all) => all.map(({from, name, what}) => Buffer.from([...written(from), ...written(from === space ? names.get(name) ?? name : name), ...what])));
  }
}
