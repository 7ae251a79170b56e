// Real models: small ones created from their configurations, a trained one, and the layers of torch.nn. What attn computes from recorded
// files must agree with the models (output_attentions), in every layer and head.
import assert from 'node:assert/strict';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {run, script} from './installed.mjs';
import {models, models2} from './models.mjs';

process.env.HF_HUB_OFFLINE = '1';
const attn = process.env.ATTN ?? fileURLToPath(new URL('../../build/native/attn', import.meta.url));
const readme = fileURLToPath(new URL('../../web/python/README.md', import.meta.url));
let folder, found;
const ends = new Map();  // of PyTorch 1 and 2: what models.py and table.py say
// Small matrices: several threads would only wait for each other, the longer the busier the machine is.
const alone = () => ({cwd: folder, timeout: 1_200_000, env: {...process.env, OMP_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1'}});
const lines = (text) => text.trim().split('\n').map((line) => JSON.parse(line));
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'models-'));
  for (const [end, python] of [['PyTorch 1', models()], ['PyTorch 2', models2()]]) {
    ends.set(end, {
      models: new Map(lines(run(python, alone(), script('models.py'), attn, folder)).map(({model, ...rest}) => [model, rest])),
      table: lines(run(python, alone(), script('table.py'))),
      edits: lines(run(python, alone(), script('edits.py'))),
    });
  }
  found = ends.get('PyTorch 1').models;
});
after(() => rmSync(folder, {recursive: true}));
const of = (name) => found.get(name) ?? assert.fail(`${name} is not among ${[...found.keys()].join(', ')}`);

test('the weights are those of the model to 1e-5, in every layer and head of every model, with PyTorch 1 and 2', () => {
  for (const [end, said] of ends) {
    const compared = [...said.models].filter(([, {worst}]) => worst);
    assert.equal(compared.length, 35, end);
    for (const [name, {worst}] of compared) for (const kind of ['npz', 'safetensors']) assert.ok(worst[kind] <= 1e-5, `${end}, ${name}, ${kind}: ${worst[kind]}`);
  }
});

const most = {float32: 1e-5, float64: 1e-5, float16: 2e-3, bfloat16: 2e-2};

test('every architecture is recorded in every type of number and by every implementation', () => {
  for (const [end, {table}] of ends) {
    const rows = table.filter(({kind}) => kind === 'row');
    assert.deepEqual(rows.filter(({refused}) => refused), [], end);
    for (const {name, type, by, off} of rows) if (off !== null) assert.ok(off <= most[type], `${end}: ${name} in ${type} by ${by}: ${off}`);
    assert.ok(rows.filter(({off}) => off !== null).length >= (end === 'PyTorch 2' ? 130 : 20), `${end}: ${rows.filter(({off}) => off !== null).length}`);
  }
});

test('the README has the table as it was measured here', () => {
  const text = readFileSync(readme, 'utf8'), rows = ends.get('PyTorch 2').table.filter(({kind}) => kind === 'row');
  for (const name of new Set(rows.map((row) => row.name))) {
    const line = text.split('\n').find((one) => one.startsWith(`| ${name} |`)) ?? assert.fail(`${name} is not in the table`);
    const cells = line.split('|').slice(2, -1).map((cell) => cell.trim());
    const wanted = ['float32', 'bfloat16'].flatMap((type) => ['eager', 'sdpa', 'flex_attention'].map((by) => rows.find((row) => row.name === name && row.type === type && row.by === by)?.off ?? null));
    wanted.forEach((off, i) => {
      if (off === null) return assert.equal(cells[i], '–', line);
      assert.ok(off <= 2 * Number(cells[i]) && Number(cells[i]) < 20 * off, `${name}, column ${i + 1}: ${cells[i]} is printed, ${off} was found`);  // processors round differently
    });
  }
});

/** What table.py says of one case, with PyTorch 1 and 2. */
const both = (kind, name) => [...ends.values()].map(({table}) => table.find((one) => one.kind === kind && one.name === name) ?? assert.fail(name));

test('batch and heads are told apart by modules and configurations, or the layer is refused', () => {
  for (const {shape, off, q, said} of both('axes', 'folded')) {
    assert.deepEqual([shape, q], [[3, 4, 1, 8], 0]);
    assert.ok(off <= 1e-6, `${off}`);
    assert.match(said, /its heads and queries stand in one axis, in an order that is not certain/);
  }
  for (const {shape, names} of both('axes', 'heads')) assert.deepEqual([shape, names], [[4, 1, 5, 8], ['parts.0', 'parts.1', 'parts.2', 'parts.3']]);
  for (const {said} of both('axes', 'windows')) assert.match(said, /which of its axes are the batch and which the heads is not certain/);
});

test('sigmoid attention has its normalizer, a sink is a key of zeros, and attn computes both', () => {
  for (const {off, normalizer} of both('axes', 'sigmoid')) assert.ok(off <= 1e-6 && normalizer === 'sigmoid', `${off}`);
  for (const {off, shape} of both('axes', 'softmax-1')) assert.ok(off <= 1e-6 && shape[2] === 7, `${off}`);
  for (const kind of ['npz', 'safetensors']) {
    const {weights} = JSON.parse(run(attn, 'run', join(folder, `sigmoid.${kind}`), '--outputs', 'weights'));
    assert.ok(weights.data.slice(0, 6).reduce((sum, one) => sum + one) < 4, 'a row of sigmoids');
    for (const use of [1, 2]) run(attn, 'run', join(folder, `albert.${kind}`), '--prefix', `encoder.albert_layer_groups.0.albert_layers.0.attention.${use}`, '--outputs', 'weights');
  }
});

test('weights stay as they were when the model writes over their memory', () => {
  for (const {off} of both('axes', 'written')) assert.equal(off, 0);
});

test('rotary positions, ALiBi, windows and norms are named, and the board computes the same weights by these names', () => {
  const rotary = (base, more) => ({position: 'rotary', rotary_pairs: 'half', rotary_base: base, ...more});
  const wanted = {
    'GPT-2': {}, 'Llama': rotary(1e4), 'Llama, linear': rotary(1e6, {rotary_scaling: 'linear', rotary_factor: 2}), 'GPT-J': rotary(1e4, {rotary_pairs: 'adjacent', rotary_dims: 8}),
    'GPT-NeoX': rotary(1e4, {rotary_dims: 4}), 'Cohere': rotary(5e5, {rotary_pairs: 'adjacent'}), 'ESM': rotary(1e4), 'Mistral': rotary(1e4, {causal: true, window_left: 3}),
    'ModernBERT': rotary(1e4, {window_left: 2, window_right: 2}), 'Qwen3': rotary(1e4), 'BLOOM, 6 heads': {position: 'alibi', causal: true}, 'MPT': {position: 'alibi', causal: true},
    'Falcon, ALiBi': {},  // its slopes are rounded to bfloat16
  };
  for (const [end, {table}] of ends) {
    const rows = table.filter(({kind, name}) => kind === 'positions' && !['parts', 'words'].includes(name));
    for (const [name, options] of Object.entries(wanted)) for (const row of rows.filter((one) => one.name === name)) assert.deepEqual(row.options.at(-1), options, `${end}: ${name} by ${row.by}`);
    for (const {name, off} of rows) assert.ok(off <= 1e-6, `${end}: ${name}: ${off}`);
    assert.equal(rows.length, end === 'PyTorch 2' ? 27 : 12, `${end}: ${rows.length}`);
  }
  const of = (name) => ends.get('PyTorch 2').table.find((row) => row.kind === 'positions' && row.name === name);
  assert.deepEqual([of('Qwen3').norm, of('Llama').norm], ['Qwen3RMSNorm', '']);
  for (const [name, words] of Object.entries({'Llama, yarn': 'rotary, yarn, factor 2', 'Llama 3.1': 'rotary, llama3, factor 8', 'Llama, linear': 'rotary, base 1e+06, linear scaling by 2', 'BLOOM, 6 heads': 'ALiBi',
    'Qwen3': 'rotary, base 10000; queries and keys by Qwen3RMSNorm', 'Mistral': 'rotary, base 10000; window of 4 keys', 'GPT-2': ''})) assert.equal(of(name).words, words, name);
  for (const name of ['Llama, yarn', 'Llama 3.1']) assert.deepEqual(of(name).options, [{}, {}], 'the board has no such frequencies: as they were turned');
  assert.deepEqual([of('Mistral').is_raw, of('Falcon, ALiBi').is_raw], [[true, false], [false, true]], 'options instead of a mask');
  for (const {options, off} of both('positions', 'words')) assert.ok(off <= 1e-6 && !Object.keys(options[0]).length, 'words have no q and k of the model');
  for (const {options} of both('positions', 'parts')) assert.deepEqual(options, [{}], 'some of the queries are no rows from the first');
});

test('patches, frames and both sides of an encoder-decoder are named, and a picture is one on the board', () => {
  const frames = (count) => Array.from({length: count}, (_, i) => `${(i * 0.02).toFixed(2)} s`), ids = ['1', '8', '15', '22', '29', '36', '43', '50', '57'];
  const patches = (rows, columns) => ['[CLS]', ...Array.from({length: rows * columns}, (_, i) => `${Math.floor(i / columns)},${i % columns}`)];
  for (const [end, {table}] of ends) {
    const of = (name) => table.find((one) => one.kind === 'sources' && one.name === name).layers.map((layer) => layer.slice(1));
    assert.deepEqual(of('ViT'), [[patches(4, 4), null, 4]], end);
    assert.deepEqual(of('DINOv2'), [[patches(4, 6), null, 6]], end);
    assert.deepEqual(of('CLIP').sort((a, b) => b[2] - a[2]), [[patches(4, 4), null, 4], [Array.from({length: 17}, (_, i) => `${i}`), null, 0]], end);
    assert.deepEqual(of('Whisper'), [[frames(30), null, 0], [ids.slice(0, 5), null, 0], [ids.slice(0, 5), frames(30), 0]], end);
    assert.deepEqual(of('wav2vec 2'), [[frames(12), null, 0]], end);
    assert.deepEqual(of('T5').slice(2, 4), [[ids.slice(1, 6), null, 0], [ids.slice(1, 6), ids, 0]], end);
    if (end === 'PyTorch 2') assert.deepEqual(of('T5, labels').slice(2, 4), [[['0', ...ids.slice(0, 4)], null, 0], [['0', ...ids.slice(0, 4)], ids, 0]]);
  }
  for (const {off} of both('sources', 'board')) assert.ok(off <= 1e-6, `${off}`);
  for (const {off, others, shape} of both('sources', 'picture')) assert.ok(off <= 1e-5 && others === 0 && `${shape}` === '1,17,192', `${off}`);
  for (const {same} of both('sources', 'generate')) assert.deepEqual(same, [true, true]);
  for (const kind of ['npz', 'safetensors']) {
    run(attn, 'convert', join(folder, `vit.${kind}`), join(folder, 'vit.json'), '--state');
    const state = JSON.parse(readFileSync(join(folder, 'vit.json'), 'utf8'));
    assert.deepEqual([state.patch_columns, state.x.shape], [4, [17, 192]], kind);
  }
});

test('generate() is one matrix of the prompt and what was generated, as one pass over all of it gives', () => {
  const uses = [...ends.values()].flatMap(({table}) => table.filter(({kind, name}) => kind === 'use' && name.startsWith('generate')));
  assert.equal(uses.length, 6);
  for (const {name, layers, shape, causal, off, padding, position} of uses) {
    assert.equal(position, name.includes('padded') ? null : 'rotary', name);  // the padded one counts its positions from another row
    assert.deepEqual([layers, shape.slice(1)], [2, [4, 12, 16]], name);
    assert.ok(off <= 1e-5, `${name}: ${off}`);
    assert.deepEqual([causal, padding], name.includes('padded') ? [false, [0, 3]] : [true, null], name);
  }
});

test('the cache after each step of generate() is what the model has there', () => {
  for (const [end, {table}] of ends) {
    const steps = table.filter(({kind, name}) => kind === 'use' && name === 'present');
    assert.equal(steps.length, end === 'PyTorch 2' ? 8 : 4);
    steps.forEach(({steps: counts, shape, off}, i) => {
      assert.deepEqual([counts, shape], [[9, 10, 11, 12], [1, 2, 9 + i % 4, 16]], end);
      assert.ok(off <= 1e-5, `${end}: ${off}`);
    });
  }
  for (const {said} of both('use', 'no cache')) assert.match(said, /^ValueError: model\.layers\.0\.self_attn: was computed in one step, so there is no cache/);
});

test('weights=False keeps no weights during the run either', () => {
  for (const {grown} of both('use', 'memory')) assert.ok(grown[0] < 0.5 * grown[1], `${grown} kB more than the model alone, without and with weights`);
});

test('what recording costs is measured', () => {
  const found = lines(run(models2(), script('cost.py'), '--quick'));
  assert.deepEqual(found.map(({by}) => by), ['eager', 'sdpa']);
  for (const one of found) for (const name of ['record', 'without weights']) assert.ok(one[name] > 0 && Number.isFinite(one[name]));
});

test('layers, heads and queries are chosen', () => {
  for (const {names, shape, weights, off, tokens, text} of both('use', 'parts')) {
    assert.deepEqual([names, shape, weights, tokens], [['model.layers.1.self_attn'], [1, 2, 2, 16], true, ['15', '57']]);
    assert.ok(off <= 1e-6, `${off}`);
    assert.doesNotMatch(text, /\n|cross/, 'queries that were chosen are no others than the keys');
  }
});

test('bad input is a sentence, and the model is left as it was', () => {
  const sentences = {limit: /^Limit: limit: the recording would take more than 0\.001 MB: layers\.0\.self_attn needs/, layers: /^ValueError: layers: the model has no attention 7; it has 0 layers\.0/,
    heads: /^ValueError: heads: there is no number 9; there are 0 to 3/, size: /^ValueError: limit: must be a number of bytes/, labels: /^tokens: 3 labels do not fit 9 queries/,
    raises: /^out of memory/, tokenizer: /^tokenizer: it gives 3 labels for 9 tokens; the layers have the numbers/, second: /^limit: .*layers\.1\.self_attn needs .* after 1 layers/, shapes: /^RuntimeError: The size of tensor/, NaN: /^layers\.1\.self_attn was not recorded: its queries, keys or values are not all numbers/};
  for (const [name, pattern] of Object.entries(sentences)) for (const {said} of both('bad', name)) assert.match(said, pattern);
  for (const name of ['raises', 'second']) for (const {kept} of both('bad', name)) assert.equal(kept, 1, 'what was recorded before the error');
  for (const {tokens} of both('bad', 'tokenizer')) assert.deepEqual(tokens, [['1', '8', '15', '22', '29', '36', '43', '50', '57']]);
  for (const {hooks, training} of both('bad', 'left')) assert.deepEqual([hooks, training], [0, true]);
  const said = (name) => ends.get('PyTorch 2').table.find((one) => one.kind === 'bad' && one.name === name).said;
  assert.match(said('Mamba'), /it computes no softmax at all, as linear attention and state spaces \(Mamba, RWKV\) do not/);
  assert.match(said('LongT5'), /its queries are computed in blocks, each with keys of its own/);
  assert.match(said('Pegasus-X'), /its softmax is not of a product of two whole matrices, as sliding and sparse kernels multiply parts of them/);
});

test('kernels that multiply parts of the keys are one matrix with its mask, which gives what the kernel gave', () => {
  const rows = ends.get('PyTorch 2').table.filter(({kind}) => kind === 'sparse'), window = rows.find(({name}) => name === 'window');
  const compared = rows.filter(({name}) => name !== 'window');
  assert.deepEqual([...new Set(compared.map(({name}) => name))], ['Longformer', 'LED', 'BigBird, block-sparse', 'BigBird-Pegasus']);
  for (const {name, type, off, reported, shape, layers, tokens, seen} of compared) {
    assert.ok(off <= most[type], `${name} in ${type}: ${off}`);
    const isBand = !name.startsWith('BigBird');
    // Without training, BigBird has block 0 in the place of each random block, beside itself; what it reports of its weights leaves the second one out.
    assert.ok(isBand ? reported <= 1e-6 : reported > 0.01, `${name} in ${type}: ${reported} from what the model reports`);
    assert.deepEqual([shape, layers, tokens, seen], isBand ? [[1, 4, 19, 32], 2, 19, 6] : [[1, 4, 62, 16], 2, 62, 18], name);
  }
  assert.deepEqual([window.words, window.shape, window.sparse], ['window of 5 keys', [1, 4, 19, 16], true]);
  const out = join(folder, 'longformer-weights.npz');
  run(attn, 'run', join(folder, 'longformer.npz'), '--outputs', 'weights,output', '--out', out);
  for (const {said} of [...ends.values()][0].table.filter(({kind, name}) => kind === 'bad' && name === 'Longformer')) assert.match(said, /PyTorch 2 can ask it for them/);
});

test('heads of kernels that multiply parts of the keys are changed as by hand', () => {
  const rows = ends.get('PyTorch 2').edits.filter(({name}) => name === 'sliding'), maps = ends.get('PyTorch 2').edits.filter(({name}) => name === 'sliding map');
  assert.deepEqual(rows.map(({model}) => model), ['Longformer', 'BigBird']);
  for (const {model, worst, moved} of rows) for (const what of ['off', 'scale', 'mean', 'uniform', 'replace']) {
    assert.ok(worst[what] <= 1e-5, `${model}, ${what}: ${worst[what]}`);
    assert.ok(moved[what] > 1e-3, `${model}, ${what} changes too little to be tested: ${moved[what]}`);
  }
  for (const {model, least, hooks} of maps) assert.ok(least > 1e-6 && hooks === 0, `${model}: ${least}, ${hooks} hooks`);
});

test('heads that are changed in the model give what hooks written by hand give, and the change is seen', () => {
  for (const [end, {edits}] of ends) {
    const rows = edits.filter(({name}) => name === 'hooks');
    assert.deepEqual(new Set(rows.map(({model}) => model)), new Set(['GPT-2', 'Llama', 'T5', 'ViT']), end);
    if (end === 'PyTorch 2') for (const by of ['eager', 'sdpa', 'flex_attention']) assert.ok(rows.some((row) => row.by === by), by);
    for (const {model, by, worst, moved, before, switched} of rows) {
      assert.ok(switched <= 1e-5, `${end}: ${model} by ${by}, by the switches of a notebook: ${switched}`);
      assert.ok(before <= 1e-5, `${end}: ${model} by ${by}, before: ${before}`);
      for (const what of ['off', 'scale', 'mean', 'uniform', 'replace']) {
        assert.ok(worst[what] <= 1e-5, `${end}: ${model} by ${by}, ${what}: ${worst[what]}`);
        assert.ok(moved[what] > 1e-3, `${end}: ${model} by ${by}, ${what} changes too little to be tested: ${moved[what]}`);
      }
    }
  }
});

test('an edit says KL, loss and the next tokens, and the map of all heads is that of single edits', () => {
  for (const [end, {edits}] of ends) {
    const one = edits.find(({name}) => name === 'numbers'), map = edits.find(({name}) => name === 'effect');
    for (const name of ['inside', 'outside', 'kl', 'loss']) assert.ok(one[name] <= 1e-5, `${end}: ${name} ${one[name]}`);
    assert.ok(one.least > 1e-3 && one.top === 10 && one.first[0] && one.first[1] < 1e-6, end);
    const switches = edits.find(({name}) => name === 'switches');
    for (const name of ['kl', 'loss', 'map']) assert.ok(switches[name] <= 1e-5, `${end}: the switches, ${name}: ${switches[name]}`);
    assert.ok(switches.top, 'the switches have the numbers of edit.top()');
    assert.deepEqual(switches.wrong, ['ValueError: targets: there are 3; give 1, for what comes next, or 9, one for each token.', 'ValueError: targets: saw is no number; words need record(…, tokenizer=…).',
      'ValueError: targets: must be numbers from 0 to 99, or -100, and one of them at least must count.'], end);
    assert.equal(switches.unknown, 'ValueError: change: there is no explode; there are off, scale, uniform, mean.');
    assert.match(one.text, /^<Edit: 3 heads changed, largest difference of a logit \d/);
    assert.deepEqual([map.shape, map.seen, map.is_sweep], [[3, 4], [[0, 12], [12, 12], 13], true], end);
    assert.ok(map.same <= 1e-6 && map.loss <= 1e-6, `${end}: ${map.same}, ${map.loss}`);
  }
});

test('an edit that cannot be made is a sentence, and leaves no hook', () => {
  const wanted = {layer: /^ValueError: layer: there is no number 7; there are 0 to 2/, name: /^KeyError: h\.9: there is no layer of this name/, head: /^ValueError: head: there is no number 4; there are 0 to 3/,
    NaN: /^ValueError: weights\[0, 0\]: is nan/, shape: /^ValueError: transformer\.h\.0\.attn could not be changed: weights: have the shape \[9, 8\]; this head has 9 queries and 9 keys/,
    factor: /^ValueError: factor: is inf/, targets: /^ValueError: targets: have the shape \[2, 3\]; the logits need \[2, 9\]/, early: /^ValueError: the run is made when the with-block ends/,
    'no head': /^ValueError: the model gives no logits \(it gives last_hidden_state/, generate: /^ValueError: this recording is not of one run of a model/, raises: /^RuntimeError: out of memory/,
    shapes: /^RuntimeError: The size of tensor/, model: /^ValueError: logits: the model gives numbers that are not finite/};
  for (const [end, {edits}] of ends) {
    const bad = edits.filter(({name}) => name === 'bad');
    for (const [case_, pattern] of Object.entries(wanted)) assert.match(bad.find((one) => one.case === case_)?.said ?? '', pattern, end);
    assert.equal(bad.find((one) => one.case === 'stop').known, 3, 'what was found before Ctrl-C');
    const left = edits.find(({name}) => name === 'left');
    assert.deepEqual([left.hooks, left.training], [0, true], end);
    if (end === 'PyTorch 2') assert.equal(left.sdpa, 'scaled_dot_product_attention', 'the function of PyTorch is back');
  }
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

test('a list of prompts gives a recording of each, and pieces become words on demand', () => {
  for (const [end, {models: all}] of ends) {
    const {lengths, off, words, whole, pieces, merged, computed, attn: byAttn, marked} = all.get('prompts');
    assert.deepEqual(lengths.map(([batch, heads]) => [batch, heads]), [[1, 12], [1, 12]], end);
    assert.notEqual(lengths[0][2], lengths[1][2]);
    assert.equal(off, 0);
    assert.deepEqual(words, whole);
    assert.ok(pieces > whole.length);
    for (const one of [merged, computed, byAttn]) assert.ok(one <= 1e-6, `${end}: ${one}`);
    assert.deepEqual(marked, [['the', 'mill', 'burned', ',', '(', 'Tobin', ')', 'don', "'", 't'], ['Two', 'sawmills', '.'], ['a', 'b']]);
  }
});

test('the recipes of the README give the same, as they are written', () => {
  const {ran, lines} = JSON.parse(run(models(), {cwd: folder}, script('recipes.py'), readme, attn).trim().split('\n').at(-1));
  assert.deepEqual(ran.map(([name]) => name), ['record', 'words', 'edit', 'Playground', 'BERT', 'Llama', 'MultiheadAttention', 'weights alone']);
  for (const [name, off] of ran) assert.ok(off <= 1e-5, `${name}: ${off}`);
  assert.ok(Math.max(...lines) <= 15, String(lines));
});

test('a figure is drawn into axes of Matplotlib', () => {
  const {width, same, axes, pdf, ink} = JSON.parse(run(models(), script('axes.py'), attn));
  assert.deepEqual([width, same, axes, pdf], [4 * 312, true, [false, false], true]);
  for (const share of ink) assert.ok(share > 0.01 && share < 0.5, `${ink}`);
});

test('what is no attention, or another kind of it, is refused with the reason, and no hook is left', () => {
  const {said, left} = of('refusals');
  assert.match(said[0], /^ValueError: model: no attention was found in it/);
  assert.match(said[1], /no attention was found/);
  assert.match(said[2], /^Clamped was not recorded: it is no plain softmax of scaled products\. \| ValueError/);
  assert.match(said[3], /^TypeError: model: must be a torch\.nn\.Module, not str/);
  assert.match(said[4], /^TypeError: tokenizer: it is missing; prompts that are texts need one/);
  assert.ok(left);
});
