// What a frame costs the processor, natively (frame.cpp) and in the page: while a Q cell is dragged, the edit included, and
// while the pointer goes over cells of Q, K, V and W. Medians, in milliseconds.
//   node frame.bench.mjs [--quick]
import {execFileSync} from 'node:child_process';
import {Board, launch, serve} from '../browser/harness.mjs';
import {build} from './fetch.mjs';

const quick = process.argv.includes('--quick');
const GOALS = {64: 2, 1024: 4};
const line = (where, {what, tokens, heads, causal, ms, vertices}, more = '') => console.log(
  `${where.padEnd(8)}${`${tokens} × ${heads}${causal ? ' causal' : ''}`.padEnd(18)}${what.padEnd(20)}${ms.toFixed(2).padStart(8)} ms  ≤ ${GOALS[tokens]}` +
  `${String(vertices).padStart(9)} vertices${more}`);

const native = execFileSync(process.env.BENCH_FRAME ?? build('native', 'frame'), {encoding: 'utf8'});
for (const text of native.trim().split('\n')) line('native', JSON.parse(text));

const [server, browser] = await Promise.all([serve(), launch()]);
const page = await (await browser.newContext({viewport: {width: 1440, height: 900}})).newPage();
await page.goto(server.url);
await page.evaluate(() => document.querySelector('attention-playground').ready);
const board = new Board(page, 'attention-playground');
const rounds = quick ? 40 : 120;  // frameMs is a median of the last 31

/** Moves the pointer, a place a frame, and gives what the frames cost. */
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
  for (const [tokens, heads] of [[64, 4], [1024, 8]]) {
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
await browser.close();
await server.close();
