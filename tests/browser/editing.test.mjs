// User input on the board, with a real mouse and keyboard: what stays in view, what is kept, and which keys have an effect.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {suite} from './harness.mjs';

const {browser, onBoard} = suite();

const close = (got, want, what = 'value') => assert.ok(Math.abs(got - want) < 1e-6, `${what} is ${got}, and should be ${want}`);
const field = (board) => board.page.locator('attention-playground input');
const is = (board, name) => board.call('locate', name, 0, 0, 0).then(() => true, () => false);
const focused = (board) => board.page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.localName ?? document.activeElement.localName);

/** An embedded board, scrolled into view. */
const embedded = async () => {
  const board = await browser.open('/pages/embed.html');
  await board.page.evaluate(() => document.querySelector('attention-playground').scrollIntoView({block: 'center'}));
  return board;
};

/** Picture of the explaining card during a drag. */
const card = async (board) => {
  await board.settle();
  const {width, height} = board.page.viewportSize();
  return (await board.page.screenshot({clip: {x: width * 0.62, y: height * 0.54, width: width * 0.35, height: 30}})).toString('base64');
};

onBoard('the title of what is explained stays while another row of Q is dragged, and after it', async (board) => {
  await board.click('weights', 0, 3, 0);
  await board.page.mouse.move(2, 2);
  const before = await card(board);
  await board.drag('q', [0, 1, 1], 0, 90, async () => assert.equal(await card(board), before, 'while it is dragged'));
  assert.equal(await card(board), before, 'under the pointer at rest');
  await board.press('ArrowUp');
  assert.equal(await card(board), before, 'while a key changes it');
}, {seen: true});

onBoard('the dragged cell has a bubble as long as it is dragged', async (board) => {
  assert.equal(await is(board, 'bubble'), false);
  await board.drag('k', [0, 1, 1], 40, 0, async () => {
    await board.settle();
    assert.equal(await is(board, 'bubble'), true);
  });
  await board.settle();
  assert.equal(await is(board, 'bubble'), false);
});

onBoard('a decimal comma and a real minus are taken', async (board) => {
  await board.click('q', 0, 0, 1);
  await board.type('-0,8');
  await board.press('Enter');
  close(await board.value('q', 0, 0, 1), -0.8);
  await board.press('Enter');
  await board.page.keyboard.insertText(' \u22121,5 ');
  await board.press('Enter');
  close(await board.value('q', 0, 0, 1), -1.5);
});

onBoard('what is refused stays in the field, with the reason', async (board) => {
  const was = await board.value('q', 0, 0, 0);
  await board.click('q', 0, 0, 0);
  await board.type('4x');
  await board.press('Enter');
  assert.equal(await field(board).inputValue(), '4x');
  assert.equal(await field(board).getAttribute('aria-invalid'), 'true');
  assert.match(await field(board).getAttribute('title'), /^q: "4x" is not one number;.*\.$/);
  assert.equal(await focused(board), 'input');
  await board.settle();
  assert.equal(await is(board, 'notice'), true);
  close(await board.value('q', 0, 0, 0), was);
  const other = await board.middle('q', 0, 3, 1);
  await board.press('y');
  await board.page.mouse.click(...other);
  assert.equal(await field(board).inputValue(), '4xy', 'a press elsewhere does not take it away');
  assert.equal(await focused(board), 'input');
  await board.press('Backspace', 'Backspace', '2', 'Enter');
  assert.equal(await field(board).count(), 0);
  close(await board.value('q', 0, 0, 0), 42);
  assert.equal(await focused(board), 'canvas');
});

onBoard('who leaves a refused field twice gives it up', async (board) => {
  const was = await board.value('q', 0, 0, 0);
  await board.click('q', 0, 0, 0);
  await board.type('4x');
  const other = await board.middle('q', 0, 3, 1);
  await board.page.mouse.click(...other);
  assert.equal(await field(board).inputValue(), '4x');
  await board.page.mouse.click(...other);
  assert.equal(await field(board).count(), 0);
  close(await board.value('q', 0, 0, 0), was);
  await board.press('7', 'Enter');
  close(await board.value('q', 0, 3, 1), 7);
});

test('a refused field does not call back the reader who has left the board', async () => {
  const board = await embedded();
  await board.click('q', 0, 0, 0);
  await board.type('4x');
  await board.page.focus('#after');
  assert.equal(await board.page.evaluate(() => document.activeElement.id), 'after');
  assert.equal(await field(board).inputValue(), '4x');
  await board.close();
});

onBoard('Tab enters a cell and opens the next, Shift+Tab the one before', async (board) => {
  await board.click('q', 0, 0, 1);
  await board.type('1');
  await board.press('Tab');
  assert.match(await field(board).getAttribute('aria-label'), /q, row 1, column 3/);
  await board.type('2');
  await board.press('Tab');
  await board.type('3');
  await board.press('Shift+Tab');
  await board.type('4');
  await board.press('Enter');
  for (const [row, col, value] of [[0, 1, 1], [0, 2, 4], [1, 0, 3]]) close(await board.value('q', 0, row, col), value);
});

test('Tab leaves the board from a selected cell, and from the last one that is typed', async () => {
  const board = await embedded();
  await board.click('q', 0, 0, 0);
  await board.press('Tab');
  assert.notEqual(await board.page.evaluate(() => document.activeElement.localName), 'attention-playground');
  await board.click('q', 0, 3, 2);
  await board.type('5');
  await board.press('Tab');
  close(await board.value('q', 0, 3, 2), 5);
  assert.equal(await field(board).count(), 0);
  assert.notEqual(await board.page.evaluate(() => document.activeElement.localName), 'attention-playground');
  await board.close();
});

onBoard('K is copied and pasted as it is seen', async (board) => {
  await board.click('k', 0, 0, 0);
  await board.press('Control+a', 'Control+c');
  const text = await board.page.evaluate(() => navigator.clipboard.readText());
  const k = await board.tensor('k');
  const rows = text.trimEnd().split('\n').map((line) => line.split('\t').map(Number));
  assert.deepEqual([rows.length, rows[0].length], [k.shape[2], k.shape[1]]);
  rows.forEach((row, d) => row.forEach((value, token) => close(value, k.at(0, token, d))));
  await board.page.evaluate((words) => navigator.clipboard.writeText(words), rows.map((row) => row.map((v) => v * 2).join('\t')).join('\n'));
  await board.press('Control+v');
  const now = await board.tensor('k');
  rows.forEach((row, d) => row.forEach((value, token) => close(now.at(0, token, d), 2 * value)));
}, {permissions: ['clipboard-read', 'clipboard-write']});

onBoard('what is computed leads to what can be changed', async (board) => {
  await board.click('scores', 0, 2, 1);
  await board.press('4');
  assert.equal(await field(board).count(), 0);
  await board.settle();
  await board.click('notice:k');
  const was = await board.value('k', 0, 1, 0);
  await board.press('ArrowUp');
  close(await board.value('k', 0, 1, 0), was + 0.1);
  await board.drag('weights', [0, 2, 0], 60, 0);
  await board.settle();
  assert.equal(await is(board, 'notice:q'), true, 'a drag says so too');
});

onBoard('a word that finds no field is no row of commands; a letter alone is, and says so', async (board) => {
  const was = JSON.stringify(await board.call('getState'));
  await board.click('scores', 0, 2, 1);
  await board.type('jam');
  await board.doubleClick('weights', 0, 2, 1);
  await board.type('cth');
  assert.equal(JSON.stringify(await board.call('getState')), was);
  const typed = await board.page.evaluate(() => performance.now());
  await board.until('the word to have ended', (time) => performance.now() > time + 1100, typed);
  assert.equal(await is(board, 'notice'), true);
  await board.press('Escape', 'c');
  assert.equal(await board.get('causal'), false);
  await board.settle();
  assert.equal(await is(board, 'notice'), true);
});
