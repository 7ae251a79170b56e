// The whole page by keyboard alone, from an open lesson on: the focus is never lost, and always visible.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {until} from '../until.mjs';
import {suite} from './harness.mjs';

const {browser} = suite();

/** Opens shadow roots to the test, without affecting keys. */
const opened = (page) => page.addInitScript(() => {
  const {attachShadow} = Element.prototype;
  Element.prototype.attachShadow = function (options) { return attachShadow.call(this, {...options, mode: 'open'}); };
});

/** The focused element, the name of its control, and whether the focus is shown on the canvas. */
const where = (board) => board.page.evaluate(() => {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  const {shadowRoot} = document.querySelector('attention-playground');
  return {tag: at.localName, control: at.item?.name ?? '', words: at.getAttribute('aria-label') ?? at.textContent.trim(),
    ring: [...shadowRoot.querySelectorAll('div')].some((div) => div.style.outline && !div.hidden)};
});

const isThere = async (board, name) => (await board.call('items')).some((item) => item.name === name);

async function pass() {
  const board = await browser.open('/', {guide: true, prepare: opened});
  const press = async (...keys) => {
    for (const key of keys) await board.page.keyboard.press(key);
    await board.rest(100);
    const now = await where(board);
    assert.notEqual(now.tag, 'body', `the focus is lost after ${keys.join(', ')}`);
    return now;
  };
  /** Presses Tab until the control of that name has the focus. */
  const to = async (name) => {
    for (let i = 0, now; i < 120; i++) {
      now = await where(board);
      assert.notEqual(now.tag, 'body', `the focus is lost on the way to ${name}`);
      if (now.control === name) return now;
      await board.page.keyboard.press('Tab');
    }
    return assert.fail(`Tab does not lead to ${name}`);
  };
  await press('Tab');
  assert.equal((await press('F10')).control, 'preset', 'the header begins at its left');
  return {board, press, to};
}

test('from a lesson through the Guide, the menus and the tabs, the focus stays in the page and is seen', async () => {
  const {board, press, to} = await pass();
  assert.equal((await to('stepper')).words, 'Stepper');
  assert.ok((await to('guide:choice:0')).ring, 'an answer is encircled');
  await press('Enter');
  await press('F10', 'Escape');
  await press('F10');
  await to('guide-close');
  const {ring, control} = await press('Enter');
  assert.ok(ring && control, 'the Guide is closed, and the focus is beside it');
  await press('Escape', 'F10');
  await to('export');
  assert.equal((await press('Enter')).control, 'export:save');
  assert.equal((await press('Escape')).control, 'export', 'from a menu back to its button');
  // The tabs of the views are one stop of Tab, the open one; arrow keys go on from there.
  for (const [i, view] of ['block', 'train'].entries()) {
    await press('Escape');
    await press('F10');
    await to(`view:${['layer', 'block'][i]}`);
    assert.equal((await press('ArrowRight')).control, `view:${view}`);
    assert.equal((await press('Enter')).control, `view:${view}`);
    assert.equal(await board.get('view'), view);
  }
  await to('views:more');
  assert.equal((await press('Enter')).control, 'view:segments');
  assert.equal((await press('Escape')).control, 'views:more');
  await press('Escape');
  await board.page.keyboard.press('p');
  await until('the run to begin', async () => await board.get('train_running') === true);
  await board.page.keyboard.press('p');
  await until('the run to pause', async () => await board.get('train_running') === false);
  await press('Escape');
  assert.equal(await board.get('view'), 'layer');
  await board.page.keyboard.press('Tab');
  assert.notEqual((await where(board)).tag, 'canvas', 'Tab leaves');
  await board.close();
});

test('from the dialog Share the focus goes back to its button', async () => {
  const {board, press, to} = await pass();
  await to('share');
  await board.page.keyboard.press('Enter');
  await until('the dialog', async () => (await where(board)).words === 'Link');
  await board.page.keyboard.press('Escape');
  await until('the dialog to be gone', async () => (await where(board)).words !== 'Link');
  await board.rest(100);
  assert.equal((await where(board)).control, 'share');
  await press('Tab');
  await board.close();
});

test('Help has the focus until it is closed, which then goes back to its button', async () => {
  const {board, press, to} = await pass();
  await to('help');
  assert.equal((await press('Enter')).control, 'help-close');
  for (const name of ['help-notices', 'help-report', 'help-close']) assert.equal((await press('Tab')).control, name);
  assert.equal((await press('Shift+Tab')).control, 'help-report');
  assert.equal((await press('Escape')).control, 'help');
  assert.ok(!await isThere(board, 'help-close'), 'one Escape closes it');
  assert.equal((await press('Enter')).control, 'help-close');
  assert.equal((await press('Enter')).control, 'help');
  assert.ok(!await isThere(board, 'help-close'));
  assert.equal((await press('Tab')).control, 'theme', 'the header goes on to the right');
  // Opened on the board it is where F10 leads.
  await press('Escape', '?');
  assert.equal((await press('F10')).control, 'help-close');
  assert.equal((await press('Escape')).control, 'help');
  await board.close();
});

test('from the search the focus goes back to its button', async () => {
  const {board, press, to} = await pass();
  await to('search');
  assert.equal((await press('Enter')).tag, 'input');
  assert.ok(await isThere(board, 'palette'));
  assert.equal((await press('Escape')).control, 'search');
  assert.ok(!await isThere(board, 'palette'));
  await board.close();
});

test('on a first visit the tables begin with what speaks to newcomers', async () => {
  const board = await browser.open('/', {guide: 'first', prepare: opened});
  await until('it to be there', () => isThere(board, 'coach:skip'));
  await board.page.keyboard.press('Tab');
  await board.page.keyboard.press('F10');
  await until('the focus', async () => (await where(board)).control === 'coach:skip');
  await board.close();
});

test('keys that are pressed fast lose nothing: a column of Tabs goes from the first control to the last', async () => {
  const {board} = await pass();
  const seen = new Set();
  let now = await where(board);
  for (let i = 0; i < 120 && !seen.has(now.control); i++) {
    if (now.control) seen.add(now.control);
    await board.page.keyboard.press('Tab');
    now = await where(board);
    if (now.control === 'guide-next') break;
    assert.notEqual(now.tag, 'body', `the focus is lost after ${[...seen].at(-1)}`);
  }
  assert.equal(now.control, 'guide-next');
  await board.close();
});
