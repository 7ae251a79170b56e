// Without a connection after the page was opened: what is fetched later is missed with a sentence and nothing half open, and is there when
// it is asked for again.
import assert from 'node:assert/strict';
import {until} from '../until.mjs';
import {suite} from './harness.mjs';

const {onBoard} = suite({permissions: ['clipboard-read', 'clipboard-write']});
const LOG = [/net::ERR/];

/** The board with everything that it asks for refused, until reconnect() is called. */
async function disconnect(board) {
  const refuse = (route) => route.abort();
  await board.page.route('**/*', refuse);
  return () => board.page.unroute('**/*', refuse);
}
const has = async (board, pattern) => (await board.call('items')).some(({name}) => pattern.test(name));
/** What the board says at its bottom, as the last message of its status. */
async function messages(board) {
  await board.page.evaluate(() => {
    globalThis.said = [];
    document.querySelector('attention-playground').addEventListener('error', ({detail}) => globalThis.said.push(detail.message));
  });
  return (pattern) => until(`${pattern}`, async () => (await board.page.evaluate(() => globalThis.said)).find((one) => pattern.test(one)));
}

onBoard('the Guide is not left open without its list, and opens at the second try', async (board) => {
  const reconnect = await disconnect(board), said = await messages(board);
  await board.click('panel:guide');
  assert.equal(await said(/lessons/), 'The lessons could not be fetched: perhaps there is no connection. Please try again.');
  await board.rest();
  assert.equal(await has(board, /^guide[-:]/), false, 'the Guide is closed again');
  assert.ok(await has(board, /^causal$/), 'and the controls are there');
  await reconnect();
  await board.click('panel:guide');
  await until('the list', () => has(board, /^lesson:|^guide:/));
}, {allow: LOG});

onBoard('the list is missed after the scripts of the Guide had arrived', async (board) => {
  await board.page.route('**/lessons/**', (route) => route.abort());
  const said = await messages(board);
  await board.click('panel:guide');
  assert.match(await said(/index\.json/), /^lesson: index\.json could not be fetched .*connection\.$/);
  await board.rest();
  assert.equal(await has(board, /^guide[-:]/), false);
  await board.page.unroute('**/lessons/**');
  await board.click('panel:guide');
  await until('the list', () => has(board, /^lesson:|^guide:/));
}, {allow: LOG});

onBoard('a lesson that a page asks for: an error for scripts, a sentence for readers', async (board) => {
  const reconnect = await disconnect(board), said = await messages(board);
  await assert.rejects(board.call('openLesson', 'query'), /lessons could not be fetched/);
  await board.page.evaluate(() => document.querySelector('attention-playground').setAttribute('lesson', 'query'));
  await said(/lessons could not be fetched/);
  await reconnect();
  await board.call('openLesson', 'query');
  await until('the lesson', () => has(board, /^guide-next$/));
}, {allow: LOG});

onBoard('Share has a link on the clipboard, and opens at the second try', async (board) => {
  const reconnect = await disconnect(board);
  await board.page.evaluate(() => navigator.clipboard.writeText(''));
  await board.click('share');
  await until('the link', async () => /#s=/.test(await board.page.evaluate(() => navigator.clipboard.readText())));
  await reconnect();
  await board.click('share');
  await until('the dialog', () => board.page.getByRole('button', {name: 'Copy link'}).isVisible());
  await board.page.keyboard.press('Escape');
}, {allow: LOG});

onBoard('a file that is dropped says so, and is read at the second try', async (board) => {
  const reconnect = await disconnect(board), said = await messages(board), file = ['{"q": [[[1, 2], [3, 4]]], "k": [[[1, 2], [3, 4]]], "v": [[[1, 2], [3, 4]]]}', 'two.json'];
  await board.drop(...file);
  assert.match(await said(/two\.json/), /^two\.json: What reads files could not be loaded \(reader\.js did not arrive, or is damaged\): perhaps there is no connection\. Please try again\.$/);
  await reconnect();
  await board.drop(...file);
  assert.equal(await board.value('q', 0, 1, 1), 4);
}, {allow: LOG});

onBoard('the words of a language come when the connection is back', async (board) => {
  const label = () => board.page.evaluate(() => document.querySelector('attention-playground').shadowRoot.querySelector('canvas').ariaLabel);
  await board.page.context().setOffline(true);
  await board.page.evaluate(() => { document.documentElement.lang = 'de'; });
  await until('a word of it', () => board.complaints.length > 0 || board.page.evaluate(() => navigator.onLine === false));
  await board.rest();
  assert.equal(await label(), 'Attention playground');
  await board.page.context().setOffline(false);
  await until('the words', async () => await label() === 'Attention-Playground');
}, {allow: [...LOG, /could not be fetched/]});

onBoard('training needs nothing that is not there', async (board) => {
  const {step: before} = await board.call('train', 1);
  await disconnect(board);
  assert.equal((await board.call('train', 3)).step, before + 3);
}, {allow: LOG});
