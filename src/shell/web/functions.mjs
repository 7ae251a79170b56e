// Finds which functions of a module can be reached from others. The linker numbered function addresses from a base that no other number is
// likely to equal, so they can be recognised in code and data; afterwards they are replaced by small numbers for the page.
import {DATA, module, numbersIn, sections, wordsOf} from './binary.mjs';
import {segments} from './late-data.mjs';

/** `text` is the module in WebAssembly's text format, `bytes` in binary format. */
export class Functions {
  constructor(text, bytes) {
    this.text = text;
    this.bytes = bytes;
    const [, base, names] = /^ \(elem \$\S+ \(i32\.const (\d+)\) (?:func )?([^)]*)\)/m.exec(text);
    this.base = Number(base);
    this.addressed = names.split(/\s+/).map((name) => name.slice(1));
    this.exports = new Map([...text.matchAll(/^ \(export "([^"]+)" \(func \$([^)\s]+)\)/gm)].map(([, name, func]) => [name, func]));
    this.bodies = new Map();
    for (const body of text.split(/^ (?=\(func )/m).slice(1)) {
      const calls = Array.from(body.matchAll(/\((?:return_)?call \$([^)\s]+)/g), ([, name]) => name);
      this.bodies.set(/\$(\S+)/.exec(body)[1], {calls, numbers: numbersIn(body)});
    }
    const data = sections(bytes).find(([id]) => id === DATA)[1];
    /** Start addresses of the segments that contain function addresses. */
    this.tables = new Set(segments(data).filter((segment) => wordsOf(segment).some((word) => this.addressOf(word))).map(({start}) => start));
    this.data = segments(data, this.tables).map((segment) => ({...segment, words: wordsOf(segment)}));
  }

  /** The function with this address, or undefined. */
  addressOf(number) { return this.addressed[number - this.base]; }

  /** All functions that may run once those in `roots` do, except those called only by functions in `names`. */
  reachedFrom(roots, names = []) {
    const found = new Set(), seen = new Set(), todo = [];
    const add = (set, one) => set.has(one) || (set.add(one), todo.push(one));
    const run = (name) => this.bodies.has(name) && add(found, name);
    const last = this.data.at(-1).to, meant = {start: new Set(), from: new Set()};
    const mean = (number, begin) => {
      if (meant[begin].has(number)) return;
      meant[begin].add(number);
      run(this.addressOf(number));
      if (number > last) return;
      for (const segment of this.data) if (segment[begin] <= number && number <= segment.to) add(seen, segment);
    };
    roots.forEach(run);
    while (todo.length > 0) {
      const one = todo.pop();
      if (typeof one !== 'string') {
        one.words.forEach((word) => mean(word, 'start'));
        continue;
      }
      const {calls, numbers} = this.bodies.get(one);
      calls.forEach(run);
      if (!names.includes(one)) numbers.forEach((number) => mean(number, 'from'));
    }
    return found;
  }

  /** The module in text format, with addresses that count from 1 and the largest possible memory, which the code that instantiates it
   * limits. Its table has a name, or wasm-split would confuse it with the tables that it adds. */
  smallText() {
    const size = this.addressed.length, small = (number) => this.addressOf(number) === undefined ? null : number - this.base + 1;
    return this.text
      .replace(/\(i32\.const (\d+)\)/g, (all, number) => small(Number(number)) ? `(i32.const ${small(Number(number))})` : all)
      .replace(/^( \(table )\$0 \d+/m, (all, before) => `${before}$functions ${size + 1}`)
      .replace(/\((call_indirect|return_call_indirect|table) \$0\b/g, (all, before) => `(${before} $functions`)
      .replace(/^( \(memory \$\S+ \d+ )\d+/m, (all, before) => before + 65536);
  }

  /** The same replacement in the data of a module that was assembled from that text. */
  smallData(bytes) {
    const list = sections(bytes), data = list.find(([id]) => id === DATA);
    data[1] = Buffer.from(data[1]);
    for (const {start, bytes: segment} of segments(data[1])) {
      for (let at = -start & 3; at + 4 <= segment.length; at += 4) {
        const number = segment.readInt32LE(at);
        if (this.addressOf(number) !== undefined) segment.writeInt32LE(number - this.base + 1, at);
      }
    }
    return module(bytes, list);
  }
}
