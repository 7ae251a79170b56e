// Every mechanism, by real clicks on its control; after each, the board must agree with the equations of the papers.
import assert from 'node:assert/strict';
import {suite} from './harness.mjs';

const {onBoard} = suite({viewport: {width: 1440, height: 1600}});

// Opens the menu of an option and chooses an entry.
async function choose(board, option, value) {
  await board.click(option);
  await board.settle();
  await board.click(`${option}:${value}`);
  assert.equal(await board.get(option), value);
  await board.settle();
}

onBoard('every score on the same inputs, which stay as they are', async (board) => {
  const before = await board.tensor('q');
  for (const score of ['dot', 'general', 'additive', 'cosine', 'scaled']) {
    await choose(board, 'score', score);
    await board.check();
    assert.deepEqual((await board.tensor('q')).data, before.data);
  }
});

onBoard('W_a, U_a and v_a are edited on the board', async (board) => {
  await choose(board, 'score', 'additive');
  for (const name of ['w_a', 'u_a', 'v_a']) {
    const was = await board.value(name, 0, 0, 1);
    await board.drag(name, [0, 0, 1], 40, 0);
    assert.notEqual(await board.value(name, 0, 0, 1), was);
    await board.check();
  }
});

onBoard('every normaliser, with the row sum beside the weights', async (board) => {
  for (const normalizer of ['sparsemax', 'entmax15', 'sigmoid', 'relu', 'hardmax', 'none', 'softmax']) {
    await choose(board, 'normalizer', normalizer);
    await board.check();
  }
});

onBoard('every pattern, with its parts', async (board) => {
  await board.call('set', 'labels', 'one two three four five six seven eight nine ten');
  await board.settle();  // the reader's own sentence adds a switch, which moves what is below it
  for (const pattern of ['local', 'dilated', 'strided', 'block', 'global', 'random', 'longformer', 'bigbird']) {
    await choose(board, 'pattern', pattern);
    await board.check();
  }
  const was = await board.get('pattern_global');
  await board.click('pattern_global+');
  assert.equal(await board.get('pattern_global'), was + 1);
  await board.check();
  await choose(board, 'pattern', 'none');
});

onBoard('a window, by its two steppers', async (board) => {
  await board.click('window');
  await board.settle();
  await board.click('window_left-');
  assert.equal(await board.get('window_left'), 3, 'one less than all');
  await board.click('window_left-');
  await board.click('window_left-');
  assert.equal(await board.get('window_left'), 1);
  await board.check();
  await board.click('causal');
  await board.click('window_right-');
  await board.check();
});

onBoard('prefix, padding, offset, and the mask after softmax', async (board) => {
  await board.click('more-masks');
  await board.settle();
  await board.click('prefix+');
  await board.click('prefix+');
  assert.equal(await board.get('prefix'), 2);
  await board.check();
  await board.click('key_length-');
  assert.equal(await board.get('key_length'), 3);
  await board.check();
  await board.click('causal_offset+');
  await board.check();
  await board.click('mask_after_softmax');
  assert.equal(await board.get('mask_after_softmax'), true);
});

onBoard('every kind of position', async (board) => {
  await board.call('set', 'd_k', 4);
  await board.settle();
  await choose(board, 'position', 'rotary');
  await board.check();
  await choose(board, 'position', 'alibi');
  await board.check();
  await board.click('mode:x');
  await board.settle();
  await choose(board, 'position', 'sinusoidal');
});

onBoard('cross-attention: its own sentence, its own count of tokens', async (board) => {
  await board.click('cross');
  assert.equal(await board.get('cross'), true);
  await board.settle();
  await board.click('key_tokens+');
  assert.equal(await board.get('key_tokens'), 5);
  assert.equal(await board.get('tokens'), 4);
  await board.check();
  await board.click('mode:x');
  await board.settle();
  await board.check();
  await board.drag('x_kv', [0, 4, 0], 30, 0);
});

onBoard('shared keys and values, and a width of the values of their own', async (board) => {
  await board.click('more-sizes');
  await board.settle();
  await board.click('kv_heads-');
  assert.equal(await board.get('kv_heads'), 1);
  await board.check();
  await board.settle();  // a value that no longer fits is explained on a line of its own
  await board.click('d_v+');
  assert.equal(await board.get('d_v'), await board.get('d_k') + 1);
  await board.check();
  await board.drag('k', [0, 1, 1], 30, 0);
  await board.drag('v', [0, 1, 3], 30, 0);
});

onBoard('a hidden head adds nothing to the output, and the mean is shown on its own', async (board) => {
  await board.click('hide-head:1');
  assert.deepEqual(await board.get('hidden_heads'), [1]);
  await board.check();
  await board.settle();
  await board.click('hide-head:1');
  assert.deepEqual(await board.get('hidden_heads'), []);
  await board.settle();
  await board.click('head:mean');
  assert.equal(await board.get('average_heads'), true);
});

onBoard('projections of one head, or of all as one matrix', async (board) => {
  await board.click('mode:x');
  await board.settle();
  await board.click('whole_projections');
  assert.equal(await board.get('whole_projections'), true);
  await board.settle();
  const head = await board.get('focus_head');
  await board.drag('w_q', [0, 0, 5], 40, 0);
  assert.equal(await board.get('focus_head'), head, 'a column of another head is on the board, too');
});

onBoard('a batch, a page at a time', async (board) => {
  await board.click('more-sizes');
  await board.settle();
  await board.click('batch+');
  assert.equal(await board.get('batch'), 2);
  await board.settle();
  const first = (await board.tensor('q')).data;
  await board.click('batch_item+');
  assert.equal(await board.get('batch_item'), 1);
  await board.drag('q', [0, 0, 0], 33, 0);
  await board.check();
  await board.click('batch_item-');
  assert.deepEqual((await board.tensor('q')).data, first);
});

onBoard('a d_k of 512 and a batch of 64 are a board like any other', async (board) => {
  await board.call('set', 'd_k', 512);
  await board.call('set', 'batch', 64);
  await board.rest();
  assert.deepEqual((await board.tensor('q')).shape, [2, 4, 512]);
  await board.check();
  const first = (await board.tensor('q')).data;
  await board.call('set', 'batch_item', 63);
  await board.settle();
  const before = (await board.tensor('q')).data;
  await board.drag('q', [0, 0, 256], 33, 0);
  await board.settle();
  const changed = (await board.tensor('q')).data.map((value, i) => value - before[i]).filter((by) => by !== 0);
  assert.equal(changed.length, 1, 'one cell, however small it is drawn');
  assert.ok(Math.abs(changed[0] - 0.33) < 1e-5, `by ${changed[0]}`);
  await board.check();
  await board.call('set', 'batch_item', 0);
  assert.deepEqual((await board.tensor('q')).data, first);
});

onBoard('a decoder, step by step', async (board) => {
  await board.click('step+');
  await board.click('step+');
  assert.equal(await board.get('step'), 2);
  await board.check();
});

onBoard('every preset is what the equations give', async (board) => {
  for (const preset of ['additive', 'general', 'cosine', 'alignment', 'local-window', 'longformer', 'bigbird', 'block', 'sparsemax',
    'grouped-query', 'multi-query', 'sinusoidal', 'rotary', 'alibi', 'mask-after-softmax']) {
    await board.page.evaluate(([selector, name]) => document.querySelector(selector).setAttribute('preset', name), [board.selector, preset]);
    await board.settle();
    assert.equal((await board.call('getState')).preset, preset);
    await board.check();
  }
});

onBoard('numbers of options are typed as well', async (board) => {
  for (const [option, value] of [['softcap', 2.5], ['temperature', 0.7], ['scale', 0.25]]) {
    await board.click(`${option}-value`);
    await board.settle();
    await board.press('Control+a');
    await board.type(String(value));
    await board.press('Enter');
    assert.equal(await board.get(option), value);
    await board.check();
  }
});

onBoard('what has no meaning is refused by name, and offers the way in the menu', async (board) => {
  await board.call('set', 'position', 'alibi');
  await board.call('set', 'score', 'additive');
  for (const [option, value] of [['position', 'rotary'], ['position', 'sinusoidal'], ['kv_heads', 3], ['window_left', -2], ['scale', true],
    ['score', 'multiplicative'], ['hidden_heads', [7]]]) {
    await assert.rejects(board.call('set', option, value), (error) => {
      assert.equal(error.field, option);
      assert.match(error.message, /; (use|set|give)/);
      return true;
    });
  }
  await board.click('position');
  await board.settle();
  await board.call('locate', 'position:rotary:fix');  // in view, with its remedy
  await board.press('Escape');
});
