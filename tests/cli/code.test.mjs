// `attn code`: programs that give the same numbers as the layer, or the trained model, that they were generated from.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {join} from 'node:path';
import {test} from 'node:test';
import {attn, file, filled, folder, layer, refusal, run} from './harness.mjs';

function pythonWith(module) {
  return [process.env.AP_PYTHON, 'python3', '/usr/bin/python3'].filter(Boolean).find(name => spawnSync(name, ['-c', `import ${module}`]).status === 0);
}
const numpy = pythonWith('numpy'), torch = pythonWith('torch'), jax = pythonWith('jax');
assert.ok(numpy, 'NumPy is missing: ./play test cli brings it');

// Runs programs in one Python process, and returns the output of each.
function outputs(python, programs) {
  const main = 'import json, sys\nout = []\nfor program in json.load(sys.stdin):\n  scope = {}\n  exec(program, scope)\n  out.append(scope["output"].tolist())\nprint(json.dumps(out))';
  const done = spawnSync(python, ['-W', 'error', '-c', main], {encoding: 'utf8', input: JSON.stringify(programs), maxBuffer: 1 << 28});
  assert.equal(done.status, 0, done.stderr);
  return JSON.parse(done.stdout);
}

const projected = (more = {}) => ({x: filled([4, 6], 1), w_q: filled([6, 4], 2), w_k: filled([6, 4], 3), w_v: filled([6, 6], 4), w_o: filled([6, 6], 5), ...more});
const grouped = {q: filled([4, 3, 2], 1), k: filled([2, 5, 2], 2), v: filled([2, 5, 3], 3)};
const cases = [['plain', layer()], ['grouped heads', grouped], ['a float mask', layer({mask: filled([2, 3, 4], 5)})],
  ['a mask that hides whole rows', layer({mask: {shape: [3, 4], dtype: 'bool', data: [1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0].map(Boolean)}})],
  ['additive', layer({w_a: filled([2, 2, 2], 6), u_a: filled([2, 2, 2], 7), v_a: filled([2, 2], 8), options: {score: 'additive'}})],
  ['additive, with more hidden units', layer({w_a: filled([2, 5, 2], 6), u_a: filled([2, 5, 2], 7), v_a: filled([2, 5], 8), options: {score: 'additive'}})],
  ['general', layer({w_a: filled([2, 2, 2], 6), options: {score: 'general', normalizer: 'relu'}})],
  ['general, wider queries', layer({q: filled([2, 3, 5], 1), w_a: filled([2, 5, 2], 6), options: {score: 'general', causal: true}})],
  ['additive, wider queries', layer({q: filled([2, 3, 5], 1), w_a: filled([2, 4, 5], 6), u_a: filled([2, 4, 2], 7), v_a: filled([2, 4], 8), options: {score: 'additive'}})],
  ['a sink', layer({sink: filled([2], 6), options: {causal: true}})], ['a sink, ÷ temperature, of a row that sees nothing', layer({sink: filled([2], 6), options: {key_length: 0, temperature: 2}})],
  ['a sink, masked too late', layer({sink: filled([2], 6), options: {mask_after_softmax: true, causal: true}})],
  ['keys of the past', {...layer(), past_k: filled([2, 3, 2], 7), past_v: filled([2, 3, 2], 8), options: {causal: true}}]];
for (const options of [
  {causal: true}, {scale: 0.3}, {score: 'dot', temperature: 2}, {score: 'cosine'}, {softcap: 1.5, causal: true}, {window_left: 1, window_right: 0}, {key_length: 2},
  {position: 'rotary', causal: true}, {position: 'alibi'}, {position: 'alibi', causal_offset: 1, causal: true}, {prefix: 2, causal: true}, {pattern_local: 2, pattern_random: 1, pattern_global: 1},
  {normalizer: 'sparsemax', causal: true}, {normalizer: 'entmax15', causal: true}, {normalizer: 'entmax15'}, {normalizer: 'sigmoid'}, {normalizer: 'relu', causal: true}, {normalizer: 'hardmax', causal: true}, {normalizer: 'none', causal: true},
  {position: 'rotary', rotary_pairs: 'half', rotary_base: 100}, {position: 'rotary', position_ids: [3, 1, 7], causal: true}, {mask_after_softmax: true, causal: true}, {causal_offset: 2, causal: true, position: 'rotary'}])
  cases.push([JSON.stringify(options), layer({options})]);
const wide = {q: filled([2, 3, 7], 1), k: filled([2, 4, 7], 2), v: filled([2, 4, 3], 3)};
for (const options of [{rotary_dims: 4}, {rotary_dims: 6, rotary_pairs: 'half', rotary_scaling: 'linear', rotary_factor: 4}, {rotary_dims: 6, rotary_scaling: 'ntk', rotary_factor: 2.5, position_ids: [100]}])
  cases.push([JSON.stringify(options), {...wide, options: {position: 'rotary', ...options}}]);
for (const options of [{heads: 2}, {heads: 2, causal: true, position: 'rotary'}, {heads: 2, position: 'sinusoidal'}, {heads: 2, position: 'sinusoidal', position_ids: [5, 2]}, {heads: 1, position: 'alibi'}])
  cases.push([`projected ${JSON.stringify(options)}`, projected({options})]);
cases.push(['biases', projected({b_q: filled([4], 7), b_k: filled([4], 8), b_v: filled([6], 9), b_o: filled([6], 10), options: {heads: 2}})]);
cases.push(['values of their own X', projected({x_v: filled([4, 6], 11), options: {heads: 2, position: 'sinusoidal'}})]);
const {w_o: none, ...apart} = projected({options: {heads: 2, causal: true}});
cases.push(['no W_O', apart], ['a wide W_O', projected({w_o: filled([6, 9], 5), b_o: filled([9], 6), options: {heads: 2}})]);
cases.push(['two sequences', projected({x_kv: filled([3, 6], 9), options: {heads: 2, position: 'sinusoidal', causal: true}})]);

const wanted = new Map();
/** Do they give what `attn run` computes, to 1e-5? */
function agree(python, language, given) {
  const programs = given.map(([what, content]) => {
    const done = attn('code', file(content), '--as', language);
    assert.deepEqual([done.status, done.stderr], [0, ''], what);
    return done.stdout;
  });
  outputs(python, programs).forEach((output, i) => {
    const [what, content] = given[i];
    const want = wanted.get(content) ?? run(content).output;
    wanted.set(content, want);
    const shape = [];
    for (let level = output; Array.isArray(level); level = level[0]) shape.push(level.length);
    assert.deepEqual(shape, want.shape, what);
    output.flat(Infinity).forEach((value, at) => assert.ok(Math.abs(value - want.data[at]) <= 1e-5 * Math.max(1, Math.abs(want.data[at])), `${what}, ${at}: ${value}, not ${want.data[at]}\n${programs[i]}`));
  });
}

/** Random numbers that are the same in every run (mulberry32). */
function random(seed) {
  return () => {
    seed = seed + 0x6d2b79f5 | 0;
    let t = Math.imul(seed ^ seed >>> 15, 1 | seed);
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
    return ((t ^ t >>> 14) >>> 0) / 2 ** 32;
  };
}

/** A layer with random options, without combinations that are not allowed. */
function anyLayer(seed) {
  const next = random(seed), whole = (least, most) => least + Math.floor(next() * (most - least + 1)), maybe = (chance = 0.5) => next() < chance;
  const oneOf = (...list) => list[whole(0, list.length - 1)];
  const kvHeads = whole(1, 3), heads = kvHeads * whole(1, 3), d = 2 * whole(1, 3), dV = whole(1, 5), queries = whole(1, 6), isProjected = maybe(), isCross = !isProjected || maybe();
  const keys = isCross ? whole(queries, 8) : queries, options = {};
  if (maybe()) options.causal = true;
  if (maybe(0.3)) options.causal_offset = isProjected && !isCross ? 0 : whole(0, 3);
  if (maybe(0.3)) options.window_left = whole(0, 3);
  if (maybe(0.3)) options.window_right = whole(0, 3);
  if (maybe(0.2)) options.prefix = whole(1, keys);
  if (maybe(0.2)) options.key_length = whole(0, keys);
  if (maybe(0.2)) Object.assign(options, {pattern_local: whole(1, 3), pattern_dilation: whole(1, 2), pattern_random: whole(0, 2), pattern_global: whole(0, 1), pattern_seed: whole(1, 9)});
  if (maybe(0.1)) options.pattern_stride = whole(1, 3);
  if (maybe(0.1)) options.pattern_block = whole(1, 3);
  if (maybe(0.3)) options.softcap = 0.5 + next();
  if (maybe(0.3)) options.temperature = 0.3 + 2 * next();
  options.score = oneOf('scaled', 'scaled', 'dot', 'general', 'additive', 'cosine');
  if (options.score === 'scaled' && maybe(0.3)) options.scale = 0.1 + next();
  options.normalizer = oneOf('softmax', 'softmax', 'softmax', 'sparsemax', 'entmax15', 'sigmoid', 'relu', 'hardmax', 'none');
  if (options.normalizer === 'softmax' && maybe(0.2)) options.mask_after_softmax = true;
  options.position = oneOf('none', 'none', 'alibi', ...options.score === 'additive' ? [] : ['rotary'], ...isProjected ? ['sinusoidal'] : []);
  if (options.position === 'rotary' && maybe()) Object.assign(options, {rotary_pairs: oneOf('adjacent', 'half'), rotary_base: whole(2, 500), rotary_dims: maybe() ? 0 : 2 * whole(1, d / 2)});
  if (options.position === 'rotary' && maybe(0.3)) Object.assign(options, {rotary_scaling: oneOf('linear', 'ntk'), rotary_factor: 1 + next()});
  if (options.position === 'rotary' && maybe(0.3)) options.position_ids = [whole(1, 50)];
  const hidden = options.score === 'additive' && maybe() ? whole(1, 5) : d, out = whole(1, 5);
  if (hidden !== d) options.additive_dim = hidden;
  const content = {options};
  const put = (name, ...shape) => { content[name] = filled(shape, seed * 31 + Object.keys(content).length); };
  if (isProjected) {
    const width = whole(2, 6);
    put('x', queries, width);
    if (isCross) put('x_kv', keys, width);
    put('w_q', width, heads * d), put('w_k', width, kvHeads * d), put('w_v', width, kvHeads * dV);
    if (maybe(0.8)) put('w_o', heads * dV, maybe() ? width : out);
    if (maybe(0.3)) put('x_v', keys, width);
    if (maybe(0.4)) {
      put('b_q', heads * d), put('b_k', kvHeads * d), put('b_v', kvHeads * dV);
      if (content.w_o) put('b_o', content.w_o.shape[1]);
    }
    Object.assign(options, {heads, kv_heads: kvHeads});
  } else {
    put('q', heads, queries, d), put('k', kvHeads, keys, d), put('v', kvHeads, keys, dV);
  }
  if (options.score === 'general') put('w_a', heads, d, d);
  if (options.score === 'additive') put('w_a', heads, hidden, d), put('u_a', heads, hidden, d), put('v_a', heads, hidden);
  const mask = oneOf('none', 'none', 'bool', 'float', 'heads');
  if (mask === 'bool') content.mask = {shape: [queries, keys], dtype: 'bool', data: Array.from({length: queries * keys}, () => maybe(0.7))};
  if (mask === 'float') put('mask', queries, keys);
  if (mask === 'heads') put('mask', heads, queries, keys);
  return [`layer ${seed}: ${JSON.stringify(options)}, mask ${mask}`, content];
}
const many = Array.from({length: 80}, (_, seed) => anyLayer(seed + 1));

for (const [language, python] of [['numpy', numpy], ['torch', torch], ['jax', jax]]) {
  test(`the ${language} programs give the numbers of the layer, with every option`, (t) => {
    if (python) return agree(python, language, [...cases, ...language === 'jax' ? many.slice(0, 20) : many]);  // JAX compiles each step for each shape
    t.diagnostic(`No Python here has ${language}: its programs were only parsed, not run.`);
    for (const [what, content] of cases) {
      const parsed = spawnSync(numpy, ['-c', 'import ast, sys\nast.parse(sys.stdin.read())'], {input: attn('code', file(content), '--as', language).stdout, encoding: 'utf8'});
      assert.equal(parsed.status, 0, `${what}: ${parsed.stderr}`);
    }
    return undefined;
  });
}

test('LaTeX has the formulas and the numbers', () => {
  const text = attn('code', file(layer({options: {causal: true}})), '--as', 'latex').stdout;
  assert.match(text, /\\begin\{aligned\}[^]*\\frac\{Q K\^\\top\}\{\\sqrt\{2\}\}[^]*\\operatorname\{softmax\}[^]*\\end\{aligned\}\$\}\n\\\]\n$/);
  assert.equal(text.split('\\begin{bmatrix}').length, text.split('\\end{bmatrix}').length);
  assert.equal(text.split('\\begin{bmatrix}').length, 8);
  assert.match(text, /mask\}\(S\) &= \\begin\{bmatrix\}[^\n]*-\\infty/);
});

test('programs and LaTeX fit a column of 3.25 inches', () => {
  const wide = file({q: filled([2, 13, 16], 1), k: filled([2, 13, 16], 2), v: filled([2, 13, 16], 3), options: {causal: true}});
  for (const language of ['numpy', 'torch', 'jax']) {
    const longest = Math.max(...attn('code', wide, '--as', language).stdout.split('\n').map((line) => line.length));
    assert.ok(longest <= 78, `${language}: ${longest} characters, which are less than 5 points`);
  }
  const text = attn('code', wide, '--as', 'latex').stdout, rows = text.split('\\begin{bmatrix}').slice(1).flatMap((one) => one.split('\\end{bmatrix}')[0].split(' \\\\ '));
  assert.match(text, /\\resizebox\{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi\}\{!\}/);
  // A column is as wide as "-0.88" and twice 3 points, 28 points of letters of 10: ten of them and a name in 3.25 inches leave letters of 7 points.
  for (const row of rows) assert.ok(row.split('&').length <= 10, row);
  assert.match(text, /\\cdots[^]*\\vdots[^]*\\ddots/);
});

test('a trained model is a program that gives the logits and the tensors of its layers', () => {
  for (const settings of [['heads=2', 'position=rotary'], ['position=alibi', 'normalizer=sparsemax', 'score=general', 'layer_norm=false']]) {
    const path = join(folder, `model-${settings.length}.npz`);
    assert.equal(attn('train', '--task', 'induction', '--steps', '20', '--set', 'd_model=16', ...settings, '--out', path).status, 0);
    const program = attn('code', path).stdout, longest = Math.max(...program.split('\n').map((line) => line.includes(path) ? 0 : line.length));
    assert.ok(longest <= 78, `${longest}`);
    const ids = /^tokens = np\.array\(\[([\d, ]+)\]\)$/m.exec(program)[1].replaceAll(' ', '');
    const main = 'import json, sys\nscope = {}\nexec(sys.stdin.read(), scope)\nprint(json.dumps({name: a.ravel().tolist() for name, a in {"logits": scope["logits"], **scope["found"]}.items()}))';
    const done = spawnSync(numpy, ['-W', 'error', '-c', main], {encoding: 'utf8', input: program});
    assert.equal(done.status, 0, done.stderr);
    const found = JSON.parse(done.stdout), wanted = JSON.parse(attn('run', path, '--set', `tokens=${ids}`, '--outputs', Object.keys(found).join()).stdout);
    assert.equal(Object.keys(found).length, 15);
    for (const [name, data] of Object.entries(found)) data.forEach((value, i) => assert.ok(Math.abs(value - wanted[name].data[i]) <= 1e-4 * Math.max(1, Math.abs(value)), `${settings}, ${name}: ${value}, not ${wanted[name].data[i]}`));
    assert.match(refusal(2, attn('code', path, '--as', 'latex')), /--as: a whole model is written for numpy, torch or jax/);
    const json = join(folder, 'model.json');
    assert.equal(attn('convert', path, json).status, 0);
    assert.match(refusal(1, attn('code', json)), /STATE: the program of a model reads it from a file; convert it to \.npz or \.safetensors/);
  }
});

test('code says what it cannot do', () => {
  assert.match(refusal(2, attn('code', file(layer()), '--as', 'fortran')), /--as: "fortran" is not a language; use numpy, torch, jax or latex/);
  assert.match(refusal(1, attn('code', file('{"q": 1}'))), /\.json: /);
});
