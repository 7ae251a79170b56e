// A first visit: its board, the three steps of the coach by a real mouse, and what a second visit finds.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {suite} from './harness.mjs';

const {browser} = suite();
const names = async (board) => (await board.call('items')).map(({name}) => name);
const shows = (board, wanted) => board.until(wanted, (name) => document.querySelector('attention-playground').items().some((item) => item.name === name), wanted);
const stored = (board) => board.page.evaluate(() => localStorage['attention-playground'] ?? '');
async function again(board) {
  await board.page.reload();
  await board.page.evaluate(() => customElements.whenDefined('attention-playground').then(() => document.querySelector('attention-playground').ready.then(() => true)));
  await board.rest();
}

for (const [width, height] of [[1440, 900], [390, 844]]) {
  test(`${width} × ${height}: one head and no mask; three mouse actions do the three steps, and they never come back`, async () => {
    const board = await browser.open('/', {viewport: {width, height}, guide: 'first'});
    await shows(board, 'coach:skip');
    assert.deepEqual(await Promise.all(['heads', 'd_k', 'causal', 'mode'].map((name) => board.get(name))), [1, 3, false, 'qkv']);
    assert.equal(board.requests.filter((address) => address.includes('/lessons/')).length, 0, 'no lesson is asked for');
    await board.drag('q', [0, 3, 2], -50, 0);
    await board.click('causal');
    await board.rest();
    await board.click('heads+');
    await shows(board, 'coach:guide');
    assert.deepEqual(await Promise.all(['heads', 'd_k', 'causal'].map((name) => board.get(name))), [2, 3, true]);
    await board.check();
    await board.click('coach:close');
    await board.rest();
    assert.match(await stored(board), /"closed":true,"coached":true/);
    await again(board);
    assert.ok(!(await names(board)).some((name) => name.startsWith('coach')));
    assert.equal(await board.get('heads'), 2, 'the tab has kept the board');
    await board.close();
  });
}

test('a skipped coach does not come back, and the column stays as the reader leaves it', async () => {
  const board = await browser.open('/', {guide: 'first'});
  await shows(board, 'coach:skip');
  await board.click('coach:skip');
  await board.rest();
  assert.ok(!(await names(board)).some((name) => name.startsWith('coach')));
  await again(board);
  assert.ok((await names(board)).includes('step-through'), 'the bar is there, and the column is closed');
  await board.click('panel:controls');
  await board.rest();
  await again(board);
  assert.ok((await names(board)).includes('tokens+'), 'the controls are open');
  await board.close();
});

test('a script that changes the board of a first visit keeps its change, and ends the coach', async () => {
  const board = await browser.open('/', {guide: 'first'});
  await board.call('set', 'tokens', 20);
  await board.rest();
  assert.equal(await board.get('tokens'), 20);
  assert.ok(!(await names(board)).some((name) => name.startsWith('coach')));
  await board.close();
});

test('by the keyboard alone: a number, Causal and a head by their keys, then the Guide from the tables', async () => {
  const board = await browser.open('/', {guide: 'first', prepare: (page) => page.addInitScript(() => {
    const {attachShadow} = Element.prototype;
    Element.prototype.attachShadow = function (options) { return attachShadow.call(this, {...options, mode: 'open'}); };
  })});
  const {keyboard} = board.page, press = async (...keys) => {
    for (const key of keys) await keyboard.press(key);
    await board.rest();
  };
  await shows(board, 'coach:skip');
  await press('Tab', 'q', 'ArrowDown', 'c', 'h');
  await shows(board, 'coach:guide');
  assert.deepEqual(await Promise.all(['heads', 'd_k', 'causal'].map((name) => board.get(name))), [2, 3, true]);
  await press('F10');
  const focused = () => board.page.evaluate(() => {
    let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    return at.item?.name;
  });
  for (let i = 0; i < 80 && await focused() !== 'coach:guide'; i++) await keyboard.press('Tab');
  await press('Enter');
  await shows(board, 'guide-close');
  await board.close();
});
