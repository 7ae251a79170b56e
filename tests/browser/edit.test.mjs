// Every way to change a number on the board, by mouse and keyboard; after each, the board must agree with plain arithmetic.
import assert from 'node:assert/strict';
import {suite} from './harness.mjs';

const {onBoard} = suite();

/** Incremental updates depend on the order of edits, so a tensor may differ in its last bits. */
const alike = (got, want) => got.data.forEach((value, i) => close(value, want.data[i], `number ${i}`));

const close = (got, want, what = 'value') => assert.ok(Math.abs(got - want) < 1e-6, `${what} is ${got}, and should be ${want}`);

onBoard('the board as it opens', async () => {});

for (const [name, cell] of [['q', [0, 1, 0]], ['k', [0, 2, 1]], ['v', [0, 3, 2]]]) {
  onBoard(`dragging a cell of ${name} by a pixel changes it by a hundredth, up and to the right is more`, async (board) => {
    const was = await board.value(name, ...cell);
    await board.drag(name, cell, 30, 0);
    close(await board.value(name, ...cell), was + 0.3);
    await board.drag(name, cell, 0, 20);
    close(await board.value(name, ...cell), was + 0.1);
    await board.drag(name, cell, 0, -45);
    close(await board.value(name, ...cell), was + 0.55);
    await board.drag(name, cell, -5, 0);
    close(await board.value(name, ...cell), was + 0.5);
  });
}

onBoard('what is dragged is computed under the finger', async (board) => {
  const events = await board.listen('input', 'change');
  await board.drag('q', [0, 0, 0], 40, 0, async () => {
    await board.check();
    const types = (await events()).map((e) => e.type);
    assert.ok(types.length > 0 && types.every((type) => type === 'input'), `only input while it is dragged, not ${types}`);
  });
  assert.equal((await events()).at(-1).type, 'change');
});

onBoard('Shift drags ten times finer, Alt ten times coarser', async (board) => {
  const was = await board.value('q', 0, 0, 0);
  await board.click('q', 0, 0, 0);
  for (const [key, step] of [['Shift', 0.001], ['Alt', 0.1]]) {
    const from = await board.value('q', 0, 0, 0);
    await board.page.keyboard.down(key);
    await board.drag('q', [0, 0, 0], 20, 0);
    await board.page.keyboard.up(key);
    close(await board.value('q', 0, 0, 0), from + 20 * step, key);
  }
  close(await board.value('q', 0, 0, 0), was + 2.02);
});

onBoard('a drag is one step of undo', async (board) => {
  const was = await board.value('k', 0, 1, 1);
  await board.drag('k', [0, 1, 1], 60, 0);
  const then = await board.value('k', 0, 1, 1);
  await board.press('Control+z');
  close(await board.value('k', 0, 1, 1), was);
  await board.check();
  await board.press('Control+Shift+z');
  close(await board.value('k', 0, 1, 1), then);
  await board.press('Control+z', 'Control+y');
  close(await board.value('k', 0, 1, 1), then);
});

onBoard('double-click and type', async (board) => {
  await board.doubleClick('q', 0, 2, 1);
  const field = board.page.locator('attention-playground input');
  assert.equal(await field.count(), 1, 'a field is over the cell');
  assert.equal(await field.inputValue(), '1.1');
  await board.type('-1.25');
  await board.press('Enter');
  close(await board.value('q', 0, 2, 1), -1.25);
  assert.equal(await board.page.evaluate(() => document.activeElement.localName), 'attention-playground', 'the board keeps the focus');
});

onBoard('Enter and type', async (board) => {
  await board.click('v', 0, 1, 1);
  await board.press('Enter');
  await board.type('3.5');
  await board.press('Enter');
  close(await board.value('v', 0, 1, 1), 3.5);
});

onBoard('a digit or a minus begins typing', async (board) => {
  await board.click('q', 0, 0, 1);
  await board.type('2.75');
  await board.press('Enter');
  close(await board.value('q', 0, 0, 1), 2.75);
  await board.click('q', 0, 0, 2);
  await board.type('-.5');
  await board.press('Enter');
  close(await board.value('q', 0, 0, 2), -0.5);
});

onBoard('Escape leaves typing and changes nothing; Tab and a click elsewhere commit', async (board) => {
  const was = await board.value('q', 0, 0, 0);
  await board.doubleClick('q', 0, 0, 0);
  await board.type('9');
  await board.press('Escape');
  close(await board.value('q', 0, 0, 0), was, 'after Escape');
  await board.doubleClick('q', 0, 0, 0);
  await board.type('4');
  await board.press('Tab');
  close(await board.value('q', 0, 0, 0), 4, 'after Tab');
  await board.doubleClick('q', 0, 0, 0);
  await board.type('5');
  await board.click('q', 0, 3, 2);
  close(await board.value('q', 0, 0, 0), 5, 'after a click elsewhere');
});

onBoard('words where a number belongs are refused in a sentence, and the number stays', async (board) => {
  const events = await board.listen('error');
  const was = await board.value('q', 0, 0, 0);
  for (const words of ['abc', '1 2', 'NaN', '1e999', '']) {
    await board.doubleClick('q', 0, 0, 0);
    await board.press('Control+a', 'Delete');
    await board.type(words);
    await board.press('Enter');
    close(await board.value('q', 0, 0, 0), was, JSON.stringify(words));
  }
  const errors = await events();
  assert.ok(errors.length >= 4, `a sentence for each of them, not ${errors.length}`);
  for (const {detail} of errors) assert.match(detail.message, /\w.*\.$/, 'a whole sentence');
});

onBoard('arrow keys: up and down change by a tenth, Shift finer, Alt coarser', async (board) => {
  const was = await board.value('q', 0, 1, 1);
  await board.click('q', 0, 1, 1);
  await board.press('ArrowUp');
  close(await board.value('q', 0, 1, 1), was + 0.1, 'after Up');
  await board.press('ArrowDown', 'ArrowDown');
  close(await board.value('q', 0, 1, 1), was - 0.1, 'after Down twice');
  await board.press('Shift+ArrowUp');
  close(await board.value('q', 0, 1, 1), was - 0.09, 'after Shift+Up');
  await board.press('Alt+ArrowUp');
  close(await board.value('q', 0, 1, 1), was + 0.91, 'after Alt+Up');
});

onBoard('arrow keys: left and right go along the row, Ctrl in all directions', async (board) => {
  await board.click('q', 0, 1, 1);
  const write = async (digit) => {
    await board.type(String(digit));
    await board.press('Enter');
  };
  await board.press('ArrowRight');
  await write(7);
  close(await board.value('q', 0, 1, 2), 7, 'to the right');
  await board.press('ArrowLeft', 'ArrowLeft');
  await write(6);
  close(await board.value('q', 0, 1, 0), 6, 'to the left');
  await board.press('Control+ArrowDown');
  await write(5);
  close(await board.value('q', 0, 2, 0), 5, 'down');
  await board.press('Control+ArrowUp', 'Control+ArrowRight');
  await write(4);
  close(await board.value('q', 0, 1, 1), 4, 'up and to the right');
});

onBoard('Delete writes 0', async (board) => {
  await board.click('k', 0, 0, 0);
  await board.type('3');
  await board.press('Enter', 'Delete');
  close(await board.value('k', 0, 0, 0), 0);
});

onBoard('a range by Shift and click: dragging and Delete change all of it', async (board) => {
  const was = await board.tensor('q');
  await board.click('q', 0, 1, 0);
  await board.page.keyboard.down('Shift');
  await board.click('q', 0, 2, 1);
  await board.page.keyboard.up('Shift');
  await board.drag('q', [0, 2, 1], 50, 0);
  const q = await board.tensor('q');
  for (const [row, col] of [[1, 0], [1, 1], [2, 0], [2, 1]]) close(q.at(0, row, col), was.at(0, row, col) + 0.5, `q[${row},${col}]`);
  close(q.at(0, 1, 2), was.at(0, 1, 2), 'a cell beside the range');
  await board.check();
  await board.press('Delete');
  const zero = await board.tensor('q');
  for (const [row, col] of [[1, 0], [1, 1], [2, 0], [2, 1]]) close(zero.at(0, row, col), 0, `q[${row},${col}]`);
});

onBoard('a range by Ctrl, Shift and arrows', async (board) => {
  await board.click('v', 0, 0, 0);
  await board.press('Control+Shift+ArrowDown', 'Control+Shift+ArrowRight', 'Delete');
  const v = await board.tensor('v');
  for (const [row, col] of [[0, 0], [0, 1], [1, 0], [1, 1]]) close(v.at(0, row, col), 0, `v[${row},${col}]`);
});

onBoard('copy and paste cells as tab-separated text', async (board) => {
  const q = await board.tensor('q');
  await board.click('q', 0, 0, 0);
  await board.press('Control+Shift+ArrowRight', 'Control+Shift+ArrowDown', 'Control+c');
  await board.click('k', 0, 1, 0);
  await board.press('Control+v');
  const k = await board.tensor('k');
  for (const [row, col] of [[0, 0], [0, 1], [1, 0], [1, 1]]) close(k.at(0, 1 + col, row), q.at(0, row, col), `k[${1 + col},${row}], as it is seen`);
}, {permissions: ['clipboard-read', 'clipboard-write']});

/** Pastes text like that of a spreadsheet. */
const paste = (board, text) => board.page.evaluate((words) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData('text/plain', words);
  document.querySelector('attention-playground').shadowRoot.querySelector('canvas')
    .dispatchEvent(new ClipboardEvent('paste', {clipboardData, bubbles: true, cancelable: true, composed: true}));
}, text);

onBoard('a file that is pasted is opened; cells come before a picture of them', async (board) => {
  const pasted = (text, file) => board.page.evaluate(([words, name, content]) => {
    const clipboardData = new DataTransfer();
    if (words) clipboardData.setData('text/plain', words);
    clipboardData.items.add(new File([content], name));
    document.querySelector('attention-playground').shadowRoot.querySelector('canvas')
      .dispatchEvent(new ClipboardEvent('paste', {clipboardData, bubbles: true, cancelable: true, composed: true}));
  }, [text, ...file]);
  await board.click('q', 0, 1, 0);
  await pasted('7\t8', ['image.png', 'a picture']);
  close(await board.value('q', 0, 1, 1), 8);
  const state = await board.call('getState');
  await board.call('reset');
  await pasted('/home/a/board.JSON', ['board.JSON', JSON.stringify(state)]);
  await board.until('the board of the file', () => Math.abs(document.querySelector('attention-playground').getTensor('q').data[4] - 8) < 1e-6);
});

onBoard('of two boards, and a field of the page, only the one with the focus copies, cuts and pastes', async (board) => {
  const {page} = board, q = (selector) => page.evaluate((name) => Array.from(document.querySelector(name).getTensor('q').data.slice(0, 3)), selector);
  const at = (selector) => page.evaluate((name) => {
    const element = document.querySelector(name);
    element.scrollIntoView({block: 'center'});
    const {x, y, width, height} = element.locate('q', 0, 0, 0);
    return [x + width / 2, y + height / 2];
  }, selector);
  await page.evaluate(() => {
    const input = document.body.appendChild(Object.assign(document.createElement('input'), {id: 'own', value: 'words'}));
    input.style.position = 'fixed';
  });
  const [one, two] = [await q('#one'), await q('#two')];
  await page.mouse.click(...await at('#one'));
  await board.press('Control+c');
  await page.mouse.click(...await at('#two'));
  await board.press('Control+v');
  assert.deepEqual([await q('#one'), await q('#two')], [one, [one[0], ...two.slice(1)]]);
  await page.evaluate(() => document.querySelector('#two').undo());
  assert.deepEqual(await q('#two'), two, 'it was one edit');
  await page.locator('#own').focus();
  await page.keyboard.press('Control+a');
  await board.press('Control+x', 'Control+v', 'Control+v');
  assert.equal(await page.locator('#own').inputValue(), 'wordswords');
  assert.deepEqual([await q('#one'), await q('#two')], [one, two]);
}, {path: '/pages/two.html', viewport: {width: 900, height: 1000}, permissions: ['clipboard-read', 'clipboard-write']});

onBoard('paste from a spreadsheet', async (board) => {
  await board.click('q', 0, 1, 0);
  await paste(board, '1\t2\t3\r\n4,5\t−5\t6e-1\r\n'.replace('4,5', '4.5'));
  const q = await board.tensor('q');
  [[1, 2, 3], [4.5, -5, 0.6]].forEach((row, i) => row.forEach((value, j) => close(q.at(0, 1 + i, j), value, `q[${1 + i},${j}]`)));
});

onBoard('ragged and wordy clipboards are refused, and nothing changes', async (board) => {
  const events = await board.listen('error');
  const was = await board.tensor('q');
  await board.click('q', 0, 0, 0);
  for (const text of ['1\t2\n3\n', 'one\ttwo', '1\tNaN', '1e400', '1\t2\t3\t4\t5\t6\t7\t8\n']) await paste(board, text);
  assert.deepEqual((await board.tensor('q')).data, was.data);
  assert.equal((await events()).length, 5);
});

onBoard('cut copies and writes 0', async (board) => {
  const was = await board.value('q', 0, 1, 1);
  await board.click('q', 0, 1, 1);
  await board.press('Control+x');
  close(await board.value('q', 0, 1, 1), 0);
  await board.press('Control+v');
  close(await board.value('q', 0, 1, 1), was);
}, {permissions: ['clipboard-read', 'clipboard-write']});

onBoard('undo and redo as far as one likes, and reset to the very start', async (board) => {
  const start = JSON.stringify(await board.call('getState'));
  for (let i = 0; i < 5; i++) await board.drag('q', [0, i % 3, 1], 10 + i, 0);
  await board.click('causal');
  const edited = await board.tensor('weights');
  for (let i = 0; i < 6; i++) await board.press('Control+z');
  await board.check();
  for (let i = 0; i < 6; i++) await board.click('redo');
  alike(await board.tensor('weights'), edited);
  await board.click('reset');
  assert.equal(JSON.stringify(await board.call('getState')), start);
  await board.check();
  assert.equal(await board.call('undo'), true, 'a reset can be taken back');
  alike(await board.tensor('weights'), edited);
});
