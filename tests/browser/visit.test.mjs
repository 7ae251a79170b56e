// A first visit: its board, the three steps of the coach by a real mouse, and what a second visit finds.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {until} from '../until.mjs';
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

/** What assistive technology has of the page. */
async function spoken(page) {
  const session = await page.context().newCDPSession(page);
  const {nodes} = await session.send('Accessibility.getFullAXTree');
  await session.detach();
  return nodes.map(({role, name, value, properties = []}) => ({role: role?.value, name: name?.value, value: value?.value, checked: properties.find((one) => one.name === 'checked')?.value.value}));
}

// Where a person sees the number that the coach points at, the switch and the plus: a picture of the page has them there.
for (const [width, height, number, causal, plus] of [[1440, 900, [299, 537], [627, 68], [835, 68]], [390, 844, [158, 399], [180, 22], [320, 22]]]) {
  test(`${width} × ${height}: three mouse actions, without scrolling and without one call of the element`, async () => {
    const board = await browser.open('/', {viewport: {width, height}, guide: 'first', wait: false}), {page} = board, {mouse} = page;
    await page.evaluate(() => {
      globalThis.scrolls = 0;
      for (const type of ['wheel', 'scroll']) addEventListener(type, () => globalThis.scrolls++, true);
    });
    const heard = (what, is) => until(what, async () => (await spoken(page)).some(is));
    await heard('the first step', ({name}) => /^Drag this number/.test(name));
    await mouse.move(...number);
    await mouse.down();
    await mouse.move(number[0] - 60, number[1], {steps: 5});
    await mouse.up();
    await heard('the number to be another', ({role, name}) => /cell/.test(role) && name === '1.00');
    await mouse.click(...causal);
    await heard('the switch to be on', ({role, name, checked}) => role === 'switch' && /^Causal/.test(name) && checked === 'true');
    await mouse.click(...plus);
    await heard('two heads', ({role, name, value}) => role === 'spinbutton' && /^Heads/.test(name) && String(value) === '2');
    await heard('the Guide to be offered', ({role, name}) => role === 'button' && name === 'Open the Guide');
    assert.equal(await page.evaluate(() => globalThis.scrolls + scrollY), 0, 'nothing was scrolled');
    await board.close();
  });
}

for (const deviceScaleFactor of [1.25, 1.5, 2]) {
  test(`with ${deviceScaleFactor} device pixels to one the card has the dot product as well`, async () => {
    const board = await browser.open('/', {guide: 'first', deviceScaleFactor});
    await shows(board, 'inspector');
    await shows(board, 'number:q:3:2');
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
