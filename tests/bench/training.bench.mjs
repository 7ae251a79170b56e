// Steps per second when training `induction` (2 layers, 2 heads, d_model 32, 28 tokens, context 32, batch 16, Adam): ours against eager
// PyTorch natively (if installed; PYTHON can name another python3), and against TensorFlow.js (its backends without a GPU) and plain
// JavaScript in Chromium. All start with the same parameters and batches, and must reach the same loss before they are timed. Then the page
// itself, including drawing: how long after Play a task is learned, how long a frame takes, and whether memory grows.
//   node training.bench.mjs [--quick] [--page]     --page: the page alone
import {spawn, spawnSync} from 'node:child_process';
import {loadavg} from 'node:os';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';
import {openPage} from './chromium.mjs';
import {median, quick, root, rounds, save, table, verdicts} from './contest.mjs';
import {build, install} from './fetch.mjs';
import {trainPage} from './train_page.mjs';

const onlyPage = process.argv.includes('--page'), count = quick ? 2 : 15;
const kSteps = 32;  // the number of batches in training.cpp
const here = fileURLToPath(new URL('.', import.meta.url));
const built = process.env.BENCH_BUILD ?? `${root}build`, python = process.env.PYTHON ?? 'python3';

const load = () => loadavg()[0].toFixed(1), before = load();
if (onlyPage) {
  verdicts(await trainPage());
  console.log(`load of the machine ${before} before, ${load()} after`);
  process.exit();
}
install();
const program = process.env.BENCH_TRAINING ?? build('native', 'training_steps');
if (!process.env.BENCH_BUILD) for (const target of ['training_steps', 'training_steps-relaxed']) build('web', target);
const differ = (losses) => {
  const [[first, wanted], ...others] = Object.entries(losses);
  for (const [name, loss] of others) {
    if (!(Math.abs(loss - wanted) < 2e-3)) throw new Error(`${name} is another model than ${first}: loss ${loss}, not ${wanted}, after ${kSteps} steps.`);
  }
};

/** A program that answers each line with wall-clock seconds, processor seconds, and the loss. */
function server(command, args) {
  const child = spawn(command, args, {stdio: ['pipe', 'pipe', 'inherit']});
  const lines = createInterface({input: child.stdout})[Symbol.asyncIterator]();
  const text = async (line) => { child.stdin.write(`${line}\n`); return (await lines.next()).value; };
  return {text, run: async (steps) => (await text(`run ${steps}`)).split(' ').map(Number), write: (line) => child.stdin.write(`${line}\n`), close: () => child.stdin.end()};
}

// ---------------------------------------------------------------- natively, processor time of one thread

const ours = server(program, []);
const torchVersion = spawnSync(python, ['-c', 'import torch; print(torch.__version__)'], {encoding: 'utf8'});
const torch = torchVersion.status === 0 ? server(python, [`${here}torch_training.py`]) : null;
if (torch) torch.write(await ours.text('describe'));
const native = {'native': (await ours.run(kSteps))[2]};
if (torch) native.PyTorch = (await torch.run(kSteps))[2];
differ(native);
const contenders = {ours: async () => (await ours.run(100))[1] / 100};
if (torch) contenders.torch = async () => (await torch.run(20))[1] / 20;
const nativeTimes = Object.fromEntries(Object.entries(await rounds(contenders, count)).map(([name, t]) => [name, median(t)]));
ours.close();
torch?.close();
console.log(torch ? `PyTorch ${torchVersion.stdout.trim()}` : 'PyTorch is not installed: not compared.');

// ---------------------------------------------------------------- in Chromium, one thread, by the clock

const {page, version, close} = await openPage('/page/training.html',
  {'/page/': `${here}web-page`, '/bench/': `${built}/bench`, '/modules/': `${here}node_modules`});
await page.waitForFunction(() => globalThis.bench);
const losses = await page.evaluate((steps) => globalThis.bench.start(steps), kSteps);
differ(losses);
const all = {};
for (let r = 0; r <= count; ++r) {
  const once = await page.evaluate((ms) => globalThis.bench.round(ms), quick ? 50 : 400);
  if (r === 0) continue;  // warm-up
  for (const [name, t] of Object.entries(once)) (all[name] ??= []).push(t);
}
console.log(`Chromium ${version}, TensorFlow.js ${await page.evaluate(() => globalThis.bench.version())}; load of the machine ${before} before, ${load()} after`);
await close();
const web = Object.fromEntries(Object.entries(all).map(([name, t]) => [name, median(t)]));

/** The median of the ratios within each round, so that both ran under the same conditions. */
const ratio = (theirs, own) => median(all[theirs].map((t, r) => t / all[own][r]));
const best = 'wasm-relaxed', tf = Object.keys(web).filter((name) => name.startsWith('TensorFlow')).reduce((a, b) => (web[a] < web[b] ? a : b));
const line = (name, t, own) => [name, t * 1e3, 1 / t, t / own];
table('natively, processor time', ['', 'ms a step', 'steps/s', '× slower'], Object.entries(nativeTimes).map(([name, t]) => line(name, t, nativeTimes.ours)));
table('in Chromium', ['', 'ms a step', 'steps/s', '× slower'], Object.entries(web).map(([name, t]) => line(name, t, web[best])));
verdicts([
  ...(torch ? [['PyTorch eager ÷ ours, natively', nativeTimes.torch / nativeTimes.ours, 2.5]] : []),
  ...['wasm-relaxed', 'wasm-simd128'].flatMap((own) => [
    [`${tf} ÷ ${own}`, ratio(tf, own), 8],
    [`plain JavaScript ÷ ${own}`, ratio('plain JavaScript', own), 8],
  ]),
  ...await trainPage(),
]);
console.log(`load of the machine ${load()} at the end`);
save('training', {native: nativeTimes, web, losses: {...native, ...losses}, load: [before, load()]}, {
  title: 'Training of induction heads', unit: 'steps a second', log: true,
  groups: [
    {name: 'natively', bars: Object.entries(nativeTimes).map(([name, t]) => ({name, value: 1 / t, ours: name === 'ours'}))},
    {name: 'Chromium', bars: Object.entries(web).map(([name, t]) => ({name, value: 1 / t, ours: name.startsWith('wasm')}))},
  ],
});
