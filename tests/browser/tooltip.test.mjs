// Tooltips in a real browser: they open while nothing else happens, by the pointer, by the focus of the tables and by a held finger, and a page
// at rest draws no frame for them; the tables have their sentences.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {until} from '../until.mjs';
import {suite} from './harness.mjs';

const {browser} = suite();

/** Opens shadow roots to tests. */
const prepare = (page) => page.addInitScript(() => {
  const {attachShadow} = Element.prototype;
  Element.prototype.attachShadow = function (options) { return attachShadow.call(this, {...options, mode: 'open'}); };
});

const tip = async (board) => (await board.call('items')).find(({name}) => name === 'tip')?.rect;
const isOpen = (board, what) => until(`the tooltip of ${what}`, () => tip(board));
const isClosed = (board) => until('no tooltip', async () => !await tip(board));
const isApart = (a, b) => a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;

test('a pointer at rest opens one, without any further input, and then no frame is drawn', async () => {
  const board = await browser.open('/');
  await board.page.mouse.move(...await board.middle('causal'));
  await isOpen(board, 'causal');
  assert.ok(isApart(await tip(board), await board.call('locate', 'causal')));
  const frames = await board.rest();
  await board.rest(600);
  assert.equal((await board.stats()).frames, frames, 'an open tooltip needs no frames');
  await board.page.mouse.move(...await board.middle('weights', 0, 0, 0));
  await isClosed(board);
  await board.rest();
  const still = (await board.stats()).frames;
  await board.rest(600);
  assert.equal((await board.stats()).frames, still, 'nor does a pointer on the board');
  await board.close();
});

test('a press closes it, and does what it always does', async () => {
  const board = await browser.open('/'), before = await board.get('causal');
  await board.page.mouse.move(...await board.middle('causal'));
  await isOpen(board, 'causal');
  await board.click('causal');
  assert.equal(await board.get('causal'), !before);
  await isClosed(board);
  await board.close();
});

test('the focus of the tables opens that of its control, whose node has the sentence as its title', async () => {
  const board = await browser.open('/', {prepare});
  await board.click('weights', 0, 0, 0);
  await board.press('F10');
  const causal = board.page.getByRole('switch', {name: 'Causal'}).first();
  const [x, y] = await board.middle('weights', 0, 0, 0);
  await causal.focus();
  await board.page.mouse.move(x + 2, y);  // over what has no tooltip, as when the page scrolls to the focus
  await isOpen(board, 'Causal');
  assert.match(await causal.getAttribute('title'), /^A token sees itself/);
  await board.close();
});

test('a held finger opens it and switches nothing; a tap switches', async () => {
  const board = await browser.open('/', {viewport: {width: 390, height: 844}, hasTouch: true, isMobile: true}), before = await board.get('causal');
  const session = await board.page.context().newCDPSession(board.page), [x, y] = await board.middle('causal');
  const send = (type, ...touchPoints) => session.send('Input.dispatchTouchEvent', {type, touchPoints});
  await send('touchStart', {x, y});
  await isOpen(board, 'causal');
  await send('touchEnd');
  await board.settle();
  assert.equal(await board.get('causal'), before);
  assert.ok(await tip(board), 'it stays to be read');
  await board.page.touchscreen.tap(x, y);
  await until('the switch', async () => await board.get('causal') !== before);
  await isClosed(board);
  await session.detach();
  await board.close();
});
