// `attn run` on what `attn train` wrote: predictions and every tensor of a layer, against NumPy.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {python} from '../numpy.mjs';
import {attn, file, folder, layer, refusal} from './harness.mjs';

function trained(name, ...args) {
  const path = join(folder, name), done = attn('train', ...args, '--out', path);
  assert.equal(done.status, 0, done.stderr);
  return path;
}

function results(...args) {
  const done = attn('run', ...args);
  assert.deepEqual([done.status, done.stderr], [0, '']);
  return JSON.parse(done.stdout);
}

const near = (one, other, bound) => {
  assert.deepEqual(one.shape, other.shape);
  const worst = Math.max(...one.data.map((value, i) => Math.abs(value - other.data[i])));
  assert.ok(worst <= bound, `${worst}`);
};

// Vaswani et al. 2017 with the normalisation before each part, in plain NumPy and float64.
const PROGRAM = `
import json, sys
import numpy as np
path, heads, tokens, rotary, off = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]), sys.argv[4] == "rotary", json.loads(sys.argv[5])
p = {name: value.astype(np.float64) for name, value in np.load(path).items() if value.dtype.kind == "f"}
n, d = len(tokens), p["embedding"].shape[1]
w = d // heads
def norm(x, gamma, delta):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * gamma + delta
def turned(x):
    angle = np.arange(n)[:, None] / 10000 ** (np.arange(0, w, 2) / w)
    even, odd = x[..., 0::2], x[..., 1::2]
    out = np.empty_like(x)
    out[..., 0::2], out[..., 1::2] = even * np.cos(angle) - odd * np.sin(angle), even * np.sin(angle) + odd * np.cos(angle)
    return out
def split(x):
    return x.reshape(n, heads, w).transpose(1, 0, 2)
x = p["embedding"][tokens]
if not rotary:
    angle = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    x[:, 0::2] += np.sin(angle)
    x[:, 1::2] += np.cos(angle)
found = {}
for layer in range(2):
    name = f"layers.{layer}."
    h = norm(x, p[name + "gamma_1"], p[name + "delta_1"])
    q, k, v = (split(h @ p[name + one]) for one in ("w_q", "w_k", "w_v"))
    if rotary:
        q, k = turned(q), turned(k)
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(w)
    masked = np.where(np.tril(np.ones((n, n))) > 0, scores, -np.inf)
    weights = np.exp(masked - masked.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    output = weights @ v
    output[[head for at, head in off if at == layer]] = 0
    output = output.transpose(1, 0, 2).reshape(n, d) @ p[name + "w_o"]
    found.update({name + "x": h, name + "scores": scores, name + "weights": weights, name + "projected": output})
    x = x + output
    h = norm(x, p[name + "gamma_2"], p[name + "delta_2"])
    x = x + np.maximum(0, h @ p[name + "w_1"] + p[name + "b_1"]) @ p[name + "w_2"] + p[name + "b_2"]
found["logits"] = norm(x, p["gamma"], p["delta"]) @ p["unembedding"] + p["unembedding_bias"]
print(json.dumps({name: {"shape": value.shape, "data": value.ravel().tolist()} for name, value in found.items()}))
`;

const inNumpy = (path, tokens, position, off = []) => {
  const done = spawnSync(python, ['-c', PROGRAM, path, '2', JSON.stringify(tokens), position, JSON.stringify(off)], {encoding: 'utf8'});
  assert.equal(done.stderr, '');
  return JSON.parse(done.stdout);
};

for (const position of ['sinusoidal', 'rotary']) {
  test(`a trained model gives the logits, and each layer its tensors, as NumPy does (${position})`, () => {
    const path = trained(`${position}.npz`, '--task', 'induction', '--steps', '60', '--set', 'heads=2', 'd_model=16', `position=${position}`), tokens = [3, 1, 4, 1, 5, 3, 1];
    const wanted = inNumpy(path, tokens, position), names = Object.keys(wanted).filter((name) => !name.endsWith('.projected'));
    const found = results(path, '--set', `tokens=${tokens}`, '--outputs', `tokens,probabilities,weights,${names}`);
    assert.deepEqual(found.tokens, {shape: [7], data: tokens});
    for (const name of names) near(found[name], wanted[name], 1e-4);
    assert.deepEqual(found.weights.shape, [2, 2, 7, 7]);
    near({shape: [2, 7, 7], data: found.weights.data.slice(0, 98)}, found['layers.0.weights'], 1e-6);
    assert.ok(names.length === 7 && found.logits.shape[0] === 7);
    for (let row = 0; row < 7; ++row) {
      const exps = found.logits.data.slice(28 * row, 28 * row + 28).map(Math.exp), sum = exps.reduce((a, b) => a + b);
      exps.forEach((one, i) => assert.ok(Math.abs(one / sum - found.probabilities.data[28 * row + i]) < 1e-5));
    }
  });
}

test('heads are switched off, the loss is of given targets, and each head has its effect, as NumPy has them', () => {
  const path = trained('off.npz', '--task', 'induction', '--steps', '60', '--set', 'heads=2', 'd_model=16', 'position=rotary'), tokens = [3, 1, 4, 1, 5, 3, 1], last = tokens.length - 1;
  const shares = ({data}, row) => {
    const exps = data.slice(28 * row, 28 * row + 28).map(Math.exp), sum = exps.reduce((a, b) => a + b);
    return exps.map((one) => one / sum);
  };
  const ofNumpy = (off) => inNumpy(path, tokens, 'rotary', off).logits, run = (outputs, ...set) => results(path, '--set', `tokens=${tokens}`, ...set, '--outputs', outputs);
  const whole = ofNumpy([]), {logits} = run('logits', 'off=1.0,0.1'), loss = (one, targets) => {
    const counted = targets.flatMap((target, row) => target < 0 ? [] : [-Math.log(shares(one, row)[target])]);
    return counted.reduce((a, b) => a + b) / counted.length;
  };
  near(logits, ofNumpy([[1, 0], [0, 1]]), 1e-4);
  assert.ok(Math.max(...logits.data.map((one, i) => Math.abs(one - whole.data[i]))) > 1e-2, 'the heads matter');
  near(run('loss', 'targets=2').loss, {shape: [1], data: [loss(whole, [-1, -1, -1, -1, -1, -1, 2])]}, 1e-5);
  near(run('loss', 'targets=-,e,3,-,b,a,c', 'off=0.1').loss, {shape: [1], data: [loss(ofNumpy([[0, 1]]), [-1, 4, 3, -1, 1, 0, 2])]}, 1e-5);
  const heads = [[0, 0], [0, 1], [1, 0], [1, 1]].map((head) => ofNumpy([head])), before = shares(whole, last);
  const kl = heads.map((one) => shares(one, last).reduce((sum, q, i) => sum + before[i] * Math.log2(before[i] / q), 0));
  near(run('effect').effect, {shape: [2, 2], data: kl}, 1e-4);
  near(run('effect', 'targets=2').effect, {shape: [2, 2], data: heads.map((one) => loss(one, [-1, -1, -1, -1, -1, -1, 2]) - loss(whole, [-1, -1, -1, -1, -1, -1, 2]))}, 1e-4);
});

test('the same model in every format, and its vocabulary beside it', () => {
  const all = ['npz', 'json', 'safetensors'].map((ending) => trained(`sort.${ending}`, '--task', 'sort', '--steps', '20'));
  const copy = join(folder, 'copy.safetensors');
  assert.equal(attn('convert', all[0], copy).status, 0);
  const said = [...all, copy].map((path) => results(path, '--text', '3 1 4'));
  for (const one of said) assert.deepEqual(one, said[0]);
  assert.deepEqual(results(all[0], '--set', 'tokens=3,1,4'), said[0]);
  const {vocabulary, classes, training} = JSON.parse(readFileSync(all[1], 'utf8'));
  assert.deepEqual([vocabulary.length ?? vocabulary.data.length, (classes.data ?? classes).slice(0, 3)], [10, ['0', '1', '2']]);
  assert.match(String(training.data ?? training), /"train_task": "sort"/);
});

test('words are tagged and translated, by a model that learned to', () => {
  const tags = trained('tags.safetensors', '--task', 'tags', '--steps', '300'), {probabilities} = results(tags, '--text', 'I saw a saw', '--outputs', 'probabilities');
  const [, classes] = probabilities.shape, likeliest = (row) => {
    const shares = probabilities.data.slice(classes * row, classes * row + classes);
    return shares.indexOf(Math.max(...shares));
  };
  assert.notEqual(likeliest(1), likeliest(3), 'a verb and a noun');
  const french = trained('french.safetensors', '--task', 'translate', '--steps', '300');
  const {tokens, source, 'layers.0.cross.weights': looks} = results(french, '--text', 'the cat sees it', '--outputs', 'tokens,source,layers.0.cross.weights');
  assert.equal(source.data.length, 4);
  assert.ok(tokens.data.length > 2, 'more than the sign of the beginning');
  assert.deepEqual(looks.shape, [2, tokens.data.length, 4]);
  assert.deepEqual(results(french, '--set', `source=${source.data}`, `tokens=${tokens.data}`, '--outputs', 'layers.0.cross.weights')['layers.0.cross.weights'], looks);
});

test('what a model cannot read is one sentence', () => {
  const path = trained('small.safetensors', '--task', 'previous', '--steps', '2');
  for (const [status, sentence, ...args] of [
    [2, /--text: "zebra" is not among the 8 words of the model; the nearest are /, '--text', 'a zebra'],
    [1, /tokens: "8" is no token; give ids from 0 to 7, as in tokens=3,1,4/, '--set', 'tokens=1,8'],
    [1, /tokens: "x" is no token/, '--set', 'tokens=x'],
    [1, /tokens: \d+ tokens are too many for the model; use at most \d+/, '--set', `tokens=${Array(90).fill(1)}`],
    [1, /tokens: give either these or --text, not both/, '--set', 'tokens=1', '--text', 'a'],
    [2, /--outputs: "layers\.0\.wights" is not an output of the model; perhaps layers\.0\.weights, /, '--set', 'tokens=1', '--outputs', 'layers.0.wights'],
    [1, /targets: "zebra" is not among the 8 classes of the model; the nearest are /, '--set', 'tokens=1,2', 'targets=zebra', '--outputs', 'loss'],
    [1, /targets: there are 2; give one, for one token alone, or 3, one for each token/, '--set', 'tokens=1,2,3', 'targets=1,2', '--outputs', 'loss'],
    [1, /targets: --outputs loss needs them; give the class of the last token/, '--set', 'tokens=1', '--outputs', 'loss'],
    [1, /off: "0\.9" is no head that can be switched off; give layer\.head from 0\.0 to \d\.\d, as in off=0\.1,1\.0/, '--set', 'tokens=1', 'off=0.9'],
    [2, /--set causal=false: a trained model has its own options/, '--set', 'tokens=1', 'causal=false'],
    [2, /it is a trained model; give it tokens, as in --set tokens=3,1,4/],
    [2, /--outputs logits: only a trained model has it; give it tokens, as in --set tokens=3,1,4, or words, as in --text/, '--outputs', 'weights,logits', '--text', ''],
  ]) assert.match(refusal(status, attn('run', path, ...args)), sentence);
  assert.match(refusal(1, attn('run', file(layer({})), '--text', 'a')), /training: the file has no model as attn train writes it/);
  // The weights of another architecture, as Hugging Face names them.
  const other = file({'transformer.wte.weight': [[1, 2], [3, 4]], 'transformer.h.0.attn.c_attn.weight': [[1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]]});
  for (const args of [['--set', 'tokens=1', '--outputs', 'logits'], ['--text', 'a', '--outputs', 'effect']])
    assert.match(refusal(1, attn('run', other, ...args)), /training: the file has no model as attn train writes it; .* A model of another architecture runs in PyTorch, and record\(\) of the Python package/);
  const numbers = JSON.parse(attn('convert', path, '-').stdout);
  delete numbers.unembedding;
  assert.match(refusal(1, attn('run', file(numbers), '--set', 'tokens=1')), /unembedding: it is missing; the model needs it, \[\d+, 8\]/);
});
