// `attn` as a program: input and output files, options, states, and numbers that keep their bits.
import assert from 'node:assert/strict';
import {chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {attn, file, filled, folder, layer, numbers, refusal, run, tensor} from './harness.mjs';

const sum = values => values.reduce((a, b) => a + b, 0);

test('help, version and kernels', () => {
  for (const args of [['--help'], ['run', '--help']]) {
    const {status, stdout, stderr} = attn(...args);
    assert.equal(status, 0);
    assert.equal(stderr, '');
    assert.match(stdout, /attn/);
    for (const line of stdout.split('\n')) assert.ok(line.length <= 130, line);
  }
  const help = attn('run', '--help').stdout;
  for (const word of ['window_left', 'softcap', 'kv_heads', 'temperature', 'past_k', 'key_lengths', 'present_k', 'float16'])
    assert.ok(help.includes(word), word);
  assert.match(attn('--version').stdout, /^attn \d+\.\d+\.\d+\n$/);
  const kernels = attn('kernels').stdout.trim().split('\n');
  assert.equal(kernels[0].split(' ')[0], 'scalar');
  assert.match(kernels.at(-1), / \(default\)$/);
  assert.equal(kernels.filter(line => line.includes('default')).length, 1);
});

test('mechanisms are printed with formulas, and with costs that grow as the layer does', () => {
  const {scores, normalizers} = JSON.parse(attn('mechanisms').stdout), help = attn('run', '--help').stdout;
  for (const [option, list] of [['score', scores], ['normalizer', normalizers]])
    assert.match(help, new RegExp(`^  ${option} .*: ${list.map(({name}) => name).join(', ')}$`, 'm'));
  for (const {name, title, about, formula, latex, costs: [first, second]} of scores) {
    assert.ok(title && about && formula && latex, name);
    assert.deepEqual([first.tokens, second.tokens], [512, 1024]);
    assert.ok(second.multiplyAdds > 3.5 * first.multiplyAdds && second.multiplyAdds <= 4 * first.multiplyAdds, name);
  }
  // One head of 64 columns: d_k products for each pair; two matrices and a vector, and a tanh a hidden unit.
  const of = (name) => scores.find((score) => score.name === name).costs[1];
  assert.deepEqual(of('dot'), {tokens: 1024, multiplyAdds: 1024 * 1024 * 64, tanhs: 0, parameters: 0, bytes: 4 * 1024 * 1024});
  assert.equal(of('additive').parameters, 2 * 64 * 64 + 64);
  assert.equal(of('additive').tanhs, 1024 * 1024 * 64);
  assert.deepEqual(normalizers.filter(({sumsToOne}) => sumsToOne).map(({name}) => name), ['softmax', 'sparsemax', 'entmax15', 'hardmax']);
});

test('layers with any option are as large as memory allows, not as the board', () => {
  const n = 1500, values = Array.from({length: n}, (_, j) => j % 7), zeros = {shape: [n, 2], data: Array(2 * n).fill(0)};
  const {weights, output} = run({q: zeros, k: zeros, v: {shape: [n, 1], data: values}, options: {position: 'alibi', causal: true}}, '--outputs', 'output,weights');
  assert.deepEqual(weights.shape, [n, n]);
  const powers = values.map((_, j) => Math.exp(-(n - 1 - j) / 256)), total = sum(powers);  // the slope of a single head is 1/256
  powers.forEach((power, j) => assert.ok(Math.abs(weights.data[n * (n - 1) + j] - power / total) < 1e-6));
  assert.ok(Math.abs(output.data[n - 1] - sum(powers.map((power, j) => power * values[j])) / total) < 1e-5);
  const wide = {shape: [3, 700], data: Array.from({length: 2100}, (_, i) => Math.sin(i))};
  assert.deepEqual(run({q: wide, k: wide, v: wide, options: {position: 'rotary', causal_offset: 1024}}).output.shape, [3, 700]);
});

test('IN may stand before or after --set, and later settings win', () => {
  const path = file(layer({options: {window_left: 2}}));
  const direct = attn('run', path, '--set', 'causal=true', 'window_left=0', '--outputs', 'weights').stdout;
  assert.equal(attn('run', '--set', 'causal=true', '--set', 'window_left=0', '--outputs', 'weights', path).stdout, direct);
  assert.equal(attn('run', '--outputs', 'weights', '--set', 'causal=true', 'window_left=0', path).stdout, direct);
  const {weights} = JSON.parse(direct);
  assert.deepEqual(weights.data.slice(0, 4), [1, 0, 0, 0]);
});

test('outputs come in the order that was asked, each once', () => {
  assert.deepEqual(Object.keys(run(layer(), '--outputs', 'weights,output,weights')), ['weights', 'output']);
  assert.deepEqual(Object.keys(run(layer())), ['output']);
});

test('--out writes what standard output would show, whole', () => {
  const out = join(folder, 'result.json');
  const before = readdirSync(folder).length;
  const path = file(layer());
  const done = attn('run', path, '--out', out);
  assert.deepEqual([done.status, done.stdout, done.stderr], [0, '', '']);
  assert.equal(readFileSync(out, 'utf8'), attn('run', path).stdout);
  assert.equal(readdirSync(folder).length, before + 2);
});

test('--out replaces a file, keeps its permissions, follows a link, and may be the input', () => {
  const out = join(folder, 'old.json'), link = join(folder, 'link.json');
  writeFileSync(out, 'old');
  chmodSync(out, 0o640);
  symlinkSync(out, link);
  assert.equal(attn('run', file(layer()), '--out', link).status, 0);
  assert.ok(JSON.parse(readFileSync(out, 'utf8')).output);
  assert.equal(statSync(out).mode & 0o777, 0o640);
  assert.ok(readdirSync(folder, {withFileTypes: true}).find(entry => entry.name === 'link.json').isSymbolicLink());
  const both = file(layer());
  assert.equal(attn('run', both, '--out', both).status, 0);
  assert.ok(JSON.parse(readFileSync(both, 'utf8')).output);
});

test('--out follows links to a file that is not there yet, and refuses a ring of links', () => {
  const far = join(folder, 'far');
  mkdirSync(far);
  symlinkSync('far/new.json', join(folder, 'dangling.json'));
  symlinkSync('dangling.json', join(folder, 'second.json'));
  assert.equal(attn('run', file(layer()), '--out', join(folder, 'second.json')).status, 0);
  assert.ok(JSON.parse(readFileSync(join(far, 'new.json'), 'utf8')).output);
  for (const name of ['dangling.json', 'second.json']) assert.ok(lstatSync(join(folder, name)).isSymbolicLink(), `${name} stays a link`);
  symlinkSync('ring.json', join(folder, 'ring.json'));
  assert.match(attn('run', file(layer()), '--out', join(folder, 'ring.json')).stderr, /ring\.json: it cannot be written: Too many levels of symbolic links\.\n$/);
  assert.ok(lstatSync(join(folder, 'ring.json')).isSymbolicLink());
});

test('what a killed run has left is said, and neither used nor deleted', () => {
  const out = join(folder, 'result.json'), old = `${out}.part999999999`, live = `${out}.part${process.pid}`, other = `${out}.partial`;
  for (const path of [old, live, other]) writeFileSync(path, '{');
  const {status, stderr} = attn('run', file(layer()), '--out', out);
  assert.deepEqual([status, stderr], [0, `attn: ${old} was left behind by an interrupted run; it is incomplete and can be deleted.\n`]);
  for (const path of [old, live, other]) assert.equal(readFileSync(path, 'utf8'), '{');
});

test('a file of 100,000 tensors is read in a time that grows with their number, not with its square', () => {
  const tensors = Object.fromEntries(Array.from({length: 100_000}, (_, i) => [`t${i}`, {dtype: 'F32', shape: [0], data_offsets: [0, 0]}]));
  const header = Buffer.from(JSON.stringify(tensors)), length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const path = file(Buffer.concat([length, header]), '.safetensors');
  // Some 0.2 s of processor time; it was 13 s and more. The limit ends what would go on for minutes.
  const {status, stderr} = attn('run', path, {limits: 'ulimit -t 10'});
  assert.equal(status, 1);
  assert.match(stderr, /q: it is missing; the file has 100000 tensors/);
});

test('--out to a device writes into it', {skip: !existsSync('/dev/null')}, () => {
  assert.equal(attn('run', file(layer()), '--out', '/dev/null').status, 0);
  assert.ok(statSync('/dev/null').isCharacterDevice());
  const piped = attn('run', file(layer()), '--out', '/dev/stdout', {limits: 'exec 3>&1; exec > >(cat >&3)'});
  assert.ok(JSON.parse(piped.stdout).output);
});

test('numbers come back with the same bits', () => {
  const bits = new Uint32Array(60_000);
  let state = 1;
  const floats = new Float32Array(bits.buffer);
  for (let i = 0; i < bits.length; ++i) {
    do bits[i] = state = (Math.imul(state, 1664525) + 1013904223) >>> 0; while (!Number.isFinite(floats[i]));
  }
  floats.set([0, 1, -1, 2 ** -149, 2 ** -126, -(2 ** -126), 2 ** 127 * (2 - 2 ** -23), 16777216, 16777215, 0.1, 1e-45, 1.17549421e-38, 1e20, 1e21]);
  const k = {shape: [1, floats.length, 1], data: Array.from(floats)};  // with all 17 digits of the doubles
  const short = {shape: k.shape, data: k.data.map(v => Number(v.toPrecision(9)))};
  for (const given of [k, short]) {
    const {present_k} = run({q: filled([1, 1, 1]), k: given, v: given}, '--outputs', 'present_k');
    const back = new Uint32Array(Float32Array.from(present_k.data).buffer);
    floats.forEach((value, i) => assert.ok(back[i] === bits[i] || (value === 0 && back[i] === 0), `${value} came back as ${present_k.data[i]}`));
  }
  const zeros = attn('run', file('{"q": [[1]], "k": [[-0.0], [0.0]], "v": [[1], [2]]}'), '--outputs', 'present_k').stdout;
  assert.match(zeros, /\[-0\.0, 0\]/);
});

test('a number halfway between two floats goes to the even one, however many digits it has', () => {
  const cases = [['1.000000059604644775390625', 1], ['1.00000005960464477539062500000000000000000000000000001', 1 + 2 ** -23],
    ['1.00000005960464477539062499999999999999999999999999999', 1], ['7.006492321624085e-46', 0], ['7.0064923216240854e-46', 2 ** -149]];
  for (const [digits, want] of cases) {
    const {present_k} = JSON.parse(attn('run', file(`{"q": [[1]], "k": [[${digits}]], "v": [[1]]}`), '--outputs', 'present_k').stdout);
    assert.equal(Math.fround(present_k.data[0]), want, digits);
  }
});

test('nested lists are the same as shape and data', () => {
  const nested = run({q: [[[1, 2], [3, 4]]], k: [[[1, 0], [0, 1]]], v: [[[5], [6]]]}, '--outputs', 'output,weights');
  const flat = run({q: tensor([1, 2, 2], [1, 2, 3, 4]), k: tensor([1, 2, 2], [1, 0, 0, 1]), v: tensor([1, 2, 1], [5, 6])}, '--outputs', 'output,weights');
  assert.deepEqual(nested, flat);
});

test('data may come before its shape, dtype anywhere, and results that were saved along are ignored', () => {
  const {q, k, v} = layer();
  const plain = run({q, k, v});
  const mixed = run(`{"output": {"shape": [1], "data": [1]}, "labels": ["a", "b"], "weights": [[1]], "options": {},
    "q": {"data": ${JSON.stringify(q.data)}, "dtype": "float32", "shape": [2, 3, 2]}, "v": ${JSON.stringify(v)}, "k": ${JSON.stringify(k)}}`);
  assert.deepEqual(mixed, plain);
});

test('a boolean mask may be truths, or 0 and 1 of dtype bool', () => {
  const pattern = [1, 0, 1, 0];
  const truths = run(layer({mask: tensor([4], pattern.map(Boolean))}), '--outputs', 'weights');
  assert.deepEqual(run(layer({mask: tensor([4], pattern.map(Boolean), {dtype: 'bool'})}), '--outputs', 'weights'), truths);
  assert.deepEqual(run(layer({mask: tensor([4], pattern, {dtype: 'bool'})}), '--outputs', 'weights'), truths);
  assert.deepEqual(run(layer({mask: pattern.map(Boolean)}), '--outputs', 'weights'), truths);
  const added = run(layer({mask: tensor([4], pattern.map(p => p ? 0 : '-inf'))}), '--outputs', 'weights');
  added.weights.data.forEach((w, i) => assert.ok(Math.abs(w - truths.weights.data[i]) <= 4e-7));
  assert.ok(truths.weights.data.every((w, i) => (w === 0) === (pattern[i % 4] === 0)));
});

test('inf in a mask counts as the largest float: such keys share the weight', () => {
  const {weights, masked} = run(layer({mask: tensor([4], [0, 'inf', 0, 'inf'])}), '--outputs', 'weights,masked');
  assert.deepEqual(weights.data.slice(0, 4), [0, 0.5, 0, 0.5]);
  assert.equal(Math.fround(masked.data[1]), 3.4028234663852886e38);
});

test('key lengths as a list or a tensor', () => {
  const list = run(layer({key_lengths: [2]}), '--outputs', 'weights');
  assert.deepEqual(run(layer({key_lengths: tensor([1], [2], {dtype: 'int32'})}), '--outputs', 'weights'), list);
});

test('no NaN comes from finite numbers, however large or small the options', () => {
  const ends = [3.4028234663852886e38, -3.4028234663852886e38, 1e-45, 0];
  const q = tensor([1, 4, 1], ends), k = tensor([1, 4, 1], ends), v = tensor([1, 4, 1], ends);
  const extremes = [{}, {scale: 3e38}, {scale: -3e38}, {temperature: 1e-6}, {temperature: 1e6}, {softcap: 1e-45}, {softcap: 3e38}, {scale: 0}];
  for (const options of extremes)
    for (const mask of [undefined, tensor([4], [3e38, -3e38, '-inf', 'inf'])]) {
      const results = run({q, k, v, mask, options}, '--outputs', 'output,weights,scores,softcapped,masked');
      for (const [name, {data}] of Object.entries(results))
        for (const value of data) assert.ok(Number.isFinite(value) || (name === 'masked' && value === '-inf'), `${name} has ${value} for ${JSON.stringify(options)}`);
      for (let row = 0; row < 4; ++row) assert.ok(Math.abs(sum(results.weights.data.slice(4 * row, 4 * row + 4)) - 1) < 2e-6);
    }
});

test('cached decoding is one pass, and causal output of a prefix is the prefix of the output', () => {
  const length = 9, q = numbers(length * 4, 1), k = numbers(length * 4, 2), v = numbers(length * 3, 3);
  const cut = (data, width, from, to) => tensor([1, to - from, width], data.slice(from * width, to * width));
  const whole = run({q: cut(q, 4, 0, length), k: cut(k, 4, 0, length), v: cut(v, 3, 0, length)}, '--set', 'causal=true', 'window_left=5').output.data;
  let past = {};
  const steps = [];
  for (let i = 0; i < length; ++i) {
    const step = run({q: cut(q, 4, i, i + 1), k: cut(k, 4, i, i + 1), v: cut(v, 3, i, i + 1), ...past}, '--set', 'causal=true', 'window_left=5',
        '--outputs', 'output,present_k,present_v');
    steps.push(...step.output.data);
    past = {past_k: step.present_k, past_v: step.present_v};
  }
  steps.forEach((value, i) => assert.ok(Math.abs(value - whole[i]) < 1e-6));
  const prefix = run({q: cut(q, 4, 0, 4), k: cut(k, 4, 0, 4), v: cut(v, 3, 0, 4)}, '--set', 'causal=true', 'window_left=5').output.data;
  prefix.forEach((value, i) => assert.ok(Math.abs(value - whole[i]) < 1e-6));
});

// A state of the playground.
const state = {version: 1, preset: '', mode: 'qkv', tokens: 3, heads: 2, d_k: 2, model_dim: 2, labels: ['a', 'b', 'c'], causal: true, scale: true,
  temperature: 1, focus_head: 0, decimals: 2, theme: 'auto', seed: 1,
  q: filled([2, 3, 2], 1), k: filled([2, 3, 2], 2), v: filled([2, 3, 2], 3)};

test('a state computes what its tensors do', () => {
  const outputs = ['--outputs', 'output,weights,scores,softcapped,masked,present_k,present_v'];
  const board = run(state, ...outputs);
  const tensors = run({q: state.q, k: state.k, v: state.v}, '--set', 'causal=true', ...outputs);
  assert.deepEqual(Object.keys(board), Object.keys(tensors));
  for (const name of ['weights', 'scores', 'softcapped', 'masked', 'present_k', 'present_v']) {
    assert.deepEqual(board[name].shape, tensors[name].shape);
    board[name].data.forEach((value, i) => assert.ok(value === tensors[name].data[i] || Math.abs(value - tensors[name].data[i]) < 1e-6, name));
  }
  assert.deepEqual(board.output.shape, [3, 4]);  // heads side by side
  board.output.data.forEach((value, i) => {
    const row = Math.floor(i / 4), head = Math.floor(i % 4 / 2), column = i % 2;
    assert.ok(Math.abs(value - tensors.output.data[(head * 3 + row) * 2 + column]) < 1e-6);
  });
});

test('a state takes the options of the board', () => {
  const {weights} = run(state, '--set', 'causal=false', 'temperature=0.5', '--outputs', 'weights');
  const direct = run({q: state.q, k: state.k, v: state.v}, '--set', 'temperature=0.5', '--outputs', 'weights').weights;
  weights.data.forEach((value, i) => assert.ok(Math.abs(value - direct.data[i]) < 1e-6));
  const regrouped = run(state, '--set', 'heads=1', '--outputs', 'weights');
  assert.deepEqual(regrouped.weights.shape, [1, 3, 3]);
  const hidden = run(state, '--set', 'hidden_heads=[1]').output, all = run(state).output;
  const [tokens, columns] = all.shape;
  hidden.data.forEach((value, i) => assert.equal(value, i % columns < columns / 2 ? all.data[i] : 0));
  assert.deepEqual(run(state, '--set', 'labels=["New York", "is", "far", "away"]').output.shape, [tokens + 1, columns]);
  const refused = (...args) => {
    const done = attn('run', file(state), ...args);
    assert.equal(done.status, 2, done.stderr);
    return done.stderr;
  };
  assert.match(refused('--set', 'heads=3'), /^attn: --set heads: /);
  assert.match(refused('--set', 'layout=packed'), /^attn: --set layout: the option is unknown for a state/);
  assert.match(refused('--kernel', 'scalar'), /^attn: --kernel: /);
});

test('every mechanism: a state and its tensors say the same', () => {
  const sets = [['score=cosine'], ['normalizer=sparsemax'], ['normalizer=entmax15'], ['normalizer=sigmoid', 'temperature=2'], ['normalizer=hardmax'],
    ['position=alibi'], ['prefix=2'], ['pattern_local=1', 'pattern_stride=2'], ['pattern_random=1', 'pattern_seed=9'],
    ['mask_after_softmax=true'], ['softmax_sink=true'], ['softmax_sink=true', 'temperature=2'], ['softcap=1.5', 'normalizer=relu'], ['pattern=strided', 'pattern_stride=2'], ['pattern_block=1', 'pattern=block'],
    ['causal_offset=1'], ['key_length=2', 'causal=false']];
  for (const set of sets) {
    const outputs = ['--outputs', 'weights,softcapped'];
    const board = run(state, '--set', 'causal=true', ...set, ...outputs);
    const direct = run({q: state.q, k: state.k, v: state.v}, '--set', 'causal=true', ...set, ...outputs);
    for (const name of ['weights', 'softcapped'])
      board[name].data.forEach((value, i) => assert.ok(Math.abs(value - direct[name].data[i]) < 1e-6, `${set} ${name}`));
    const plain = run(state, '--set', 'causal=true', '--outputs', 'weights');
    assert.notDeepEqual(board.weights.data, plain.weights.data, `${set}`);
  }
});

test('a sink in a file takes a part of each row of softmax', () => {
  const sink = [0.5, -1], content = layer({sink: tensor([2], sink), options: {causal: true}}), {weights, masked} = run(content, '--outputs', 'weights,masked');
  for (let row = 0; row < 6; row++) {
    const of = (all) => all.slice(4 * row, 4 * row + 4), exponentials = of(masked.data).map((s) => s === '-inf' ? 0 : Math.exp(s));
    const sum = exponentials.reduce((a, b) => a + b, Math.exp(sink[Math.floor(row / 3)]));
    of(weights.data).forEach((weight, i) => assert.ok(Math.abs(weight - exponentials[i] / sum) < 1e-6, `row ${row}`));
  }
  const plain = run(layer({options: {causal: true}}), '--outputs', 'weights');
  assert.deepEqual(run(content, '--set', 'softmax_sink=false', '--outputs', 'weights'), plain);
  assert.notDeepEqual(run(layer({options: {causal: true}}), '--set', 'softmax_sink=true', '--outputs', 'weights'), plain, 'a sink of 0');
  for (const [more, message] of [[{sink: tensor([3], [0, 0, 0])}, /sink\.shape: \[3\] does not fit; it must be \[2\]/],
    [{sink: tensor([2], sink), options: {normalizer: 'relu'}}, /sink: it takes part in softmax alone/]])
    assert.match(refusal(1, attn('run', file(layer(more)))), message);
});

test('a pattern by its name has the sizes that go with the keys', () => {
  const q = filled([16, 2], 1), k = filled([16, 2], 2), v = filled([16, 2], 3);
  const board = run({version: 1, mode: 'qkv', tokens: 16, heads: 1, d_k: 2, causal: true, ...Object.fromEntries(Object.entries({q, k, v})
    .map(([name, {shape, data}]) => [name, {shape: [1, ...shape], data}]))}, '--set', 'pattern=bigbird', 'pattern_seed=3', '--outputs', 'weights');
  const direct = run({q, k, v, options: {causal: true, pattern_seed: 3}}, '--set', 'pattern=bigbird', '--outputs', 'weights');
  board.weights.data.forEach((value, i) => assert.ok(Math.abs(value - direct.weights.data[i]) < 1e-6));
  assert.ok(direct.weights.data.some((value, i) => value === 0 && i % 16 < Math.floor(i / 16)), 'some keys are left out');
});

test('a boolean mask after the softmax is what painted cells are on the board', () => {
  const mask = tensor([3, 3], [1, 1, 1, 0, 1, 1, 1, 0, 1].map(Boolean));
  const args = ['--set', 'mask_after_softmax=true', '--outputs', 'weights,masked'];
  const board = run({...state, causal: false, mask}, ...args);
  const direct = run({q: state.q, k: state.k, v: state.v, mask}, ...args);
  board.weights.data.forEach((value, i) => assert.ok(Math.abs(value - direct.weights.data[i]) < 1e-6));
  assert.ok(direct.masked.data.every(Number.isFinite) && direct.weights.data[3] === 0);
  assert.ok(sum(direct.weights.data.slice(3, 6)) < 0.999, 'its row no longer sums to 1');
});

test('a broken state is refused as the board does it', () => {
  for (const [content, says] of [[{...state, version: 2}, /version/], [{version: 1}, /: /], [{...state, tokens: 5}, /: /]]) {
    const done = attn('run', file(content));
    assert.equal(done.status, 1);
    assert.match(done.stderr, /^attn: [^\n]+\n$/);
    assert.match(done.stderr, says);
  }
});

test('x and its weights compute as the board does', () => {
  const x = filled([3, 4], 1), w = seed => filled([4, 4], seed);
  const {output, weights} = run({x, w_q: w(2), w_k: w(3), w_v: w(4), w_o: w(5), options: {heads: 2}}, '--outputs', 'output,weights');
  assert.deepEqual(output.shape, [3, 4]);
  assert.deepEqual(weights.shape, [2, 3, 3]);
  for (let row = 0; row < 6; ++row) assert.ok(Math.abs(sum(weights.data.slice(3 * row, 3 * row + 3)) - 1) < 2e-6);
});
