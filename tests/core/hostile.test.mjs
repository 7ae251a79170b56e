// attention-playground/core against careless and hostile callers: each argument is read once, an error names it and nothing is written, and
// the next call is correct.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {loadAttention} from './common.mjs';

const attn = await loadAttention({kernel: 'wasm-simd128'});

const BASE = () => ({q: [1, 0, 0.5, -1], k: [0.5, 1, -1, 2], v: [1, 2, 3, 4], queryCount: 2, headDim: 2});
const RIGHT = [...attn.forward(BASE()).output];
const works = (own = attn) => assert.deepEqual([...own.forward(BASE()).output], RIGHT);

function refused(act, type, message) {
  assert.throws(act, (error) => {
    assert.equal(error.constructor, type, `${act}: ${error.message}`);
    assert.match(error.message, message);
    assert.ok(error.message.length < 400, 'a sentence');
    return true;
  });
  works();
}

/** A list whose items and length are given by `read`, where that returns something. */
const shifty = (list, read) => new Proxy(list, {get: (_, key) => read(key) ?? Reflect.get(list, key)});
const LENGTH = (length) => shifty([], (key) => key === 'length' ? length : 1);

test('hostile values of every option', () => {
  const odd = [null, 'text', '1', {}, [], [1], () => 1, Symbol('x'), 1n, new Number(2), {valueOf: () => 2}];
  for (const name of ['heads', 'kvHeads', 'queryCount', 'keyCount', 'headDim', 'valueDim', 'causalOffset', 'windowLeft', 'windowRight', 'keyLength',
    'scale', 'softcap', 'temperature', 'batch', 'prefix', 'rotaryDims', 'rotaryBase', 'rotaryFactor']) {
    for (const value of odd) refused(() => attn.forward({...BASE(), [name]: value}), TypeError, new RegExp(`^${name} `));
    for (const value of [NaN, Infinity, -Infinity]) refused(() => attn.forward({...BASE(), [name]: value}), RangeError, new RegExp(`^${name} `));
    if (['scale', 'softcap', 'temperature', 'rotaryBase', 'rotaryFactor'].includes(name)) continue;
    for (const value of [0.5, 2 ** 31, 2 ** 32 + 2, 2 ** 53, 1e300, -(2 ** 31)]) {
      refused(() => attn.forward({...BASE(), [name]: value}), RangeError, new RegExp(`^${name} `));
    }
  }
  for (const length of [2 ** 53, -1, 0.5, NaN, 'x']) refused(() => attn.forward({...BASE(), positionIds: LENGTH(length)}), RangeError, /^positionIds has /);
  for (const value of odd) {
    for (const name of ['score', 'normalizer', 'position', 'rotaryPairs', 'rotaryScaling']) refused(() => attn.forward({...BASE(), [name]: value}), RangeError, new RegExp(`^${name} must be`));
    if (!Array.isArray(value)) refused(() => attn.forward({...BASE(), positionIds: value}), TypeError, /^positionIds /);
    for (const name of ['wA', 'uA', 'vA']) if (value !== null) refused(() => attn.forward({...BASE(), score: 'additive', wA: [1, 1, 1, 1], uA: [1, 1, 1, 1], vA: [1, 1], [name]: value}), Array.isArray(value) ? RangeError : TypeError, /^[wuv]A /);
    refused(() => attn.forward({...BASE(), maskAfterSoftmax: value}), TypeError, /^maskAfterSoftmax /);
    refused(() => attn.forward({...BASE(), causal: value}), TypeError, /^causal /);
    refused(() => attn.forward({...BASE(), layout: value ?? 'x'.repeat(1e6)}), RangeError, /^layout must be/);
    refused(() => attn.forward({...BASE(), out: value}), TypeError, /^out /);
    refused(() => attn.forward({...BASE(), weights: value}), TypeError, /^weights /);
    for (const name of ['q', 'k', 'v']) {
      const isList = Array.isArray(value);
      refused(() => attn.forward({...BASE(), [name]: value}), isList ? RangeError : TypeError, new RegExp(`^${name} `));
    }
    if (value !== null) refused(() => attn.forward({...BASE(), mask: value}), Array.isArray(value) ? RangeError : TypeError, /^mask /);
    refused(() => attn.alloc(value), TypeError, /^length /);
    refused(() => attn.free(value), TypeError, /^array /);
    refused(() => attn.renew(value), TypeError, /^array /);
    if (typeof value !== 'object' || value === null) refused(() => attn.forward(value), TypeError, /^forward takes/);
  }
});

test('lists of what is no number, and views that are none', () => {
  for (const item of [null, undefined, '1', 'x'.repeat(1e6), true, {}, {valueOf: () => 1}, Object.create(null), [1], Symbol(), 1n, () => 1]) {
    for (const name of ['q', 'k', 'v']) refused(() => attn.forward({...BASE(), [name]: [1, item, 1, 1]}), RangeError, new RegExp(`^${name}\\[1\\] is .*must be a finite number`));
    if (item !== true) refused(() => attn.forward({...BASE(), mask: [true, item]}), RangeError, /^mask\[1\] is .*must be true or false/);
    refused(() => attn.forward({...BASE(), mask: [0, item]}), RangeError, /^mask\[1\] is .*must be a finite number/);
  }
  const fakes = [Object.create(Float32Array.prototype), new Proxy(new Float32Array(4), {}), new DataView(new ArrayBuffer(16)), {length: 4, 0: 1}, new BigInt64Array(4)];
  for (const fake of fakes) {
    for (const name of ['q', 'out', 'weights', 'mask']) refused(() => attn.forward({...BASE(), [name]: fake}), TypeError, new RegExp(`^${name} must be`));
  }
});

test('shapes that overflow, and lists that say they are huge', () => {
  for (const length of [2 ** 32, 2 ** 53, NaN, -1, Infinity, '4', 4n, undefined, {valueOf: () => 4}]) {
    refused(() => attn.forward({...BASE(), q: LENGTH(length)}), RangeError, /^q has /);
    refused(() => attn.forward({...BASE(), mask: LENGTH(length)}), RangeError, /^mask has /);
  }
  refused(() => attn.forward({...BASE(), q: LENGTH(2 ** 30), queryCount: 2 ** 29}), RangeError, /^q is a list of 1073741824 numbers/);
  refused(() => attn.forward({...BASE(), mask: LENGTH(2 ** 30), keyCount: 2 ** 29, k: new Float32Array(4), v: new Float32Array(4)}), RangeError, /^mask is a list|^k has/);
  refused(() => attn.forward({...BASE(), heads: 2 ** 30, queryCount: 2 ** 30, headDim: 4}), RangeError, /^q has 4 numbers/);
  refused(() => attn.forward({...BASE(), heads: 65536, kvHeads: 65536, queryCount: 65536}), RangeError, /^q has 4 numbers/);
});

test('getters and Proxies: each value is read once, and what was read is what is computed', () => {
  const reads = {};
  const counted = (list, name) => new Proxy(list, {get(_, key) {
    reads[`${name}.${String(key)}`] = (reads[`${name}.${String(key)}`] ?? 0) + 1;
    return Reflect.get(list, key);
  }});
  const {q, k, v, ...rest} = BASE();
  const options = counted({...rest, q: counted(q, 'q'), k: counted(k, 'k'), v: counted(v, 'v'), mask: counted([true, true], 'mask')}, 'options');
  assert.deepEqual([...attn.forward(options).output], RIGHT);
  const often = Object.entries(reads).filter(([, times]) => times !== 1);
  assert.deepEqual(often, []);
  // A number at the first read, something else later.
  const seen = new Set();
  const once = (list) => shifty(list, (key) => seen.has(key) ? 'later' : (seen.add(key), undefined));
  assert.deepEqual([...attn.forward({...BASE(), q: once(q)}).output], RIGHT);
  let count = 1;
  assert.deepEqual([...attn.forward({...BASE(), get queryCount() { return ++count; }}).output], RIGHT);
  let length = 3;
  assert.deepEqual([...attn.forward({...BASE(), q: shifty(q, (key) => key === 'length' ? ++length : undefined)}).output], RIGHT);
});

test('a getter that throws: its own error, and nothing else', () => {
  const own = new Error('the caller\'s');
  const thrower = {get: () => { throw own; }, ownKeys: () => { throw own; }};
  for (const change of [{get q() { throw own; }}, {q: new Proxy([], thrower)}]) {
    assert.throws(() => attn.forward(Object.defineProperties(BASE(), Object.getOwnPropertyDescriptors(change))), (error) => error === own);
    works();
  }
  assert.throws(() => attn.forward(new Proxy({}, thrower)), (error) => error === own);
  works();
});

test('a list whose items call back: memory grows, arrays are freed, other calls are made meanwhile', async () => {
  for (const name of ['q', 'k', 'v', 'mask']) {
    const own = await loadAttention({kernel: 'wasm-simd128'});
    const [q, k, v] = [own.alloc(4), own.alloc(4), own.alloc(4)];
    const base = BASE();
    for (const [array, from] of [[q, base.q], [k, base.k], [v, base.v]]) array.set(from);
    const acts = [() => own.alloc(8 << 20), () => own.forward({...BASE(), causal: true}), () => own.free(own.alloc(100))];
    for (const act of acts) {
      const list = name === 'mask' ? [true, true] : BASE()[name];
      const hooked = shifty(list, (key) => { if (key === '1') act(); });
      assert.deepEqual([...own.forward({...BASE(), q, k, v, [name]: hooked}).output], RIGHT, `${name}, ${act}`);
    }
  }
  const own = await loadAttention({kernel: 'wasm-simd128'});
  const q = own.alloc(4);
  assert.throws(() => own.forward({...BASE(), q, k: shifty(BASE().k, (key) => { if (key === '3') own.free(q); })}), /^TypeError: q has been freed/);
  works(own);
  // An identical call is fast, but not if reading its options changes what it relies on.
  const arrays = ['q', 'k', 'v'].map((name) => { const array = own.alloc(4); array.set(BASE()[name]); return array; });
  const [a, b, c] = arrays, same = {...BASE(), q: a, k: b, v: c, out: own.alloc(4)};
  own.forward(same);
  assert.throws(() => own.forward(new Proxy(same, {ownKeys(target) { if (own.renew(b).length) own.free(b); return Reflect.ownKeys(target); }})), TypeError);
  works(own);
});

test('buffers that are detached, shared, resized, of another kind, or deny it', () => {
  const numbers = () => Float32Array.from(BASE().q);
  const detached = numbers();
  structuredClone(detached, {transfer: [detached.buffer]});
  refused(() => attn.forward({...BASE(), q: detached}), TypeError, /^q is empty/);
  refused(() => attn.forward({...BASE(), out: detached}), TypeError, /^out is empty/);
  refused(() => attn.forward({...BASE(), mask: detached}), TypeError, /^mask is empty/);

  const shared = new Float32Array(new SharedArrayBuffer(16)), out = new Float32Array(new SharedArrayBuffer(16));
  shared.set(BASE().q);
  assert.deepEqual([...attn.forward({...BASE(), q: shared, out}).output], RIGHT);
  assert.deepEqual([...out], RIGHT);
  assert.deepEqual([...attn.forward({...BASE(), q: Float64Array.from(BASE().q), k: Float32Array.from(BASE().k)}).output], RIGHT);

  class Liar extends Float32Array {
    get length() { return 1e9; }
    get buffer() { return attn.alloc(1).buffer; }
    get byteOffset() { return 0; }
    set() { throw new Error('not to be called'); }
  }
  const lie = new Liar(4);
  Float32Array.prototype.set.call(lie, BASE().q);
  assert.deepEqual([...attn.forward({...BASE(), q: lie}).output], RIGHT);
  const target = new Liar(4);
  assert.equal(attn.forward({...BASE(), out: target}).output, target);
  assert.deepEqual(Array.from({length: 4}, (_, i) => target[i]), RIGHT);
  refused(() => attn.forward({...BASE(), q: new Liar(3)}), RangeError, /^q has 3 numbers/);

  if (ArrayBuffer.prototype.resize) {
    const buffer = new ArrayBuffer(16, {maxByteLength: 64}), view = new Float32Array(buffer);
    view.set(BASE().q);
    assert.deepEqual([...attn.forward({...BASE(), q: view, k: shifty(BASE().k, (key) => { if (key === '0') buffer.resize(16); })}).output], RIGHT);
    refused(() => attn.forward({...BASE(), q: view, k: shifty(BASE().k, (key) => { if (key === '0') buffer.resize(4); })}), RangeError, /^q has 1 numbers/);
    refused(() => attn.forward({...BASE(), out: view}), RangeError, /^out has 1 numbers/);
  }
});

test('another kind of view of its memory: refused once memory has grown, not read as something else', async () => {
  const own = await loadAttention({kernel: 'wasm-simd128'});
  const place = own.alloc(8), view = new Float64Array(place.buffer, place.byteOffset + (place.byteOffset % 8 && 4), 2);
  view.fill(1);
  const large = new Float32Array(2 ** 23);
  assert.throws(() => own.forward({q: view, k: large, v: large, queryCount: 1, keyCount: 2 ** 22, headDim: 2}), /^TypeError: q lies in memory that has grown/);
  works(own);
});

test('loadAttention', async () => {
  for (const kernel of [null, 1, {}, ['wasm-simd128'], 'toString', '__proto__', Symbol(), 'x'.repeat(1e6), 'wasm-simd128\0']) {
    await assert.rejects(loadAttention({kernel}), /^RangeError: kernel must be .{0,120}$/);
  }
  const other = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
  for (const wasm of [null, 1, 'text', {}, new Uint8Array(4), new Uint8Array(0), other, new WebAssembly.Module(other)]) {
    await assert.rejects(loadAttention({kernel: 'wasm-simd128', wasm}), /^TypeError: wasm must hold core\.wasm/);
  }
  for (const options of [null, 1, 'kernel', () => 1]) await assert.rejects(loadAttention(options), /^TypeError: options must be/);
});
