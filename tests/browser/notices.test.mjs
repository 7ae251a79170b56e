// The licences of what others made: behind the list of keys, fetched when they are asked for.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {until} from '../until.mjs';
import {SITE, suite} from './harness.mjs';

const {browser} = suite();
const notices = (board, more = '') => board.page.locator(`attention-playground dialog.notices ${more}`);
async function ask(board) {
  await board.press('?');
  await board.until('the list of keys', () => document.querySelector('attention-playground').items().some(({name}) => name === 'help-notices'));
  await board.rest();  // the list gets its size
  await board.click('help-notices');
  await until('the dialog', () => notices(board).isVisible());
}

test('the list of keys leads to the licences, which nothing fetches before', async () => {
  const board = await browser.open('/');
  await board.click('weights', 0, 1, 0);
  assert.deepEqual(board.requests.filter((address) => address.includes('NOTICES')), []);
  await ask(board);
  await until('the text', async () => (await notices(board, 'pre').textContent()) === readFileSync(`${SITE}/NOTICES.txt`, 'utf8'));
  assert.equal(await notices(board, 'h2').textContent(), 'Third-party licences');
  const {scrolls, inside} = await notices(board, 'pre').evaluate((pre) => {
    const {bottom} = pre.getBoundingClientRect();
    return {scrolls: pre.scrollHeight > pre.clientHeight, inside: bottom <= pre.closest('dialog').getBoundingClientRect().bottom};
  });
  assert.ok(scrolls && inside, 'the text scrolls within the dialog');
  const before = await board.get('causal');
  await board.press('c');
  assert.equal(await board.get('causal'), before, 'typing does not reach the board');
  await board.press('Escape');
  await until('the end', async () => await notices(board).count() === 0);
  await board.press('?');  // the keyboard is the board's again
  await board.until('the list of keys to close', () => !document.querySelector('attention-playground').items().some(({name}) => name === 'help-notices'));
  await board.close();
});

test('on a phone and in German the link is among the controls for screen readers, and opens the licences', async () => {
  const board = await browser.open('/?lang=de', {viewport: {width: 390, height: 844}, prepare: (page) => page.addInitScript(() => {
    const {attachShadow} = Element.prototype;
    Element.prototype.attachShadow = function (options) { return attachShadow.call(this, {...options, mode: 'open'}); };  // the mirror's is closed
  })});
  await board.click('weights', 0, 1, 0);
  await board.press('?');
  const link = board.page.locator('attention-playground .hidden').getByRole('button', {name: 'Lizenzen Dritter'});
  await until('the link', async () => await link.count() === 1);
  await link.evaluate((node) => node.click());
  await until('the dialog', () => notices(board).isVisible());
  assert.equal(await notices(board, 'h2').textContent(), 'Lizenzen Dritter');
  await until('the text', async () => (await notices(board, 'pre').textContent()).includes('SIL OPEN FONT LICENSE'));
  assert.equal(await notices(board, 'pre').getAttribute('lang'), 'en');
  await board.close();
});

test('without a connection a sentence says so, and another try works', async () => {
  const board = await browser.open('/', {prepare: (page) => page.route('**/NOTICES.txt', (route) => route.abort()), allow: [/ERR_FAILED/]});
  await board.click('weights', 0, 1, 0);
  await ask(board);
  await until('a sentence', async () => (await notices(board, 'pre').textContent()) === 'The licences could not be fetched: perhaps there is no connection. Please try again.');
  await board.press('Escape');
  await board.page.unroute('**/NOTICES.txt');
  await until('the end', async () => await notices(board).count() === 0);
  await board.click('help-notices');
  await until('the text', async () => (await notices(board, 'pre').textContent()).includes('Dear ImGui'));
  await board.close();
});
