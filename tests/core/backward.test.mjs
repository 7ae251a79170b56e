// attn.backward of attention-playground/core: against a readable double-precision implementation, which is itself checked by central
// differences, and against careless and hostile callers.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {everyOption, kernels, loadAttention, near, numbers} from './common.mjs';

/** One layer in double: L = Σ dOutput·output + Σ dWeights·weights, and its gradients by the chain rule, row by row. */
function exact({q, k, v, dOutput, dWeights, heads, kvHeads = heads, n, m, d, e, scale = 1 / Math.sqrt(d), packed, sees = () => true,
  bias = () => 0, softcap = 0, temperature = 1}) {
  const at = (among, rows, dim, h, r, c) => packed ? (r * among + h) * dim + c : (h * rows + r) * dim + c;
  const dQ = new Float64Array(q.length), dK = new Float64Array(k.length), dV = new Float64Array(v.length);
  let total = 0;
  for (let h = 0; h < heads; ++h) {
    const g = Math.floor(h / (heads / kvHeads));
    const Q = (i, c) => at(heads, n, d, h, i, c), K = (j, c) => at(kvHeads, m, d, g, j, c);
    const V = (j, c) => at(kvHeads, m, e, g, j, c), O = (i, c) => at(heads, n, e, h, i, c);
    for (let i = 0; i < n; ++i) {
      const seen = Array.from({length: m}, (_, j) => j).filter((j) => sees(h, i, j) && bias(h, i, j) !== -Infinity);
      if (!seen.length) continue;
      const tanh = [], z = seen.map((j, place) => {
        let s = 0;
        for (let c = 0; c < d; ++c) s += q[Q(i, c)] * k[K(j, c)];
        s *= scale;
        tanh[place] = softcap ? Math.tanh(s / softcap) : 0;
        return ((softcap ? softcap * tanh[place] : s) + bias(h, i, j)) / temperature;
      });
      const most = Math.max(...z), e0 = z.map((s) => Math.exp(s - most)), sum = e0.reduce((a, b) => a + b);
      const w = e0.map((x) => x / sum);
      const dW = seen.map((j) => {
        let s = dWeights ? dWeights[(h * n + i) * m + j] : 0;
        for (let c = 0; dOutput && c < e; ++c) s += dOutput[O(i, c)] * v[V(j, c)];
        return s;
      });
      const mean = w.reduce((s, x, place) => s + x * dW[place], 0);
      total += mean;
      seen.forEach((j, place) => {
        const dS = w[place] * (dW[place] - mean) / temperature * (1 - tanh[place] ** 2) * scale;
        for (let c = 0; c < d; ++c) {
          dQ[Q(i, c)] += dS * k[K(j, c)];
          dK[K(j, c)] += dS * q[Q(i, c)];
        }
        for (let c = 0; dOutput && c < e; ++c) dV[V(j, c)] += w[place] * dOutput[O(i, c)];
      });
    }
  }
  return {total, dQ, dK, dV};
}

test('the arithmetic of this test is the central difference of its own forward pass', () => {
  const [heads, n, m, d, e] = [2, 3, 4, 3, 2];
  const inputs = {q: Float64Array.from(numbers(heads * n * d, 1)), k: Float64Array.from(numbers(m * d, 2)), v: Float64Array.from(numbers(m * e, 3))};
  const rest = {dOutput: numbers(heads * n * e, 4), dWeights: numbers(heads * n * m, 5), heads, kvHeads: 1, n, m, d, e, softcap: 0.7, temperature: 0.5,
    sees: (h, i, j) => j <= i + 1, bias: (h, i, j) => (j - i) / 4};
  const wanted = exact({...inputs, ...rest});
  for (const [name, gradient] of [['q', 'dQ'], ['k', 'dK'], ['v', 'dV']]) {
    for (let i = 0; i < inputs[name].length; ++i) {
      const value = inputs[name][i], step = 1e-5, at = (x) => {
        inputs[name][i] = x;
        return exact({...inputs, ...rest}).total;
      };
      const difference = (at(value + step) - at(value - step)) / (2 * step);
      inputs[name][i] = value;
      assert.ok(Math.abs(difference - wanted[gradient][i]) < 1e-8, `${gradient}[${i}] is ${wanted[gradient][i]}, and ${difference}`);
    }
  }
});

for (const kernel of kernels) {
  const attn = await loadAttention({kernel});

  test(`${kernel}: shapes, layouts, groups, from the output, from the weights and from both`, () => {
    for (const [heads, kvHeads, n, m, d, e] of [[1, 1, 1, 1, 1, 1], [2, 1, 3, 5, 7, 2], [4, 2, 17, 33, 9, 15], [3, 3, 65, 63, 16, 8], [1, 1, 7, 300, 64, 64],
      [1, 1, 100, 70, 300, 20]]) {
      for (const packed of [false, true]) {
        const inputs = {q: numbers(heads * n * d, 4), k: numbers(kvHeads * m * d, 5), v: numbers(kvHeads * m * e, 6)};
        for (const given of [{dOutput: numbers(heads * n * e, 7)}, {dWeights: numbers(heads * n * m, 8)},
          {dOutput: numbers(heads * n * e, 9), dWeights: numbers(heads * n * m, 10)}]) {
          const wanted = exact({...inputs, ...given, heads, kvHeads, n, m, d, e, packed});
          const got = attn.backward({...inputs, ...given, heads, kvHeads, queryCount: n, keyCount: m, headDim: d, valueDim: e, layout: packed ? 'packed' : 'split'});
          for (const name of ['dQ', 'dK', 'dV']) near(got[name], wanted[name], 1e-5, name);
        }
      }
    }
  });

  test(`${kernel}: every option`, () => {
    const heads = 2, n = 9, m = 14, d = 6, e = 5;
    const inputs = {q: numbers(heads * n * d, 7), k: numbers(heads * m * d, 8), v: numbers(heads * m * e, 9), dOutput: numbers(heads * n * e, 10)};
    for (const [options, meaning] of everyOption(n, m)) {
      const got = attn.backward({...inputs, heads, queryCount: n, keyCount: m, headDim: d, valueDim: e, ...options});
      const wanted = exact({...inputs, heads, n, m, d, e, ...meaning});
      for (const name of ['dQ', 'dK', 'dV']) near(got[name], wanted[name], 2e-5, `${Object.keys(options)} ${name}`);
    }
  });

  test(`${kernel}: arrays of its own are used in place, and forward is not disturbed`, async () => {
    const own = await loadAttention({kernel});
    const put = (from) => { const to = own.alloc(from.length); to.set(from); return to; };
    const base = {heads: 2, queryCount: 4, headDim: 8}, [q, k, v, dOutput] = [1, 2, 3, 4].map((seed) => put(numbers(64, seed)));
    const [out, dQ, dK, dV] = [64, 64, 64, 64].map((length) => own.alloc(length));
    const first = [...own.forward({...base, q, k, v, out}).output];
    const result = own.backward({...base, q, k, v, dOutput, dQ, dK, dV});
    assert.equal(result.dQ, dQ), assert.equal(result.dK, dK), assert.equal(result.dV, dV);
    const wanted = exact({q, k, v, dOutput, heads: 2, n: 4, m: 4, d: 8, e: 8});
    near(dQ, wanted.dQ, 1e-6, 'dQ'), near(dK, wanted.dK, 1e-6, 'dK'), near(dV, wanted.dV, 1e-6, 'dV');
    out.fill(0);
    assert.deepEqual([...own.forward({...base, q, k, v, out}).output], first, 'the same call forwards as before');
    const outside = new Float32Array(64);
    assert.equal(own.backward({...base, q, k, v, dOutput, dK: outside}).dK, outside);
    near(outside, wanted.dK, 1e-6, 'dK outside');
    assert.throws(() => own.backward({...base, q, k, v, dOutput, dQ: q}), /^RangeError: dQ overlaps q/);
    assert.throws(() => own.backward({...base, q, k, v, dOutput, dQ, dV: dQ}), /^RangeError: dV overlaps dQ/);
    assert.throws(() => own.backward({...base, q, k, v, dOutput, dQ: outside, dK: outside}), /^RangeError: dK overlaps dQ/);
  });

  test(`${kernel}: a call forwards that is made while a list is read does not lend its words to the next`, async () => {
    const own = await loadAttention({kernel});
    const put = (from) => { const to = own.alloc(from.length); to.set(from); return to; };
    const call = {heads: 1, queryCount: 2, headDim: 2, q: put([1, 0, 0.5, -1]), k: put([0.5, 1, -1, 2]), v: put([1, 2, 3, 4]), out: own.alloc(4)};
    const right = [...own.forward(call).output];
    const hooked = new Proxy([1, 1, 1, 1], {get(list, key) { if (key === '2') own.forward(call); return Reflect.get(list, key); }});
    own.backward({queryCount: 1, headDim: 4, q: [1, 2, 3, 4], k: [4, 3, 2, 1], v: [1, 1, 1, 1], dOutput: hooked});
    assert.deepEqual([...own.forward(call).output], right);
    own.forward({queryCount: 1, headDim: 4, q: [1, 2, 3, 4], k: hooked, v: [1, 1, 1, 1]});
    assert.deepEqual([...own.forward(call).output], right);
  });

  test(`${kernel}: numbers too large for floats, and memory that is given back`, async () => {
    const own = await loadAttention({kernel});
    const big = numbers(64, 1).map((x) => x < 0 ? -3e38 : 3e38), small = numbers(64, 2);
    const result = own.backward({q: big, k: big, v: big, dOutput: big, queryCount: 8, headDim: 8});
    for (const gradient of Object.values(result)) assert.ok(gradient.every(Number.isFinite));
    const call = {q: small, k: small, v: small, dOutput: small, dWeights: numbers(64, 3), queryCount: 8, headDim: 8};
    own.backward(call);
    const probe = own.alloc(1), before = probe.byteOffset;
    own.free(probe);
    for (let i = 0; i < 1000; ++i) {
      own.backward(call);
      try { own.backward({...call, mask: [1, 2, 3]}); } catch { /* the temporaries of a refused call go too */ }
    }
    assert.equal(own.alloc(1).byteOffset, before);
  });

  test(`${kernel}: refusals name the argument, and the next call works`, () => {
    const small = () => ({q: numbers(12, 1), k: numbers(12, 2), v: numbers(12, 3), dOutput: numbers(12, 4), heads: 2, queryCount: 3, headDim: 2});
    const right = [...attn.backward(small()).dQ];
    const nan = numbers(12, 1), freed = attn.alloc(12);
    nan[5] = NaN;
    attn.free(freed);
    const weights = numbers(18, 5);
    weights[7] = Infinity;
    const refused = [
      [{dOutput: undefined}, TypeError, /^dOutput is missing; give dOutput, dWeights, or both/], [{dOutput: null}, TypeError, /^dOutput is missing/],
      [{dOutput: 'text'}, TypeError, /^dOutput must be/], [{dOutput: numbers(11, 1)}, RangeError, /^dOutput has 11 numbers, and heads × queryCount × valueDim is 12/],
      [{dOutput: nan}, RangeError, /^dOutput\[5\] is NaN/], [{dOutput: [...numbers(11, 1), null]}, RangeError, /^dOutput\[11\] is null/],
      [{dOutput: freed}, TypeError, /^dOutput has been freed/],
      [{dWeights: 5}, TypeError, /^dWeights must be/], [{dWeights: numbers(12, 1)}, RangeError, /^dWeights has 12 numbers, and heads × queryCount × keyCount is 18/],
      [{dWeights: weights}, RangeError, /^dWeights\[7\] is Infinity/],
      [{dQ: [1]}, TypeError, /^dQ must be a Float32Array to write to/], [{dK: numbers(3, 1)}, RangeError, /^dK has 3 numbers/], [{dV: freed}, TypeError, /^dV has been freed/],
      [{q: undefined}, TypeError, /^q is missing/], [{k: nan}, RangeError, /^k\[5\] is NaN/], [{v: [...numbers(11, 1), Infinity]}, RangeError, /^v\[11\] is Infinity/],
      [{heads: 0}, RangeError, /^heads must be/], [{heads: '2'}, TypeError, /^heads/], [{kvHeads: 3}, RangeError, /^heads must be a multiple of kvHeads/],
      [{queryCount: undefined}, TypeError, /^queryCount is missing/], [{keyCount: 1e300}, RangeError, /^keyCount/], [{headDim: NaN}, RangeError, /^headDim/],
      [{layout: 'odd'}, RangeError, /^layout/], [{causal: 1}, TypeError, /^causal/], [{scale: Infinity}, RangeError, /^scale/], [{temperature: 0}, RangeError, /^temperature/],
      [{mask: [true]}, RangeError, /^mask has 1 values/], [{mask: [1, NaN, 2]}, RangeError, /^mask\[1\]/],
      [{weights: true}, TypeError, /^weights is not an option of backward/], [{out: numbers(12, 1)}, TypeError, /^out is not an option of backward/],
      [{kausal: true}, TypeError, /^kausal is not an option of backward/],
    ];
    for (const [change, type, message] of refused) {
      assert.throws(() => attn.backward({...small(), ...change}), (error) => {
        assert.equal(error.constructor, type, `${JSON.stringify(Object.keys(change))}: ${error.message}`);
        assert.match(error.message, message);
        return true;
      });
      assert.deepEqual([...attn.backward(small()).dQ], right);
    }
    for (const value of [undefined, null, 1, 'q', () => 1]) assert.throws(() => attn.backward(value), /^TypeError: backward takes/);
  });
}
