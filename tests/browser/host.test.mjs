// The script for hosts of an iframe: its height, its methods as promises, its events.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {gzipSync} from 'node:zlib';
import {until} from '../until.mjs';
import {SITE, suite} from './harness.mjs';

const {browser} = suite({seen: true});

/** A page with a frame, connected before its page was loaded, or after. Calls of `board` in the page's scripts go to the frame. */
async function openHost(query, {sandbox = null, late = false} = {}) {
  const board = await browser.open('/pages/host.html', {wait: false, viewport: {width: 800, height: 700}});
  await board.page.evaluate(async ([src, box, isLate]) => {
    const {connect} = await import('/host.js');
    const frame = Object.assign(document.createElement('iframe'), {src, title: 'board'});
    frame.style.cssText = 'width: 400px; height: 150px; border: 3px solid';
    if (box !== null) frame.setAttribute('sandbox', box);
    const loaded = new Promise((resolve) => frame.addEventListener('load', resolve));
    document.body.prepend(frame);
    if (isLate) await loaded;
    globalThis.frame = frame;
    globalThis.board = connect(frame);
    globalThis.heard = [];
    for (const name of ['change', 'ready']) globalThis.board.addEventListener(name, ({type, detail}) => globalThis.heard.push([type, detail.option]));
  }, [`/embed.html${query}`, sandbox, late]);
  return {page: board.page, close: () => board.close()};
}

for (const options of [{}, {late: true}, {sandbox: 'allow-scripts'}, {sandbox: 'allow-scripts', late: true}]) {
  test(`a frame ${options.sandbox ? 'in a sandbox ' : ''}is driven from ${options.late ? 'after' : 'before'} it has been loaded`, async () => {
    const {page, close} = await openHost('?preset=uniform', options);
    const said = await page.evaluate(async () => {
      const {board} = globalThis, early = board.get('causal');  // asked at once
      await board.ready();
      await board.set('causal', true);
      const {data, shape} = await board.getTensor('weights');
      const progress = await board.train(2);
      return [await early, await board.get('causal'), data instanceof Float32Array, shape, progress.step, (await board.locate('q', 0, 0, 0)).width > 5];
    });
    assert.deepEqual(said, [false, true, true, [1, 5, 5], 2, true]);
    await until('the event', () => page.evaluate(() => globalThis.heard.some(([type, option]) => type === 'change' && option === 'causal')));
    assert.equal(await page.evaluate(() => globalThis.heard.filter(([type, option]) => type === 'change' && option === 'causal').length), 1, 'each event comes once');
    await close();
  });

  test(`a frame ${options.sandbox ? 'in a sandbox ' : ''}connected ${options.late ? 'after' : 'before'} it has been loaded is as high as its board`, async () => {
    const {page, close} = await openHost('?show=weights&fit', options);
    const height = () => page.evaluate(() => globalThis.frame.clientHeight);
    await until('the height', async () => await height() !== 150);
    const before = await height();
    assert.ok(before > 200 && before < 320, String(before));
    await page.evaluate(() => globalThis.board.set('tokens', 8));
    await until('a higher board', async () => await height() > before);
    await close();
  });
}

test('errors are those of the element, by type and field', async () => {
  const {page, close} = await openHost('');
  const said = await page.evaluate(async () => {
    const {board} = globalThis, failure = (promise) => promise.then(() => null, (error) => [error.constructor.name, error.field ?? null, error.message]);
    return [await failure(board.set('nothing', 1)), await failure(board.set('causal', 'perhaps')), await failure(board.dance()), await failure(board.set('causal', () => {}))];
  });
  assert.deepEqual(said.map(([type, field]) => [type, field]), [['RangeError', 'option'], ['TypeError', 'causal'], ['TypeError', null], ['DOMException', null]]);
  assert.match(said[2][2], /There is no call "dance"/);
  await close();
});

test('cells and checks are watched, and no longer once that is stopped', async () => {
  const {page, close} = await openHost('');
  await page.evaluate(async () => {
    const {board} = globalThis;
    globalThis.values = [];
    globalThis.verdicts = [];
    globalThis.stop = await board.observe({tensor: 'weights', row: 3, col: 2}, (value, {before}) => globalThis.values.push([value, before]));
    await board.on({tensor: 'weights', at: [0, 3, 2], max: 0.5}, ([{value, holds}]) => globalThis.verdicts.push([value < 0.5, holds]));
    await board.set('temperature', 10);
  });
  await until('both', () => page.evaluate(() => globalThis.values.length > 1 && globalThis.verdicts.length > 0));
  const {values, verdicts} = await page.evaluate(() => ({values: globalThis.values, verdicts: globalThis.verdicts}));
  assert.ok(values[0][0] > 0.5 && values.at(-1)[0] < 0.5, JSON.stringify(values));
  assert.deepEqual(verdicts, [[true, true]]);
  const count = await page.evaluate(async () => {
    await globalThis.stop();
    const before = globalThis.values.length;
    await globalThis.board.set('temperature', 1);
    await globalThis.board.get('temperature');
    return globalThis.values.length - before;
  });
  assert.equal(count, 0);
  await close();
});

test('the frame may go on to another page: the next calls are that one’s', async () => {
  const {page, close} = await openHost('?preset=uniform');
  const preset = () => page.evaluate(async () => (await globalThis.board.getState()).preset);
  assert.equal(await preset(), 'uniform');
  await page.evaluate(async () => {
    const loaded = new Promise((resolve) => globalThis.frame.addEventListener('load', resolve, {once: true}));
    globalThis.frame.src = '/embed.html?preset=pronoun';
    await loaded;
  });
  await until('the other board', async () => await page.evaluate(() => Promise.race([globalThis.board.getState().then((state) => state.preset), new Promise(requestAnimationFrame)])) === 'pronoun');
  await close();
});

test('it has at most 2 KB', () => {
  assert.ok(gzipSync(readFileSync(`${SITE}/host.js`)).length <= 2048);
});
