// `attn grad`: gradients, from the file's upstream gradients and for a single cell, against central differences of what `attn run`
// computes; and its errors. Differences of float32 results have rounding errors: steps of 2^-7, and results within 4e-3 of the largest.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {attn, file, filled, folder, layer, numbers, refusal, run, tensor} from './harness.mjs';

const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

function grad(content, ...args) {
  const done = attn('grad', file(content), ...args);
  assert.equal(done.status, 0, done.stderr);
  assert.equal(done.stderr, '');
  return JSON.parse(done.stdout);
}
const refuses = (status, content, ...args) => refusal(status, attn('grad', file(content), ...args));

/** Compares the gradient of `value(content)` with respect to a tensor of a file with central differences, at some of its cells. */
function compare(content, name, gradient, value, within = 4e-3) {
  const {shape, data} = content[name], step = 2 ** -7;
  assert.deepEqual(gradient.shape, shape, name);
  assert.equal(gradient.data.length, data.length);
  const most = Math.max(0.1, ...gradient.data.map(Math.abs));
  for (let n = 0; n < 2; ++n) {
    const i = Math.floor(n * 7919) % data.length;
    const at = (more) => value({...content, [name]: {shape, data: data.map((x, j) => j === i ? x + more : x)}});
    const difference = (at(step) - at(-step)) / (2 * step);
    assert.ok(Math.abs(difference - gradient.data[i]) <= within * most, `${name}[${i}]: ${gradient.data[i]}, and ${difference} by differences`);
  }
}

test('d_output and d_weights: the product with the Jacobian, for layouts, batches, groups and options', () => {
  const cases = {
    plain: layer(),
    'one head': {q: filled([3, 2], 1), k: filled([4, 2], 2), v: filled([4, 3], 3)},
    batch: {q: filled([2, 4, 3, 2], 1), k: filled([2, 2, 4, 2], 2), v: filled([2, 2, 4, 3], 3), options: {causal: true, temperature: 0.7}},
    packed: {q: filled([2, 3, 8], 1), k: filled([2, 4, 4], 2), v: filled([2, 4, 6], 3), options: {layout: 'packed', heads: 4, kv_heads: 2, softcap: 2}},
    scored: {q: filled([2, 3, 4], 1), k: filled([2, 4, 4], 2), v: filled([2, 4, 2], 3), w_a: filled([2, 4, 4], 4), options: {score: 'general', scale: 1}},
    additive: {q: filled([2, 3, 4], 1), k: filled([2, 4, 4], 2), v: filled([2, 4, 2], 3), options: {score: 'additive', normalizer: 'sigmoid'}},
    masked: {...layer(), mask: tensor([3, 4], [1, 1, 0, 1, 1, 0, 1, 1, 0, 0, 0, 0].map(Boolean))},
    lengths: {q: filled([2, 2, 3, 2], 1), k: filled([2, 2, 5, 2], 2), v: filled([2, 2, 5, 2], 3), key_lengths: tensor([2], [3, 5]), options: {causal: true}},
    past: {q: filled([2, 2, 2], 1), k: filled([2, 2, 2], 2), v: filled([2, 2, 2], 3), past_k: filled([2, 3, 2], 4), past_v: filled([2, 3, 2], 5), options: {causal: true}},
  };
  for (const [what, content] of Object.entries(cases)) {
    const {output, weights} = run(content, '--outputs', 'output,weights');
    const dOutput = filled(output.shape, 8), dWeights = filled(weights.shape, 9);
    const value = (changed) => {
      const {output: o, weights: w} = run(changed, '--outputs', 'output,weights');
      return dot(o.data, dOutput.data) + dot(w.data, dWeights.data);
    };
    const gradients = grad({...content, d_output: dOutput, d_weights: dWeights});
    assert.deepEqual(Object.keys(gradients), ['d_q', 'd_k', 'd_v'], what);
    for (const name of ['q', 'k', 'v']) compare(content, name, gradients[`d_${name}`], value);
    const half = grad({...content, d_output: dOutput}, '--wrt', 'v,q'), rest = grad({...content, d_weights: dWeights}, '--wrt', 'q');
    assert.deepEqual(Object.keys(half), ['d_v', 'd_q'], what);
    half.d_q.data.forEach((x, i) => assert.ok(Math.abs(x + rest.d_q.data[i] - gradients.d_q.data[i]) < 1e-4, `${what}: both are their sum`));
  }
  const scored = cases.scored, {output} = run(scored), dOutput = filled(output.shape, 8);
  compare(scored, 'w_a', grad({...scored, d_output: dOutput}, '--wrt', 'w_a').d_w_a, (changed) => dot(run(changed).output.data, dOutput.data));
  const sunk = {...cases.batch, sink: filled([4], 6)}, ofSunk = filled(run(sunk).output.shape, 8);
  compare(sunk, 'sink', grad({...sunk, d_output: ofSunk}, '--wrt', 'sink').d_sink, (changed) => dot(run(changed).output.data, ofSunk.data));
});

test('--target: one cell of any step; of a batch its entry comes first', () => {
  const content = {q: filled([2, 2, 3, 2], 1), k: filled([2, 2, 3, 2], 2), v: filled([2, 2, 3, 2], 3), options: {causal: true}};
  const cell = (name, index) => (changed) => run(changed, '--outputs', name)[name].data[index];
  compare(content, 'q', grad(content, '--wrt', 'q', '--target', 'weights[1,2,1]').d_q, cell('weights', 9 + 6 + 1));
  compare(content, 'k', grad(content, '--wrt', 'k', '--target', 'weights[1, 0,2,1]').d_k, cell('weights', 18 + 6 + 1));
  compare(content, 'v', grad(content, '--wrt', 'v', '--target', 'output[1,1,2,0]').d_v, cell('output', 22));
  compare(content, 'k', grad(content, '--wrt', 'k', '--target', 'scores[0,1,2]').d_k, cell('scores', 5));
  const zero = grad(content, '--wrt', 'q,k', '--target', 'masked[0,0,2]');
  assert.ok([...zero.d_q.data, ...zero.d_k.data].every((x) => x === 0), 'a masked cell has gradient 0');
});

test('a mask of numbers is an input: bias, added up where it was broadcast', () => {
  for (const shape of [[4], [3, 4], [2, 1, 4], [2, 3, 4]]) {
    const content = {...layer(), mask: filled(shape, 4)}, dOutput = filled([2, 3, 2], 8);
    const {d_bias} = grad({...content, d_output: dOutput}, '--wrt', 'bias');
    compare(content, 'mask', d_bias, (changed) => dot(run(changed).output.data, dOutput.data));
  }
});

test('x and its weights, and a state', () => {
  const content = {x: filled([3, 4], 1), w_q: filled([4, 4], 2), w_k: filled([4, 4], 3), w_v: filled([4, 6], 4), w_o: filled([6, 4], 5), options: {heads: 2, causal: true}};
  const {output} = run(content), dOutput = filled(output.shape, 8);
  const all = grad({...content, d_output: dOutput});
  assert.deepEqual(Object.keys(all), ['d_x', 'd_w_q', 'd_w_k', 'd_w_v', 'd_w_o']);
  for (const name of ['x', 'w_q', 'w_k', 'w_v', 'w_o']) compare(content, name, all[`d_${name}`], (changed) => dot(run(changed).output.data, dOutput.data), 1e-2);
  const target = grad(content, '--wrt', 'x,q', '--target', 'weights[1,2,0]');
  compare(content, 'x', target.d_x, (changed) => run(changed, '--outputs', 'weights').weights.data[9 + 6], 1e-2);
  assert.deepEqual(target.d_q.shape, [2, 3, 2]);

  const board = JSON.parse(readFileSync(new URL('../golden/states/qkv.json', import.meta.url), 'utf8'));
  const {d_q} = grad(board, '--wrt', 'q', '--target', 'weights[0,2,0]');
  assert.equal(d_q.shape.length, 3);
  assert.ok(d_q.data.some((x) => x !== 0));
});

test('--out, --set, help, and a hard maximum says why all is 0', () => {
  const out = join(folder, 'gradient.json'), path = file(layer({d_output: filled([2, 3, 2], 4)}));
  assert.deepEqual([attn('grad', path, '--out', out).stdout, readFileSync(out, 'utf8')], ['', attn('grad', path).stdout]);
  assert.equal(attn('grad', '--set', 'causal=true', path).stdout, attn('grad', path, '--set', 'causal=true').stdout);
  assert.notEqual(attn('grad', '--set', 'causal=true', path).stdout, attn('grad', path).stdout);
  const hard = attn('grad', path, '--wrt', 'q', '--set', 'normalizer=hardmax');
  assert.equal(hard.status, 0);
  assert.equal(hard.stderr, 'attn: The normaliser is a hard maximum, a step: the gradient through it is 0.\n');
  assert.ok(JSON.parse(hard.stdout).d_q.data.every((x) => x === 0));
  const help = attn('grad', '--help').stdout;
  for (const word of ['d_output', 'd_weights', '--target', '--wrt', 'weights[0,3,2]']) assert.ok(help.includes(word), word);
  for (const line of help.split('\n')) assert.ok(line.length <= 130, line);
});

test('refusals: one sentence, 2 for the command line and 1 for the data', () => {
  const given = layer({d_output: filled([2, 3, 2], 4)});
  assert.match(refuses(1, layer()), /d_output: it is missing; give d_output, d_weights or both, or name a cell with --target weights\[0,3,2\]\./);
  assert.match(refuses(1, layer({d_output: filled([3, 2], 4)})), /d_output\.shape: \[3, 2\] does not fit; it must be \[2, 3, 2\], as attn run writes it\./);
  assert.match(refuses(1, layer({d_weights: filled([2, 3, 3], 4)})), /d_weights\.shape: \[2, 3, 3\] does not fit; it must be \[2, 3, 4\]/);
  assert.match(refuses(1, layer({d_output: tensor([2, 3, 2], [...numbers(11), '-inf'])})), /d_output/);
  assert.match(refuses(1, {...given, q: undefined}), /q: it is missing/);
  assert.match(refuses(2, given, '--target', 'weights[0,0,0]'), /--target: the file has d_output already; leave one of the two out\./);
  for (const bad of ['weights', 'weights[0,0]', 'weights[0,0,0,0,0]', 'weights[0,-1,0]', 'weights[a,b,c]', 'weights[0;0;0]', 'weights[0,0,0', 'weights[0,0,]', 'weights[99999999999,0,0]'])
    assert.match(refuses(2, layer(), '--target', bad), /--target: .* is no cell; name one as weights\[0,3,2\]: head, row and column, from 0\./, bad);
  assert.match(refuses(2, layer(), '--target', 'wieghts[0,0,0]'), /--target: "wieghts" is not a tensor of a layer; perhaps .*"?weights"?.* was meant\./);
  assert.match(refuses(2, layer(), '--target', 'weights[2,0,0]'), /--target: 2 is not in weights; use 0 to 1\./);
  assert.match(refuses(2, layer(), '--target', 'weights[0,0,4]'), /--target: 4 is not in weights; use 0 to 3\./);
  assert.match(refuses(2, layer(), '--target', 'weights[1,0,0,0]'), /--target: the batch has 1 entries; use 0 to 0/);
  assert.match(refuses(2, layer(), '--target', 'softcapped[0,0,0]'), /--target: softcapped is not part of this layer/);
  assert.match(refuses(2, given, '--wrt', 'z'), /--wrt: "z" is not an input of a layer; perhaps .* was meant\./);
  assert.match(refuses(2, given, '--wrt', 'q,,k'), /--wrt: "" is not an input/);
  assert.match(refuses(2, given, '--wrt', 'x'), /--wrt: x is not part of this layer; name an input that it has\./);
  assert.match(refuses(2, given, '--wrt', 'bias'), /--wrt: bias is the mask of numbers, and the file has none/);
  assert.match(refuses(2, given, '--set', 'causal'), /--set causal: it is not of the form key=value/);
  assert.match(refuses(2, given, '--set', 'normalizer=softmux'), /--set normalizer: "softmux" is unknown/);
  assert.match(refuses(1, {...given, options: {heads: 3}}), /options\.heads: 3 does not fit/);
  refusal(2, attn('grad'));
  refusal(2, attn('grad', 'x.png', '--target', 'weights[0,0,0]'));
});

test('files of every format, and several, as attn run takes them', () => {
  const q = {shape: [1, 3, 2], data: numbers(6)}, k = {shape: [1, 3, 2], data: numbers(6, 2)}, v = {shape: [1, 3, 2], data: numbers(6, 3)}, d_output = {shape: [1, 3, 2], data: numbers(6, 4)};
  const json = file({q, k, v, d_output}), wanted = JSON.parse(attn('grad', json).stdout), made = {};
  for (const ending of ['npz', 'safetensors']) {
    made[ending] = join(folder, `grad.${ending}`);
    assert.equal(attn('convert', json, made[ending]).status, 0);
    assert.deepEqual(JSON.parse(attn('grad', made[ending]).stdout), wanted);
    const out = join(folder, `answer.${ending}`);
    assert.equal(attn('grad', made[ending], '--out', out).status, 0);
    assert.deepEqual(JSON.parse(attn('convert', out, '-').stdout), wanted);
  }
  const parts = ['q', 'k', 'v', 'd_output'].map((name) => {
    const path = join(folder, `${name}.npy`);
    assert.equal(attn('convert', json, path, '--only', name).status, 0);
    return path;
  });
  assert.deepEqual(JSON.parse(attn('grad', ...parts).stdout), wanted);
  assert.match(refusal(2, attn('grad', json, '--out', join(folder, 'a.txt'))), /--out .*a\.txt: the name does not end in/);
});

test('of a trained model it is said how gradients of a layer are had, which is so', () => {
  const model = join(folder, 'model.npz'), layer0 = join(folder, 'layer0.npz');
  assert.equal(attn('train', '--task', 'induction', '--steps', '1', '--out', model).status, 0);
  assert.match(refusal(2, attn('grad', model)), /model\.npz: it is a trained model; gradients are those of one layer\. Write its q, k and v/);
  assert.equal(attn('run', model, '--set', 'tokens=3,1,4', '--outputs', 'layers.0.q,layers.0.k,layers.0.v', '--out', layer0).status, 0);
  const {d_q: found} = JSON.parse(attn('grad', layer0, '--prefix', 'layers.0', '--set', 'causal=true', '--target', 'weights[0,2,1]').stdout);
  assert.equal(found.shape.at(-2), 3);
  assert.ok(found.data.some((one) => Math.abs(one) > 1e-6));
});
