// `attn train`: its output and files, that runs are reproducible bit for bit, Ctrl-C, and its errors.
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {existsSync, readFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {test} from 'node:test';
import {until} from '../until.mjs';
import {attn, folder, here, refusal} from './harness.mjs';

const program = process.env.ATTN ? resolve(process.env.ATTN) : resolve(here, '../../build/native/attn');

function train(...args) {
  const done = attn('train', ...args);
  assert.equal(done.status, 0, done.stderr);
  assert.equal(done.stderr, '', 'no progress bar where nobody looks');
  return done.stdout;
}
const lines = (text) => text.trimEnd().split('\n').map((line) => JSON.parse(line));

test('--json: a line at each measure, the last one of the last step, and tags is learned', () => {
  const all = lines(train('--task', 'tags', '--steps', '300', '--json'));
  assert.ok(all.length > 30);
  for (const line of all) {
    assert.deepEqual(Object.keys(line), ['step', 'loss', 'accuracy', 'held_out', 'gradient_norm']);
    assert.deepEqual(Object.keys(line.held_out), ['loss', 'accuracy']);
  }
  assert.deepEqual(all.map(({step}) => step), [...new Set(all.map(({step}) => step))].sort((a, b) => a - b));
  assert.equal(all.at(-1).step, 300);
  assert.ok(all.at(-1).held_out.accuracy > 0.97 && all[0].held_out.accuracy < 0.6);
  assert.ok(all.at(-1).held_out.loss < 0.2 * all[0].held_out.loss);
});

test('what the lesson on scaling, layer normalisation and dropout says of its runs is so', () => {
  const end = (task, steps, ...set) => lines(train('--task', task, '--steps', `${steps}`, '--json', ...set.flatMap((one) => ['--set', one]))).at(-1);
  const right = (...run) => end(...run).held_out.accuracy;
  const near = (value, wanted, within = 0.04) => assert.ok(Math.abs(value - wanted) < within, `${value}, not ${wanted}`);
  near(right('sort', 300, 'heads=1', 'd_model=64'), 0.96);
  near(right('sort', 300, 'heads=1', 'd_model=64', 'score=dot'), 0.46, 0.1);
  near(right('reverse', 300, 'layers=4', 'rate=0.01'), 1);
  near(right('reverse', 300, 'layers=4', 'rate=0.01', 'layer_norm=false'), 0.36, 0.1);
  near(right('previous', 300, 'layers=4', 'optimizer=sgd', 'rate=0.1'), 0.9, 0.06);
  assert.equal(attn('train', '--task', 'previous', '--steps', '10', '--set', 'layers=4', 'optimizer=sgd', 'rate=0.1', 'layer_norm=false').status, 1, 'diverges');
  for (const norm of [true, false]) assert.ok(end('reverse', 1000, `layer_norm=${norm}`).held_out.loss < 0.005);
  const [with_, without] = [end('sort', 1000, 'dropout=0.3'), end('sort', 1000)];
  near(with_.held_out.accuracy, 0.95);
  near(without.held_out.accuracy, 0.96);
  assert.ok(with_.accuracy < with_.held_out.accuracy - 0.05, 'numbers are missing from its batches');
});

test('the same seed gives the same run bit for bit, another one another', () => {
  const run = (seed) => train('--task', 'reverse', '--steps', '25', '--seed', seed, '--json');
  assert.equal(run('3'), run('3'));
  assert.notEqual(run('3'), run('4'));
  const scalar = () => train('--task', 'previous', '--steps', '20', '--kernel', 'scalar', '--json');
  assert.equal(scalar(), scalar());
});

test('--out: every weight by its name, as safetensors and as JSON, with the same numbers', () => {
  const paths = ['weights.safetensors', 'weights.json'].map((name) => join(folder, name));
  for (const path of paths) {
    assert.match(train('--task', 'induction', '--steps', '5', '--set', 'd_model=8', 'feed_forward=false', '--out', path), /^induction: 5 steps, loss [\d.]+; held out: loss /);
  }
  const json = JSON.parse(readFileSync(paths[1], 'utf8'));
  assert.deepEqual(json.embedding.shape, [28, 8]);
  for (const layer of [0, 1]) {
    for (const name of ['w_q', 'w_k', 'w_v', 'w_o']) assert.deepEqual(json[`layers.${layer}.${name}`].shape, [8, 8]);
    assert.equal(json[`layers.${layer}.w_1`], undefined);
  }
  assert.deepEqual(json.unembedding_bias.shape, [28]);
  const back = join(folder, 'again.json');
  assert.equal(attn('convert', paths[0], back).status, 0);
  assert.deepEqual(JSON.parse(readFileSync(back, 'utf8')), json);
});

test('Ctrl-C keeps what was learned so far', {timeout: 120_000}, async () => {
  const out = join(folder, 'interrupted.json');
  const child = spawn(program, ['train', '--task', 'sort', '--steps', '100000000', '--json', '--out', out], {stdio: ['ignore', 'pipe', 'pipe']});
  let said = '', wrong = '';
  child.stdout.on('data', (piece) => said += piece);
  child.stderr.on('data', (piece) => wrong += piece);
  const ended = new Promise((done) => child.on('close', done));
  await until('some steps', () => said.split('\n').length > 20);
  child.kill('SIGINT');
  assert.equal(await ended, 1);
  const last = lines(said).at(-1);
  assert.match(wrong, new RegExp(`^attn: The run was interrupted after step ${last.step}; what was learned so far is in .*interrupted.json.\n$`));
  assert.ok(JSON.parse(readFileSync(out, 'utf8')).unembedding.data.every(Number.isFinite));
});

test('a rate that blows up stops at the first number that is not finite, and what stood before it is written', () => {
  const out = join(folder, 'blown.json');
  const done = attn('train', '--task', 'tags', '--set', 'optimizer=sgd', 'rate=1000', 'layer_norm=false', '--out', out);
  assert.equal(done.status, 1);
  assert.match(done.stderr, /^attn: train_rate: at step \d+ the \w+ was not a finite number, so the run went back to step \d+; use a lower rate than 1000 and begin anew\.\n$/);
  assert.ok(JSON.parse(readFileSync(out, 'utf8')).unembedding.data.every(Number.isFinite));
});

test('--json: where what is held out overflows before the batch does, its loss is null', () => {
  const done = attn('train', '--task', 'tags', '--set', 'optimizer=sgd', 'rate=1', 'layer_norm=false', '--steps', '60', '--json');
  const losses = done.stdout.trim().split('\n').map((line) => JSON.parse(line).held_out.loss);
  assert.ok(losses.includes(null), losses.join());
  assert.ok(Number.isFinite(losses.at(-1)), 'that of the step that the run went back to');
});

test('what is wrong with the command line is one sentence', () => {
  for (const [sentence, ...args] of [
    [/train_task: "tag" is unknown; use "tags", /, '--task', 'tag'],
    [/train_heads: 3 heads do not divide d_model = 16; use a divisor of it/, '--set', 'heads=3'],
    [/there is no "head"; perhaps train_heads/, '--set', 'head=2'],
    [/it is not of the form key=value/, '--set', 'heads'],
    [/train_layers: 9 is too large; use 1 to 4/, '--set', 'layers=9'],
    [/line 1: "unseen" is in no sentence to learn from/, '--set', 'sentences=I saw unseen'],
    [/steps/, '--steps', '0'],
    [/--kernel: "fast" cannot run here/, '--kernel', 'fast'],
    [/weights\.png/, '--out', join(folder, 'weights.png')],
    [/2,000,000|2000000/, '--set', 'd_model=256', 'layers=4', '--steps', '1'],
  ]) {
    assert.match(refusal(2, attn('train', ...args)), sentence);
  }
  assert.ok(!existsSync(join(folder, 'weights.png')));
});
