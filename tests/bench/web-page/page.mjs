// The contenders of web.bench.mjs, as globalThis.bench: about(), forward(shape, causal, rounds), tiny(rounds), workers(shape, rounds).
import {loadAttention} from '/package/core.js';
import {causalMask, graphs, packed, session} from '/lib/onnx.mjs';
import * as ort from '/modules/onnxruntime-web/dist/ort.wasm.min.mjs';

ort.env.wasm.numThreads = 1;
ort.env.wasm.wasmPaths = '/modules/onnxruntime-web/dist/';
ort.env.logLevel = 'fatal';
const tf = globalThis.tf;
tf.wasm.setWasmPaths('/modules/@tensorflow/tfjs-backend-wasm/dist/');
tf.wasm.setThreadsCount?.(1);
await tf.setBackend('wasm');
await tf.ready();

const kernels = {}, peaks = {};
for (const kernel of ['wasm-relaxed', 'wasm-simd128']) {
  try {
    kernels[kernel] = await loadAttention({kernel});
    const file = kernel === 'wasm-relaxed' ? 'peak-relaxed.wasm' : 'peak.wasm';
    peaks[kernel] = (await WebAssembly.instantiateStreaming(fetch(`/bench/${file}`), {})).instance.exports.peak;
  } catch (error) {
    console.warn(kernel, error.message);
  }
}

function numbers(length, seed) {
  let state = seed * 7919 + 1;
  const uniform = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  return Float32Array.from({length}, () => { let sum = -6; for (let i = 0; i < 12; ++i) sum += uniform(); return sum; });
}

/** What a page would implement by hand. */
function plain({heads, tokens, dim, q, k, v}, causal, out) {
  const scale = 1 / Math.sqrt(dim), row = new Float32Array(tokens);
  for (let h = 0; h < heads; ++h) {
    const head = h * tokens * dim;
    for (let i = 0; i < tokens; ++i) {
      const end = causal ? i + 1 : tokens, qi = head + i * dim;
      let max = -Infinity;
      for (let j = 0; j < end; ++j) {
        const kj = head + j * dim;
        let s = 0;
        for (let c = 0; c < dim; ++c) s += q[qi + c] * k[kj + c];
        row[j] = s *= scale;
        if (s > max) max = s;
      }
      let sum = 0;
      for (let j = 0; j < end; ++j) sum += row[j] = Math.exp(row[j] - max);
      out.fill(0, qi, qi + dim);
      for (let j = 0; j < end; ++j) {
        const w = row[j] / sum, vj = head + j * dim;
        for (let c = 0; c < dim; ++c) out[qi + c] += w * v[vj + c];
      }
    }
  }
}

/** Everything that can compute this shape: {contenders: {name: async () => void}, refused, outputs, release}. */
async function contenders([heads, tokens, dim], causal, withWeights) {
  const length = heads * tokens * dim;
  const input = {heads, tokens, dim, q: numbers(length, 1), k: numbers(length, 2), v: numbers(length, 3)};
  const runs = {}, refused = {}, outputs = {}, releases = [];
  for (const [name, attn] of Object.entries(kernels)) {
    const arrays = [input.q, input.k, input.v].map((from) => attn.alloc(length));
    arrays.push(attn.alloc(length));
    if (withWeights && name === Object.keys(kernels)[0]) arrays.push(attn.alloc(heads * tokens * tokens));
    const call = (weights) => {
      const [q, k, v, out, w] = arrays.map((array) => attn.renew(array));
      return {q, k, v, out, heads, queryCount: tokens, headDim: dim, causal, weights: weights ? w : false};
    };
    const {q, k, v} = call(false);
    q.set(input.q), k.set(input.k), v.set(input.v);
    attn.forward(call(arrays.length > 4));  // memory can grow here, but not afterwards
    const options = call(false);
    runs[name] = () => attn.forward(options);
    outputs[name] = () => options.out.slice();
    if (arrays.length > 4) {
      const both = call(true);
      runs['with weights'] = () => attn.forward(both);
    }
    releases.push(() => arrays.forEach((array) => attn.free(array)));
  }
  for (const graph of graphs(heads, tokens, dim, causal)) {
    const made = await session(ort, graph, input, {executionProviders: ['wasm']});
    if (made.refused) { refused[`ONNX ${graph.name}`] = made.refused; continue; }
    runs[`ONNX ${graph.name}`] = made.run;
    if (!graph.packed) outputs[`ONNX ${graph.name}`] = () => made.output;
    releases.push(made.release);
  }
  const tensors = [input.q, input.k, input.v].map((a) => tf.tensor(a, [heads, tokens, dim]));
  const mask = causal ? tf.tensor(causalMask(tokens).map((x) => x === 0 ? 0 : -1e30), [1, tokens, tokens]) : null;
  runs['TensorFlow.js wasm'] = () => {
    const result = tf.tidy(() => {
      let scores = tf.mul(tf.matMul(tensors[0], tensors[1], false, true), 1 / Math.sqrt(dim));
      if (mask) scores = tf.add(scores, mask);
      return tf.matMul(tf.softmax(scores), tensors[2]);
    });
    result.dataSync();
    result.dispose();
  };
  releases.push(() => { tensors.forEach((t) => t.dispose()); mask?.dispose(); });
  const out = new Float32Array(length);
  runs['plain JavaScript'] = () => plain(input, causal, out);
  outputs['plain JavaScript'] = () => out;
  return {runs, refused, outputs, release: async () => { for (const done of releases) await done(); }};
}

/** Runs everybody in turn; a round makes as many calls as take a few milliseconds. Returns seconds per call. */
async function rounds(runs, count, fill) {
  const times = {}, repeats = {};
  for (const [name, run] of Object.entries(runs)) {
    times[name] = [];
    await run();
    const begin = performance.now();
    let n = 0;
    do { await run(); ++n; } while (performance.now() - begin < fill);
    repeats[name] = n;
  }
  for (let r = 0; r < count; ++r) {
    for (const [name, run] of Object.entries(runs)) {
      // A few rounds are enough to show that something is slow.
      if (r >= 3 && times[name][0] > 1) continue;
      const n = repeats[name], begin = performance.now();
      for (let i = 0; i < n; ++i) {
        const result = run();
        if (result instanceof Promise) await result;
      }
      times[name].push((performance.now() - begin) / n / 1e3);
    }
  }
  return times;
}

globalThis.bench = {
  about: () => `core ${Object.keys(kernels).join(', ')}; ONNX Runtime Web ${ort.env.versions?.web}; TensorFlow.js ${tf.version_core ?? tf.version?.['tfjs-core'] ?? ''}`,
  async forward(shape, causal, count) {
    const {runs, refused, outputs, release} = await contenders(shape, causal, true);
    const measured = {};
    const measurePeaks = () => {
      for (const [name, peak] of Object.entries(peaks)) {
        const begin = performance.now(), operations = peak(10_000_000, 1);  // takes about 20 ms, since the clock has a resolution of 0.1 ms
        (measured[name] ??= []).push(operations / (performance.now() - begin) * 1e3);
      }
    };
    measurePeaks();
    const times = {};
    for (let part = 0; part < 3; ++part) {  // the peak is measured in between, under the same conditions
      for (const [name, t] of Object.entries(await rounds(runs, Math.ceil(count / 3), 5))) (times[name] ??= []).push(...t);
      for (let i = 0; i < 5; ++i) measurePeaks();
    }
    const all = Object.values(outputs).map((get) => get());
    let worst = 0;
    for (const other of all) for (let i = 0; i < other.length; ++i) worst = Math.max(worst, Math.abs(other[i] - all[0][i]));
    await release();
    return {times, refused, worst, peaks: measured};
  },
  async tiny(count) {
    const {runs, release} = await contenders([4, 16, 16], false, false);
    const times = await rounds(runs, count, 20);
    await release();
    return {times};
  },
  /** One worker with all heads, and two with half of them each: what threads would give. */
  async workers([heads, tokens, dim], count) {
    const answered = (worker) => new Promise((resolve, reject) => { worker.onmessage = resolve, worker.onerror = reject; });
    const started = async (own) => {
      const worker = new Worker('worker.mjs', {type: 'module'});
      for (const message of [[own, tokens, dim], null]) {
        await answered(worker);  // it has loaded, or computed
        worker.postMessage(message);
      }
      await answered(worker);
      return () => (worker.postMessage(null), answered(worker));
    };
    const [all, ...halves] = await Promise.all([heads, heads / 2, heads / 2].map(started));
    return rounds({one: all, two: () => Promise.all(halves.map((run) => run()))}, count, 1);
  },
};
