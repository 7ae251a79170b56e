// Many tokens: nothing is drawn outside the matrices, a frame has a limited number of vertices, and an edit uploads only what it changed.
import assert from 'node:assert/strict';
import {writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {test} from 'node:test';
import {readPng} from '../desktop/png.mjs';
import {BOARDS, checkBackground, named} from './background.mjs';
import {SCREENSHOTS, suite} from './harness.mjs';

const {browser} = suite();

const VERTICES = 65_536;  // the limit of 16-bit indices, below which even the largest board stays

/** All options in one go, so that one frame is drawn instead of six. */
async function shape(board, {tokens, heads, causal, dim = 2}) {
  const options = [['tokens', 4], ['heads', 1], ['d_k', heads === 1 ? 4 : dim * heads], ['heads', heads], ['tokens', tokens], ['causal', causal]];
  await board.page.evaluate(([selector, all]) => {
    const element = document.querySelector(selector);
    for (const [option, value] of all) element.set(option, value);
  }, [board.selector, options]);
  await board.settle();
}

test('no number of tokens draws where nothing should be, and a frame is bounded', async () => {
  const board = await browser.open('/', {seen: true});
  const file = join(tmpdir(), `attention-many-${process.pid}.png`);
  for (const one of BOARDS) {
    await shape(board, one);
    await board.rest();  // a slow machine tells how many heads are computed, above the board, until all are
    const items = (await board.page.evaluate(() => document.querySelector('attention-playground').items().map(({name, rect}) =>
      ({name, x: rect.x, y: rect.y, width: rect.width, height: rect.height}))));
    writeFileSync(file, await board.page.screenshot());
    checkBackground(readPng(file), items, named(one));
    const {vertices} = await board.stats();
    assert.ok(vertices > 1000 && vertices < VERTICES, `${named(one)}: ${vertices} vertices`);
    const note = items.some(({name}) => name === 'arcs-note');
    if (one.tokens >= 256) assert.ok(note, `${named(one)}: the card says how many links are left out`);
    if (one.tokens === 16 && one.causal) assert.ok(!note, `${named(one)}: no link is left out`);
    assert.equal(items.some(({name}) => name === 'weight-legend'), one.tokens > 32, `${named(one)}: legend of the colours`);
  }
  await board.close();
});

/** Drags a cell of Q on by 5 pixels; how many cells of Q changed by that, and how many were uploaded. */
async function dragged(board, row, col) {
  const [x, y] = await board.middle('q', 0, row, col), {mouse} = board.page;
  await mouse.move(x, y);
  await mouse.down();
  await mouse.move(x + 4, y);
  await board.settle();
  const before = await board.stats(), q = (await board.tensor('q')).data;
  await mouse.move(x + 9, y);
  await board.settle();
  const {uploads} = await board.stats(), now = (await board.tensor('q')).data;
  await mouse.up();
  return {changed: now.filter((value, i) => value !== q[i]).length, sent: uploads - before.uploads};
}

test('dragging one Q cell at 1,024 tokens uploads rows, not matrices', async () => {
  const board = await browser.open('/');
  await shape(board, {tokens: 1024, heads: 8, causal: false, dim: 8});
  await board.rest();  // until all heads have their pictures
  const {changed, sent} = await dragged(board, 512, 6);
  assert.ok(changed >= 1 && changed <= 4, `${changed} cells of Q changed`);
  // One row of Q, S, W and O, and a row of pixels for each of the thumbnails of the head and of the mean.
  const row = 1024 + 1024 + 8 + 8 + 2 * 128;
  assert.ok(sent > 0 && sent <= 3 * row, `${sent} cells were uploaded; a row of each matrix has ${row}`);
  await board.close();
});

test('4,096 tokens: the wheel with Ctrl enlarges the board until cells can be read, and the drag of one uploads no more than is seen', async () => {
  const board = await browser.open('/');
  await shape(board, {tokens: 4096, heads: 1, causal: true});
  const {mouse, keyboard} = board.page, width = async () => (await board.call('locate', 'q', 0, 2000, 1)).width;
  assert.ok(await width() < 1);
  await board.page.locator(board.selector).focus();
  await mouse.move(...await board.middle('q', 0, 2000, 1));
  await keyboard.down('Control');
  for (let turns = 0; turns < 15; turns++) await mouse.wheel(0, -100);
  await keyboard.up('Control');
  await board.settle();
  assert.ok(await width() > 20 && await width() < 40, `${await width()} pixels: cells that can be read, and no larger`);
  const {changed, sent} = await dragged(board, 2000, 1);
  assert.equal(changed, 1);
  assert.ok(sent < 4096, `${sent} cells were uploaded`);
  await board.close();
});

test('what is not changed is not uploaded: hovering and scrolling', async () => {
  const board = await browser.open('/');
  await shape(board, {tokens: 256, heads: 4, causal: true});
  const {uploads} = await board.stats();
  for (const [name, col] of [['q', 1], ['k', 1], ['v', 1], ['weights', 30]]) await board.page.mouse.move(...await board.middle(name, 0, 100, col));
  await board.settle();
  assert.equal((await board.stats()).uploads, uploads);
  await board.close();
});

test('the legend of the colours stands on no label and on no title, however long labels are', async () => {
  const board = await browser.open('/');
  for (const tokens of [16, 40, 64, 128, 1024]) {
    await shape(board, {tokens, heads: 2, causal: true});
    await board.call('set', 'labels', Array.from({length: tokens}, (_, i) => ['attention', 'understanding', 'of', 'the', 'transformer'][i % 5]));
    for (const causal of [true, false]) {
      await board.call('set', 'causal', causal);
      await board.call('set', 'weight_scale', 'sqrt');
      await board.settle();
      const items = await board.call('items'), legend = items.find(({name}) => name === 'weight-legend').rect;
      for (const {name, rect} of items.filter(({name}) => /^(label:above|title:|matrix:(q|k|v|scores|head_output)$)/.test(name))) {
        const apart = rect.x >= legend.x + legend.width || rect.x + rect.width <= legend.x || rect.y >= legend.y + legend.height || rect.y + rect.height <= legend.y;
        assert.ok(apart, `${tokens} tokens, ${causal ? 'causal' : 'all'}: ${name} at ${JSON.stringify(rect)}, the legend at ${JSON.stringify(legend)}`);
      }
    }
  }
  await board.close();
});

test('scales of colour: kept in the state, not undone, with a legend', async () => {
  const board = await browser.open('/', {seen: true});
  assert.equal(await board.get('weight_scale'), 'auto');
  for (const scale of ['sqrt', 'row']) {
    await board.call('set', 'weight_scale', scale);
    await board.settle();
    const state = await board.call('getState');
    assert.equal(state.weight_scale ?? state.options?.weight_scale, scale);
    assert.ok((await board.call('items')).some(({name}) => name === 'weight-legend'));
    await board.page.screenshot({path: `${SCREENSHOTS}/web-weights-${scale}.png`});
    await board.call('setState', {...state}, {undoable: false});
    assert.equal(await board.get('weight_scale'), scale);
  }
  await board.call('set', 'causal', false);
  await board.call('undo');
  assert.equal(await board.get('weight_scale'), 'row');
  await assert.rejects(board.call('set', 'weight_scale', 'cubic'), /weight_scale.*linear.*sqrt.*row.*auto/s);
  await board.close();
});
