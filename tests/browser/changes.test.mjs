// Pins a board, changes it, and checks the differences: in cells, in the list, and the pinned board while a key is held.
import assert from 'node:assert/strict';
import {suite} from './harness.mjs';

const {browser, onBoard} = suite();

const click = async (board, name, ...cell) => {
  await board.click(name, ...cell);
  await board.settle();
};
const names = async (board) => new Set((await board.call('items')).map(({name}) => name));
const rows = async (board, name) => {
  const {data, shape} = await board.tensor(name);
  return Array.from({length: shape[1]}, (_, i) => data.slice(i * shape[2], (i + 1) * shape[2]));
};

onBoard('pinned by its button, an edited cell is marked, listed, and the pin goes again', async (board) => {
  await click(board, 'pin');
  await click(board, 'card:changes');
  assert.ok((await board.get('pin')).startsWith('{"version": 1'));
  assert.ok(![...await names(board)].some((name) => /^changes:\d/.test(name)), 'nothing differs yet');
  await board.drag('q', [0, 3, 2], -80, 0);
  await board.settle();
  const shown = await names(board);
  assert.ok(shown.has('changed:q:3:2') && !shown.has('changed:q:3:1') && !shown.has('changed:k:0:0'));
  assert.ok(shown.has('changes:0:0') && !shown.has('changes:0:1'), 'one cell was edited');
  assert.ok(shown.has('changes:1:3') && !shown.has('changes:1:4'), 'four weights follow');
  await board.press('P');
  await board.settle();
  assert.equal(await board.get('pin'), '');
  assert.ok(!(await names(board)).has('changed:q:3:2'));
  await board.press('Control+z');
  await board.settle();
  assert.ok((await names(board)).has('changed:q:3:2'), 'undo brings the pin back');
}, {viewport: {width: 1440, height: 1080}});

onBoard('a row of the list goes to its cell: the weight that changed most is first', async (board) => {
  const was = await rows(board, 'weights');
  await click(board, 'pin');
  await click(board, 'card:changes');
  await board.drag('q', [0, 3, 2], -80, 0);
  await board.settle();
  const is = await rows(board, 'weights');
  const by = is[3].map((w, j) => Math.abs(w - was[3][j])), most = by.indexOf(Math.max(...by));
  const events = await board.listen('select');
  await click(board, 'changes:1:0');
  const {detail} = (await events()).at(-1);
  assert.deepEqual([detail.name, detail.row, detail.col], ['weights', 3, most]);
});

onBoard('A and B are in the state: text, link and undo', async (board) => {
  await click(board, 'pin');
  await board.drag('q', [0, 3, 2], -80, 0);
  await board.settle();
  const state = await board.call('getState'), a = JSON.parse(state.pin);
  assert.ok(Math.abs(a.q.data[11] - 1.6) < 1e-6 && Math.abs(state.q.data[11] - 0.8) < 1e-6, `${a.q.data[11]} and ${state.q.data[11]}`);
  assert.equal(a.pin, undefined);
  const address = await board.call('link', {});
  const other = await browser.open(address.replace(/^https?:\/\/[^/]+/, ''));
  assert.deepEqual(await other.call('getState'), state);
  assert.ok((await names(other)).has('changed:q:3:2'));
  await other.close();
  await board.call('undo');
  await board.call('undo');
  assert.equal(await board.get('pin'), '');
});

onBoard('the board is shown as it was while a key, or the button, is held, and nothing is edited', async (board) => {
  await click(board, 'pin');
  await click(board, 'card:changes');
  await board.drag('q', [0, 3, 2], -80, 0);
  await board.settle();
  const state = await board.call('getState');
  const picture = async () => {
    await board.rest(120);
    const {x, y, width, height} = await board.call('locate', 'matrix:weights');
    return (await board.page.screenshot({clip: {x, y, width, height}})).toString('base64');
  };
  const now = await picture();
  await board.page.keyboard.down('l');
  const before = await picture();
  assert.notEqual(before, now);
  assert.deepEqual(await board.call('getState'), state);
  await board.page.keyboard.up('l');
  assert.equal(await picture(), now);
  const [x, y] = await board.middle('changes:before');
  await board.page.mouse.move(x, y);
  await board.page.mouse.down();
  assert.equal(await picture(), before);
  await board.page.mouse.up();
  assert.equal(await picture(), now);
  assert.deepEqual(await board.call('getState'), state);
}, {seen: true});

onBoard('a board of another shape is compared by its options', async (board) => {
  await board.call('set', 'pin', true);
  await board.call('set', 'card', 'changes');
  await board.call('set', 'tokens', 6);
  await board.call('set', 'causal', false);
  await board.settle();
  const shown = await names(board);
  assert.ok(shown.has('changes:unpin') && !shown.has('changes:before') && !shown.has('changes:0:0'));
});

onBoard('what is no state text is refused, and the pin stays', async (board) => {
  await board.call('set', 'pin', true);
  const pin = await board.get('pin');
  await assert.rejects(board.call('set', 'pin', 'hello'), {field: 'pin', message: /it is no state text/});
  await assert.rejects(board.call('set', 'pin', 7), {field: 'pin'});
  const nested = JSON.stringify(await board.call('getState'));
  await assert.rejects(board.call('set', 'pin', nested), {field: 'pin', message: /no pin of its own/});
  assert.equal(await board.get('pin'), pin);
  await board.call('set', 'pin', false);
  assert.equal(await board.get('pin'), '');
  const state = await board.call('getState');
  await assert.rejects(board.call('setState', {...state, pin: '{"version": 1}'}), {message: /pin/});
  assert.deepEqual(await board.call('getState'), state);
});
