// el.gradient against central differences, computed with setTensor and getTensor; errors; and how long it takes.
import assert from 'node:assert/strict';
import {suite} from './harness.mjs';

const {onBoard} = suite();

/** The gradient returned by the element, and the central differences, for each cell of the input. */
const both = (board, target, by) => board.page.evaluate(([selector, {tensor, head, row, col}, wrt]) => {
  const element = document.querySelector(selector);
  const value = () => {
    const {data, shape} = element.getTensor(tensor);
    return data[(head * shape[1] + row) * shape[2] + col];
  };
  const {data: gradient, shape} = element.gradient({tensor, head, row, col}, wrt);
  const input = element.getTensor(wrt), step = 2 ** -8, differences = [];
  for (let i = 0; i < input.data.length; i++) {
    const ends = [step, -step].map((more) => {
      const changed = Array.from(input.data);
      changed[i] += more;
      element.setTensor(wrt, changed, input.shape);
      return value();
    });
    differences.push((ends[0] - ends[1]) / (2 * step));
  }
  element.setTensor(wrt, Array.from(input.data), input.shape);
  return {gradient: Array.from(gradient), isFloats: gradient instanceof Float32Array, shape, wanted: input.shape, differences};
}, [board.selector, target, by]);

async function compare(board, target, by) {
  const {gradient, isFloats, shape, wanted, differences} = await both(board, target, by);
  const what = `∂${target.tensor}[${target.head},${target.row},${target.col}]/∂${by}`;
  assert.ok(isFloats, what);
  assert.deepEqual(shape, wanted, what);
  const most = Math.max(0.05, ...gradient.map(Math.abs));
  gradient.forEach((g, i) => assert.ok(Math.abs(g - differences[i]) <= 0.005 * most, `${what}[${i}] is ${g}, and ${differences[i]} by differences`));
  assert.equal(await board.call('undo'), true);  // undoes the edit that restored the input; the board continues as it was
  await board.call('redo');
  return gradient;
}

onBoard('the gradient of cells of each step by q, k and v is what a small change does', async (board) => {
  await board.call('set', 'mode', 'qkv');
  for (const [tensor, row, col] of [['weights', 2, 0], ['scores', 3, 1], ['output', 3, 1], ['head_output', 1, 0]]) {
    for (const by of ['q', 'k', 'v']) await compare(board, {tensor, head: 0, row, col}, by);
  }
  const hidden = await compare(board, {tensor: 'weights', head: 0, row: 0, col: 3}, 'q');
  assert.ok(hidden.every((g) => g === 0), 'a masked cell has gradient 0');
});

onBoard('in X·W mode it reaches x and the weights, with other scores, normalisers and positions', async (board) => {
  await board.call('set', 'mode', 'x');
  const inputs = ['x', 'w_q', 'w_k', 'w_v'];
  for (const by of inputs) await compare(board, {tensor: 'output', head: 0, row: 3, col: 1}, by);
  for (const [option, value] of [['score', 'additive'], ['normalizer', 'sigmoid'], ['position', 'sinusoidal'], ['softcap', 3], ['temperature', 0.7]]) {
    await board.call('set', option, value);
    for (const by of ['x', 'w_q']) await compare(board, {tensor: 'weights', head: 0, row: 2, col: 1}, by);
  }
  await compare(board, {tensor: 'weights', head: 0, row: 3, col: 2}, 'w_a');
  const {shape} = await board.page.evaluate((selector) => document.querySelector(selector).gradient({tensor: 'weights', row: 2, col: 1}, 'q'), board.selector);
  assert.deepEqual(shape, (await board.tensor('q')).shape, 'q too, although it is computed');
  await board.call('set', 'normalizer', 'hardmax');
  assert.ok((await board.page.evaluate((selector) => Array.from(document.querySelector(selector).gradient({tensor: 'weights', row: 2, col: 1}, 'x').data), board.selector))
    .every((g) => g === 0), 'hard maxima are steps');
});

onBoard('what is not in the layer is refused by name, and nothing changes', async (board) => {
  await board.call('set', 'mode', 'qkv');
  const before = await board.call('getState');
  const refused = (target, by, type, field, message) => assert.rejects(board.call('gradient', target, by), (error) => {
    assert.equal(error.type, type, error.message);
    if (field) assert.equal(error.field, field);
    assert.match(error.message, message);
    return true;
  });
  const cell = {tensor: 'weights', head: 0, row: 1, col: 0};
  await refused({...cell, tensor: 'softcapped'}, 'q', 'RangeError', 'tensor', /softcapped is not part of this layer/);
  await refused({...cell, tensor: 'wieghts'}, 'q', 'RangeError', null, /wieghts.*weights/);
  await refused({...cell, row: 4}, 'q', 'RangeError', 'row', /row: 4 is not in weights; use 0 to 3\./);
  await refused({...cell, head: -1}, 'q', 'RangeError', 'head', /head: -1 is not in weights/);
  await refused(cell, 'x', 'RangeError', 'wrt', /wrt: x is not part of this layer; name an input that it has\./);
  await refused(cell, 'scores', 'RangeError', 'wrt', /wrt: scores is computed, and a gradient is taken by an input/);
  await refused(cell, 'nothing', 'RangeError', null, /nothing/);
  await refused(null, 'q', 'TypeError', 'target', /target must be an object/);
  await refused('weights', 'q', 'TypeError', 'target', /target must be/);
  await refused({head: 0}, 'q', 'TypeError', 'tensor', /tensor must be a text/);
  await refused({...cell, row: 1.5}, 'q', 'TypeError', 'row', /row must be a whole number/);
  await refused(cell, undefined, 'TypeError', 'wrt', /wrt must be a text/);
  assert.deepEqual(await board.call('getState'), before);
});
