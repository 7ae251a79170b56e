// attention-playground/core with any score, normaliser, position and batch, against the golden numbers of NumPy and PyTorch with which the
// layer itself is tested (tests/golden).
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {kernels, loadAttention, near, numbers} from './common.mjs';

const golden = (name) => JSON.parse(readFileSync(new URL(`../golden/${name}.json`, import.meta.url)));
const camel = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
// Those of the types; the module must have the same.
const types = readFileSync(new URL('../../web/core.d.ts', import.meta.url), 'utf8');
const named = (type) => RegExp(`type ${type} = (.*);`).exec(types)[1].split(' | ').map((word) => word.slice(1, -1));
const oneOf = (option, names) => RegExp(`^${option} must be ${names.map((name) => `'${name}'`).join(', ')}, not`);
const SCORES = named('Score'), NORMALIZERS = named('Normalizer');
const TAKEN = new Set(['heads', 'kvHeads', 'score', 'scale', 'temperature', 'causal', 'causalOffset', 'windowLeft', 'windowRight', 'softcap', 'normalizer', 'position',
  'prefix', 'keyLength', 'maskAfterSoftmax', 'rotaryPairs', 'rotaryBase', 'rotaryDims', 'rotaryScaling', 'rotaryFactor', 'positionIds']);

// The call for a stored layer; none if it is a projected layer, or needs a mask that the caller would have to build.
function callOf({options, inputs, painted}) {
  const {q, k, v, w_a, u_a, v_a, bias, sink} = inputs;
  if (!q) return null;
  const call = {q: q.data, k: k.data, v: v.data, queryCount: q.shape[1], queryDim: q.shape[2], headDim: k.shape[2], keyCount: k.shape[1], valueDim: v.shape[2]};
  for (const [name, value] of Object.entries(options)) {
    if (!TAKEN.has(camel(name))) return null;
    call[camel(name)] = value;
  }
  if (!call.scale || (call.score ?? 'scaled') !== 'scaled') delete call.scale;
  if (call.keyLength === -1) delete call.keyLength;
  if (w_a && v_a) call.score = 'additive';
  if (w_a && ['general', 'additive'].includes(call.score)) call.wA = w_a.data;
  if (v_a && call.score === 'additive') call.uA = u_a.data, call.vA = v_a.data;
  if (sink) call.sink = sink.data;
  if (bias) call.mask = bias.data;
  if (painted) call.mask = Uint8Array.from(painted, (blocked) => 1 - blocked);
  return call;
}
const plain = (tensor) => Array.isArray(tensor) ? tensor : tensor.data;
const bound = (wanted, share) => share * Math.max(1, ...wanted.map(Math.abs));

for (const kernel of kernels) {
  const attn = await loadAttention({kernel});

  test(`${kernel}: layers as NumPy and PyTorch compute them`, () => {
    let count = 0;
    const seen = new Set();
    for (const stored of [...golden('golden').cases, ...golden('real_models').cases]) {
      const call = callOf(stored);
      if (!call) continue;
      const got = attn.forward({...call, weights: true});
      for (const [name, wanted] of [['weights', stored.expected.weights], ['output', stored.expected.head_output]]) {
        if (wanted) near(got[name], plain(wanted), bound(plain(wanted), 1e-5), `${stored.name}: ${name}`), ++count;
      }
      for (const name of ['score', 'normalizer', 'position', 'rotaryPairs', 'rotaryScaling']) seen.add(call[name] ?? (name === 'normalizer' ? 'softmax' : 'none'));
    }
    assert.ok(count > 60, `${count} tensors`);
    for (const word of [...SCORES, ...NORMALIZERS, 'rotary', 'alibi', 'half', 'linear', 'ntk']) {
      assert.ok(seen.has(word), `${word} is among them`);
    }
  });

  test(`${kernel}: gradients as PyTorch and complex steps have them`, () => {
    let count = 0;
    for (const stored of [...golden('gradients').layers, ...golden('real_models').cases]) {
      const call = callOf(stored);
      if (!call || stored.options.hiddenHeads) continue;
      const {heads, queryCount: n, valueDim: e} = {heads: 1, ...call};
      const packed = stored.d_output.data;  // [1, n, heads·e], the heads side by side
      const dOutput = numbers(heads * n * e, 1).map((_, at) => packed[(Math.floor(at / e) % n * heads + Math.floor(at / (n * e))) * e + at % e]);
      const got = attn.backward({...call, dOutput, dWeights: stored.d_weights.data});
      for (const [name, of] of [['dQ', 'q'], ['dK', 'k'], ['dV', 'v'], ['dWA', 'w_a'], ['dUA', 'u_a'], ['dVA', 'v_a'], ['dSink', 'sink']]) {
        const wanted = stored.gradients[of];
        if (wanted && (got[name] || call[`${of[0]}A`])) near(got[name], wanted.data, bound(wanted.data, 2e-5), `${stored.name}: ${name}`), ++count;
      }
    }
    assert.ok(count > 90, `${count} tensors`);
  });

  test(`${kernel}: a batch is its entries one after the other, with lengths and masks of their own`, () => {
    const batch = 3, heads = 2, kvHeads = 1, queryCount = 4, keyCount = 5, headDim = 4, valueDim = 3;
    const sizes = {q: heads * queryCount * headDim, k: kvHeads * keyCount * headDim, v: kvHeads * keyCount * valueDim, dOutput: heads * queryCount * valueDim};
    const cells = heads * queryCount * keyCount;
    const all = Object.fromEntries(Object.entries(sizes).map(([name, size], i) => [name, numbers(batch * size, i + 1)]));
    const weights = {wA: numbers(heads * 6 * headDim, 7), uA: numbers(heads * 6 * headDim, 8), vA: numbers(heads * 6, 9)};
    const mask = Uint8Array.from(numbers(batch * cells, 11), (x) => x > -0.7 ? 1 : 0), added = numbers(batch * cells, 12);
    for (const [options, apart] of [[{}, {}], [{normalizer: 'sparsemax', position: 'alibi'}, {}], [{layout: 'packed', position: 'rotary', rotaryPairs: 'half'}, {}],
      [{score: 'cosine'}, {keyLength: [5, 2, 4]}], [{}, {keyLength: [1, 5, 3], mask}], [{normalizer: 'sigmoid'}, {mask: added}], [{score: 'additive', ...weights}, {mask}],
      [{sink: numbers(heads, 13), temperature: 0.5}, {mask}]]) {
      const shape = {heads, kvHeads, queryCount, keyCount, headDim, valueDim, ...options};
      const {dOutput, ...tensors} = all, whole = {...tensors, ...shape, ...apart, batch};
      const got = attn.forward({...whole, weights: true}), back = attn.backward({...whole, dOutput}), ofWeights = {};
      for (let b = 0; b < batch; ++b) {
        const part = (array, size) => array.slice(b * size, (b + 1) * size);
        const one = {...shape};
        for (const name of ['q', 'k', 'v']) one[name] = part(all[name], sizes[name]);
        if (apart.keyLength) one.keyLength = apart.keyLength[b];
        if (apart.mask) one.mask = part(apart.mask, cells);
        const wanted = attn.forward({...one, weights: true});
        near(part(got.output, sizes.dOutput), wanted.output, 0, `output ${b}`);
        near(part(got.weights, cells), wanted.weights, 0, `weights ${b}`);
        const gradients = attn.backward({...one, dOutput: part(dOutput, sizes.dOutput)});
        for (const name of ['q', 'k', 'v']) near(part(back[`d${name.toUpperCase()}`], sizes[name]), gradients[`d${name.toUpperCase()}`], 0, `gradient of ${name} ${b}`);
        for (const name of ['dWA', 'dUA', 'dVA', 'dSink']) if (gradients[name]) ofWeights[name] = gradients[name].map((g, i) => g + (ofWeights[name]?.[i] ?? 0));
      }
      for (const name in ofWeights) near(back[name], ofWeights[name], 1e-5, name);
    }
  });

  test(`${kernel}: what does not go together is refused by name, and nothing is written`, () => {
    const base = {q: numbers(12, 1), k: numbers(12, 2), v: numbers(12, 3), heads: 2, queryCount: 3, headDim: 2, out: new Float32Array(12)};
    for (const [options, type, message] of [
      [{score: 'luong'}, RangeError, oneOf('score', SCORES)], [{normalizer: 1}, RangeError, oneOf('normalizer', NORMALIZERS)],
      [{position: 'sinusoidal'}, RangeError, /^position must be 'none', 'rotary' or 'alibi'/], [{score: 'dot', scale: 2}, RangeError, /^scale goes with/],
      [{score: 'general'}, TypeError, /^wA is missing/], [{score: 'general', wA: numbers(7, 1)}, RangeError, /^wA has 7 numbers/],
      [{wA: numbers(8, 1)}, RangeError, /^wA: the score 'scaled' has no such weights/], [{score: 'additive', position: 'rotary'}, RangeError, /^position 'rotary'/],
      [{queryDim: 3, q: numbers(18, 1)}, RangeError, /^queryDim must be headDim \(2\) with the score 'scaled', not 3; 'general' and 'additive'/],
      [{score: 'general', queryDim: 3, q: numbers(18, 1), wA: numbers(12, 1), position: 'rotary'}, RangeError, /^queryDim must be headDim \(2\) with rotary positions/],
      [{score: 'general', queryDim: 3, q: numbers(18, 1), wA: numbers(4, 1)}, RangeError, /^wA has 4 numbers, and heads × queryDim × headDim is 12/],
      [{score: 'general', queryDim: 3, wA: numbers(12, 1)}, RangeError, /^q has 12 numbers, and heads × queryCount × queryDim is 18/],
      [{score: 'additive', wA: numbers(8, 1), uA: numbers(8, 1), vA: numbers(6, 1)}, RangeError, /^wA has 8 numbers, and heads × units × headDim is 12/],
      [{headDim: 1, position: 'rotary'}, RangeError, /^headDim must be even/], [{position: 'rotary', rotaryDims: 1}, RangeError, /^rotaryDims must be even/],
      [{rotaryBase: 1}, RangeError, /^rotaryBase/], [{rotaryFactor: 0}, RangeError, /^rotaryFactor/], [{positionIds: [0, 1.5]}, RangeError, /^positionIds\[1\]/],
      [{positionIds: 5}, TypeError, /^positionIds/], [{position: 'rotary', causalOffset: -1}, RangeError, /^causalOffset/], [{prefix: 4}, RangeError, /^prefix/],
      [{sink: [0, 0], normalizer: 'relu'}, RangeError, /^sink needs the normalizer 'softmax'/], [{sink: [0]}, RangeError, /^sink has 1 numbers, and heads is 2/], [{sink: 0}, TypeError, /^sink/],
      [{maskAfterSoftmax: true, normalizer: 'relu'}, RangeError, /^maskAfterSoftmax/], [{batch: 2}, RangeError, /^q has 12 numbers/], [{batch: 0}, RangeError, /^batch/],
      [{batch: 1, keyLength: [1, 2]}, RangeError, /^keyLength has 2 numbers, and the batch has 1/], [{keyLength: [1]}, TypeError, /^keyLength must be a number/], [{batch: 1, keyLength: [4]}, RangeError, /^keyLength\[0\] must be at most/],
      [{score: 'cosine', q: numbers(12, 1).fill(NaN, 3, 4)}, RangeError, /^q\[3\] is NaN/], [{normalizer: 'relu', v: numbers(12, 1).fill(Infinity, 5, 6)}, RangeError, /^v\[5\] is Infinity/],
      [{maskAfterSoftmax: true, mask: Uint8Array.from({length: 18}, (_, i) => i % 2)}, RangeError, /^mask: with maskAfterSoftmax/]]) {
      assert.throws(() => attn.forward({...base, ...options}), (error) => error instanceof type && message.test(error.message) || assert.fail(`${JSON.stringify(options).slice(0, 80)}: ${error}`));
    }
    assert.deepEqual([...base.out], Array(12).fill(0));
  });

  test(`${kernel}: a sink is one more score of every row, and its gradient is the quotient of differences`, () => {
    const heads = 2, queryCount = 3, keyCount = 4, sink = Float32Array.of(0.7, -1.2), dOutput = numbers(heads * queryCount * 2, 21);
    const call = {q: numbers(heads * queryCount * 3, 1), k: numbers(heads * keyCount * 3, 2), v: numbers(heads * keyCount * 2, 3), heads, queryCount, keyCount,
      headDim: 3, valueDim: 2, causal: true, temperature: 0.8, weights: true, sink};
    const {weights} = attn.forward(call), {weights: plain} = attn.forward({...call, sink: undefined});
    const scores = (h, i) => Array.from({length: i + 1}, (_, j) => {
      const dot = [0, 1, 2].reduce((sum, c) => sum + call.q[(h * queryCount + i) * 3 + c] * call.k[(h * keyCount + j) * 3 + c], 0);
      return Math.exp(dot / Math.sqrt(3) / 0.8);
    });
    for (let h = 0; h < heads; ++h) {
      for (let i = 0; i < queryCount; ++i) {
        const row = scores(h, i), sum = row.reduce((a, b) => a + b, Math.exp(sink[h] / 0.8));
        near(weights.slice((h * queryCount + i) * keyCount, (h * queryCount + i) * keyCount + i + 1), row.map((e) => e / sum), 1e-6, `row ${i} of head ${h}`);
      }
    }
    assert.ok(weights.every((w, i) => w <= plain[i]));
    const value = (of) => attn.forward({...call, sink: of}).output.reduce((sum, o, i) => sum + o * dOutput[i], 0), {weights: _, ...rest} = call;
    const {dSink} = attn.backward({...rest, dOutput}), step = 1 / 64;
    near(dSink, [0, 1].map((h) => {
      const at = (by) => value(sink.map((s, i) => s + (i === h ? by : 0)));
      return (at(step) - at(-step)) / (2 * step);
    }), 2e-4, 'dSink');
    assert.equal(attn.backward({...rest, sink: undefined, dOutput}).dSink, undefined);
  });

  test(`${kernel}: numbers of any size give no NaN, and a row that sees nothing is 0`, () => {
    const big = numbers(24, 5).map((x) => x * 3e38);
    const base = {q: big, k: big, v: big, heads: 2, queryCount: 3, headDim: 4, weights: true, wA: numbers(32, 6), uA: numbers(32, 7), vA: numbers(8, 8)};
    for (const score of SCORES) {
      for (const normalizer of NORMALIZERS) {
        for (const position of ['none', 'alibi', ...(score === 'additive' ? [] : ['rotary'])]) {
          const {wA, uA, vA, ...rest} = base, own = score === 'additive' ? {wA, uA, vA} : score === 'general' ? {wA} : {};
          const got = attn.forward({...rest, ...own, score, normalizer, position, causal: true});
          assert.ok([...got.output, ...got.weights].every(Number.isFinite), `${score} ${normalizer} ${position}`);
          const none = attn.forward({...rest, ...own, score, normalizer, position, keyLength: 0});
          assert.ok([...none.output, ...none.weights].every((x) => x === 0), `${score} ${normalizer} ${position} of no keys`);
        }
      }
    }
  });
}
