// The processor time of a frame, natively (frame.cpp) and in the page: while a cell of Q is dragged, including the edit, and while the
// pointer moves over cells of Q, K, V and W. Medians, in milliseconds.
//   node frame.bench.mjs [--quick]
import {execFileSync} from 'node:child_process';
import {Board, launch, serve} from '../browser/harness.mjs';
import {quick} from './contest.mjs';
import {build} from './fetch.mjs';

const GOALS = {16: 2, 64: 2, 1024: 4};
const STEP = 3;  // the target for a frame of the stepper
const line = (where, {what, tokens, heads, causal, ms, vertices}, more = '') => console.log(
  `${where.padEnd(8)}${`${tokens} × ${heads}${causal ? ' causal' : ''}`.padEnd(18)}${what.padEnd(20)}${ms.toFixed(2).padStart(8)} ms  ≤ ${what === 'step' ? STEP : GOALS[tokens]}` +
  `${String(vertices).padStart(9)} vertices${more}`);

const native = execFileSync(process.env.BENCH_FRAME ?? build('native', 'frame'), {encoding: 'utf8'});
for (const text of native.trim().split('\n')) line('native', JSON.parse(text));

const [server, browser] = await Promise.all([serve(), launch()]);
const page = await (await browser.newContext({viewport: {width: 1440, height: 900}})).newPage();
await page.addInitScript(() => localStorage.setItem('attention-playground', '{"open":false}'));  // no lesson, which would change the board
await page.goto(server.url);
await page.evaluate(() => customElements.whenDefined('attention-playground').then(() => document.querySelector('attention-playground').ready));
const board = new Board(page, 'attention-playground');
const rounds = quick ? 4 : 120;  // frameMs is a median of the last 31

/** Moves the pointer to one place per frame, and returns the cost of the frames. */
async function over(what, shape, places) {
  const before = await board.stats();
  for (let i = 0; i < rounds; i++) {
    await page.mouse.move(...places(i));
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
  const {frameMs, uploads, vertices} = await board.stats();
  line('page', {what, ...shape, ms: frameMs, vertices}, `  ${uploads - before.uploads} cells uploaded`);
}

for (const causal of [true, false]) {
  for (const [tokens, heads] of quick ? [[64, 4]] : [[64, 4], [1024, 8]]) {
    for (const [option, value] of [['heads', 1], ['d_k', 8 * heads], ['heads', heads], ['tokens', tokens], ['causal', causal]]) await board.call('set', option, value);
    await board.settle();
    const shape = {tokens, heads, causal};
    const [x, y] = await board.middle('q', 0, tokens / 2, 6);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await over('drag Q', shape, (i) => [x + 20 + 15 * Math.sin(i / 5), y]);
    await page.mouse.up();
    for (const name of ['q', 'k', 'v', 'weights']) {
      const {x: left, y: top} = await board.call('locate', name, 0, 0, 0);
      const last = await board.call('locate', name, 0, tokens - 1, name === 'weights' ? tokens - 1 : 7);
      const step = (i) => (i * 7 % 97) / 97;
      await over(`hover ${name}`, shape, (i) => [left + (last.x - left) * step(i), top + (last.y - top) * step(i)]);
    }
  }
}
/** The milliseconds taken by functions with those names and everything they call while `action` ran, from samples of the profiler. */
async function profiled(names, action) {
  const session = await page.context().newCDPSession(page);
  await session.send('Profiler.enable');
  await session.send('Profiler.setSamplingInterval', {interval: 50});
  await session.send('Profiler.start');
  await action();
  const {profile: {nodes, samples, timeDeltas}} = await session.send('Profiler.stop');
  await session.detach();
  const within = new Map();  // the name that a profile node belongs to
  const visit = (node, name) => {
    const own = name ?? names.find((one) => one === node.callFrame.functionName);
    within.set(node.id, own);
    for (const child of node.children ?? []) visit(nodes.find(({id}) => id === child), own);
  };
  visit(nodes[0]);
  return names.map((name) => samples.reduce((sum, id, i) => sum + (within.get(id) === name ? timeDeltas[i] : 0), 0) / 1000);
}

// The cost of the mirror while nobody seems to use it: in each frame, and when it is updated after frames have stopped.
for (const tokens of [4, 16, 64]) {
  for (const [option, value] of [['causal', true], ['heads', 1], ['d_k', 8], ['heads', 4], ['tokens', tokens]]) await board.call('set', option, value);
  await board.rest(1000);
  const before = await board.stats();
  const [stale, update] = await profiled(['stale', 'update'], async () => {
    await page.evaluate(async (count) => {
      for (let i = 0; i < count; i++) {
        document.querySelector('attention-playground').set('temperature', 1 + i / count);
        await new Promise(requestAnimationFrame);
      }
    }, rounds);
    await board.rest(1000);
  });
  const count = (await board.stats()).frames - before.frames;
  console.log(`page    ${`${tokens} × 4 causal`.padEnd(18)}in words, a frame   ${(stale / count).toFixed(3).padStart(8)} ms  ≤ 0.1    ${count} frames; ${update.toFixed(1)} ms for bringing it up to date after them`);
}
// A lesson, from the click in the list to the frame that shows it; its file has already been fetched.
{
  const times = [];
  for (let i = 0; i < (quick ? 1 : 11); i++) {
    await board.call('openLesson', 'query', 0);
    await board.settle();
    await board.click('guide-list');
    await board.rest(100);
    const [x, y] = await board.middle('guide:open:query');
    await page.evaluate(() => {
      const element = document.querySelector('attention-playground');
      globalThis.shown = new Promise((resolve) => {
        let began = 0;
        addEventListener('pointerup', () => { began = performance.now(); }, {once: true, capture: true});
        element.addEventListener('step', () => requestAnimationFrame(() => resolve(performance.now() - began)), {once: true});
      });
    });
    await page.mouse.click(x, y);
    times.push(await page.evaluate(() => globalThis.shown));
  }
  times.sort((a, b) => a - b);
  console.log(`page    ${'a lesson, from click to frame'.padEnd(38)}${times[times.length >> 1].toFixed(1).padStart(8)} ms  ≤ 50     at most ${times.at(-1).toFixed(1)} ms`);
  await board.call('reset');
}
// Playing the steps of a row: numbers travel, and everything else is dimmed.
for (const tokens of [12, 64]) {
  for (const [option, value] of [['causal', true], ['heads', 1], ['d_k', 16], ['heads', 4], ['tokens', tokens]]) await board.call('set', option, value);
  await board.click('weights', 0, tokens - 1, 2);
  await board.call('set', 'stepper', 1);
  await board.settle();
  await board.click('stepper-play');
  for (let i = 0; i < rounds; i++) await page.evaluate(() => new Promise(requestAnimationFrame));
  const {frameMs, vertices} = await board.stats();
  line('page', {what: 'step', tokens, heads: 4, causal: true, ms: frameMs, vertices});
  await board.call('set', 'stepper', 0);
}
for (const [option, value] of [['heads', 1], ['tokens', 16], ['d_k', 16], ['heads', 4]]) await board.call('set', option, value);
await board.click('weights', 0, 15, 2);
for (const gradient of [false, true]) {
  await board.call('set', 'gradient', gradient);
  await board.settle();
  const [x, y] = await board.middle('q', 0, 15, 2);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await over(gradient ? 'with gradients' : 'without', {tokens: 16, heads: 4}, (i) => [x + 20 + 15 * Math.sin(i / 5), y]);
  await page.mouse.up();
}
const gradient = await page.evaluate(() => {
  const element = document.querySelector('attention-playground'), times = [];
  for (let i = 0; i < 101; i++) {
    const began = performance.now();
    element.gradient({tensor: 'weights', head: 2, row: 9, col: 3}, 'k');
    times.push(performance.now() - began);
  }
  return times.sort((a, b) => a - b)[50];
});
line('page', {what: 'el.gradient', tokens: 16, heads: 4, ms: gradient, vertices: 0});
await browser.close();
await server.close();
