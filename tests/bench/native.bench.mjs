// Attention natively: the kernels against ONNX Runtime, PyTorch (if installed) and Eigen expressions, alternating in one run, except that
// ONNX Runtime with several threads comes last. One thread is measured in processor time, which a busy machine does not affect; several
// threads by wall-clock time, taking the fastest of many calls, because a second thread needs a processor that is idle at that moment. How
// much two can give at most is measured too: two programs that share nothing, of one thread each, at the same time.
//   node native.bench.mjs [--quick]
import {spawn, spawnSync} from 'node:child_process';
import {cpus} from 'node:os';
import {createInterface} from 'node:readline';
import {causalPart, geometricMean, gflops, median, numbers, quick, root, rounds, save, SHAPES, table, verdicts} from './contest.mjs';
import {bring, build} from './fetch.mjs';
import {graphs, session} from './onnx.mjs';

const program = process.env.BENCH_KERNELS ?? build('native', 'bench_kernels');
const ort = await bring('onnxruntime-node');

/** A program that answers lines: ask(line) -> [wall, cpu]. */
function server(command, args) {
  const child = spawn(command, args, {stdio: ['pipe', 'pipe', 'inherit']});
  const lines = createInterface({input: child.stdout})[Symbol.asyncIterator]();
  const ask = async (line) => { child.stdin.write(`${line}\n`); return (await lines.next()).value; };
  return {text: ask, ask: async (line) => (await ask(line)).split(' ').map(Number), close: () => child.stdin.end()};
}

const ours = server(program, []);
const kernels = (await ours.text('kernels')).trim().split(' ');
const best = kernels.at(-1);
const torch = spawnSync('python3', ['-c', 'import torch']).status === 0 ? server('python3', [`${root}tests/bench/torch_server.py`]) : null;
const all = cpus().length;
console.log(`kernels: ${kernels.join(', ')}; ${all} cores; PyTorch ${torch ? 'found' : 'not installed'}`);

const data = [];
for (const shape of SHAPES) {
  const [heads, tokens, dim] = shape;
  for (const causal of [false, true]) {
    const inputs = {heads, tokens, dim, q: numbers(heads * tokens * dim, 1), k: numbers(heads * tokens * dim, 2), v: numbers(heads * tokens * dim, 3)};
    const line = (what, threads, weights = 0) => `${what} ${heads} ${tokens} ${dim} ${causal ? 1 : 0} ${weights} ${threads}`;
    const cpu = {}, wall = {}, refused = {}, release = [];
    cpu[`kernels ${best}`] = async () => (await ours.ask(line(best, 1)))[1];
    cpu['kernels, with weights'] = async () => (await ours.ask(line(best, 1, 1)))[1];
    for (const kernel of quick ? [] : kernels.slice(1, -1)) cpu[`kernels ${kernel}`] = async () => (await ours.ask(line(kernel, 1)))[1];
    wall['kernels, 1 thread'] = async () => (await ours.ask(line(best, 1)))[0];
    wall['kernels, 2 threads'] = async () => (await ours.ask(line(best, 2)))[0];
    if (all > 2) wall['kernels, all threads'] = async () => (await ours.ask(line(best, all)))[0];
    cpu.Eigen = async () => (await ours.ask(line('eigen', 1)))[1];
    if (torch) cpu.PyTorch = async () => (await torch.ask(line('torch', 1)))[1];
    const onnx = async (threads, name, to, timed) => {
      for (const graph of graphs(heads, tokens, dim, causal)) {
        const made = await session(ort, graph, inputs, {intraOpNumThreads: threads, interOpNumThreads: 1, executionMode: 'sequential', logSeverityLevel: 4});
        if (made.refused) { refused[graph.name] = made.refused; continue; }
        release.push(made.release);
        to[`${name} ${graph.name}`] = () => timed(made.run);
      }
    };
    await onnx(1, 'ONNX Runtime', cpu, async (run) => {
      const before = process.cpuUsage();
      await run();
      const {user, system} = process.cpuUsage(before);
      return (user + system) / 1e6;
    });
    const count = quick ? 3 : 15;
    const times = await rounds(cpu, count), timesWall = await rounds(wall, 3 * count);
    // Last, because its threads spin for a while after each call, and would take the second core from ours.
    const wallOnnx = {};
    await onnx(all, 'ONNX Runtime, all threads', wallOnnx, async (run) => {
      const begin = performance.now();
      await run();
      return (performance.now() - begin) / 1e3;
    });
    Object.assign(timesWall, await rounds(wallOnnx, count));
    const peaks = [];
    for (let i = 0; i < 5; ++i) peaks.push((await ours.ask('peak'))[1]);
    for (const done of release) await done();
    const medians = Object.fromEntries(Object.entries({...times, ...timesWall}).map(([name, t]) => [name, median(t)]));
    const bestOf = (prefix) => Math.min(...Object.entries(medians).filter(([name]) => name.startsWith(prefix)).map(([, t]) => t));
    const fastest = Object.fromEntries(Object.entries(timesWall).map(([name, t]) => [name, Math.min(...t)]));
    data.push({shape, causal, medians, fastest, refused, peak: median(peaks), onnx: bestOf('ONNX Runtime '), onnxAll: bestOf('ONNX Runtime, all')});
    table(`${heads}×${tokens}×${dim}${causal ? ' causal' : ''}  (register-only peak ${(median(peaks) / 1e9).toFixed(1)} GFLOP/s)`, ['', 'ms', 'GFLOP/s', '× slower'],
      Object.entries(medians).map(([name, t]) => [name, t * 1e3, gflops(shape, t), t / medians[`kernels ${best}`]]));
    for (const [name, why] of Object.entries(refused)) console.log(`  ONNX Runtime does not take ${name}: ${why}`);
  }
}
const BOARD = quick ? [2, 1200, 16] : [8, 4096, 64], boards = [];  // of both, scores and weights are not stored
const other = server(program, []);
await other.text('kernels');
for (const causal of [0, 1]) {
  const board = (threads, by = ours) => async () => (await by.ask(`board ${BOARD.join(' ')} ${causal} 0 ${threads}`))[0];
  const contest = {one: board(1), two: board(2), both: async () => Math.max(...await Promise.all([board(1)(), board(1, other)()]))};
  const {one, two, both} = Object.fromEntries(Object.entries(await rounds(contest, quick ? 1 : 9)).map(([name, t]) => [name, Math.min(...t)]));
  boards.push({causal, one, two, both});
  console.log(`\na board of ${BOARD.join('×')}${causal ? ' causal' : ''} until all is computed: ${(one * 1e3).toFixed(0)} ms, on two threads ${(two * 1e3).toFixed(0)} ms, two boards at once ${(both * 1e3).toFixed(0)} ms`);
}
other.close();
ours.close();
torch?.close();

const mean = (causal, ratio) => geometricMean(data.filter((d) => d.causal === causal).map(ratio));
const own = (d) => d.medians[`kernels ${best}`];
const atPeak = (d) => d.onnx * d.peak / 1e9 / gflops(d.shape, 1) / (d.causal ? causalPart(d.shape) : 1);
const scaling = (d) => d.fastest['kernels, 1 thread'] / d.fastest['kernels, 2 threads'];
verdicts([
  ['one thread ÷ ONNX Runtime, one thread', mean(false, (d) => d.onnx / own(d)), 1.2, {limit: mean(false, atPeak)}],
  ['the same, causal', mean(true, (d) => d.onnx / own(d)), 4, {limit: mean(true, atPeak)}],
  ['two threads ÷ one (fastest calls)', mean(false, scaling), 1.8, {limit: 2}],
  ['the same, causal', mean(true, scaling), 1.8, {limit: 2}],
  ...boards.map(({causal, one, two, both}) => [`the same of a board until all is computed${causal ? ', causal' : ''}`, one / two, 1.8, {limit: 2 * one / both}]),
  ['cost of the weights as well', mean(false, (d) => d.medians['kernels, with weights'] / own(d)), 1.35, {most: true}],
  ['part of the register-only peak', mean(false, (d) => gflops(d.shape, own(d)) * 1e9 / d.peak), 0.85],
]);
save('native', {kernel: best, data, boards}, {
  title: 'Attention natively', unit: 'GFLOP/s (4·heads·tokens²·dim), one thread unless said',
  groups: data.map((d) => ({name: `${d.shape.join('×')}${d.causal ? ' causal' : ''}`,
    bars: Object.entries(d.medians).map(([name, t]) => ({name, value: gflops(d.shape, t), ours: name.startsWith('kernels')}))})),
});
