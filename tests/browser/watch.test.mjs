// Events and callbacks that tell a page what happened: who changed what, from which value to which, and when a check holds.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {until} from '../until.mjs';
import {suite} from './harness.mjs';

const {browser, onBoard} = suite();

const close = (a, b) => assert.ok(Math.abs(a - b) < 1e-6, `${a} is not ${b}`);

onBoard('a drag sends inputs and one change, with where it began and ended', async (board) => {
  const events = await board.listen('input', 'change');
  const was = await board.value('q', 0, 1, 2);
  await board.drag('q', [0, 1, 2], 40, 0);
  const all = await events(), last = all.at(-1).detail;
  assert.ok(all.slice(0, -1).every(({type, detail}) => type === 'input' && detail.source === 'user' && detail.name === 'q'));
  assert.deepEqual([all.at(-1).type, last.source, last.name, last.head, last.row, last.col], ['change', 'user', 'q', 0, 1, 2]);
  close(last.before, was);
  close(last.after, await board.value('q', 0, 1, 2));
});

onBoard('a click sends one select, wherever it lands', async (board) => {
  for (const [name, ...cell] of [['weights', 0, 2, 1], ['q', 0, 1, 1], ['k', 0, 2, 1], ['v', 0, 0, 0], ['head_output', 0, 1, 0]]) {
    const events = await board.listen('select');
    await board.click(name, ...cell);
    await board.rest(100);
    const all = await events();
    assert.equal(all.length, 1, `${name}: ${JSON.stringify(all)}`);
    const [head, row, col] = cell;
    assert.deepEqual(all[0].detail, {name: all[0].detail.name, head, row, col});
    await board.page.evaluate(() => { globalThis.noted = []; });
    await board.page.reload();
    await board.page.evaluate(() => customElements.whenDefined('attention-playground').then(() => document.querySelector('attention-playground').ready.then(() => {})));
  }
});

/** Starts el.observe() or el.on(); returns what has been called back so far, and stop(). */
async function watch(board, method, what) {
  const error = await board.page.evaluate(([name, target]) => {
    globalThis.heard = [];
    try {
      globalThis.stop = document.querySelector('attention-playground')[name](target, (...values) => globalThis.heard.push(values));
      return null;
    } catch ({constructor, field, message}) {
      return {type: constructor.name, field, message};
    }
  }, [method, what]);
  if (error) throw Object.assign(new Error(error.message), error);
  return {heard: () => board.page.evaluate(() => globalThis.heard), stop: () => board.page.evaluate(() => globalThis.stop())};
}

onBoard('observe() follows a weight by the tokens of its row and column, until it is stopped', async (board) => {
  const {heard, stop} = await watch(board, 'observe', {tensor: 'weights', head: 0, row: 'saw', col: 'I'});
  const first = await until('the first number', async () => (await heard())[0]);
  close(first[0], await board.value('weights', 0, 1, 0));
  assert.equal(first[1].before, undefined);
  await board.drag('q', [0, 1, 0], 50, 0);
  const all = await heard(), [value, detail] = all.at(-1);
  assert.ok(all.length > 1);
  close(value, await board.value('weights', 0, 1, 0));
  assert.deepEqual([detail.tensor, detail.row, detail.col, detail.value], ['weights', 'saw', 'I', value]);
  assert.equal(detail.before, all.at(-2)[0]);
  await board.drag('q', [0, 3, 0], 30, 0);
  assert.equal((await heard()).length, all.length, 'another row is not told');
  await board.call('undo');
  await board.call('undo');
  close((await heard()).at(-1)[0], first[0]);
  await board.call('set', 'tokens', 1);
  assert.equal((await heard()).at(-1)[0] ?? undefined, undefined, 'it is not there any more');
  await board.call('undo');
  close((await heard()).at(-1)[0], first[0]);
  await stop();
  const {length} = await heard();
  await board.drag('q', [0, 1, 0], 30, 0);
  assert.equal((await heard()).length, length);
});

onBoard('on() calls back each time that a check begins to hold', async (board) => {
  const weight = await board.value('weights', 0, 3, 0);
  const {heard, stop} = await watch(board, 'on', [{tensor: 'weights', at: [0, 3, 0], max: 0.8 * weight}, {option: 'causal', is: true}]);
  assert.deepEqual(await heard(), []);
  await board.drag('k', [0, 0, 0], -60, 0);
  await board.drag('k', [0, 0, 2], -60, 0);
  await until('it to hold', async () => (await heard()).length === 1);
  await board.click('causal');
  await board.click('causal');
  assert.equal((await heard()).length, 2, 'once more after it did not hold');
  assert.ok((await heard())[1][0].every(({holds}) => holds));
  await stop();
  await board.click('causal');
  await board.click('causal');
  assert.equal((await heard()).length, 2);
});

onBoard('on() knows the largest of a row, how near a number is, and how many edits were made', async (board) => {
  const row = (await board.tensor('weights')).data.slice(12, 16), largest = row.indexOf(Math.max(...row));
  for (const check of [{tensor: 'weights', at: [0, 3], argmax: largest}, {tensor: 'q', at: [0, 1, 1], near: await board.value('q', 0, 1, 1)},
    {tensor: 'weights', at: [0, 'a', 'a'], min: 0}, {option: 'tokens', min: 4, max: 4}, {edits: {}, max: 0}, {edits: {max: 0}}]) {
    const {heard, stop} = await watch(board, 'on', check);
    await until(`${JSON.stringify(check)} to hold already`, async () => (await heard()).length === 1);
    await stop();
  }
  const {heard} = await watch(board, 'on', {edits: {}, min: 2, max: 2});
  await board.drag('q', [0, 1, 0], 30, 0);
  assert.equal((await heard()).length, 0);
  await board.drag('v', [0, 1, 0], 30, 0);
  assert.equal((await heard()).length, 1);
});

onBoard('on() judges every form of check that lessons have, and tells the numbers', async (board) => {
  const {data, shape} = await board.tensor('weights'), [, rows, cols] = shape, at = (row, col) => data[row * cols + col];
  const row = data.slice(3 * cols, 4 * cols), sum = row.reduce((all, value) => all + value, 0), entropy = -row.reduce((all, value) => all + (value > 0 ? value * Math.log2(value) : 0), 0);
  const q = (await board.tensor('q')).data.slice(0, 3), norm = Math.hypot(...q);
  for (const [check, value] of [
    [{tensor: 'weights', at: [0, 3], of: 'sum', near: 1}, sum], [{tensor: 'weights', at: [0, 3], of: 'mean', max: 0.3}, sum / cols],
    [{tensor: 'weights', at: [0, 3], of: 'entropy', near: entropy, within: 1e-5}, entropy], [{tensor: 'q', at: [0, 0], of: 'norm', min: norm - 1e-4}, norm],
    [{tensor: 'weights', at: [0, 3, null], min: 0, max: 1}, [...row]], [{tensor: 'weights', at: [0, null, 0], min: 0}, Array.from({length: rows}, (_, i) => at(i, 0))],
    [{tensor: 'weights', at: [0, 3], near: [...row]}, [...row]], [{tensor: 'weights', at: [0, 3, null], argmax: row.indexOf(Math.max(...row))}, row.indexOf(Math.max(...row))], [{tensor: 'weights', at: [0, 3, 2], near: at(3, 2) + 0.004}, at(3, 2)],
    [{tensor: 'q', at: [0, 1], like: {tensor: 'q', at: [0, 1]}}, (await board.tensor('q')).data.slice(3, 6)], [{tensor: 'q', at: [0, 1, 1], change: 'same'}, 0],
    [{option: 'causal', is: true, label: 'the mask'}, true], [{option: 'tokens', is: 4}, 4], [{edits: {max: 0}}, 0],
  ]) {
    const {heard, stop} = await watch(board, 'on', check), [[verdict]] = await until(`${JSON.stringify(check)} to hold`, async () => (await heard())[0]);
    assert.equal(verdict.holds, true);
    assert.equal(Array.isArray(verdict.value), Array.isArray(value));
    [verdict.value].flat().forEach((number, i) => close(Number(number), Number([value].flat()[i])));
    await stop();
  }
  for (const check of [{tensor: 'weights', at: [0, 3], of: 'sum', near: 1.01}, {tensor: 'weights', at: [0, 3, 2], near: at(3, 2) + 0.006}, {tensor: 'q', at: [0, 1, 1], change: 'up'}, {edits: true, min: 1}]) {
    const {heard, stop} = await watch(board, 'on', check);
    await board.rest(0);
    assert.deepEqual(await heard(), [], JSON.stringify(check));
    await stop();
  }
  const {heard} = await watch(board, 'on', {tensor: 'q', at: [0, 1, 1], change: 'up'});
  await board.drag('q', [0, 1, 1], 20, 0);
  assert.ok((await heard()).length, 'it went up');
});

onBoard('what is wrong is refused by its name', async (board) => {
  const refused = async (method, what, type, field) => {
    const error = await watch(board, method, what).catch((caught) => caught);
    assert.deepEqual([error.type, error.field], [type, field], `${JSON.stringify(what)}: ${error.message}`);
  };
  await refused('observe', null, 'TypeError', 'target');
  await refused('observe', {tensor: 7}, 'TypeError', 'tensor');
  await refused('observe', {tensor: 'weights', row: 'nobody'}, 'RangeError', 'row');
  await refused('observe', {tensor: 'q', col: 'saw'}, 'RangeError', 'col');
  await refused('observe', {tensor: 'weights', row: 1.5}, 'TypeError', 'row');
  await refused('observe', {tensor: 'weights', row: 99}, 'RangeError', 'at[1]');
  await refused('on', {}, 'TypeError', 'check');
  await refused('on', {tensor: 'weights', at: [0, 9, 0], min: 1}, 'RangeError', 'check');
  await refused('on', [{tensor: 'weights', at: [0, 'nobody'], min: 1}], 'RangeError', 'row');
  await refused('on', {tensor: 'weights', at: [0, 3], mean: 1, min: 0}, 'TypeError', 'check');
  await refused('on', {option: 'causall', is: true}, 'RangeError', 'check.option');
  await refused('on', [{option: 'causal'}], 'TypeError', 'check[0]');
  await refused('on', {tensor: 'weights', min: 'much'}, 'TypeError', 'check.min');
  const message = await board.page.evaluate(() => {
    try {
      document.querySelector('attention-playground').observe({tensor: 'weights'}, 'no function');
    } catch (error) {
      return error.message;
    }
  });
  assert.match(message, /^callback must be a function/);
});

test('a watcher outlives that its element is taken off the page', async () => {
  const board = await browser.open('/pages/embed.html');
  const heard = await board.page.evaluate(async () => {
    const element = document.querySelector('attention-playground'), values = [];
    element.observe({tensor: 'weights', row: 'a', col: 'saw'}, (value) => values.push(value));
    await Promise.resolve();
    element.remove();
    while (element.shadowRoot.querySelector('canvas')) await new Promise(requestAnimationFrame);
    document.body.prepend(element);
    await element.ready;
    const {length} = values;
    element.set('temperature', 3);
    return [length, values.length];
  });
  assert.deepEqual(heard, [1, 2]);
  await board.close();
});
