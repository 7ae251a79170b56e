// A board of 4,096 tokens and 8 heads of 64 columns in the page: memory there and back, and what a frame takes while numbers are dragged, the
// weights are moved, and the page Model makes the pictures of two such layers and of 48 layers of 64 heads. Then one of 131,072 tokens. Times are
// those that the page's thread had a processor, with its calls of WebGL, as the browser traces them; and those by the wall, which are longer:
// without a graphics processor the browser draws by software, on the same processors. Of all frames, of those that follow an input, and of
// the longest task, for which an input may have to wait. Natively: build/native/frame --long.
//   node long.bench.mjs [--quick]
import {Board, launch, serve} from '../browser/harness.mjs';
import {until} from '../until.mjs';
import {quick} from './contest.mjs';

// Of the smaller ones, too, the scores are not stored.
const [TOKENS, HEADS, COLUMNS, ROUNDS] = quick ? [1200, 2, 16, 4] : [4096, 8, 64, 120], MEGABYTE = 1 << 20;
const [server, browser] = await Promise.all([serve(), launch()]);
const page = await (await browser.newContext({viewport: {width: 1440, height: 900}})).newPage();
await page.addInitScript(() => {
  localStorage.setItem('attention-playground', '{"open":false}');  // no lesson, which would change the board
  let hasInput = false;  // since the last frame
  for (const type of ['pointermove', 'wheel']) addEventListener(type, () => { hasInput = true; }, {capture: true, passive: true});
  const {requestAnimationFrame} = globalThis;
  globalThis.requestAnimationFrame = (draw) => requestAnimationFrame((now) => {
    const began = performance.now();
    if (hasInput) performance.mark('answers');
    draw(now);
    if (performance.now() - began > 0.2) hasInput = false;  // else a callback that does not draw
  });
});
await page.goto(server.url);
await page.evaluate(() => customElements.whenDefined('attention-playground').then(() => document.querySelector('attention-playground').ready));
const board = new Board(page, 'attention-playground');
const line = (what, value) => console.log(`${what.padEnd(28)}${value}`);

/** When the page last kept its board, which takes memory too. */
const keptAt = () => page.evaluate(async () => {
  const settled = (request) => new Promise((resolve, reject) => { request.onsuccess = () => resolve(request.result); request.onerror = () => reject(request.error); });
  const storage = await settled(indexedDB.open('attention-playground'));
  const last = await settled(storage.transaction('boards').objectStore('boards').index('updated').openKeyCursor(null, 'prev'));
  storage.close();
  return last?.key ?? 0;
});
let edited = 0;
/** Until all is computed: for so many frames of the screen none of the board is drawn. It is asked for nothing, which it would answer first. */
const whole = () => page.evaluate((most) => new Promise((resolve) => {
  let frames = -1, still = 0;
  const look = () => {
    const {frames: now} = document.querySelector('attention-playground').stats();
    still = now === frames ? still + 1 : 0;
    frames = now;
    if (still < most) requestAnimationFrame(look);
    else resolve();
  };
  look();
}), 60);
/** The same, and until the board is kept as it was after the last edit. */
async function rest() {
  await whole();
  await until('the board is kept', async () => await keptAt() >= edited);
}

async function heap(what) {
  const bytes = (await board.stats()).heapBytes;
  line(what, `${(bytes / MEGABYTE).toFixed(0)} MB of the module's memory`);
  return bytes;
}
function quantiles(times) {
  times.sort((a, b) => a - b);
  const [median, most, longest] = [0.5, 0.99, 1].map((share) => (times[Math.min(times.length - 1, Math.floor(times.length * share))] / 1000)?.toFixed(1));
  return `${median} ms median, ${most} at the 99th percentile, ${longest} the longest`;
}
const tracing = await browser.newBrowserCDPSession(), events = [];
tracing.on('Tracing.dataCollected', ({value}) => events.push(...value));
/** What the browser notes of the page's thread meanwhile. */
async function traced(act) {
  events.length = 0;
  const includedCategories = ['devtools.timeline', 'disabled-by-default-devtools.timeline', 'blink.user_timing'];
  await tracing.send('Tracing.start', {transferMode: 'ReportEvents', traceConfig: {includedCategories, excludedCategories: ['*']}});
  await act();
  const done = new Promise((resolve) => tracing.once('Tracing.tracingComplete', resolve));
  await tracing.send('Tracing.end');
  await done;
  const {pid, tid} = events.find(({name}) => name === 'FireAnimationFrame');
  return events.filter((event) => event.pid === pid && event.tid === tid);
}
async function timed(what, act) {
  const all = await traced(act), marks = all.filter(({name}) => name === 'answers').map(({ts}) => ts);
  const frames = all.filter(({name, dur}) => name === 'FireAnimationFrame' && dur > 200);  // else a callback that does not draw
  const ofInput = frames.filter(({ts, dur}) => marks.some((at) => ts <= at && at <= ts + dur));
  line(what, `${quantiles(frames.map(({tdur}) => tdur))}, ${frames.length} frames`);
  if (ofInput.length > 0) line('  after an input', `${quantiles(ofInput.map(({tdur}) => tdur))}, ${ofInput.length} frames`);
  line('  by the wall', quantiles(frames.map(({dur}) => dur)));
  const tasks = all.filter(({name}) => name === 'RunTask'), most = (key) => (Math.max(...tasks.map((task) => task[key] ?? 0)) / 1000).toFixed(0);
  line('  the longest task', `${most('tdur')} ms, ${most('dur')} by the wall`);
}
const frame = () => page.evaluate(() => new Promise(requestAnimationFrame));

async function set(tokens, heads) {
  edited = Date.now();
  for (const [option, value] of [['heads', 1], ['d_k', 64], ['heads', heads], ['d_k', COLUMNS], ['tokens', tokens]]) await board.call('set', option, value);
}
const small = await board.call('getState');
await heap('at first');
await timed('until whole', async () => {
  await set(TOKENS, HEADS);
  await whole();
});
await rest();
const there = await heap(`${TOKENS} × ${HEADS} × ${COLUMNS}`);
edited = Date.now();
await board.call('setState', small);
await rest();
await heap('and back');
await set(TOKENS, HEADS);
await rest();
const again = await heap('there again');
line('there and back', `${((again / there - 1) * 100).toFixed(1)} % more memory than at first (at most 10 %)`);

async function drags(tokens, columns) {
  for (const name of ['q', 'k', 'v']) {
    const [x, y] = await board.middle(name, 0, tokens / 2, columns / 2);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await frame();
    await timed(`drag ${name}`, async () => {
      for (let i = 0; i < ROUNDS; i++) {
        await page.mouse.move(x + 3 + i % 40, y);
        await frame();
      }
    });
    edited = Date.now();
    await page.mouse.up();
    await whole();
  }
}

async function moves(tokens) {
  const [x, y] = await board.middle('weights', 0, tokens / 2, tokens / 2);
  await page.mouse.move(x, y);
  const zoom = async (by, rounds) => {
    await page.keyboard.down('Control');
    for (let i = 0; i < rounds; i++) await page.mouse.wheel(0, by), await frame();
    await page.keyboard.up('Control');
  };
  const pan = async () => {
    for (let i = 0; i < ROUNDS; i++) await page.mouse.wheel(i % 2 ? 30 : 0, i % 2 ? 0 : 30), await frame();
  };
  await timed('zoom in', () => zoom(-25, ROUNDS / 2));
  await timed('pan, with numbers', pan);
  await timed('zoom out', () => zoom(25, ROUNDS / 6));
  await timed('pan, of colours', pan);
  await rest();
}
await drags(TOKENS, COLUMNS);
await moves(TOKENS);
await heap('after edits');

// One head that is longer still, of which only what is looked at is computed.
const [LONGEST, FEW] = quick ? [16384, 8] : [131072, 15];
await page.keyboard.press('0');
await board.call('setState', small);
for (const [option, value] of [['heads', 1], ['d_k', FEW]]) await board.call('set', option, value);
await rest();
await heap(`before ${LONGEST} × 1 × ${FEW}`);
const began = performance.now();
edited = Date.now();
await board.call('set', 'tokens', LONGEST);
await frame();
await frame();
line('first picture', `${(performance.now() - began).toFixed(0)} ms`);
await whole();
line('picture of all', `${(performance.now() - began).toFixed(0)} ms`);
await rest();
await heap(`${LONGEST} × 1 × ${FEW}`);
await moves(LONGEST);  // its cells are too narrow to be dragged until they are enlarged
await heap('after it was enlarged');

/** The page Model of a board with so many layers, until all heads have their picture. */
async function ofModel(layers, heads, tokens, columns) {
  for (const [option, value] of [['tokens', 8], ['heads', 1], ['d_k', 64], ['heads', heads], ['d_k', columns], ['batch', layers], ['batch_of', 'layers'], ['tokens', tokens]]) await board.call('set', option, value);
  await whole();
  await timed(`Model, ${layers} × ${heads} × ${tokens}`, async () => {
    await board.call('set', 'view', 'model');
    await whole();
  });
  await board.call('set', 'view', 'layer');
}
await ofModel(2, quick ? 2 : 8, TOKENS, 16);
await ofModel(48, 64, quick ? 8 : 24, 16);
await heap('after the page Model');
await browser.close();
await server.close();
