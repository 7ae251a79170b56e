// The palette in a real browser: by keys alone, by mouse and by finger, in other languages, and beside fields of the host page.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {until} from '../until.mjs';
import {SCREENSHOTS, suite} from './harness.mjs';

const {browser} = suite({seen: true});
const names = async (board) => (await board.call('items')).map(({name}) => name);
const shows = (board, name) => until(name, async () => (await names(board)).includes(name));
const lacks = (board, name) => until(`no ${name}`, async () => !(await names(board)).includes(name));

test('Ctrl+K opens it before anything was clicked; what is typed is found, and Enter does it', async () => {
  const board = await browser.open('/'), before = await board.get('causal');
  await board.page.keyboard.press('Control+k');
  await shows(board, 'palette');
  await board.type('causal');
  await shows(board, 'find:command:causal');
  await shows(board, 'find:lesson:masks');
  await board.page.screenshot({path: `${SCREENSHOTS}/web-palette.png`});
  await board.page.keyboard.press('Enter');
  await lacks(board, 'palette');
  assert.equal(await board.get('causal'), !before);
  await board.page.keyboard.press('Control+z');  // the board has the keys again
  await until('undone', async () => await board.get('causal') === before);
  await board.close();
});

test('arrows choose among what was found, also in the texts of lessons, which are fetched then', async () => {
  const asked = [];
  const board = await browser.open('/', {prepare: (page) => page.on('request', (one) => asked.push(one.url()))});
  await board.page.keyboard.press('Control+k');
  await shows(board, 'palette');
  assert.ok(!asked.some((url) => /lessons\/masks/.test(url)), 'not before anything is typed');
  await board.type('positions trained written');
  await shows(board, 'find:question:what-for-mask');
  await board.page.keyboard.press('Control+a');
  await board.type('residual');
  await shows(board, 'find:command:block_residual');
  const rows = (await names(board)).filter((name) => name.startsWith('find:'));
  assert.ok(rows.length > 3);
  await board.page.keyboard.press('Escape');
  await lacks(board, 'palette');
  await board.close();
});

test('a token of a long board is found by its word and by its number, and selected', async () => {
  const board = await browser.open('/');
  await board.call('set', 'tokens', 1024);
  for (const [typed, finding, token] of [['t903', 'find:token:query:902', 902], ['777', 'find:token:query:776', 776]]) {
    const events = await board.listen('select');
    await board.page.keyboard.press('Control+k');
    await shows(board, 'palette');
    await board.type(typed);
    await shows(board, finding);
    await board.page.keyboard.press('Enter');
    await lacks(board, 'palette');
    await until('the selection', async () => (await events()).some(({detail}) => detail.name === 'weights' && detail.row === token && detail.col === token));
  }
  await board.close();
});

test('by mouse: the icon opens it, a row does what it says, a press beside it closes it', async () => {
  const board = await browser.open('/');
  await board.click('search');
  await shows(board, 'palette');
  await board.type('pronoun');
  await shows(board, 'find:example:pronoun');
  await board.click('find:example:pronoun');
  await until('ten words', async () => await board.get('tokens') === 10);
  await lacks(board, 'palette');
  await board.click('search');
  await shows(board, 'palette');
  const state = await board.call('getState');
  await board.page.mouse.click(20, 880);
  await lacks(board, 'palette');
  assert.deepEqual(await board.call('getState'), state);
  await board.close();
});

test('over a lesson, Esc closes it alone; a term opens beside it', async () => {
  const board = await browser.open('/?lesson=query&lang=de');
  await shows(board, 'guide-list');
  await board.page.keyboard.press('Control+k');
  await shows(board, 'palette');
  await board.page.keyboard.press('Escape');
  await lacks(board, 'palette');
  assert.ok((await names(board)).includes('guide-list'));
  await board.page.keyboard.press('Control+k');
  await board.type('entropie');
  await until('the term', async () => (await names(board)).some((name) => name.startsWith('find:term:')));
  await board.click('find:term:entropy');
  await shows(board, 'term');
  await board.close();
});

test('in Chinese, and what is found nowhere', async () => {
  const board = await browser.open('/?lang=zh', {colorScheme: 'dark'});
  await board.page.keyboard.press('Control+k');
  await shows(board, 'palette');
  await board.page.keyboard.insertText('因果');
  await shows(board, 'find:command:causal');
  await board.page.screenshot({path: `${SCREENSHOTS}/web-palette-zh.png`});
  await board.page.keyboard.insertText('🙈 \u0000 "<b>');
  await until('nothing', async () => !(await names(board)).some((name) => name.startsWith('find:')));
  await board.page.keyboard.press('Enter');
  await shows(board, 'palette');
  await board.close();
});

test('on a phone it is in More, and a tap does a row', async () => {
  const board = await browser.open('/', {viewport: {width: 390, height: 844}, hasTouch: true, isMobile: true}), before = await board.get('causal');
  const tap = async (name) => board.page.touchscreen.tap(...await board.middle(name));
  await tap('more');
  await shows(board, 'search');
  await tap('search');
  await shows(board, 'palette');
  await board.type('causal');
  await shows(board, 'find:command:causal');
  await board.page.screenshot({path: `${SCREENSHOTS}/web-palette-phone.png`});
  await tap('find:command:causal');
  await until('the switch', async () => await board.get('causal') !== before);
  await lacks(board, 'palette');
  await board.close();
});

test('on a page of its own letters arrive before anything was pressed, and the space that would mask a cell does not', async () => {
  const board = await browser.open('/'), {page} = board;
  assert.equal(await page.evaluate(() => document.activeElement.localName), 'body');
  const {mask, causal} = await board.call('getState');
  await page.keyboard.press('Space');
  await page.keyboard.press('c');
  await until('the causal mask to change', async () => await board.get('causal') !== causal);
  assert.deepEqual((await board.call('getState')).mask, mask);
  await page.keyboard.press('?');
  await shows(board, 'help-close');
  await board.check();
  await board.close();
});

test('in another page the key is taken only while the board has the focus', async () => {
  const board = await browser.open('/pages/embed.html'), {page} = board;
  await page.evaluate(() => {
    document.body.append(Object.assign(document.createElement('input'), {id: 'own'}));
    globalThis.taken = [];
    addEventListener('keydown', (e) => globalThis.taken.push(e.defaultPrevented));
  });
  await page.locator('#own').focus();
  await page.keyboard.press('Control+k');
  await page.locator('#own').blur();
  await page.keyboard.press('Control+k');
  assert.ok(!(await page.evaluate(() => globalThis.taken)).includes(true));
  assert.ok(!(await names(board)).includes('palette'));
  await page.locator('attention-playground').scrollIntoViewIfNeeded();
  await board.click('weights', 0, 0, 0);
  await page.keyboard.press('Control+k');
  await shows(board, 'palette');
  await page.locator('#own').focus();
  await lacks(board, 'palette');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'own');
  await board.close();
});

test('in the tables: a button opens it, and what was found are buttons', async () => {
  const board = await browser.open('/', {prepare: (page) => page.addInitScript(() => {
    const {attachShadow} = Element.prototype;
    Element.prototype.attachShadow = function (options) { return attachShadow.call(this, {...options, mode: 'open'}); };
  })});
  const before = await board.get('causal');
  await board.click('weights', 0, 0, 0);
  await board.press('F10');
  await board.page.getByRole('button', {name: 'Find', exact: true}).press('Enter');
  await shows(board, 'palette');
  const field = board.page.getByRole('textbox', {name: 'Find a command, a lesson, a term or a token'}).first();
  await until('the focus', () => field.evaluate((input) => input.getRootNode().activeElement === input));
  await board.type('causal');
  const row = board.page.getByRole('button', {name: /^Causal mask: switch \w+ C$/});
  await row.waitFor({state: 'attached'});
  await row.press('Enter');
  await until('the switch', async () => await board.get('causal') !== before);
  await board.close();
});
