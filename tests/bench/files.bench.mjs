// The cost of reading and writing: `attn run` on .npz, opening a large .safetensors file (as ratios, because machines differ), and on the
// page the time from a file to its first picture, and the longest task while a large file is read.
import {spawnSync} from 'node:child_process';
import {existsSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import {launch, serve} from '../browser/harness.mjs';
import {until} from '../until.mjs';
import {median, quick} from './contest.mjs';
import {opened} from './reader.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const program = process.env.ATTN ?? join(root, 'build/native/attn');
const rounds = quick ? 2 : 15;
const folder = mkdtempSync(join(tmpdir(), 'attn-bench-'));
process.on('exit', () => rmSync(folder, {recursive: true, force: true}));

// The minimum over several rounds, in milliseconds, which excludes what else the machine did.
function least(work) {
  let best = Infinity;
  for (let i = 0; i < rounds; ++i) {
    const began = process.hrtime.bigint();
    work();
    best = Math.min(best, Number(process.hrtime.bigint() - began) / 1e6);
  }
  return best;
}
/** What work takes beyond a part of it; where that is less than what two measurements differ by, 0. */
const beyond = (part, work) => Math.max(0, least(work) - part);
function attn(...args) {
  const done = spawnSync(program, args, {encoding: 'utf8'});
  if (done.status !== 0) throw new Error(done.stderr);
}

// Writes tensors of random numbers as .safetensors.
function write(path, names, shape) {
  const count = shape.reduce((a, b) => a * b, 1);
  const header = Object.fromEntries(names.map((name, i) => [name, {dtype: 'F32', shape, data_offsets: [4 * count * i, 4 * count * (i + 1)]}]));
  const text = JSON.stringify(header).padEnd(Math.ceil(JSON.stringify(header).length / 8) * 8);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  const file = openSync(path, 'w');
  writeSync(file, length);
  writeSync(file, text);
  const values = Float32Array.from({length: count}, () => 2 * Math.random() - 1);
  for (const _ of names) writeSync(file, Buffer.from(values.buffer));
}

const at = name => join(folder, name);
write(at('layer.safetensors'), ['q', 'k', 'v'], [12, 1024, 64]);
attn('convert', at('layer.safetensors'), at('layer.npz'));
const start = least(() => attn('--version'));
const whole = beyond(start, () => attn('run', at('layer.npz'), '--out', at('out.npz')));
const files = beyond(start, () => attn('convert', at('layer.npz'), at('one.npz'), '--only', 'q'));
console.log(`attn run, 12×1024×64, .npz: ${whole.toFixed(1)} ms, of which reading q, k, v and writing one takes ${files.toFixed(1)} ms: ${(100 * files / whole).toFixed(0)} % (at most 30 %)`);

write(at('large.safetensors'), Array.from({length: quick ? 8 : 64}, (_, i) => `layers.${i >> 2}.${'qkvo'[i & 3]}`), [12, 1024, 64]);
const size = statSync(at('large.safetensors')).size;
const reading = least(() => readFileSync(at('large.safetensors')));
const opening = beyond(start, () => attn('info', at('large.safetensors')));
const one = beyond(start, () => attn('convert', at('large.safetensors'), at('one.safetensors'), '--only', 'layers.1.q'));
console.log(`${(size / 1e6).toFixed(0)} MB of .safetensors: read by Node in ${reading.toFixed(1)} ms; opened and listed in ${opening.toFixed(1)} ms, ${(opening / reading).toFixed(2)} × that; one tensor of it copied in ${one.toFixed(1)} ms`);

// The window: the time that a file adds to the program, which maps it and reads only what is used.
const window = join(dirname(program), 'attention-playground');
if (process.env.DISPLAY && existsSync(window)) {
  const shown = (...args) => {
    const done = spawnSync(window, [...args, '--locate', 'theme'], {encoding: 'utf8'});
    if (done.status !== 0) throw new Error(done.stderr);
  };
  const without = least(() => shown()), taken = beyond(without, () => shown(at('large.safetensors')));
  console.log(`the window opens it in ${taken.toFixed(1)} ms beyond its own ${without.toFixed(0)} ms, ${(taken / reading).toFixed(2)} × reading (at most 1.20 ×)`);
}

// ---------------------------------------------------------------- the page

write(at('models.safetensors'), Array.from({length: quick ? 2 : 17}, (_, i) => `t${i}`), [12, 1024, 64]);
attn('convert', at('models.safetensors'), at('large.npz'));
const [server, browser] = await Promise.all([serve(), launch()]);

/** Drops a file on a fresh page: milliseconds until `isThere`, and the longest task in that time. */
async function dropped(name, isThere) {
  const board = await opened({server, browser}), {page} = board;
  const chooser = await page.evaluateHandle(() => Object.assign(document.createElement('input'), {type: 'file'}));
  await chooser.setInputFiles(at(name));
  await page.evaluate(([input, test]) => {
    const element = document.querySelector('attention-playground'), dataTransfer = new DataTransfer(), there = new Function('board', `return ${test}`);
    globalThis.longest = 0;
    new PerformanceObserver((list) => list.getEntries().forEach(({duration}) => { globalThis.longest = Math.max(globalThis.longest, duration); })).observe({type: 'longtask'});
    dataTransfer.items.add(input.files[0]);
    const began = performance.now();
    const look = () => {
      if (there(element)) globalThis.took = performance.now() - began;
      else requestAnimationFrame(look);
    };
    for (const type of ['dragenter', 'dragover', 'drop']) element.dispatchEvent(new DragEvent(type, {dataTransfer, bubbles: true, cancelable: true, composed: true}));
    look();
  }, [chooser, isThere]);
  await until('what the file holds', () => page.evaluate(() => globalThis.took), 60_000);
  await board.rest();  // tasks are reported after their end
  const found = await page.evaluate(() => [globalThis.took, globalThis.longest]);
  await page.context().close();
  return found;
}

const times = [], tasks = [];
for (let i = 0; i < Math.min(rounds, 7); ++i) times.push((await dropped('layer.npz', "board.get('heads') === 12"))[0]);
for (let i = 0; i < (quick ? 1 : 3); ++i) tasks.push((await dropped('large.npz', "board.items().some(({name}) => name === 'form')"))[1]);
console.log(`The page, q, k and v of 12×1024×64 as .npz: ${median(times).toFixed(0)} ms from the drop to the first picture (at most 300 ms)`);
console.log(`The page, ${(statSync(at('large.npz')).size / 1e6).toFixed(0)} MB of .npz until it asks what is in them: the longest task takes ${Math.max(...tasks) > 50 ? `${Math.max(...tasks).toFixed(0)} ms` : 'less than 50 ms'} (at most 50 ms)`);
await browser.close();
await server.close();
process.exit();
