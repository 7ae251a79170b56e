// Attention's backward pass against our own forward pass and PyTorch's backward pass (if installed; PYTHON can name another python3),
// natively in processor time of one thread, and in Chromium against our forward pass, for both builds; alternating in one run.
//   node gradient.bench.mjs [--quick]
import {spawn, spawnSync} from 'node:child_process';
import {createServer} from 'node:http';
import {createRequire} from 'node:module';
import {createInterface} from 'node:readline';
import {findChromium} from '../chromium.mjs';
import {median, quick, root, rounds, save, SHAPES, table, verdicts} from './contest.mjs';
import {build} from './fetch.mjs';

const count = quick ? 3 : 31;
const program = process.env.BENCH_KERNELS ?? build('native', 'bench_kernels');
if (!process.env.BENCH_BUILD) for (const target of ['core', 'core-relaxed']) build('web', target);
const built = process.env.BENCH_BUILD ?? `${root}build`, python = process.env.PYTHON ?? 'python3';
const [heads, tokens, dim] = SHAPES[0], shape = [heads, tokens, dim].join('×');

/** A program that answers each line with wall-clock and processor seconds. */
function server(command, args) {
  const child = spawn(command, args, {stdio: ['pipe', 'pipe', 'inherit']});
  const lines = createInterface({input: child.stdout})[Symbol.asyncIterator]();
  const text = async (line) => { child.stdin.write(`${line}\n`); return (await lines.next()).value; };
  return {text, cpu: async (line) => Number((await text(line)).split(' ')[1]), close: () => child.stdin.end()};
}

const ours = server(program, []);
const best = (await ours.text('kernels')).trim().split(' ').at(-1);
const torch = spawnSync(python, ['-c', 'import torch']).status === 0 ? server(python, [`${root}tests/bench/torch_server.py`]) : null;
const native = {};
for (const causal of [0, 1]) {
  const line = (what) => `${what} ${heads} ${tokens} ${dim} ${causal} 0 1`;
  const contenders = {forward: () => ours.cpu(line(best)), backward: () => ours.cpu(line(`backward:${best}`))};
  if (torch) contenders.torch = () => torch.cpu(line('backward:torch'));
  const times = await rounds(contenders, count);
  native[causal ? 'causal' : 'full'] = Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all)]));
}
ours.close();
torch?.close();

const require = createRequire(new URL('../package.json', import.meta.url));
const {chromium} = require('playwright-core'), sirv = require('sirv');
const files = sirv(`${built}/package`, {dev: true});
const pages = createServer((request, response) => request.url === '/' ? response.setHeader('content-type', 'text/html').end('<title>gradients</title>') : files(request, response));
await new Promise((resolve) => pages.listen(0, '127.0.0.1', resolve));
const browser = await chromium.launch({executablePath: findChromium(), args: ['--disable-background-networking', '--no-first-run', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])]});
const page = await browser.newPage();
page.setDefaultTimeout(0);
await page.goto(`http://127.0.0.1:${pages.address().port}/`);
const web = {};
for (const kernel of ['wasm-relaxed', 'wasm-simd128']) {
  for (const causal of [false, true]) {
    web[`${kernel}${causal ? ' causal' : ''}`] = await page.evaluate(async ([kernel, causal, heads, tokens, dim, count]) => {
      const {loadAttention} = await import('/core.js');
      const attn = await loadAttention({kernel}), length = heads * tokens * dim;
      const normal = () => { let sum = -6; for (let i = 0; i < 12; i++) sum += Math.random(); return sum; };
      const [q, k, v, dOutput, out, dQ, dK, dV] = Array.from({length: 8}, () => attn.alloc(length));
      for (const array of [q, k, v, dOutput]) for (let i = 0; i < length; i++) array[i] = normal();
      const base = {q, k, v, heads, queryCount: tokens, headDim: dim, causal}, forward = [], backward = [];
      for (let i = 0; i < count + 5; i++) {
        const began = performance.now();
        attn.forward({...base, out});
        const between = performance.now();
        attn.backward({...base, dOutput, dQ, dK, dV});
        forward.push((between - began) / 1e3), backward.push((performance.now() - between) / 1e3);
      }
      // The minimum of many calls: other activity of the machine can only make a call slower.
      return {forward: Math.min(...forward.slice(5)), backward: Math.min(...backward.slice(5))};
    }, [kernel, causal, heads, tokens, dim, count]);
  }
}
await browser.close();
pages.close();

const all = {...Object.fromEntries(Object.entries(native).map(([name, times]) => [`${best}${name === 'causal' ? ' causal' : ''}`, times])), ...web};
table(`${shape}, one thread`, ['', 'forward ms', 'backward ms', '× forward', 'PyTorch ms'], Object.entries(all).map(([name, t]) =>
  [name, t.forward * 1e3, t.backward * 1e3, t.backward / t.forward, t.torch && t.torch * 1e3]));
const ratio = ({forward, backward}) => backward / forward;
verdicts([
  [`native: backward ÷ forward`, ratio(native.full), 2.6, {most: true}],
  ...Object.entries(web).filter(([name]) => !name.endsWith('causal')).map(([name, times]) => [`${name}: backward ÷ forward`, ratio(times), 2.6, {most: true}]),
  ...(torch ? [['PyTorch\'s backward ÷ ours', native.full.torch / native.full.backward, 2]] : []),
]);
save('gradient', {shape: [heads, tokens, dim], native, web}, {
  title: `Backward passes, ${shape}`, unit: 'times the forward pass', log: false,
  groups: [{name: shape, bars: Object.entries(all).map(([name, times]) => ({name, value: ratio(times), ours: true}))}],
});
