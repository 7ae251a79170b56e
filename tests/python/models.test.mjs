// Real models: small ones created from their configurations, a trained one, and the layers of torch.nn. What attn computes from recorded
// files must agree with the models (output_attentions), in every layer and head.
import assert from 'node:assert/strict';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {run, script} from './installed.mjs';
import {models} from './models.mjs';

process.env.HF_HUB_OFFLINE = '1';
const attn = process.env.ATTN ?? fileURLToPath(new URL('../../build/native/attn', import.meta.url));
let folder, found;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'models-'));
  const lines = run(models(), script('models.py'), attn, folder).trim().split('\n');
  found = new Map(lines.map((line) => JSON.parse(line)).map(({model, ...rest}) => [model, rest]));
});
after(() => rmSync(folder, {recursive: true}));
const of = (name) => found.get(name) ?? assert.fail(`${name} is not among ${[...found.keys()].join(', ')}`);

test('the weights are those of the model to 1e-5, in every layer and head of every model', () => {
  const compared = [...found].filter(([, {worst}]) => worst);
  assert.equal(compared.length, 35);
  for (const [name, {worst}] of compared) for (const kind of ['npz', 'safetensors']) assert.ok(worst[kind] <= 1e-5, `${name}, ${kind}: ${worst[kind]}`);
});

test('a causal mask is the option, heads that share keys are told, names and tokens are there', () => {
  const gpt2 = of('GPT-2'), llama = of('Llama'), mini = of('all-MiniLM-L6-v2'), t5 = of('T5');
  assert.deepEqual([gpt2.layers, gpt2.heads, gpt2.kvHeads, gpt2.causal, gpt2.mask], [3, 4, 4, true, false]);
  assert.deepEqual([llama.layers, llama.heads, llama.kvHeads, llama.causal, llama.mask], [3, 8, 2, true, false]);
  assert.equal(of('Llama, padded').mask, 'bool');
  assert.equal(of('BLOOM').mask, 'float32');
  assert.deepEqual([mini.layers, mini.heads], [6, 12]);
  assert.deepEqual(mini.tokens, ['[CLS]', 'the', 'animal', 'did', 'not', 'cross', 'the', 'street', 'because', 'it', 'was', 'too', 'tired', '.', '[SEP]']);
  assert.equal(mini.names[5], 'encoder.layer.5.attention.self');
  assert.equal(t5.scale, 1);
  assert.equal(t5.names.filter((name) => name.includes('EncDecAttention')).length, 2);
  assert.deepEqual([of('scaled_dot_product_attention causal').causal, of('scaled_dot_product_attention with a mask').mask], [true, 'bool']);
  assert.equal(of('by hand').softcap, 3);
  assert.equal(of('by hand').off, 0);
  for (const name of ['MultiheadAttention cross', 'MultiheadAttention cross, without weights']) assert.equal(of(name).scale, 0.5, name);
  assert.deepEqual(of('TransformerDecoderLayer').tokens, ['a', 'b', 'c', 'd', 'e']);
});

test('the example "A real model" is that layer of the model', () => {
  const {off, weights, same} = of('the example');
  assert.ok(off <= 0.00006, `${off}`);
  assert.ok(weights <= 0.0005, `${weights}`);
  assert.ok(same);
});

test('the recipes of the README give the same, as they are written', () => {
  const readme = fileURLToPath(new URL('../../web/python/README.md', import.meta.url));
  const {ran, lines} = JSON.parse(run(models(), {cwd: folder}, script('recipes.py'), readme, attn).trim().split('\n').at(-1));
  assert.deepEqual(ran.map(([name]) => name), ['record', 'Playground', 'BERT', 'Llama', 'MultiheadAttention', 'weights alone']);
  for (const [name, off] of ran) assert.ok(off <= 1e-5, `${name}: ${off}`);
  assert.ok(Math.max(...lines) <= 15, String(lines));
});

test('what is no attention, or another kind of it, is refused with the reason, and no hook is left', () => {
  const {said, left} = of('refusals');
  assert.match(said[0], /^ValueError: model: no attention was found in it/);
  assert.match(said[1], /no attention was found/);
  assert.match(said[2], /^Clamped was not recorded: it is no plain softmax of scaled products\. \| ValueError/);
  assert.match(said[3], /^TypeError: model: must be a torch\.nn\.Module, not str/);
  assert.ok(left);
});
