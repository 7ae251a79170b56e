// The page: its size after Brotli, requests, time to the first drawn frame against an empty Dear ImGui page of the same tools
// (alternating, medians), what a frame costs while a cell is dragged, what an edit costs, and how it rests.
//   node page.bench.mjs [--quick]
import {copyFileSync} from 'node:fs';
import {brotliCompressSync, constants} from 'node:zlib';
import {fileURLToPath} from 'node:url';
import {Board, launch, serve} from '../browser/harness.mjs';
import {median} from './contest.mjs';
import {build} from './fetch.mjs';

const quick = process.argv.includes('--quick');
const emptySite = process.env.EMPTY ?? makeEmpty();
const [ours, empty, browser] = await Promise.all([serve(), serve(emptySite, {policy: false}), launch()]);

function makeEmpty() {
  const folder = build('web', 'empty_imgui').replace(/empty_imgui$/, 'empty');
  copyFileSync(fileURLToPath(new URL('empty.html', import.meta.url)), `${folder}/index.html`);
  return folder;
}

const line = (what, value, unit = '', goal = '') => console.log(`${what.padEnd(44)}${String(value).padStart(12)} ${unit.padEnd(8)}${goal}`);

// ---------------------------------------------------------------- size and requests

const brotli = (body) => brotliCompressSync(body, {params: {[constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: body.length}}).length;

/** Loads a page in a new context; returns [milliseconds to its first frame, page, bodies by address]. */
async function visit(url) {
  const page = await (await browser.newContext({viewport: {width: 1440, height: 900}})).newPage();
  const bodies = new Map();
  page.on('response', async (response) => bodies.set(response.url(), await response.body().catch(() => Buffer.alloc(0))));
  await page.addInitScript(() => {
    document.addEventListener('ready', () => performance.mark('first-frame'), {capture: true});
  });
  await page.goto(url);
  await page.waitForFunction(() => performance.getEntriesByName('first-frame').length > 0);
  const time = await page.evaluate(() => performance.getEntriesByName('first-frame')[0].startTime);
  return [time, page, bodies];
}

const [, page, bodies] = await visit(ours.url);
let total = 0;
for (const [url, body] of bodies) {
  total += brotli(body);
  line(`  ${new URL(url).pathname}`, brotli(body), 'bytes');
}
line('page after Brotli', total, 'bytes', '≤ 327680 (320 KB)');
line('requests', bodies.size, '', '≤ 5');

// ---------------------------------------------------------------- dragging, editing, resting

const board = new Board(page, 'attention-playground');
const [x, y] = await board.middle('q', 0, 1, 1);
await page.mouse.move(x, y);
await page.mouse.down();
for (let i = 0; i < (quick ? 60 : 200); i++) {
  await page.mouse.move(x + 40 * Math.sin(i / 5), y);
  await page.evaluate(() => new Promise(requestAnimationFrame));
}
line('CPU per frame while dragging, median', (await board.stats()).frameMs.toFixed(2), 'ms', '≤ 2');
await page.mouse.up();

const edit = await page.evaluate((rounds) => {
  const element = document.querySelector('attention-playground');
  const {data, shape} = element.getTensor('q');
  const times = [];
  for (let i = 0; i < rounds; i++) {
    const began = performance.now();
    for (let k = 0; k < 20; k++) {
      data[k % data.length] += 0.01;  // an edit that changes nothing would be free
      element.setTensor('q', data, shape);
    }
    times.push((performance.now() - began) / 20 * 1000);
  }
  return times;
}, quick ? 20 : 100);
line('one edit of Q by a script, call and event included', median(edit).toFixed(1), 'µs', '≤ 50');

const switches = {causal: [true, false], score: ['general', 'additive', 'cosine', 'dot', 'scaled'], softcap: [5, 0], temperature: [2, 1],
  normalizer: ['sparsemax', 'sigmoid', 'relu', 'hardmax', 'none', 'softmax'], position: ['rotary', 'alibi', 'none'], window_left: [2, -1],
  prefix: [2, 0], key_length: [9, -1], pattern: ['longformer', 'bigbird', 'strided', 'none'], mask_after_softmax: [true, false],
  kv_heads: [1, 2, 4], hidden_heads: [[1], []], cross: [true, false]};
const switched = await page.evaluate(([options, rounds]) => {
  const element = document.querySelector('attention-playground');
  element.set('labels', Array.from({length: 16}, (_, i) => `t${i}`));
  element.set('d_k', 16);
  while (element.get('heads') < 4) element.set('heads', element.get('heads') * 2);
  return Object.entries(options).map(([name, values]) => {
    const times = [];
    for (let i = 0; i < rounds; i++) {
      const began = performance.now();
      for (const value of values) element.set(name, value);
      times.push((performance.now() - began) / values.length);
    }
    return [name, times];
  });
}, [switches, quick ? 20 : 100]);
const slowest = switched.map(([name, times]) => [name, median(times)]).sort((a, b) => b[1] - a[1])[0];
line(`slowest switch of an option, 16 tokens (${slowest[0]})`, slowest[1].toFixed(3), 'ms', '≤ 0.3');

const session = await page.context().newCDPSession(page);
await session.send('Performance.enable');
const busy = async () => (await session.send('Performance.getMetrics')).metrics.find(({name}) => name === 'TaskDuration').value;
await new Promise((done) => setTimeout(done, 1000));
const before = [(await board.stats()).frames, await busy()];
await new Promise((done) => setTimeout(done, 10_000));
line('frames drawn in ten idle seconds', (await board.stats()).frames - before[0], '', '0');
line('main thread busy in ten idle seconds', ((await busy() - before[1]) * 1000).toFixed(1), 'ms');
await page.context().close();

// ---------------------------------------------------------------- first frame

const first = {ours: [], empty: []};
for (let i = 0; i < (quick ? 5 : 15); i++) {
  for (const [name, {url}] of [['ours', ours], ['empty', empty]]) {
    const [time, visited] = await visit(url);
    first[name].push(time);
    await visited.context().close();
  }
}
line('first frame', median(first.ours).toFixed(0), 'ms');
line('first frame of an empty Dear ImGui page', median(first.empty).toFixed(0), 'ms');
line('ratio', (median(first.ours) / median(first.empty)).toFixed(2), '', '≤ 1.25');

await browser.close();
await Promise.all([ours.close(), empty.close()]);
