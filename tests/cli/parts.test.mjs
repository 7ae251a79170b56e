// Parts of what `attn run` computes, and the largest weights of each query, of layers whose matrices of scores do not fit into memory.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {attn, file, folder, numbers, refusal} from './harness.mjs';

const wrongUse = 2, badData = 1;
const layer = (shape, options = {}) => {
  const size = shape.reduce((a, b) => a * b), tensor = (seed) => ({shape, data: Array.from(numbers(size, seed), (v) => Number(v.toPrecision(9)))});
  return file({q: tensor(1), k: tensor(2), v: tensor(3), options});
};
const ran = (path, ...args) => {
  const done = attn('run', path, ...args);
  assert.equal(done.status, 0, done.stderr);
  return JSON.parse(done.stdout);
};
/** The cells of a nested list; ranges as [begin, end], and single indices. */
const nested = ({shape, data}) => shape.slice(1).reduceRight((list, size) => Array.from({length: list.length / size}, (_, i) => list.slice(i * size, (i + 1) * size)), data);
const cells = (list, [range, ...rest]) => {
  if (range === undefined) return list;
  return Array.isArray(range) ? list.slice(...range).map((one) => cells(one, rest)) : cells(list.at(range), rest);
};

const SHAPE = [2, 3, 400, 4];  // batch, heads, tokens, columns: more than two blocks of rows
// The second kind is computed by the board's engine, as a whole.
for (const [kind, options] of [['softmax', {causal: true, window_left: 250}], ['sparsemax', {normalizer: 'sparsemax'}]]) {
  test(`a part of an output is what the whole has there: ${kind}`, () => {
    const path = layer(SHAPE, options);
    for (const [name, text, part] of [
      ['weights', '1,2,190:395', [1, 2, [190, 395]]], ['weights', ':, 0:2, -1, 10:20', [[], [0, 2], -1, [10, 20]]], ['output', '0,:,-7:', [0, [], [-7]]],
      ['scores', '1,0,399', [1, 0, 399]], ['masked', '0,1,:193,:193', [0, 1, [0, 193], [0, 193]]], ['present_k', '1,1,5', [1, 1, 5]],
    ]) {
      const whole = ran(path, '--outputs', name)[name], one = ran(path, '--outputs', `${name}[${text}]`)[name];
      assert.deepEqual(nested(one), cells(nested(whole), part), `${name}[${text}]`);
    }
  });

  test(`the largest weights of each query are found: ${kind}`, () => {
    const path = layer(SHAPE, options), count = 5;
    const whole = nested(ran(path, '--outputs', 'weights').weights)[1], {weights, weights_keys: keys} = ran(path, '--outputs', 'weights[1]', '--top', `${count}`);
    assert.deepEqual([weights.shape, keys.shape], [[3, 400, count], [3, 400, count]]);
    const found = nested(weights), places = nested(keys);
    whole.forEach((head, h) => head.forEach((row, i) => {
      const order = row.map((value, key) => [value, key]).sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, count);
      assert.deepEqual([found[h][i], places[h][i]], [order.map(([value]) => value), order.map(([, key]) => key)], `head ${h}, query ${i}`);
    }));
  });
}

test('a state gives parts as well', () => {
  const {q, k, v} = JSON.parse(readFileSync(layer([2, 5, 3]), 'utf8'));
  const path = file({version: 1, mode: 'qkv', tokens: 5, heads: 2, d_k: 3, causal: true, q, k, v}), whole = nested(ran(path, '--outputs', 'weights').weights);
  assert.deepEqual(nested(ran(path, '--outputs', 'weights[1, 2:4]').weights), whole[1].slice(2, 4));
  assert.deepEqual(ran(path, '--outputs', 'weights', '--top', '1').weights.data, whole.flat().map((row) => Math.max(...row)));
});

test('no matrix of scores is held for a part', {skip: process.platform !== 'linux'}, () => {
  const path = layer([4, 12_000, 2], {causal: true}), limits = {limits: 'ulimit -v 700000'};  // a matrix of one head has 576 MB
  assert.match(refusal(badData, attn('run', path, '--outputs', 'weights', limits)), /^attn: .*weights: 1 × 4 heads × 12000 queries × 12000 keys take 2304 MB/);
  for (const args of [['weights[3, 11000:11050]'], ['weights', '--top', '8'], ['output[2]']]) {
    const done = attn('run', path, '--outputs', ...args, '--out', join(folder, 'part.npz'), limits);
    assert.equal(done.status, 0, done.stderr);
  }
});

test('indices are checked', () => {
  const path = layer([2, 5, 3]);
  for (const [sentence, ...args] of [
    ['--outputs weights: 2 is not one of the 2 along axis 0 of the shape [2, 5, 5]; use 0 to 1.', 'weights[2]'],
    ['--outputs weights: 3:9 is no part of the 5 along axis 1 of the shape [2, 5, 5]; use 0 to 5.', 'weights[0, 3:9]'],
    ['--outputs weights: 3:3 is no part of the 5 along axis 2 of the shape [2, 5, 5]; use 0 to 5.', 'weights[:, :, 3:3]'],
    ['--outputs output: 4 indices are given, and the shape [2, 5, 3] has 3; leave some out.', 'output[0, 0, 0, 0]'],
    ['--outputs weights: "::2" is neither an index nor a range such as 10:20; use, for example, weights[3, 1000:1100, :].', 'weights[0, ::2]'],
    ['--outputs weights: "" is neither an index nor a range such as 10:20; use, for example, weights[3, 1000:1100, :].', 'weights[]'],
    ['--outputs weights: "9223372036854775807" is neither an index nor a range such as 10:20;', 'weights[9223372036854775807]'],
    ['--outputs: "weights[0" has no closing bracket at its end; use, for example, weights[3, 1000:1100, :].', 'weights[0'],
    ['--outputs: "weights" is named twice; a result has one part of it, so run attn once for each.', 'weights[0],weights[1]'],
    ['--top: 6 is more than the 5 keys; use at most as many.', 'weights', '--top', '6'],
    ['--top: it takes the largest of all keys, and --outputs names some of them; leave one of the two out.', 'weights[:, :, 1:3]', '--top', '1'],
    ['--top: it is of weights, and --outputs does not ask for them; add weights there.', 'output', '--top', '1'],
    ['--out part.npy: it holds one tensor, and --top writes two; use .npz.', 'weights', '--top', '1', '--out', 'part.npy'],
  ]) {
    assert.ok(refusal(wrongUse, attn('run', path, '--outputs', ...args)).includes(sentence), `${args}: ${sentence}`);
  }
});

test('gradients of a long layer need no matrix of scores', {skip: process.platform !== 'linux'}, () => {
  const shape = [1, 2, 3000, 3], count = 18_000;  // heads · queries · keys is more than 2^24
  const tensor = (seed, size = shape) => ({shape: size, data: Array.from(numbers(size.reduce((a, b) => a * b), seed), (v) => Number(v.toPrecision(9)))});
  const path = file({q: tensor(1), k: tensor(2, [1, 1, 3000, 3]), v: tensor(3, [1, 1, 3000, 3]), d_output: tensor(4), options: {causal: true}});
  const gradients = (...args) => {
    const done = attn('grad', path, ...args);
    assert.equal(done.status, 0, done.stderr);
    return JSON.parse(done.stdout);
  };
  const long = gradients({limits: 'ulimit -v 300000'}), whole = gradients('--set', 'prefix=1');  // the first key, which all see: computed as the board does
  assert.deepEqual(Object.keys(long), ['d_q', 'd_k', 'd_v']);
  for (const [name, {shape: of, data}] of Object.entries(long)) {
    assert.deepEqual(of, whole[name].shape, name);
    assert.equal(data.length, name === 'd_q' ? count : count / 2);
    const most = Math.max(...whole[name].data.map(Math.abs)), worst = Math.max(...data.map((value, i) => Math.abs(value - whole[name].data[i])));
    assert.ok(most > 0.1 && worst < 1e-5 * most, `${name}: ${worst} of ${most}`);
  }
});
