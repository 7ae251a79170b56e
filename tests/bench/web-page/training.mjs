// The contenders of training.bench.mjs, as globalThis.bench: start() -> the losses of the first steps, round(seconds) -> seconds per step
// for each.
import {plain} from './plain.mjs';
import {tensorflow} from './tensorflow.mjs';

/** Our own, as used by the page: {steps(n), model}. */
async function ours(file) {
  let memory;
  const none = () => 0;
  const system = {fd_write: none, fd_close: none, fd_seek: none, proc_exit: none, clock_time_get: none, environ_get: none, environ_sizes_get: none};
  const {instance: {exports: e}} = await WebAssembly.instantiateStreaming(fetch(file), {
    wasi_snapshot_preview1: system, env: {emscripten_notify_memory_growth: none}});
  memory = e.memory;
  e._initialize?.();
  const text = (at) => { const bytes = new Uint8Array(memory.buffer, at); return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0))); };
  const model = {parameters: {}, batches: [], batch: 16, heads: 2, d: 32, layers: 2, rate: 0.003};
  for (let i = 0; i < e.parameters(); i++) {
    const shape = [e.rows(i), e.columns(i)];
    model.parameters[text(e.name(i))] = {shape, data: new Float32Array(memory.buffer, e.numbers(i), shape[0] * shape[1]).slice()};
  }
  for (let i = 0; i < e.batches(); i++) {
    const [tokens, targets] = [e.tokens(i), e.targets(i)].map((at) => new Int32Array(memory.buffer, at, model.batch * 32).slice());
    model.batches.push({tokens, targets});
  }
  return {steps: (n) => e.run(n), model};
}

const contenders = {}, repeats = {};
async function backend(name) {
  const {tf} = globalThis;
  if (!await tf.setBackend(name)) throw new Error(`TensorFlow.js has no ${name}`);
  await tf.ready();
}

globalThis.bench = {
  /** The loss of each at step `count`, from the same parameters and batches, which must be equal. */
  async start(count) {
    const {tf} = globalThis, losses = {};
    tf.wasm.setWasmPaths('/modules/@tensorflow/tfjs-backend-wasm/dist/');
    tf.wasm.setThreadsCount?.(1);
    let model;
    for (const [name, file] of [['wasm-relaxed', '/bench/training-relaxed.wasm'], ['wasm-simd128', '/bench/training.wasm']]) {
      const made = await ours(file).catch(() => null);
      if (!made) continue;
      model = made.model;
      losses[name] = made.steps(count);
      contenders[name] = (n) => made.steps(n);
      repeats[name] = 20;
    }
    const written = plain(model);
    for (let i = 0; i < count; i++) losses['plain JavaScript'] = written.step();
    contenders['plain JavaScript'] = (n) => { for (let i = 0; i < n; i++) written.step(); };
    for (const name of ['wasm', 'cpu']) {
      await backend(name);
      const built = tensorflow(tf, model), title = `TensorFlow.js ${name}`;
      for (let i = 0; i < count; i++) losses[title] = built.step(true);
      contenders[title] = async (n) => { await backend(name); for (let i = 0; i < n; i++) built.step(); };
    }
    return losses;
  },
  /** Runs each in turn, for as many steps as take `milliseconds`, but at least one. */
  async round(milliseconds) {
    const times = {};
    for (const [name, run] of Object.entries(contenders)) {
      const n = repeats[name] ?? 1, begin = performance.now();
      await run(n);
      times[name] = (performance.now() - begin) / n / 1e3;
      repeats[name] = Math.max(1, Math.round(milliseconds / 1e3 / times[name]));
    }
    return times;
  },
  version: () => globalThis.tf.version_core ?? '',
};
