// The pictures of many heads in the page: 12 heads of 1,024 tokens from a file, and a recording of 32 layers of 32 heads of 512 tokens on the page
// Model. Each head first has a picture of some of its rows, then one of all. Times end with the frame that shows them, of all rows with the last one
// that shows something new; the longest task says how long input may have waited meanwhile.
//   node heads.bench.mjs [--quick]
import {mkdtempSync, openSync, rmSync, writeSync} from 'node:fs';
import {loadavg, tmpdir} from 'node:os';
import {join} from 'node:path';
import {launch, serve} from '../browser/harness.mjs';
import {until} from '../until.mjs';
import {median, numbers, quick} from './contest.mjs';
import {opened} from './reader.mjs';

const LAYER = quick ? [4, 128, 16] : [12, 1024, 64], LAYERS = quick ? 3 : 32, HEADS = quick ? [4, 64, 2] : [32, 512, 2], ROUNDS = quick ? 1 : 5;
const folder = mkdtempSync(join(tmpdir(), 'heads-bench-'));
process.on('exit', () => rmSync(folder, {recursive: true, force: true}));
const loadBefore = loadavg()[0];
const [server, browser] = await Promise.all([serve(), launch()]);

/** Writes tensors of numbers, each its own, as .safetensors. */
function write(name, names, shape) {
  const count = shape.reduce((a, b) => a * b, 1), path = join(folder, name);
  const header = JSON.stringify(Object.fromEntries(names.map((one, i) => [one, {dtype: 'F32', shape, data_offsets: [4 * count * i, 4 * count * (i + 1)]}])));
  const length = Buffer.alloc(8), file = openSync(path, 'w');
  length.writeBigUInt64LE(BigInt(header.length));
  writeSync(file, length);
  writeSync(file, header);
  names.forEach((_, seed) => writeSync(file, Buffer.from(numbers(count, seed + 1).buffer)));
  return path;
}

/** Milliseconds from dropping a file, or opening the page Model, until `there` is so and drawn, until `heads` have a picture, until no frame is drawn
 * any more, and of the longest task. `there` is asked in each frame of the screen, in the same task: it must take no time. */
async function timed({page}, path, there, heads = 0) {
  const chooser = path && await page.evaluateHandle(() => Object.assign(document.createElement('input'), {type: 'file'}));
  await chooser?.setInputFiles(path);
  await page.evaluate(([input, test, wanted]) => {
    const element = document.querySelector('attention-playground'), isThere = new Function('board', `return ${test}`);
    const STILL = 5;  // frames of the screen without one of the board
    globalThis.longest = globalThis.all = 0;
    new PerformanceObserver((list) => list.getEntries().forEach(({duration}) => { globalThis.longest = Math.max(globalThis.longest, duration); })).observe({type: 'longtask'});
    const began = performance.now();
    let first, last, due, some, frames = element.stats().frames, still = 0;
    const look = () => {
      const now = performance.now() - began, {frames: count, heads} = element.stats(), isDrawn = count !== frames;
      if (first === undefined && isDrawn && isThere(element)) first = now;
      if (isDrawn) frames = count, last = now, still = 0;
      if (some === undefined && due && isDrawn) some = now;  // the frame after they were made
      due ||= first !== undefined && heads.pictured >= wanted;
      if (due && ++still > STILL) Object.assign(globalThis, {first, some: some ?? last, all: last});
      else requestAnimationFrame(look);
    };
    if (input) {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(input.files[0]);
      for (const type of ['dragenter', 'dragover', 'drop']) element.dispatchEvent(new DragEvent(type, {dataTransfer, bubbles: true, cancelable: true, composed: true}));
    } else {
      element.set('view', 'model');
    }
    look();
  }, [chooser, there, heads]);
  await until('the last frame', () => page.evaluate(() => globalThis.all), 600_000);
  return page.evaluate(() => ({first: globalThis.first, some: globalThis.some, all: globalThis.all, longest: globalThis.longest}));
}

const shown = (name, found) => median(found.map((one) => one[name])).toFixed(0);
const layer = write('layer.safetensors', ['q', 'k', 'v'], LAYER), layers = [], models = [];
for (let i = 0; i < ROUNDS; ++i) {
  const board = await opened({server, browser});
  layers.push(await timed(board, layer, `board.get('heads') === ${LAYER[0]}`, LAYER[0]));
  await board.page.context().close();
}
console.log(`${LAYER.slice(0, 2).join(' × ')} from a file: first picture ${shown('first', layers)} ms (at most 150), a picture of each head ${shown('some', layers)} ms (at most 400), of all its rows ${shown('all', layers)} ms, longest task ${shown('longest', layers)} ms (at most 50)`);

const recording = write('layers.safetensors', Array.from({length: 3 * LAYERS}, (_, i) => `h.${Math.floor(i / 3)}.${'qkv'[i % 3]}`), HEADS);
for (let i = 0; i < ROUNDS; ++i) {
  const board = await opened({server, browser});
  await timed(board, recording, "board.items().some(({name}) => name === 'form-open')");
  await board.click('form-open');
  await until('the layers', async () => await board.get('batch') === LAYERS, 60_000);
  await board.rest();
  models.push(await timed(board, null, "board.get('view') === 'model'", LAYERS * HEADS[0]));
  await board.page.context().close();
}
console.log(`${LAYERS} × ${HEADS[0]} heads of ${HEADS[1]} tokens: a picture of each ${shown('some', models)} ms (at most 1000), of all its rows ${shown('all', models)} ms, longest task ${shown('longest', models)} ms (at most 50)`);
console.log(`load ${loadBefore.toFixed(1)} before and ${loadavg()[0].toFixed(1)} after`);
await browser.close();
await server.close();
process.exit();
