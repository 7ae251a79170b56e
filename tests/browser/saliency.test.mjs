// "What would raise this?" on the board, by a real mouse: the switch, Nudge, Nudge all, and their effect on the weights, compared with
// softmax(q·k / √d_k) computed here.
import assert from 'node:assert/strict';
import {suite} from './harness.mjs';

const {onBoard} = suite();

/** W[row, col] of one head of the causal layer, with `by` added to one cell of q or k. */
function weight({q, k}, head, row, col, moved = {}) {
  const at = (name, tensor, r, c) => tensor.at(head, r, c) + (moved.name === name && moved.row === r && moved.col === c ? moved.by : 0);
  const width = q.shape[2], e = [];
  for (let j = 0; j <= row; j++) {
    let s = 0;
    for (let c = 0; c < width; c++) s += at('q', q, row, c) * at('k', k, j, c);
    e.push(Math.exp(s / Math.sqrt(width)));
  }
  return e[col] / e.reduce((a, b) => a + b);
}

const inputs = async (board) => ({q: await board.tensor('q'), k: await board.tensor('k')});

/** ∂W/∂cell by differences for every cell of q and k of the head, largest first. */
function slopes(t, head, row, col) {
  const all = [];
  for (const name of ['q', 'k']) {
    for (let r = 0; r < t[name].shape[1]; r++) {
      for (let c = 0; c < t[name].shape[2]; c++) {
        const [above, below] = [1e-4, -1e-4].map((by) => weight(t, head, row, col, {name, row: r, col: c, by}));
        all.push({name, row: r, col: c, slope: (above - below) / 2e-4});
      }
    }
  }
  return all.sort((a, b) => Math.abs(b.slope) - Math.abs(a.slope));
}

const close = (a, b, within, what) => assert.ok(Math.abs(a - b) <= within, `${what}: ${a}, not ${b}`);

onBoard('the switch shows what would raise a weight, and Nudge does to it what arithmetic says', async (board) => {
  await board.click('weights', 0, 3, 2);
  assert.equal(await board.get('gradient'), false);
  await assert.rejects(board.call('locate', 'nudge:1'));
  await board.click('gradient');
  await board.settle();
  assert.equal(await board.get('gradient'), true);
  for (let press = 0; press < 5; press++) {
    const t = await inputs(board), [best] = slopes(t, 0, 3, 2), by = best.slope > 0 ? 0.1 : -0.1;
    const expected = weight(t, 0, 3, 2, {...best, by});
    const listen = press === 0 ? await board.listen('change') : null;
    await board.click('nudge:1');
    await board.settle();
    close(await board.value(best.name, 0, best.row, best.col), t[best.name].at(0, best.row, best.col) + by, 1e-6, 'the cell that was nudged');
    close(await board.value('weights', 0, 3, 2), expected, 1e-5, 'the weight');
    if (listen) assert.equal((await listen()).length, 1);
  }
  for (let press = 0; press < 5; press++) assert.equal(await board.call('undo'), true);
  await assert.rejects(board.call('locate', 'nothing'));
  assert.equal((await board.call('getState')).gradient, true, 'undo leaves how things are shown alone');
});

onBoard('Nudge all is one step of 0.10 along the gradient and one step of undo; u and U do the same', async (board) => {
  await board.click('weights', 0, 3, 1);
  await board.press('u');
  await board.settle();
  const t = await inputs(board), all = slopes(t, 0, 3, 1);
  const norm = Math.hypot(...all.map(({slope}) => slope));
  await board.click('nudge:all');
  await board.settle();
  const after = await inputs(board);
  for (const {name, row, col, slope} of all) {
    close(after[name].at(0, row, col), t[name].at(0, row, col) + 0.1 * slope / norm, 1e-5, `${name}[${row}, ${col}]`);
  }
  const value = weight(after, 0, 3, 1);
  assert.ok(value > weight(t, 0, 3, 1));
  close(await board.value('weights', 0, 3, 1), value, 1e-5, 'the weight');
  await board.call('undo');
  assert.deepEqual((await board.tensor('q')).data, t.q.data);
  assert.deepEqual((await board.tensor('k')).data, t.k.data);
  await board.page.keyboard.type('U');
  await board.settle();
  assert.deepEqual((await board.tensor('q')).data, after.q.data);
});

onBoard('in X·W mode Nudge all reaches x and the projections, and the output rises', async (board) => {
  await board.call('set', 'mode', 'x');
  await board.call('set', 'gradient', true);
  await board.click('output', 0, 3, 1);
  const before = {x: await board.tensor('x'), w: await board.tensor('w_v'), o: await board.tensor('w_o')};
  const value = await board.value('output', 0, 3, 1);
  await board.click('nudge:all');
  await board.settle();
  for (const [key, name] of [['x', 'x'], ['w', 'w_v'], ['o', 'w_o']]) assert.notDeepEqual((await board.tensor(name)).data, before[key].data, name);
  assert.ok(await board.value('output', 0, 3, 1) > value);
});

onBoard('a masked score and a hard maximum have nothing to nudge', async (board) => {
  await board.call('set', 'gradient', true);
  await board.click('scores', 0, 0, 3);
  await board.settle();
  await assert.rejects(board.call('locate', 'nudge:1'));
  await board.click('weights', 0, 3, 2);
  await board.settle();
  await board.call('locate', 'nudge:1');
  await board.call('set', 'normalizer', 'hardmax');
  await board.settle();
  await assert.rejects(board.call('locate', 'nudge:1'));
});
