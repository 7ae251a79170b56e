// What follows #s= in an address, as the page decodes it (web/link.js): whatever was done to a link, it is opened or refused by a typed
// error, within bounded time and memory. The text in it is then read by the reader of states, whose fuzz target is state_text.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {deflateRawSync, inflateRawSync} from 'node:zlib';

import {pack, unpack} from '../../web/link.js';

const LONGEST_ADDRESS = 2 ** 22, LONGEST_STATE = 2 ** 26, MOST_FOLDED = 1032;  // how much smaller deflate can make a text
const LINKS = JSON.parse(readFileSync(new URL('../golden/links.json', import.meta.url), 'utf8')).map(({link}) => link.split('#s=')[1]);
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const STRANGE = [...'+/= \n\t\0%#&?é漢', '\ud800', '%2B', '…'];

/** Whole numbers below `limit`, the same ones every time. */
function dice(seed) {
  let state = seed >>> 0;
  return (limit) => {
    state = (Math.imul(state ^ state >>> 15, 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return Math.floor((state ^ state >>> 13) / 2 ** 32 * limit + limit) % limit;
  };
}

const encoded = (bytes) => Buffer.from(bytes).toString('base64url');

/** A link with one thing changed: its letters, the bytes that they stand for, or the JSON text that these inflate to. */
function changed(link, below) {
  const at = below(link.length + 1), length = below(40), other = LINKS[below(LINKS.length)];
  switch (below(10)) {
    case 0: return link.slice(0, at);
    case 1: return link.slice(0, at) + link.slice(at + 1 + length);
    case 2: return link.slice(0, at) + LETTERS[below(64)] + link.slice(at + 1);
    case 3: return link.slice(0, at) + STRANGE[below(STRANGE.length)] + link.slice(at + below(2));
    case 4: return link.slice(0, at) + link.slice(at, at + length).repeat(1 + below(50)) + link.slice(at);
    case 5: return link.slice(0, at) + other.slice(below(other.length));
    case 6: return link + '='.repeat(below(4)) + (below(2) ? LETTERS[below(64)].repeat(below(1000)) : '');
    case 7: return Array.from({length}, () => LETTERS[below(64)]).join('');
    case 8: {
      const bytes = Buffer.from(link, 'base64url');
      for (let i = 0; i <= below(4) && bytes.length; ++i) bytes[below(bytes.length)] ^= 1 << below(8);
      return encoded(bytes);
    }
    default: {
      const text = inflated(link) ?? Buffer.from('{"version": 1}');
      for (let i = 0; i <= below(4) && text.length; ++i) text[below(text.length)] = below(256);
      return encoded(deflateRawSync(text, {level: below(10)}));
    }
  }
}

function inflated(link) {
  try {
    return inflateRawSync(Buffer.from(link, 'base64url'));
  } catch {
    return null;
  }
}

/** The text in a link, or null for one that is refused. */
async function opened(link) {
  const named = JSON.stringify(link.slice(0, 60));
  let text;
  try {
    text = await unpack(link);
  } catch (error) {
    assert.ok(error.constructor === SyntaxError || error.constructor === RangeError, `${named}: ${error.stack}`);
    assert.equal(error.field, 'state', named);
    assert.match(error.message, /^state of this link is (damaged: perhaps a part of the address is missing; copy all of it|too l[^\n]{10,90})\.$/, named);
    return null;
  }
  assert.equal(typeof text, 'string', named);
  assert.ok(text.length <= LONGEST_STATE, named);
  return text;
}

test('a link that was not changed is opened, and packed again it says the same', async () => {
  for (const link of LINKS) {
    const text = await opened(link);
    assert.equal(JSON.parse(text).version, 1);
    assert.equal(await unpack(await pack(text)), text);
  }
});

test('whatever is changed in a link, it is opened or refused by a sentence', async () => {
  const below = dice(13);
  let refused = 0, read = 0, slowest = 0;
  for (let i = 0; i < 6000; ++i) {
    let link = LINKS[below(LINKS.length)];
    for (let times = below(3); times >= 0; --times) link = changed(link, below);
    const began = performance.now(), text = await opened(link);
    slowest = Math.max(slowest, performance.now() - began);
    text === null ? ++refused : ++read;
    // What was read is what zlib reads: nothing is made up, and nothing is left out.
    if (text !== null && /^[\w-]*$/.test(link)) assert.equal(text, new TextDecoder('utf-8', {ignoreBOM: false}).decode(inflated(link)), link.slice(0, 60));
  }
  assert.ok(refused > 1000 && read > 500, `${refused} refused, ${read} opened`);
  assert.ok(slowest < 5000, `the slowest took ${slowest} ms`);
});

test('a link that inflates to more than a board can hold is given up early', async () => {
  const Native = globalThis.DecompressionStream;
  let written = 0;
  globalThis.DecompressionStream = class extends Native {
    get writable() {
      const all = super.writable;
      return {getWriter() {
        const writer = all.getWriter();
        return {get ready() { return writer.ready; }, close: () => writer.close(), write: (bytes) => { written += bytes.length; return writer.write(bytes); }};
      }};
    }
  };
  try {
    const block = deflateRawSync(Buffer.alloc(LONGEST_STATE * 8, ' '), {level: 9}), within = deflateRawSync(Buffer.alloc(LONGEST_STATE, ' '), {level: 9});
    // A browser inflates all of what it is given at once, so that may be little more than what is read of it.
    for (const bomb of [block, Buffer.concat([block, block]), Buffer.concat([Buffer.from(LINKS[0], 'base64url').subarray(0, 40), block])]) {
      written = 0;
      const before = process.memoryUsage().rss;
      assert.equal(await opened(encoded(bomb)), null);
      assert.ok(written * MOST_FOLDED < LONGEST_STATE * 1.5, `${written} of ${bomb.length} bytes were inflated`);
      assert.ok(process.memoryUsage().rss - before < 6 * LONGEST_STATE, 'memory');
    }
    assert.equal((await opened(encoded(within))).length, LONGEST_STATE);
    written = 0;
    assert.equal(await opened('A'.repeat(LONGEST_ADDRESS + 1)), null);
    assert.equal(written, 0, 'a longer address is not decoded');
  } finally {
    globalThis.DecompressionStream = Native;
  }
});
