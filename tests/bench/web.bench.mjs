// Attention in Chromium, one thread: the core package (both builds) against ONNX Runtime Web, TensorFlow.js wasm and plain
// JavaScript, in one page, alternating. Node only serves the files, opens the page and prints.
//   node web.bench.mjs [--quick]
import {fileURLToPath} from 'node:url';
import {brotliCompressSync} from 'node:zlib';
import {readFileSync} from 'node:fs';
import {openPage} from './chromium.mjs';
import {causalPart, geometricMean, gflops, median, quick, root, save, SHAPES, table, verdicts} from './contest.mjs';
import {build, install} from './fetch.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const built = process.env.BENCH_BUILD ?? `${root}build`;
install();
if (!process.env.BENCH_BUILD) {
  for (const target of ['core', 'core-relaxed', 'peak', 'peak-relaxed']) build('web', target);
}

const folders = {'/package/': `${built}/package`, '/bench/': `${built}/bench`, '/page/': `${here}web-page`, '/lib/': here, '/modules/': `${here}node_modules`};
const {page, version, close} = await openPage('/page/index.html', folders);
const ask = (name, ...args) => page.evaluate(([n, a]) => globalThis.bench[n](...a), [name, args]);
await page.waitForFunction(() => globalThis.bench);
console.log(`Chromium ${version}; ${(await ask('about'))}`);

const rounds = quick ? 3 : 21;
const data = [];
for (const shape of SHAPES) {
  for (const causal of [false, true]) {
    const {times, refused, worst, peaks} = await ask('forward', shape, causal, rounds);
    // Medians, so that the comparison is fair if the machine was busy during one of the shapes.
    const medians = Object.fromEntries(Object.entries(times).map(([name, t]) => [name, median(t)]));
    const fastest = Object.fromEntries(Object.entries(times).map(([name, t]) => [name, Math.min(...t)]));
    const peak = Object.fromEntries(Object.entries(peaks).map(([name, p]) => [name, Math.max(...p)]));
    const onnx = Math.min(...Object.entries(medians).filter(([name]) => name.startsWith('ONNX')).map(([, t]) => t));
    const onnxFastest = Math.min(...Object.entries(fastest).filter(([name]) => name.startsWith('ONNX')).map(([, t]) => t));
    data.push({shape, causal, medians, fastest, refused, peak, onnx, onnxFastest, worst});
    table(`${shape.join('×')}${causal ? ' causal' : ''}  (register-only peaks: ${Object.entries(peak).map(([n, p]) => `${n} ${(p / 1e9).toFixed(1)}`).join(', ')} GFLOP/s)`,
      ['', 'ms', 'GFLOP/s', 'fastest ms', 'time ÷ best ONNX'],
      Object.entries(medians).map(([name, t]) => [name, t * 1e3, gflops(shape, t), fastest[name] * 1e3, t / onnx]));
    for (const [name, why] of Object.entries(refused)) console.log(`  not run: ${name}: ${why}`);
    console.log(`  largest difference between outputs: ${worst.toExponential(1)}`);
  }
}
const tiny = await ask('tiny', quick ? 3 : 31);
const tinyMedians = Object.fromEntries(Object.entries(tiny.times).map(([name, t]) => [name, median(t)]));
table('a call on 4×16×16', ['', 'µs'], Object.entries(tinyMedians).map(([name, t]) => [name, t * 1e6]));
const WORKERS = quick ? [4, 256, 64] : [8, 4096, 64], workers = await ask('workers', WORKERS, quick ? 3 : 11);
const [one, two] = [workers.one, workers.two].map(median);
console.log(`\n${WORKERS.join('×')} in a worker: ${(one * 1e3).toFixed(0)} ms; in two, half of the heads each: ${(two * 1e3).toFixed(0)} ms, ${(one / two).toFixed(2)} times as fast`);
await close();

const size = (build) => ['core.js', `${build}.wasm`].reduce((sum, file) => sum + brotliCompressSync(readFileSync(`${built}/package/${file}`)).length, 0);
const mean = (causal, name, of = 'medians', onnx = 'onnx') => geometricMean(data.filter((d) => d.causal === causal).map((d) => d[onnx] / d[of][name]));
const ofPeak = (name) => geometricMean(data.filter((d) => !d.causal).map((d) => gflops(d.shape, d.fastest[name]) * 1e9 / d.peak[name]));
const atPeak = (causal, name) => geometricMean(data.filter((d) => d.causal === causal).map((d) =>
  d.onnx * d.peak[name] / 1e9 / gflops(d.shape, 1) / (causal ? causalPart(d.shape) : 1)));
// The fraction of the peak left by the exponentials (exp2OfSmall in kernels_body.h, and adding them up). With relaxed SIMD a score takes
// 2·dim multiply-adds, and its exponential 6 operations of that kind; without, 4·dim operations, and its exponential 17.
const besideExponentials = {'wasm-relaxed': ([, , dim]) => 2 * dim / (2 * dim + 6), 'wasm-simd128': ([, , dim]) => 4 * dim / (4 * dim + 17)};
const has = (name) => name in data[0].medians;
const list = [];
for (const [name, full, masked, part] of [['wasm-relaxed', 1.8, 3.6, 0.85], ['wasm-simd128', 1.2, 2.5, 0.95]]) {
  if (!has(name)) continue;
  list.push([`${name} ÷ ONNX Runtime Web`, mean(false, name), full, {limit: atPeak(false, name)}],
    [`${name} ÷ ONNX Runtime Web, causal`, mean(true, name), masked, {limit: atPeak(true, name)}],
    [`${name} part of the register-only peak (fastest calls)`, ofPeak(name), part, {limit: geometricMean(data.map((d) => besideExponentials[name](d.shape)))}]);
}
const tinyOnnx = Math.min(...Object.entries(tinyMedians).filter(([name]) => name.startsWith('ONNX')).map(([, t]) => t));
const ownTiny = Math.min(...Object.entries(tinyMedians).filter(([name]) => name.startsWith('wasm')).map(([, t]) => t));
const best = has('wasm-relaxed') ? 'wasm-relaxed' : 'wasm-simd128';
const tinyAtPeak = tinyOnnx * Math.max(...data.map((d) => d.peak[best])) / 1e9 / gflops([4, 16, 16], 1);
list.push(['a call on 4×16×16 ÷ ONNX Runtime Web', tinyOnnx / ownTiny, 8, {limit: tinyAtPeak}],
  ['cost of the weights as well', geometricMean(data.filter((d) => !d.causal).map((d) => d.medians['with weights'] / d.medians[best])), 1.35, {most: true}],
  ['core package after Brotli, KB', Math.max(size('core'), size('core-relaxed')) / 1024, 60, {most: true}]);
verdicts(list);
console.log(`
  Of the register-only peak, exponentials alone leave SIMD128 no more than is said on its line: 17 operations beside the 256 of a
  score's products at 64 dimensions. Its tile reaches 0.90 of the rest: the inner loop has 16 operations of arithmetic in 26.7 (V8
  13.6), and six are issued in the time of four of arithmetic. With multiply-adds the tile runs at the peak, and exponentials and
  packing are what is missing. The counts are in src/attention/kernels/kernels_body.h, at the tile.`);
save('web', {data, tiny: tinyMedians}, {
  title: 'Attention in Chromium, one thread', unit: 'GFLOP/s (4·heads·tokens²·dim)',
  groups: data.map((d) => ({name: `${d.shape.join('×')}${d.causal ? ' causal' : ''}`,
    bars: Object.entries(d.medians).map(([name, t]) => ({name, value: gflops(d.shape, t), ours: name.startsWith('wasm')}))})),
});
