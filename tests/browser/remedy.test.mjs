// Choices that are not possible remain visible, give the reason and offer a remedy; steppers can be held, and their values typed.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {until} from '../until.mjs';
import {suite} from './harness.mjs';

const {browser} = suite();

const rect = async (board, name) => (await board.call('items')).find((item) => item.name === name)?.rect;
const isThere = (board, name) => until(`${name} is on the screen`, () => rect(board, name));

async function open(options = {}, settings) {
  const board = await browser.open('/', settings);
  for (const [name, value] of Object.entries(options)) await board.call('set', name, value);
  await board.settle();
  return board;
}

/** Scrolls to it, waits until it no longer moves, and clicks. */
async function click(board, name) {
  await isThere(board, name);
  await board.call('locate', name);
  await board.settle();
  await board.click(name);
  await board.settle();
}

test('a menu shows what does not fit, muted; its link clears the way and chooses, as one step of undo', async () => {
  const board = await open();
  const was = await board.call('getState');
  await click(board, 'position');
  for (const name of ['none', 'sinusoidal', 'rotary', 'alibi']) await isThere(board, `position:${name}`);
  const [x, y] = await board.middle('position:rotary');
  await board.page.mouse.click(x - 40, y);
  await board.settle();
  assert.equal(await board.get('position'), 'none', 'the entry itself does nothing');
  await click(board, 'position:rotary:fix');
  assert.deepEqual([await board.get('position'), await board.get('d_k')], ['rotary', 4]);
  await board.check();
  assert.equal(await board.call('undo'), true);
  assert.deepEqual(await board.call('getState'), was);
  await click(board, 'position');
  await click(board, 'position:sinusoidal:fix');
  assert.deepEqual([await board.get('position'), await board.get('mode')], ['sinusoidal', 'x']);
  await click(board, 'mode:qkv');
  assert.equal(await board.get('mode'), 'x');
  await click(board, 'mode:fix');
  assert.deepEqual([await board.get('position'), await board.get('mode')], ['none', 'qkv']);
  await board.close();
});

test('heads between two counts that fit are offered with the width that they need', async () => {
  const board = await open({heads: 3});
  const was = await board.call('getState');
  await click(board, 'heads:fix');
  assert.deepEqual([await board.get('heads'), await board.get('d_k')], [4, 3]);
  await board.check();
  await board.call('undo');
  assert.deepEqual(await board.call('getState'), was);
  await board.close();
});

test('a switch that cannot be turned says why and how: the scale of an additive score, the late mask', async () => {
  const board = await open({score: 'additive'});
  await click(board, 'scale');
  assert.equal(await board.get('score'), 'additive');
  await click(board, 'scale:fix');
  assert.deepEqual([await board.get('score'), await board.get('scale')], ['scaled', true]);
  await board.call('set', 'normalizer', 'relu');
  await click(board, 'more-masks');
  await click(board, 'mask_after_softmax:fix');
  assert.deepEqual([await board.get('normalizer'), await board.get('mask_after_softmax')], ['softmax', true]);
  await board.close();
});

test('a remedy does not touch what the page locked, and an error names it', async () => {
  const board = await open();
  await board.page.evaluate(() => document.querySelector('attention-playground').setAttribute('lock', 'd_k'));
  await isThere(board, 'position');
  await click(board, 'position');
  await isThere(board, 'position:rotary');
  await isThere(board, 'position:sinusoidal:fix');
  assert.equal(await rect(board, 'position:rotary:fix'), undefined);
  await assert.rejects(board.call('set', 'heads', 4), /use 1, 2, 3 or 6\. It fits after setting d_k to 4\./);
  await board.close();
});

test('a stepper that is held goes on, in one step of undo; a click is one step', async () => {
  const board = await open();
  const events = await board.listen('input', 'change');
  await board.page.mouse.move(...await board.middle('tokens+'));
  await board.page.mouse.down();
  await until('it goes on', async () => await board.get('tokens') >= 8);
  await board.page.mouse.up();
  await board.settle();
  const held = await board.get('tokens');
  const noted = await events();
  assert.ok(noted.filter(({type}) => type === 'input').length >= 4);
  assert.equal(noted.filter(({type}) => type === 'change').length, 1);
  await board.check();
  await board.click('tokens+');
  assert.equal(await board.get('tokens'), held + 1);
  await board.call('undo');
  assert.equal(await board.get('tokens'), held);
  await board.call('undo');
  assert.equal(await board.get('tokens'), 4);
  const frames = async () => (await board.stats()).frames;
  await until('it comes to rest', async () => {
    const before = await frames();
    await board.settle();
    await board.settle();
    return await frames() === before;
  });
  await board.close();
});

test('held, the arrow keys of the options repeat after 400 ms, as one step of undo', async () => {
  const board = await open();
  await board.page.locator('attention-playground').evaluate((e) => e.shadowRoot.querySelector('canvas').focus());
  await board.press('O');
  for (let i = 0; i < 20 && !await rect(board, 'focus:tokens'); i++) await board.press('ArrowDown');
  await isThere(board, 'focus:tokens');
  await board.page.keyboard.down('ArrowRight');
  await until('it goes on', async () => await board.get('tokens') >= 8);
  await board.page.keyboard.up('ArrowRight');
  await board.settle();
  assert.ok(await board.get('tokens') >= 8);
  await board.call('undo');
  assert.equal(await board.get('tokens'), 4);
  await board.close();
});

test('a stepper is held by a finger', async () => {
  const board = await open({}, {viewport: {width: 390, height: 600}, hasTouch: true, isMobile: true});
  const [x, y] = await board.middle('heads-');
  await board.call('set', 'heads', 6);
  const session = await board.page.context().newCDPSession(board.page);
  await session.send('Input.dispatchTouchEvent', {type: 'touchStart', touchPoints: [{x, y}]});
  await until('it goes on', async () => await board.get('heads') === 1);
  await session.send('Input.dispatchTouchEvent', {type: 'touchEnd', touchPoints: []});
  await board.settle();
  await board.call('undo');
  assert.equal(await board.get('heads'), 6);
  await board.close();
});

test('the number of a stepper is typed, by a click and by Enter; what is refused says why and offers the way', async () => {
  const board = await open();
  const type = async (text) => {
    await board.page.locator('attention-playground input').fill(text);
    await board.press('Enter');
    await board.settle();
  };
  await click(board, 'tokens-value');
  await type('7');
  assert.equal(await board.get('tokens'), 7);
  await click(board, 'heads-value');
  const [error] = await Promise.all([
    board.page.evaluate(() => new Promise((done) => document.querySelector('attention-playground').addEventListener('error', (e) => done(e.detail), {once: true}))),
    type('4')]);
  assert.match(error.message, /^heads: 4 does not divide the model width 6/);
  await click(board, 'heads:fix');
  assert.deepEqual([await board.get('heads'), await board.get('d_k')], [4, 2]);
  await click(board, 'window');
  await click(board, 'window_left-value');
  await type('2');
  assert.equal(await board.get('window_left'), 2);
  await click(board, 'window_left-value');
  await type('off');
  assert.equal(await board.get('window_left'), -1);
  await board.press('O');
  for (let i = 0; i < 20 && !await rect(board, 'focus:tokens'); i++) await board.press('ArrowDown');
  await board.press('Enter');
  await type('3');
  assert.equal(await board.get('tokens'), 3);
  await board.close();
});

test('what is typed and does not divide, has no token, or no memory, offers what does; a link takes it as one step', async () => {
  const board = await open({d_k: 24, heads: 8}, {viewport: {width: 1440, height: 1300}});
  const type = async (name, text) => {
    await click(board, `${name}-value`);
    await board.page.locator('attention-playground input').fill(text);
    await board.press('Enter');
    await isThere(board, `${name}:fix`);
  };
  await click(board, 'more-sizes');
  await type('kv_heads', '3');
  assert.equal(await board.get('kv_heads'), 8);
  await click(board, 'kv_heads:fix');
  assert.equal(await board.get('kv_heads'), 4);
  await board.check();
  await board.call('undo');
  assert.equal(await board.get('kv_heads'), 8);
  await click(board, 'more-sizes');
  await type('step', '6');
  assert.equal(await board.get('step'), 0);
  await click(board, 'step:fix');
  assert.deepEqual([await board.get('step'), await board.get('tokens')], [6, 6]);
  await board.check();
  await board.call('set', 'step', 0);
  await board.call('set', 'heads', 48);
  await board.call('set', 'tokens', 400);
  await type('tokens', '8192');
  await click(board, 'tokens:fix');
  assert.equal(await board.get('tokens'), 4729);  // 4729² × 48 is the largest product below 2³⁰
  await board.call('undo');
  assert.equal(await board.get('tokens'), 400);
  await board.close();
});

test('a step button at its end says why', async () => {
  const board = await open({tokens: 1});
  await board.page.mouse.move(...await board.middle('tokens-value'));
  const {x, y, height} = await rect(board, 'tokens');
  await board.page.mouse.move(x + 10, y + height / 2);
  const tip = await isThere(board, 'tip');
  assert.ok(tip.width > 60 && tip.x >= 0);
  await board.page.mouse.move(700, 600);
  await until('it is gone', async () => !await rect(board, 'tip'));
  await board.close();
});
