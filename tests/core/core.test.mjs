// attention-playground/core under Node, in all builds, against double precision.
import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {Worker} from 'node:worker_threads';

import {everyOption, folder, kernels, loadAttention, near, numbers, script} from './common.mjs';

// Weights and output in double precision, written to be read. `sees(h, i, j)` is the mask, `bias(h, i, j)` is added.
function exact({q, k, v, heads, kvHeads = heads, n, m, d, e, scale = 1 / Math.sqrt(d), packed, sees = () => true, bias = () => 0,
  softcap = 0, temperature = 1}) {
  const at = (a, among, rows, dim, h, r, c) => packed ? a[(r * among + h) * dim + c] : a[(h * rows + r) * dim + c];
  const weights = [], output = new Float64Array(heads * n * e);
  for (let h = 0; h < heads; ++h) {
    const g = Math.floor(h / (heads / kvHeads));
    for (let i = 0; i < n; ++i) {
      const row = Array.from({length: m}, (_, j) => {
        if (!sees(h, i, j)) return -Infinity;
        let s = 0;
        for (let c = 0; c < d; ++c) s += at(q, heads, n, d, h, i, c) * at(k, kvHeads, m, d, g, j, c);
        s *= scale;
        if (softcap) s = softcap * Math.tanh(s / softcap);
        return (s + bias(h, i, j)) / temperature;
      });
      const max = Math.max(...row);
      const powers = row.map((s) => s === -Infinity ? 0 : Math.exp(s - max));
      const sum = powers.reduce((a, b) => a + b, 0);
      powers.forEach((p, j) => {
        const w = sum ? p / sum : 0;
        weights.push(w);
        for (let c = 0; c < e; ++c) output[packed ? (i * heads + h) * e + c : (h * n + i) * e + c] += w * at(v, kvHeads, m, e, g, j, c);
      });
    }
  }
  return {weights, output};
}

const small = () => ({q: numbers(12, 1), k: numbers(12, 2), v: numbers(12, 3), heads: 2, queryCount: 3, headDim: 2});

test('at least one build runs here, and the best is taken', async () => {
  assert.ok(kernels.includes('wasm-simd128'));
  const attn = await loadAttention();
  assert.equal(attn.kernel, 'f16round' in Math ? kernels.at(-1) : 'wasm-simd128');  // see ranked() in core.js
  assert.throws(() => { attn.kernel = 'x'; }, TypeError);
});

for (const kernel of kernels) {
  const attn = await loadAttention({kernel});

  test(`${kernel}: shapes, layouts and groups`, () => {
    for (const [heads, kvHeads, n, m, d, e] of [[1, 1, 1, 1, 1, 1], [2, 1, 3, 5, 7, 2], [4, 2, 17, 33, 9, 15], [3, 3, 65, 63, 16, 8], [1, 1, 7, 300, 64, 64]]) {
      for (const packed of [false, true]) {
        const q = numbers(heads * n * d, 4), k = numbers(kvHeads * m * d, 5), v = numbers(kvHeads * m * e, 6);
        const wanted = exact({q, k, v, heads, kvHeads, n, m, d, e, packed});
        const got = attn.forward({q, k, v, heads, kvHeads, queryCount: n, keyCount: m, headDim: d, valueDim: e,
          layout: packed ? 'packed' : 'split', weights: true});
        near(got.output, wanted.output, 3e-6, 'output');
        near(got.weights, wanted.weights, 1e-6, 'weights');
        assert.equal(attn.forward({q, k, v, heads, kvHeads, queryCount: n, keyCount: m, headDim: d, valueDim: e,
          layout: packed ? 'packed' : 'split'}).weights, undefined);
      }
    }
  });

  test(`${kernel}: every option`, () => {
    const heads = 2, n = 9, m = 14, d = 6, e = 5;
    const q = numbers(heads * n * d, 7), k = numbers(heads * m * d, 8), v = numbers(heads * m * e, 9);
    const base = {q, k, v, heads, queryCount: n, keyCount: m, headDim: d, valueDim: e, weights: true};
    const plain = {q, k, v, heads, n, m, d, e};
    for (const [options, meaning] of everyOption(n, m)) {
      const got = attn.forward({...base, ...options}), wanted = exact({...plain, ...meaning});
      near(got.output, wanted.output, 4e-6, `${Object.keys(options)} output`);
      near(got.weights, wanted.weights, 2e-6, `${Object.keys(options)} weights`);
    }
  });

  test(`${kernel}: arrays of its own are used in place, also after memory has grown`, async () => {
    const own = await loadAttention({kernel});
    const options = small(), wanted = attn.forward(options).output;
    const put = (from) => { const to = own.alloc(from.length); to.set(from); return to; };
    const [q, k, v] = [put(options.q), put(options.k), put(options.v)];
    const out = own.alloc(12), weights = own.alloc(18);
    const result = own.forward({...options, q, k, v, out, weights});
    assert.equal(result.output, out);
    assert.equal(result.weights, weights);
    near(out, wanted, 0, 'output');
    near(own.forward({...options, q: q.subarray(0, 12), k, v}).output, wanted, 0, 'from a part');
    const large = own.alloc(16 << 20);  // the memory grows, and JavaScript detaches existing arrays
    assert.equal(q.length, 0);
    const again = own.forward({...options, q, k, v, out});
    near(again.output, wanted, 0, 'output after growth');
    assert.notEqual(again.output, out);
    assert.deepEqual([...own.renew(q)], [...options.q]);
    own.free(large);
    assert.throws(() => own.free(large), TypeError);
    assert.throws(() => own.forward({...options, k: large}), TypeError);
    const part = own.renew(k).subarray(0, 12);
    own.free(own.renew(v));
    near(own.forward({...options, k: part}).output, wanted, 0, 'after frees');
  });

  test(`${kernel}: a call asked for again is looked at again`, async () => {
    const own = await loadAttention({kernel});
    const shape = {heads: 2, n: 4, m: 4, d: 8, e: 8}, options = {heads: 2, queryCount: 4, headDim: 8};
    const [q, k, v, out, weights] = [64, 64, 64, 64, 32].map((length) => own.alloc(length));
    const check = (what, more = {}) => {
      const result = own.forward({...options, q, k, v, out, ...more});
      near(result.output, exact({...shape, q, k, v, scale: more.scale}).output, 1e-6, what);
      return result;
    };
    const seeds = [4, 5, 6];
    for (const array of [q, k, v]) array.set(numbers(64, seeds.pop()));
    const first = check('the first time');
    assert.notEqual(check('the second time'), first);
    q.set(numbers(64, 9));
    check('other numbers');
    check('another scale', {scale: 0.7});
    check('the same again', {scale: 0.7});
    assert.equal(check('weights too', {weights}).weights, weights);
    assert.equal(check('weights again', {weights}).weights, weights);
    assert.equal(check('no weights').weights, undefined);
    assert.throws(() => check('an option more', {kausal: undefined}), /^TypeError: kausal is not an option/);
    check('without it');
    k[7] = NaN;
    out.fill(5);
    assert.throws(() => check('not a number'), /^RangeError: k\[7\] is NaN/);
    assert.ok(out.every((number) => number === 5), 'a refused call writes nothing');
    k[7] = 1e30;
    check('a large number');
    check('a large number again');
    k[7] = 0.5;
    check('a small one');
    const large = own.alloc(16 << 20);  // the memory grows, and JavaScript detaches existing arrays
    const [grownQ, grownK, grownV] = [q, k, v].map((array) => own.renew(array));
    near(own.forward({...options, q, k, v, out}).output, exact({...shape, q: grownQ, k: grownK, v: grownV}).output, 1e-6, 'after growth');
    own.free(large);
    own.free(q);
    assert.throws(() => own.forward({...options, q, k, v, out}), /^TypeError: q has been freed/);
  });

  test(`${kernel}: a call that differs in one option is another call`, async () => {
    const own = await loadAttention({kernel});
    const make = (seed) => { const array = own.alloc(64); array.set(numbers(64, seed)); return array; };
    const base = {q: make(1), k: make(2), v: make(3), out: make(4), heads: 2, kvHeads: 2, queryCount: 4, keyCount: 4, headDim: 8, valueDim: 8,
      layout: 'split', causal: false, causalOffset: 0, windowLeft: -1, windowRight: -1, keyLength: 4, scale: 0.3, softcap: 0, temperature: 1};
    const others = {q: make(5), k: make(6), v: make(7), out: make(8), layout: 'packed', causal: true, causalOffset: 1, windowLeft: 1,
      windowRight: 0, keyLength: 2, scale: 0.7, softcap: 2, temperature: 3};
    const copied = ({out, ...options}) => own.forward({...options, q: [...options.q], k: [...options.k], v: [...options.v]}).output;
    for (const [name, value] of Object.entries(others)) {
      const before = name === 'causalOffset' ? {...base, causal: true} : base, after = {...before, [name]: value};
      const wanted = copied(after);
      own.forward(before);
      const {output} = own.forward(after);
      assert.equal(output, after.out, name);
      assert.deepEqual([...output], [...wanted], name);
    }
    const wanted = copied(base);
    own.forward(Object.assign(Object.create({causal: true}), Object.fromEntries(Object.entries(base).filter(([name]) => name !== 'causal'))));
    const {causal, ...rest} = base;
    assert.deepEqual([...own.forward(rest).output], [...wanted], 'inherited options are not kept');
    const weights = own.alloc(32);
    own.forward({...base, weights});
    weights.fill(9);
    own.forward({...base, weights});
    assert.ok(weights.every((weight) => weight <= 1), 'weights are written again');
  });

  test(`${kernel}: memory is given back`, async () => {
    const own = await loadAttention({kernel});
    const options = {q: numbers(4096, 1), k: numbers(4096, 2), v: numbers(4096, 3), queryCount: 64, headDim: 64, weights: true};
    own.forward(options);
    const probe = own.alloc(1), before = probe.byteOffset;
    own.free(probe);
    for (let i = 0; i < 2000; ++i) {
      own.forward(options);
      try { own.forward({...options, mask: [1, 2, 3]}); } catch { /* the temporaries of a refused call go too */ }
    }
    const after = own.alloc(1);
    assert.equal(after.byteOffset, before);
  });

  test(`${kernel}: refusals name the argument, and the next call works`, () => {
    const nan = numbers(12, 1);
    nan[5] = NaN;
    const freed = attn.alloc(12), shared = attn.alloc(12), both = new Float32Array(12);
    attn.free(freed);
    const refused = [
      [{q: undefined}, TypeError, /^q is missing/], [{k: 'text'}, TypeError, /^k must be/], [{v: 5}, TypeError, /^v must be/],
      [{v: new BigInt64Array(12)}, TypeError, /^v must be/],
      [{q: numbers(11, 1)}, RangeError, /^q has 11 numbers, and heads × queryCount × headDim is 12/],
      [{k: nan}, RangeError, /^k\[5\] is NaN/], [{v: [...numbers(11, 1), Infinity]}, RangeError, /^v\[11\] is Infinity/],
      [{q: Array(12)}, RangeError, /^q\[0\] is undefined/], [{q: numbers(12, 1).map(() => 1e39)}, RangeError, /^q\[0\]/],
      [{q: freed}, TypeError, /^q has been freed/], [{out: freed}, TypeError, /^out has been freed/],
      [{q: shared, out: shared}, RangeError, /^out overlaps q/],
      [{out: numbers(3, 1)}, RangeError, /^out has 3/], [{out: [1, 2]}, TypeError, /^out must be/],
      [{weights: 'yes'}, TypeError, /^weights must be/], [{weights: numbers(5, 1)}, RangeError, /^weights has 5/],
      [{heads: 0}, RangeError, /^heads must be/], [{heads: 1.5}, RangeError, /^heads/], [{heads: '2'}, TypeError, /^heads/],
      [{kvHeads: 3}, RangeError, /^heads must be a multiple of kvHeads/],
      [{queryCount: -1}, RangeError, /^queryCount/], [{queryCount: undefined}, TypeError, /^queryCount is missing/],
      [{queryCount: 2 ** 31}, RangeError, /^queryCount/], [{keyCount: 1e300}, RangeError, /^keyCount/], [{headDim: NaN}, RangeError, /^headDim/],
      [{queryCount: 2 ** 30, headDim: 2 ** 30}, RangeError, /^q has 12 numbers/],
      [{layout: 'odd'}, RangeError, /^layout/], [{causal: 1}, TypeError, /^causal/], [{causalOffset: 0.5}, RangeError, /^causalOffset/],
      [{windowLeft: -2}, RangeError, /^windowLeft/], [{windowRight: Infinity}, RangeError, /^windowRight/],
      [{keyLength: 4}, RangeError, /^keyLength must be at most keyCount/], [{scale: Infinity}, RangeError, /^scale/],
      [{softcap: -1}, RangeError, /^softcap/], [{temperature: 0}, RangeError, /^temperature/], [{temperature: 1e-50}, RangeError, /^temperature/],
      [{mask: [true]}, RangeError, /^mask has 1 values/], [{mask: 3}, TypeError, /^mask/], [{mask: [1, NaN, 2]}, RangeError, /^mask\[1\]/],
      [{q: [...numbers(11, 1), null]}, RangeError, /^q\[11\] is null/], [{k: Array(12).fill('1')}, RangeError, /^k\[0\] is 1; it must be a finite number/],
      [{mask: [0, null, 0]}, RangeError, /^mask\[1\] is null/], [{mask: [true, 0, 1]}, RangeError, /^mask\[1\] is 0; it must be true or false/],
      [{mask: [0, true, 0]}, RangeError, /^mask\[1\] is true; it must be a finite number/],
      [{keyCount: 2, k: numbers(8, 2), v: numbers(8, 3), out: both, weights: both}, RangeError, /^weights overlaps out/],
      [{kausal: true}, TypeError, /^kausal is not an option/],
    ];
    for (const [change, type, message] of refused) {
      assert.throws(() => attn.forward({...small(), ...change}), (error) => {
        assert.equal(error.constructor, type, `${JSON.stringify(Object.keys(change))}: ${error.message}`);
        assert.match(error.message, message);
        return true;
      });
    }
    assert.throws(() => attn.forward(), TypeError);
    assert.throws(() => attn.alloc(-1), /^RangeError: length/);
    assert.throws(() => attn.alloc(2 ** 30), /^RangeError: length/);
    assert.throws(() => attn.alloc(2 ** 31 - 1), /^RangeError: length/);
    assert.throws(() => attn.free(numbers(1, 1)), /^TypeError: array/);
    const {q, k, v} = small();
    near(attn.forward(small()).output, exact({q, k, v, heads: 2, n: 3, m: 3, d: 2, e: 2}).output, 1e-6, 'after all that');
    attn.free(shared);
  });

  test(`${kernel}: more weights than there is memory for`, () => {
    const n = 40000, q = numbers(n, 1);
    assert.throws(() => attn.forward({q, k: q, v: q, queryCount: n, headDim: 1, weights: true}), /^RangeError: weights/);
    assert.ok(Number.isFinite(attn.forward({q: q.slice(0, 8), k: q, v: q, queryCount: 8, keyCount: n, headDim: 1}).output[7]));
  });
}

test('options of loadAttention', async () => {
  await assert.rejects(loadAttention({kernel: 'avx'}), /^RangeError: kernel/);
  await assert.rejects(loadAttention({kernels: 1}), /^TypeError: kernels is not an option/);
  await assert.rejects(loadAttention(null), TypeError);
  const bytes = await readFile(fileURLToPath(new URL('core.wasm', folder)));
  assert.equal((await loadAttention({kernel: 'wasm-simd128', wasm: bytes})).kernel, 'wasm-simd128');
  assert.equal((await loadAttention({kernel: 'wasm-simd128', wasm: await WebAssembly.compile(bytes)})).kernel, 'wasm-simd128');
});

test('in a worker, and without eval', async () => {
  const code = `import {parentPort} from 'node:worker_threads';
    const {loadAttention} = await import(${JSON.stringify(script.href)});
    const attn = await loadAttention({kernel: 'wasm-simd128'});
    parentPort.postMessage(attn.forward({q: [1, 0], k: [1, 0], v: [3, 4], queryCount: 1, headDim: 2}).output);`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`));
  const output = await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  near(output, [3, 4], 1e-6, 'output');
  await worker.terminate();
  assert.doesNotMatch(await readFile(fileURLToPath(script), 'utf8'), /\beval\b|new Function/);
});
