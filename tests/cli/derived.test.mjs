// The Transformer block and hierarchical attention from files: golden values of NumPy, and errors.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {attn, file, filled, here, layer, refuses, run} from './harness.mjs';

const golden = JSON.parse(readFileSync(join(here, '../golden/derived.json'), 'utf8'));
const matrix = ({shape, data}) => ({shape: shape.slice(-2), data});
const near = (got, want, bound, what) => {
  assert.equal(got.length, want.length, what);
  got.forEach((value, i) => assert.ok(Math.abs(value - want[i]) <= bound, `${what}[${i}] is ${value}, not ${want[i]}`));
};
const identity = n => ({shape: [n, n], data: Array.from({length: n * n}, (_, i) => i % n === Math.floor(i / n)), dtype: 'bool'});

// A layer whose output is `values`: every query sees only the key with its own index.
const giving = (q, values, more) => ({q, k: q, v: values, mask: identity(q.shape[0]), ...more});

const names = {gamma1: 'gamma_1', delta1: 'delta_1', w1: 'w_1', b1: 'b_1', w2: 'w_2', b2: 'b_2', gamma2: 'gamma_2', delta2: 'delta_2'};
const blockOf = ({options: o, inputs}) => giving(matrix(inputs.x), matrix(inputs.attention), {
  ...Object.fromEntries(Object.entries(names).map(([from, to]) => [to, matrix(inputs[from])])),
  options: {block_residual: o.residual, block_norm: o.norm, block_epsilon: o.epsilon, block_activation: o.activation,
    block_dropout: o.training ? o.dropRate : 0, block_seed: o.seed},
});

for (const stored of golden.blocks) {
  test(`the block: ${stored.name}`, () => {
    const outputs = Object.keys(stored.expected).map(name => `block:${name}`);
    const results = run(blockOf(stored), '--outputs', outputs.join());
    for (const [name, want] of Object.entries(stored.expected)) {
      assert.deepEqual(results[`block:${name}`].shape, [3, name.startsWith('hidden') ? 12 : 6]);
      near(results[`block:${name}`].data, want, 1e-5, name);
    }
  });
}

test('the block: a batch has every entry, options on the command line win', () => {
  const [first] = golden.blocks;
  const {q, k, v, mask, ...rest} = blockOf(first);
  const twice = t => ({shape: [2, 1, ...t.shape], data: [...t.data, ...t.data.map(x => -x)]});
  const file = {q: twice(q), k: twice(k), v: twice(v), mask, ...rest};
  const results = run(file, '--outputs', 'block:residual_1,block:norm_2,gamma_1,output');
  assert.deepEqual(results['block:norm_2'].shape, [2, 3, 6]);
  near(results['block:norm_2'].data.slice(0, 18), first.expected.norm_2, 1e-5, 'norm_2');
  near(results['block:residual_1'].data.slice(18), first.expected.residual_1.map(x => -x), 1e-5, 'residual_1');
  assert.deepEqual(results.gamma_1, rest.gamma_1);
  const bare = run(file, '--outputs', 'block:residual_1', '--set', 'block_residual=false');
  near(bare['block:residual_1'].data.slice(0, 18), first.inputs.attention.data, 1e-6, 'without a residual');
});

test('x of a batch, [50, 5, 3]: each sentence has weights and outputs of its own, and all share the matrices', () => {
  const x = filled([50, 5, 3], 1), matrices = {w_q: filled([3, 4], 2), w_k: filled([3, 4], 3), w_v: filled([3, 4], 4)};
  const all = run({x, ...matrices}, '--outputs', 'output,weights');
  assert.deepEqual([all.output.shape, all.weights.shape], [[50, 5, 4], [50, 1, 5, 5]]);
  for (const entry of [0, 49]) {
    const one = run({x: {shape: [5, 3], data: x.data.slice(entry * 15, entry * 15 + 15)}, ...matrices}, '--outputs', 'output,weights');
    assert.deepEqual(one.output, {...one.output, shape: [5, 4], data: all.output.data.slice(entry * 20, entry * 20 + 20)});
    assert.deepEqual(one.weights.data, all.weights.data.slice(entry * 25, entry * 25 + 25));
  }
});

test('the block: without a residual where the widths differ, and the same packed', () => {
  const {q, k, v} = {q: filled([2, 3, 4], 1), k: filled([2, 5, 4], 2), v: filled([2, 5, 3], 3)};
  const split = run({q, k, v}, '--outputs', 'output,block:attention,block:residual_1,block:hidden,w_1');
  assert.deepEqual(split['block:attention'].shape, [3, 6]);
  assert.deepEqual(split['block:residual_1'].data, split['block:attention'].data);
  assert.deepEqual(split['block:hidden'].shape, [3, 12]);
  assert.deepEqual(split.w_1.shape, [6, 12]);
  split.output.data.forEach((value, i) => {
    const head = Math.floor(i / 9), row = Math.floor(i % 9 / 3);
    assert.equal(split['block:attention'].data[row * 6 + head * 3 + i % 3], value);
  });
  const packed = ({shape: [heads, rows, cols], data}) => ({shape: [1, rows, heads * cols], data: Array.from({length: data.length}, (_, i) =>
    data[(Math.floor(i % (heads * cols) / cols) * rows + Math.floor(i / (heads * cols))) * cols + i % cols])});
  const side = run({q: packed(q), k: packed(k), v: packed(v), options: {layout: 'packed', heads: 2}}, '--outputs', 'block:norm_2');
  assert.deepEqual(side['block:norm_2'].shape, [1, 3, 6]);
  assert.deepEqual(side['block:norm_2'].data, run({q, k, v}, '--outputs', 'block:norm_2')['block:norm_2'].data);
});

const levels = inputs => ({...Object.fromEntries([['token', 'tokens'], ['segment', 'segments']].flatMap(([to, from]) =>
  ['w', 'b', 'query'].map(part => [`${to}_${part}`, matrix(inputs[`${from}.${part}`])]))),
  class_w: matrix(inputs['class.w']), class_b: matrix(inputs['class.b'])});

for (const {name, starts, inputs, expected} of golden.hierarchies) {
  test(`segments: ${name}`, () => {
    const h = matrix(inputs.h);
    const size = starts[1] ?? 7, isEven = starts.every((start, s) => start === s * size);
    const state = {version: 1, mode: 'qkv', tokens: 7, heads: 1, d_k: 4, causal: false, mask: matrix(identity(7)),
      labels: Array.from({length: 7}, (_, i) => starts.includes(i + 1) ? 'a.' : 'a'), segment_by: 'punctuation', segment_classes: ['a', 'b', 'c'],
      q: {...h, shape: [1, 7, 4]}, k: {...h, shape: [1, 7, 4]}, v: {...h, shape: [1, 7, 4]}, ...levels(inputs)};
    const content = isEven ? giving(h, h, {...levels(inputs), options: {segment_tokens: size, segment_classes: 'a, b, c'}}) : state;
    const results = run(content, '--outputs', 'token_weights,segment_weights,token_query,class_scores,class_probabilities');
    assert.deepEqual(results.token_weights.shape, [7, 1]);
    assert.deepEqual(results.segment_weights.shape, [starts.length, 1]);
    near(results.token_weights.data, expected['tokens.weights'], 2e-6, 'token_weights');
    near(results.segment_weights.data, expected['segments.weights'], 2e-6, 'segment_weights');
    assert.deepEqual(results.class_probabilities.shape, [1, 3]);
    near(results.class_scores.data, expected['class.scores'], 1e-5, 'class_scores');
    near(results.class_probabilities.data, expected['class.probabilities'], 4e-6, 'class_probabilities');
    assert.deepEqual(results.token_query, matrix(inputs['tokens.query']));
  });
}

test('a state, its x with options, and its q, k and v say the same of what is around them', () => {
  const x = filled([3, 4], 1), w = seed => filled([4, 4], seed);
  const projected = {x, w_q: w(2), w_k: w(3), w_v: w(4), w_o: w(5), gamma_1: {shape: [4], data: [1, 2, 3, 4]}};
  const options = {heads: 2, block_norm: 'pre', block_activation: 'gelu', segment_tokens: 2};
  const results = run({...projected, options}, '--outputs', 'block:residual_1,block:dropout_1,token_weights,gamma_1');
  near(results['block:residual_1'].data, results['block:dropout_1'].data.map((v, i) => v + x.data[i]), 1e-5, 'x + attention');
  assert.deepEqual(results.gamma_1.data, [1, 2, 3, 4]);
  assert.ok(Math.abs(results.token_weights.data[0] + results.token_weights.data[1] - 1) < 1e-6);
  const q = filled([2, 3, 2], 1), k = filled([2, 3, 2], 2), v = filled([2, 3, 2], 3);
  const state = {version: 1, mode: 'qkv', tokens: 3, heads: 2, d_k: 2, causal: true, labels: ['a', 'b', 'c'], q, k, v};
  const outputs = ['--outputs', 'block:norm_1,block:norm_2,token_weights,segment_weights,w_2'];
  const set = ['--set', 'block_seed=9', 'segment_seed=4', 'block_norm=pre', 'block_dropout=0.5', 'segment_tokens=1'];
  assert.deepEqual(run({q, k, v, options: {causal: true}}, ...set, ...outputs), run(state, ...set, ...outputs));
});

const data = (message, says, content, ...args) => test(`refused: ${message}`, () => {
  const sentence = refuses(args.includes('--kernel') || args.includes('--set') ? 2 : 1, content, ...args);
  for (const part of says) assert.ok(sentence.includes(part), `${JSON.stringify(part)} is not in: ${sentence}`);
});
const norm = ['--outputs', 'block:norm_2'];
const of = (options, more = {}) => layer({options, ...more});
data('a place that is none', ['options.block_norm', '"both"', '"pre"'], of({block_norm: 'both'}));
data('a place that is none, on the command line', ['--set block_norm', '"both"'], layer(), '--set', 'block_norm=both');
data('a chance above the highest', ['options.block_dropout', '0.9'], of({block_dropout: 1}));
data('a seed that is no whole number', ['options.segment_seed', '0.5'], of({segment_seed: 0.5}));
data('no hidden units', ['options.block_hidden'], of({block_hidden: 0}));
data('an epsilon of 0', ['options.block_epsilon'], of({block_epsilon: 0}));
data('segments at labels that are not there', ['options.segment_by', '"punctuation"', 'labels'], of({segment_by: 'punctuation'}), '--outputs', 'token_weights');
data('nothing is normalised', ['block:norm_2: nothing is normalised', '"post" or "pre"'], of({block_norm: 'none'}), ...norm);
data('pre-norm of another width', ['block:norm_2: nothing is normalised', 'to "post".'], of({block_norm: 'pre'}, {v: filled([2, 4, 3], 1)}), ...norm);
data('a parameter of another width', ['gamma_1.shape', '[3]', '[1, 4]'], layer({gamma_1: [1, 2, 3]}), ...norm);
data('a matrix of another hidden width', ['w_1.shape', '[4, 4]', '[4, 8]'], layer({w_1: filled([4, 4], 1)}), ...norm);
data('a parameter that is no tensor', ['w_1.shape', 'a single value'], layer({w_1: 3}));
data('a parameter twice', ['"b_1"', 'twice'], '{"b_1": [1], "b_1": [1]}');
data('no queries', ['q.shape', 'no tokens'], layer({q: {shape: [2, 0, 2], data: []}}), ...norm);
data('no keys', ['k.shape', 'no tokens'], {q: filled([1, 2], 1), k: {shape: [0, 2], data: []}, v: {shape: [0, 2], data: []}}, ...norm);
data('a kernel', ['--kernel', 'leave it out'], layer(), ...norm, '--kernel', 'scalar');
data('x_kv with other entries than x', ['x_kv.shape', 'a batch of 2'], {x: filled([2, 2, 3], 1), x_kv: filled([3, 4, 3], 2), w_q: filled([3, 4], 2), w_k: filled([3, 4], 3), w_v: filled([3, 4], 4)});
data('more tokens than the board has', ['q.shape', 'too many'], {q: filled([5000, 1], 1), k: [[1]], v: [[1]]}, ...norm);

test('options of what nobody asks for are checked, and change nothing', () => {
  assert.deepEqual(run(layer({options: {block_norm: 'pre', segment_tokens: 3}})), run(layer()));
});

test('help lists the stages, the parameters and their options', () => {
  const help = attn('run', '--help').stdout;
  for (const word of ['block:STAGE', 'residual_2', 'token_weights', 'gamma_1', 'segment_query', 'block_epsilon', 'segment_by'])
    assert.ok(help.includes(word), word);
  assert.equal(attn('run', file(layer()), '--outputs', 'block:norm2').stderr.includes('perhaps block:norm_2, block:norm_1 or'), true);
});
