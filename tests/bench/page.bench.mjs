// The page: its size after Brotli, its requests, the time to its first frame against an empty Dear ImGui page built with the same tools,
// and over a slow connection against the unsplit module (alternating, medians), the cost of a frame while a cell is dragged, the cost of an
// edit, and whether it is idle when nothing changes.
//   node page.bench.mjs [--quick]
import {copyFileSync, readdirSync, readFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {brotliCompressSync, constants} from 'node:zlib';
import {fileURLToPath} from 'node:url';
import {Board, launch, serve, SITE} from '../browser/harness.mjs';
import {until} from '../until.mjs';
import {median, quick} from './contest.mjs';
import {build} from './fetch.mjs';

const emptySite = process.env.EMPTY ?? makeEmpty();
const [ours, empty, browser] = await Promise.all([serve(), serve(emptySite, {policy: false}), launch()]);

function makeEmpty() {
  const folder = build('web', 'empty_imgui').replace(/empty_imgui$/, 'empty');
  copyFileSync(fileURLToPath(new URL('empty.html', import.meta.url)), `${folder}/index.html`);
  return folder;
}

const line = (what, value, unit = '', goal = '') => console.log(`${what.padEnd(56)}${String(value).padStart(12)} ${unit.padEnd(8)}${goal}`);

// ---------------------------------------------------------------- size and requests

const filesOf = (folder) => readdirSync(folder, {withFileTypes: true}).filter((entry) => entry.isFile()).map(({name}) => name);
const brotliOf = (body, quality = 11) => brotliCompressSync(body, {params: {[constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: body.length}});
const brotli = (body) => brotliOf(body).length;

/** Loads a page in a new context, over a connection with `bits` per second; returns [milliseconds to its first frame, page, bodies by
 * address]. */
async function visit(url, bits = 0) {
  const page = await (await browser.newContext({viewport: {width: 1440, height: 900}})).newPage();
  const bodies = new Map();
  page.on('response', async (response) => bodies.set(response.url(), await response.body().catch(() => Buffer.alloc(0))));
  if (bits) {
    const network = await page.context().newCDPSession(page);
    await network.send('Network.enable');
    await network.send('Network.emulateNetworkConditions', {offline: false, latency: 0, downloadThroughput: bits / 8, uploadThroughput: bits / 8});
  }
  // The first frame is complete when the script that draws it returns.
  await page.addInitScript(() => {
    const {drawElements} = WebGL2RenderingContext.prototype;
    WebGL2RenderingContext.prototype.drawElements = function (...values) {
      drawElements.apply(this, values);
      queueMicrotask(() => performance.mark('first-frame'));
      WebGL2RenderingContext.prototype.drawElements = drawElements;
    };
  });
  await page.goto(url);
  await until('the first frame', () => page.evaluate(() => performance.getEntriesByName('first-frame').length > 0));
  const time = await page.evaluate(() => performance.getEntriesByName('first-frame')[0].startTime);
  return [time, page, bodies];
}

const [, page, bodies] = await visit(ours.url);
await page.evaluate(() => document.querySelector('attention-playground').ready.then(() => true));
let total = 0;
for (const [url, body] of bodies) {
  const bytes = brotli(body);
  total += bytes;
  line(`  ${new URL(url).pathname}`, bytes, 'bytes');
}
for (const kind of ['playground', 'playground-relaxed']) {
  const early = ['index.html', 'element.js', `${kind}.js`, `${kind}.wasm`].reduce((sum, name) => sum + brotli(readFileSync(`${SITE}/${name}`)), 0);
  line(`before the first frame of ${kind}, Brotli`, early, 'bytes', '≤ 256000 (250 KB)');
}
line('in all, after Brotli', total, 'bytes');
line('requests', bodies.size, '', '≤ 6');

// ---------------------------------------------------------------- dragging, editing, resting

const board = new Board(page, 'attention-playground');
const [x, y] = await board.middle('q', 0, 1, 1);
await page.mouse.move(x, y);
await page.mouse.down();
for (let i = 0; i < (quick ? 31 : 200); i++) {
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
      data[k % data.length] += 0.01;  // an edit without effect would cost nothing
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
await new Promise((done) => setTimeout(done, quick ? 1000 : 10_000));
line(`frames drawn in ${quick ? 'one idle second' : 'ten idle seconds'}`, (await board.stats()).frames - before[0], '', '0');
line('main thread busy in that time', ((await busy() - before[1]) * 1000).toFixed(1), 'ms');
await page.context().close();

// ---------------------------------------------------------------- first frame

const first = {ours: [], empty: []};
for (let i = 0; i < (quick ? 2 : 15); i++) {
  for (const [name, {url}] of [['ours', ours], ['empty', empty]]) {
    const [time, visited] = await visit(url);
    first[name].push(time);
    await visited.context().close();
  }
}
line('first frame', median(first.ours).toFixed(0), 'ms');
line('first frame of an empty Dear ImGui page', median(first.empty).toFixed(0), 'ms');
line('ratio', (median(first.ours) / median(first.empty)).toFixed(2), '', '≤ 1.1');

// ---------------------------------------------------------------- first frame over a slow line

/** Serves a folder with compression, like a host; `instead` maps names to other files. Each is compressed when it is first asked for. */
async function serveCompressed(folder, instead = {}) {
  const types = {html: 'text/html', js: 'text/javascript', wasm: 'application/wasm'};
  const names = new Set(filesOf(folder)), packed = new Map();
  const pack = (name) => {
    if (!packed.has(name)) packed.set(name, brotliOf(instead[name] ?? readFileSync(`${folder}/${name}`), quick ? 5 : 11));
    return packed.get(name);
  };
  const server = createServer(({url}, response) => {
    const name = url === '/' ? 'index.html' : url.slice(1);
    if (!names.has(name)) return response.writeHead(404).end();
    response.writeHead(200, {'Content-Type': types[name.split('.').pop()] ?? 'text/plain', 'Content-Encoding': 'br'}).end(pack(name));
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {url: `http://127.0.0.1:${server.address().port}/`, close: () => new Promise((done) => { server.close(done); server.closeAllConnections(); })};
}

const SLOW = 1.6e6, EMPTY_MODULE = Buffer.from([0, 97, 115, 109, 1, 0, 0, 0]);
const whole = readFileSync(new URL('../../build/web/split-relaxed/whole.wasm', import.meta.url));
const split = await serveCompressed(SITE);
const unsplit = await serveCompressed(SITE, {'playground-relaxed.wasm': whole, 'playground-relaxed.rest.wasm': EMPTY_MODULE});
const slow = {split: [], unsplit: []};
for (const {url} of [split, unsplit]) await (await visit(url))[1].context().close();  // not measured: the files are compressed meanwhile
for (let i = 0; i < (quick ? 1 : 5); i++) {
  for (const [name, {url}] of [['split', split], ['unsplit', unsplit]]) {
    const [time, visited] = await visit(url, SLOW);
    slow[name].push(time);
    await visited.context().close();
  }
}
line('first frame at 1.6 Mbit/s', median(slow.split).toFixed(0), 'ms');
line('the same with the module in one piece', median(slow.unsplit).toFixed(0), 'ms');
line('ratio', (median(slow.split) / median(slow.unsplit)).toFixed(2), '', '≤ 0.75');
await Promise.all([split.close(), unsplit.close()]);

// ---------------------------------------------------------------- the tutorial, read from its beginning to its end

// Processor time of the page's main thread, unaffected by other programs. The first board has been loaded by then, and all code compiled.
const reader = await (await browser.newContext({viewport: {width: 1360, height: 900}})).newPage();
await reader.goto(`${ours.url}/tutorial.html`);
await reader.evaluate(() => document.querySelector('attention-playground').ready.then(() => true));
await browser.startTracing(reader, {categories: ['toplevel', 'devtools.timeline', 'disabled-by-default-devtools.timeline']});
for (const section of await reader.locator('section').all()) {
  await section.scrollIntoViewIfNeeded();
  await section.evaluate((node) => node.querySelector('attention-playground').ready.then(() => true));
  for (const button of await section.locator('[data-calls]').all()) await button.click();
}
const {traceEvents} = JSON.parse((await browser.stopTracing()).toString());
const threads = new Set(traceEvents.filter(({name, args}) => name === 'thread_name' && args.name === 'CrRendererMain').map(({pid, tid}) => `${pid} ${tid}`));
const tasks = traceEvents.filter(({name, ph, pid, tid, tdur}) => /RunTask/.test(name) && ph === 'X' && tdur && threads.has(`${pid} ${tid}`));
line('tutorial: longest task after its load', (Math.max(...tasks.map(({tdur}) => tdur)) / 1000).toFixed(0), 'ms', `≤ 100, of ${tasks.length}`);
await reader.context().close();

await browser.close();
await Promise.all([ours.close(), empty.close()]);
