// A recorded model beside BertViz, CircuitsVis and TransformerLens: GPT-2 of 12 layers × 12 heads × 256 tokens. The bytes of a cell's output, the time to make
// it, and the time until Chromium shows its first picture; the same, with memory and frames, of one layer of more tokens; and what recording costs. What pages ask of the network comes from packages beside this file.
//   node models.bench.mjs [--quick]
import {spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {createServer} from 'node:http';
import {cpus, loadavg, tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import sirv from 'sirv';
import {launch} from '../browser/harness.mjs';
import {models2} from '../python/models.mjs';
import {median, quick, save, table} from './contest.mjs';
import {install} from './fetch.mjs';

install();
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'models-bench-'));
process.on('exit', () => rmSync(folder, {recursive: true, force: true}));
const peers = process.env.PEERS ?? here('../../.toolchain/peers');

const loadBefore = loadavg()[0];
const made = spawnSync(models2(), [here('models.py'), folder, ...quick ? ['--quick'] : []],
  {encoding: 'utf8', maxBuffer: 2 ** 28, env: {...process.env, PYTHONPATH: `${peers}:${peers}/below`, HF_HUB_OFFLINE: '1'}});
if (made.status !== 0) throw new Error(made.stderr);
const lines = made.stdout.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));

/** What a page asks of a content network, by the file of the package. */
const NETWORK = [[/\/require\.js\//, 'requirejs/require.js'], [/\/d3\//, 'd3/dist/d3.min.js'], [/\/jquery\//, 'jquery/dist/jquery.min.js']];
const files = sirv(folder, {dev: true});
const server = createServer((request, response) => files(request, response, () => response.writeHead(404).end()));
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

/** In the page: notes when what the selector finds has been there for a frame. A board has to have the heads of its file; if it asks first what is in it,
 * `asked` is where to press. */
function watch(see) {
  const isPainted = (canvas) => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(Boolean);
  const hasHeads = (board) => {
    board.watched ??= board.ready?.then(() => { board.isReady = true; });
    if (!board.isReady) return false;
    const {rect} = board.items().find(({name}) => name === 'form-open') ?? {};
    if (rect) globalThis.asked ??= {x: rect.x + rect.width / 2, y: rect.y + rect.height / 2};
    return board.get('heads') === 12;
  };
  const isShown = () => {
    const one = document.querySelector(see);
    if (!one) return false;
    if (one.localName === 'attention-playground') return hasHeads(one);
    const {width, height} = one.getBoundingClientRect();
    return width + height > 0 && (one.localName !== 'canvas' || isPainted(one));  // a line may be level
  };
  const look = () => {
    if (isShown()) requestAnimationFrame(() => requestAnimationFrame(() => { globalThis.shown = performance.now(); }));
    else requestAnimationFrame(look);
  };
  look();
}

const LIMIT = 300_000, MOST = 8 * 2 ** 30;  // milliseconds, bytes of one process
/** In seconds, from asking for the page. */
async function timeOf(page, {file, see}) {
  page.setDefaultTimeout(0);  // a wait that is given up asks the page to forget it, which a busy page never does
  await page.route(/^https:/, (route) => {
    const found = NETWORK.find(([pattern]) => pattern.test(route.request().url()));
    return found ? route.fulfill({contentType: 'text/javascript', body: readFileSync(here(`node_modules/${found[1]}`))}) : route.abort();
  });
  await page.addInitScript(watch, see);
  await page.goto(`http://127.0.0.1:${server.address().port}/${encodeURIComponent(file)}`, {waitUntil: 'commit'});
  const asked = await page.waitForFunction(() => globalThis.shown ? {} : globalThis.asked).then((found) => found.jsonValue());
  if (asked.x) await page.mouse.click(asked.x, asked.y);
  await page.waitForFunction(() => globalThis.shown);
  return page.evaluate(() => globalThis.shown / 1000);
}

/** The processes that show pages, or draw for them. */
async function processesOf(browser, pattern) {
  const {processInfo} = await (await browser.newBrowserCDPSession()).send('SystemInfo.getProcessInfo');
  return processInfo.filter(({type}) => pattern.test(type)).map(({id}) => id);
}

/** A page that is too busy to end itself would keep its browser open for ever. */
async function end(browser) {
  for (const id of await processesOf(browser, /renderer/))
    try { process.kill(id, 'SIGKILL'); } catch { /* it has ended */ }
  await browser.close();
}

const PAGE = 4096, MOVES = 20;
const bytesOf = (id) => { try { return PAGE * Number(readFileSync(`/proc/${id}/statm`, 'utf8').split(' ')[1]); } catch { return 0; } };
const memoryOf = async (browser) => (await processesOf(browser, /renderer|GPU/i)).reduce((sum, id) => sum + bytesOf(id), 0);

/** The median of the milliseconds from a move of the pointer to the end of the frame that answers it: from word to word, or over the matrices of a board. */
async function frameOf(page, see) {
  const places = await page.evaluate(([which, count]) => {
    globalThis.frames = [];
    addEventListener('mousemove', ({timeStamp}) => requestAnimationFrame(() => {
      const {port1, port2} = new MessageChannel();
      port1.onmessage = () => globalThis.frames.push(performance.now() - timeStamp);
      port2.postMessage(0);
    }), true);
    const middle = ({x, y, width, height}) => [x + width / 2, y + height / 2], box = document.querySelector(which).getBoundingClientRect();
    const words = [...document.querySelectorAll('#left text')].slice(0, count).map((word) => middle(word.getBoundingClientRect()));
    return words.length ? words : Array.from({length: count}, (_, i) => [box.x + box.width * (0.4 + 0.3 * i / count), box.y + box.height * (0.3 + 0.3 * i / count)]);
  }, [see, MOVES]);
  for (const [i, place] of places.entries()) {
    await page.mouse.move(...place);
    await page.waitForFunction((count) => globalThis.frames.length >= count, i + 1);
  }
  return median(await page.evaluate(() => globalThis.frames));
}

/** {seconds}, and if asked {memory, frame}, or {why} there is no picture: what the page or Chromium said. */
async function firstPicture(output, isAll = false) {
  const browser = await launch(), said = [];
  let limit, watch;
  try {
    const page = await browser.newPage({viewport: {width: 1280, height: 900}});
    page.on('pageerror', ({message}) => said.push(message));
    page.on('crash', () => said.push('the page crashed or was ended by the system'));
    const renderers = await processesOf(browser, /renderer/);
    const late = new Promise((_, reject) => {
      limit = setTimeout(() => reject(new Error(`not within ${LIMIT / 1000} s`)), LIMIT);
      watch = setInterval(() => renderers.some((id) => bytesOf(id) > MOST) && reject(new Error(`more than ${MOST / 2 ** 30} GiB of memory`)), 500);
    });
    const measured = async () => {
      const seconds = await timeOf(page, output);
      return isAll ? {seconds, frame: await frameOf(page, output.see), memory: await memoryOf(browser)} : {seconds};
    };
    return await Promise.race([measured(), late]);
  } catch (error) {
    return {why: [error.message, ...said].map((text) => text.split('\n')[0].slice(0, 80)).join('; ')};
  } finally {
    clearTimeout(limit);
    clearInterval(watch);
    await end(browser);
  }
}

const outputs = lines.filter(({kind}) => kind === 'output');
for (const one of outputs) {
  const times = [];
  for (let enough = quick ? 1 : 3; times.length < enough;) {
    const {seconds, why} = await firstPicture(one);
    if (why) { one.why = why; break; }
    times.push(seconds);
    if (seconds > 30) enough = 1;
  }
  one.picture = times.length ? median(times) : null;
}
const lengths = lines.filter(({kind}) => kind === 'length');
for (const one of lengths) {
  const {seconds: picture, ...more} = await firstPicture(one, true);
  Object.assign(one, {picture, ...more});
}
server.close();

table('the output of a cell', ['', 'MB', 'made in s', 'first picture in s'], outputs.map(({tool, what, bytes, seconds, picture, why}) =>
  [`${tool}, ${what}`, (bytes / 1e6).toFixed(bytes < 1e6 ? 3 : 1), seconds.toFixed(2), picture === null ? why : picture.toFixed(2)]));
const {page, thumbnails, head} = lines.find(({kind}) => kind === 'travels');
console.log('  A picture is there two frames after its first line, painted canvas or image; a board, when it has the heads of the file: "Open" was pressed when it asked.');
console.log(`  A live cell of ours asks for ${page} bytes once a notebook, ${thumbnails} for all heads, and ${head} for each head that is looked at`);
table('one layer of 12 heads of 64, by tokens', ['', 'MB', 'made in s', 'first picture in s', 'memory in MB', 'a frame in ms'], lengths.map(({tool, what, bytes, seconds, memory, frame, why, picture}) =>
  [`${tool}, ${what}`, (bytes / 1e6).toFixed(1), seconds.toFixed(2), ...why ? [why, '', ''] : [picture.toFixed(2), (memory / 1e6).toFixed(0), frame.toFixed(1)]]));
console.log('  The head view of BertViz beside the one file of ours. Memory is that of the processes that show and draw the page, after 20 moves of the pointer; a frame is from a');
console.log('  move of the pointer, from word to word or over the matrices, to the end of the frame that answers it, the median of these moves.');
table('recording', ['', 's of the processors', 'of its own forward pass', 'MB'], lines.filter(({kind}) => kind === 'record').map(({tool, what, seconds, ratio, bytes}) =>
  [`${tool}, ${what}`, seconds.toFixed(2), ratio.toFixed(2), (bytes / 1e6).toFixed(0)]));
for (const {tool, why} of lines.filter(({kind}) => kind === 'missing')) console.log(`${tool} is not measured: ${why}`);
const {versions} = lines.find(({kind}) => kind === 'versions');
const load = [loadBefore, loadavg()[0]].map((value) => value.toFixed(1)), [{model}] = cpus();
console.log(`\n${model}, ${cpus().length} processors, load ${load.join(' before and ')} after, ${new Date().toISOString().slice(0, 10)}`);
console.log(Object.entries(versions).map(([name, version]) => `${name} ${version}`).join(', '));
const bars = (unit) => outputs.filter((one) => one[unit]).map((one) => ({name: `${one.tool}, ${one.what}`.slice(0, 40), value: one[unit], ours: one.tool === 'attention_playground'}));
save('models', {versions, load, lines}, {title: `A recorded model, ${quick ? '2 layers × 12 heads × 32' : '12 layers × 12 heads × 256'} tokens`, unit: 'shorter is better, logarithmic', log: true,
  groups: [{name: 'bytes of the output', bars: bars('bytes')}]});
