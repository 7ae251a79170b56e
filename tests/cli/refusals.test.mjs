// Invalid input gives one sentence on stderr, an exit status, and nothing else.
import assert from 'node:assert/strict';
import {chmodSync, existsSync, mkdirSync, openSync, readFileSync, readdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {attn, file, filled, folder, layer, numbers, refusal, refuses, tensor} from './harness.mjs';

const badData = 1, wrongUse = 2;

// Each entry: what is wrong, the file, and what the sentence must contain.
function each(title, status, entries) {
  test(title, async t => {
    for (const [name, content, says, ...args] of entries)
      await t.test(name, () => {
        const sentence = refuses(status, content, ...args);
        for (const part of [says].flat()) assert.ok(sentence.includes(part), `${JSON.stringify(part)} is not in: ${sentence}`);
      });
  });
}

const text = JSON.stringify(layer());

each('what is not JSON', badData, [
  ['empty', '', 'it is empty'],
  ['blank', ' \n\t', 'it is empty'],
  ['cut in a number', text.slice(0, 60), ['ends too early', 'line 1']],
  ['cut after a comma', text.slice(0, text.indexOf('"k"')), 'ends too early'],
  ['cut before the end', text.slice(0, -1), 'ends too early'],
  ['cut in a text', '{"q', 'ends too early'],
  ['something after the end', text + '{}', 'does not belong there'],
  ['a comma too many', '{"q": {"shape": [1,], "data": []}}', 'does not belong there'],
  ['a comment', '{ // q\n}', 'line 1, column 3'],
  ['single quotes', "{'q': 1}", 'does not belong there'],
  ['a byte order mark', '\ufeff' + text, 'byte order mark'],
  ['UTF-16', Buffer.from('\ufeff{}', 'utf16le'), 'byte order mark'],
  ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'does not belong there'],
  ['bytes of 0', Buffer.alloc(64), 'does not belong there'],
  ['a list', '[1, 2]', 'a list is not an object'],
  ['a number', '3', 'a single value is not a tensor'],
  ['null', 'null', 'a single value is not a tensor'],
  ['lists without end', '['.repeat(100000), 'is not an object'],
  ['lists without end in a field', '{"output": ' + '['.repeat(200000), 'more than 32 deep'],
  ['lists without end in labels', '{"labels": ' + '['.repeat(200000), 'more than 32 deep'],
  ['objects without end', '{"a":'.repeat(200000), ['a:', '"a" is unknown']],
  ['lists a million deep in a state', `{"version": 1, "x": ${'['.repeat(1e6)}${']'.repeat(1e6)}}`, 'more than 64 deep'],
  ['more tensors than can be read', `{${Array.from({length: 100_001}, (_, i) => `"t${i}":[]`)}}`, 'more than 100000 tensors'],
  ['lists without end in q', '{"q": ' + '['.repeat(200000), 'more than 32 deep'],
]);

each('fields', badData, [
  ['nothing', {}, ['q:', 'missing']],
  ['q alone', {q: filled([2, 2])}, ['k:', 'missing']],
  ['no v', {q: filled([2, 2]), k: filled([2, 2])}, ['v:', 'missing']],
  ['an unknown field', layer({maks: [1, 2]}), ['"maks"', 'unknown']],
  ['an unknown option among the tensors', layer({maks: 1}), ['options.maks', 'unknown']],
  ['q twice', '{"q": [[1]], "q": [[1]]}', ['"q"', 'twice']],
  ['data twice', '{"q": {"shape": [1, 1], "data": [1], "data": [1]}}', ['q:', '"data"', 'twice']],
  ['an option twice', '{"options": {"causal": true, "causal": true}}', ['options', 'twice']],
  ['a number as q', layer({q: 3}), ['q.shape:', 'a single value']],
  ['a text as q', layer({q: 'abc'}), ['q:', 'holds texts']],
  ['null as q', layer({q: null}), ['q:', 'null']],
  ['no shape', layer({q: {data: [1]}}), ['q.shape', 'missing']],
  ['no data', layer({q: {shape: [1, 1]}}), ['q.data', 'missing']],
  ['an unknown part', layer({q: {shape: [1, 1], data: [1], order: 'C'}}), ['q:', '"order"']],
  ['x and q', layer({x: [[1]]}), ['x:', 'q is given too']],
  ['w_q and q', layer({w_q: [[1]]}), ['w_q:', 'q is given too']],
  ['options that are a list', layer({options: [1]}), ['options', 'list']],
  ['options that are a text', layer({options: 'causal'}), ['options', '"causal" is not an object']],
]);

each('numbers', badData, [
  ['NaN', text.replace(/"data":\[[^,]*/, '"data":[NaN'), ['q[0, 0, 0]', 'NaN', 'finite']],
  ['Infinity', text.replace(/"data":\[[^,]*/, '"data":[Infinity'), ['q[0, 0, 0]', 'inf is only for a mask']],
  ['-Infinity', text.replace(/"data":\[[^,]*/, '"data":[-Infinity'), ['q[0, 0, 0]', '-inf is only for a mask']],
  ['NaN in nested lists', '{"q": [[1, NaN]]}', ['q[0, 1]', 'NaN']],
  ['NaN as a text', layer({v: tensor([2, 4, 2], ['nan', ...numbers(15)])}), ['v[0, 0, 0]', 'NaN cannot be used']],
  ['an infinity outside a mask', layer({v: tensor([2, 4, 2], [1, '-inf', ...numbers(14)])}), ['v[0, 0, 1]', '-inf', 'mask']],
  ['too large for a float', layer({k: tensor([2, 4, 2], [1e39, ...numbers(15)])}), ['k.data[0]', 'too large']],
  ['too large for a double', text.replace(/"data":\[[^,]*/, '"data":[1e999'), ['q.data[0]', 'too large']],
  ['null', layer({k: tensor([2, 4, 2], [null, ...numbers(15)])}), ['k.data[0]', 'null']],
  ['true', layer({k: tensor([2, 4, 2], [true, ...numbers(15)])}), ['k.data[1]', 'a number follows true or false']],
  ['a text', layer({k: tensor([2, 4, 2], ['1', ...numbers(15)])}), ['k.data[0]', '"1"']],
  ['a list in data', layer({k: tensor([2, 4, 2], [[1], ...numbers(15)])}), ['k.data[0]', 'a list']],
  ['too large for float16', layer({k: tensor([2, 4, 2], [65520, ...numbers(15)], {dtype: 'float16'})}), ['k.data[0]', '65520', 'float16']],
  ['complex numbers', layer({k: {...filled([2, 4, 2]), dtype: 'complex64'}}), ['k.dtype', '"complex64"', '"float32"']],
  ['bool but a mask', layer({k: {...filled([2, 4, 2]), dtype: 'bool'}}), ['k.data[0]', 'is not true or false']],
  ['a number as dtype', layer({k: {...filled([2, 4, 2]), dtype: 16}}), ['k.dtype', 'not a text', '"float32"']],
]);

each('shapes', badData, [
  ['fewer values', layer({q: tensor([2, 3, 2], numbers(11))}), ['q.data', '11 values', '12']],
  ['more values', layer({q: tensor([2, 3, 2], numbers(13))}), ['q.data', '13 values', '12']],
  ['ragged', layer({q: [[1, 2], [3]]}), ['q:', '1 value', '2']],
  ['ragged, deeper', layer({q: [[[1, 2], [3, 4]], [[5, 6]]]}), ['q:', 'same length']],
  ['depths that differ', layer({q: [[1, 2], 3]}), ['q[1]', 'depth']],
  ['depths that differ, the other way', layer({q: [1, [2]]}), ['q[1]', 'depth']],
  ['rank 1', layer({q: tensor([2], [1, 2])}), ['q.shape', '[2]', '[heads, tokens, columns]']],
  ['rank 0', layer({q: tensor([], [1])}), ['q.shape', '[]']],
  ['rank 5', layer({q: tensor([1, 1, 1, 1, 1], [1])}), ['q.shape', '5 sizes']],
  ['a size below 0', layer({q: tensor([-1, 2], [])}), ['q.shape[0]', '-1']],
  ['half a size', layer({q: tensor([1.5, 2], [1, 2, 3])}), ['q.shape[0]', '1.5']],
  ['a text as size', layer({q: tensor(['1', 2], [1, 2])}), ['q.shape[0]', '"1" is not a size']],
  ['a billion rows', layer({q: tensor([1e9, 2], [1, 2])}), ['q.data', '2 values', '2000000000']],
  ['sizes beyond 64 bits', layer({q: tensor([2e9, 2e9, 2e9, 2e9], [1, 2])}), ['q.data', 'more than any memory']],
  ['a size beyond 32 bits', layer({q: tensor([1e10, 1], [1])}), ['q.shape[0]', '10000000000']],
  ['a huge size beside a 0', layer({q: tensor([0, 2e9], [])}), ['q.shape', '16777216']],
  ['a batch of 0', layer({q: tensor([0, 1, 2, 2], []), k: tensor([0, 1, 2, 2], []), v: tensor([0, 1, 2, 2], [])}), ['q.shape', 'size of 0']],
  ['columns of 0', layer({q: tensor([2, 0], []), k: tensor([2, 0], []), v: filled([2, 2])}), ['q.shape', 'size of 0']],
  ['a batch that differs', {q: filled([2, 1, 2, 2]), k: filled([1, 1, 2, 2]), v: filled([1, 1, 2, 2])}, ['k.shape', 'batch of 1', '2 of q']],
  ['columns of k', layer({k: filled([2, 4, 3])}), ['k.shape', 'column count of 3', '2 of q']],
  ['tokens of v', layer({v: filled([2, 5, 2])}), ['v.shape', 'token count of 5', '4 of k']],
  ['heads of v', layer({v: filled([1, 4, 2])}), ['v.shape', 'head count of 1', '2 of k']],
  ['heads that key heads do not divide', {q: filled([3, 2, 2]), k: filled([2, 2, 2]), v: filled([2, 2, 2])}, ['k.shape', '2 key heads', '3 heads']],
  ['more key heads than heads', {q: filled([2, 2, 2]), k: filled([4, 2, 2]), v: filled([4, 2, 2])}, ['k.shape', '4 key heads']],
]);

const past = {past_k: filled([2, 3, 2]), past_v: filled([2, 3, 2])};
each('past and key lengths', badData, [
  ['past_k alone', layer({past_k: past.past_k}), ['past_v', 'missing']],
  ['past_v alone', layer({past_v: past.past_v}), ['past_k', 'missing']],
  ['heads of past_k', layer({...past, past_k: filled([1, 3, 2])}), ['past_k.shape', '[1, 3, 2]', '[2, past, 2]']],
  ['columns of past_v', layer({...past, past_v: filled([2, 3, 1])}), ['past_v.shape', '[2, past, 2]']],
  ['rank of past_k', layer({...past, past_k: filled([1, 2, 3, 2])}), ['past_k.shape', '[2, past, 2]']],
  ['lengths of both', layer({...past, past_v: filled([2, 2, 2])}), ['past_v.shape', '2', '3 of past_k']],
  ['one length too many', layer({key_lengths: [1, 2]}), ['key_lengths.shape', '[1]']],
  ['a length beyond the keys', layer({key_lengths: [5]}), ['key_lengths[0]', '5', '0 to 4']],
  ['a length below 0', layer({key_lengths: [-1]}), ['key_lengths[0]', '-1']],
  ['half a length', layer({key_lengths: [1.5]}), ['key_lengths[0]', '1.5']],
  ['a length as a text', layer({key_lengths: ['1']}), ['key_lengths:', 'holds texts']],
]);

each('masks', badData, [
  ['more keys than there are', layer({mask: filled([3, 5])}), ['mask.shape', '[3, 5]', '[1, 2, 3, 4]']],
  ['queries that do not fit', layer({mask: filled([2, 4])}), ['mask.shape', '[2, 4]']],
  ['heads that do not fit', layer({mask: filled([3, 3, 4])}), ['mask.shape']],
  ['a batch that does not fit', layer({mask: filled([2, 1, 3, 4])}), ['mask.shape']],
  ['rank 0', layer({mask: tensor([], [1])}), ['mask.shape', '[]']],
  ['true among numbers', layer({mask: tensor([4], [0, true, 0, 0])}), ['mask.data[1]', 'one kind']],
  ['a number among truths', layer({mask: tensor([4], [true, 0, true, true])}), ['mask.data[1]', 'one kind']],
  ['2 in a boolean mask', layer({mask: tensor([4], [0, 1, 2, 1], {dtype: 'bool'})}), ['mask.data[2]', '2 is not true or false']],
  ['-inf in a boolean mask', layer({mask: tensor([4], [0, '-inf', 1, 1], {dtype: 'bool'})}), ['mask.data[1]', '-inf is not true or false']],
  ['truths of dtype float32', layer({mask: tensor([4], [true, false, true, true], {dtype: 'float32'})}), ['mask.dtype', '"bool"']],
  ['NaN', JSON.stringify(layer({mask: tensor([4], [0, 1, 2, 3])})).replace(/\[0,1,2,3\]/, '[0,NaN,2,3]'), ['mask[1]', 'NaN']],
  ['another text', layer({mask: tensor([4], [0, '-Infinity', 1, 1])}), ['mask.data[1]', '"-Infinity" is not a number']],
]);

const options = more => layer({options: more});
each('options of the file', badData, [
  ['unknown', options({is_causal: true}), ['options.is_causal', 'unknown', 'causal']],
  ['causal as 1', options({causal: 1}), ['options.causal', '1', 'true or false']],
  ['causal as a text', options({causal: 'yes'}), ['options.causal', '"yes"']],
  ['null', options({causal: null}), ['options.causal', 'null']],
  ['a list', options({causal: [true]}), ['options.causal', 'list']],
  ['scale as a text', options({scale: 'auto'}), ['options.scale', '"auto"']],
  ['scale beyond a float', options({scale: 1e39}), ['options.scale', '1e+39']],
  ['softcap below 0', options({softcap: -1}), ['options.softcap', '-1']],
  ['temperature 0', options({temperature: 0}), ['options.temperature', '0']],
  ['temperature below 0', options({temperature: -1}), ['options.temperature', '-1']],
  ['window_left below -1', options({window_left: -2}), ['options.window_left', '-2']],
  ['half a window', options({window_right: 0.5}), ['options.window_right', '0.5']],
  ['a window of a billion', options({window_right: 1e9}), ['options.window_right', '1000000000']],
  ['heads 0', options({heads: 0}), ['options.heads', '0']],
  ['heads that are not there', options({heads: 4}), ['options.heads', '4', 'q.shape', '2 heads']],
  ['key heads that are not there', options({kv_heads: 1}), ['options.kv_heads', '1', 'k.shape', '2 heads']],
  ['score general with weights of another shape', layer({w_a: filled([2, 2, 1]), options: {score: 'general'}}), ['w_a.shape', '[2, 2, 1]', '[2, 2, 2]']],
  ['score of no name', options({score: 'best'}), ['options.score', '"best"', '"scaled"', '"cosine"']],
  ['cosine and a scale', options({score: 'cosine', scale: 0.5}), ['options.scale', 'cosine']],
  ['sinusoids without x', options({position: 'sinusoidal'}), ['options.position', 'added to X']],
  ['rotary positions of an odd width', {q: filled([2, 3]), k: filled([2, 3]), v: filled([2, 3]), options: {position: 'rotary'}}, ['options.position', 'rotary', 'even']],
  ['rotary positions of an additive score', options({position: 'rotary', score: 'additive'}), ['options.position', 'additive']],
  ['a mask after no softmax', options({mask_after_softmax: true, normalizer: 'relu'}), ['options.mask_after_softmax', 'softmax']],
  ['a mask for every head after the softmax', layer({mask: tensor([2, 1, 4], [1, 1, 1, 0, 1, 1, 1, 1].map(Boolean)), options: {mask_after_softmax: true}}), ['mask.shape', '[2, 1, 4]', 'one is for all']],
  ['a pattern of no name', options({pattern: 'sparse'}), ['options.pattern', '"sparse"', '"bigbird"']],
  ['a pattern that its parts make', options({pattern: 'custom'}), ['options.pattern', '"custom"', 'pattern_local']],
  ['an offset beside a past', layer({past_k: filled([2, 1, 2]), past_v: filled([2, 1, 2]), options: {causal_offset: 1}}), ['options.causal_offset', 'past_k']],
  ['an offset beside lengths', layer({key_lengths: [3], options: {causal_offset: 1}}), ['options.causal_offset', 'key_lengths']],
  ['a length beside lengths', layer({key_lengths: [3], options: {key_length: 1}}), ['options.key_length', 'key_lengths']],
  ['a prefix below 0', options({prefix: -1}), ['options.prefix', '-1']],
  ['a dilation of 0', options({pattern_dilation: 0}), ['options.pattern_dilation', '0']],
  ['queries before the first key', layer({key_lengths: [1], options: {position: 'alibi'}}), ['key_lengths[0]', '1', 'queries']],
  ['normalizer of no name', options({normalizer: 'max'}), ['options.normalizer', '"max"']],
  ['layout of no name', options({layout: 'BSH'}), ['options.layout', '"BSH"', '"split" or "packed"']],
  ['dot and a scale', options({score: 'dot', scale: 0.5}), ['options.scale', 'dot']],
  ['packed without heads', {q: filled([1, 3, 4]), k: filled([1, 4, 4]), v: filled([1, 4, 4]), options: {layout: 'packed'}}, ['options.heads', 'missing']],
  ['packed, heads that do not divide', {q: filled([1, 3, 4]), k: filled([1, 4, 4]), v: filled([1, 4, 4]), options: {layout: 'packed', heads: 3}},
    ['options.heads', '3', '4 columns', 'q.shape']],
  ['packed, key heads that do not divide heads', {q: filled([1, 3, 12]), k: filled([1, 4, 6]), v: filled([1, 4, 6]), options: {layout: 'packed', heads: 4, kv_heads: 3}},
    ['options.kv_heads', '3 key heads', '4 heads']],
  ['packed of rank 4', {...layer({q: filled([1, 2, 3, 2])}), options: {layout: 'packed', heads: 2}}, ['q.shape', 'packed layout']],
]);

each('wrong use', wrongUse, [
  ['an unknown option', layer(), '--set causl: the option is unknown; perhaps causal, ', '--set', 'causl=1'],
  ['a value of the wrong kind', layer(), ['--set causal', '1'], '--set', 'causal=1'],
  ['a value of no kind', layer(), ['--set causal', '"maybe"'], '--set', 'causal=maybe'],
  ['no value', layer(), ['--set softcap', '""'], '--set', 'softcap='],
  ['no key', layer(), ['--set =1', 'key=value'], '--set', '=1'],
  ['not key=value', layer(), ['--set causal', 'key=value'], '--set', 'causal'],
  ['heads that do not fit', layer(), ['--set heads', '5'], '--set', 'heads=5'],
  ['an unknown output', layer(), ['--outputs', '"raw"', '--help'], '--outputs', 'output,raw'],
  ['an empty output', layer(), ['--outputs', '""'], '--outputs', 'output,,masked'],
  ['an unknown kernel', layer(), ['--kernel', '"mmx"', 'scalar'], '--kernel', 'mmx'],
  ['a kernel of the browser', layer(), ['--kernel', '"wasm-simd128"'], '--kernel', 'wasm-simd128'],
  ['a kernel for what the board computes', layer(), ['--kernel', 'leave it out'], '--kernel', 'scalar', '--set', 'score=cosine'],
  ['sinusoids by --set', layer(), ['--set position', 'added to X'], '--set', 'position=sinusoidal'],
  ['an unknown flag', layer(), '--frobnicate', '--frobnicate'],
  ['two files', layer(), 'expected', 'second.json'],
]);

test('wrong use of the program', () => {
  assert.match(refusal(wrongUse, attn()), /No command/);
  assert.match(refusal(wrongUse, attn('walk')), /walk/);
  assert.match(refusal(wrongUse, attn('run')), /IN: it is missing/);
  assert.match(refusal(wrongUse, attn('run', '--set', 'causal=true')), /IN: it is missing/);
  assert.match(refusal(wrongUse, attn('run', file(layer()), '--out')), /--out/);
  assert.match(refusal(wrongUse, attn('run', 'in.txt')), /does not end in .json/);
  assert.match(refusal(wrongUse, attn('run', file(layer()), '--out', join(folder, 'out.mat'))), /--out .*mat: the name does not end in .json/);
  assert.match(refusal(wrongUse, attn('run', file(layer()), '--outputs', 'output,weights', '--out', join(folder, 'out.csv'))), /holds one tensor, and --outputs names 2/);
  assert.deepEqual(readdirSync(folder).filter(name => name.startsWith('out.')), []);
});

test('files that cannot be read or written', () => {
  assert.match(refusal(badData, attn('run', join(folder, 'missing.json'))), /missing.json: it cannot be read: No such file/);
  mkdirSync(join(folder, 'folder.json'));
  assert.match(refusal(badData, attn('run', join(folder, 'folder.json'))), /it is a folder/);
  assert.match(refusal(badData, attn('run', file(layer()), '--out', join(folder, 'folder.json'))), /it is a folder/);
  assert.match(refusal(badData, attn('run', file(layer()), '--out', join(folder, 'no/such/out.json'))), /cannot be written: No such file/);
  const full = attn('run', file(layer()), '--out', '/dev/full');
  assert.match(refusal(badData, full), /cannot be written: No space left/);
  const toFull = (...args) => attn(...args, {stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe']});
  for (const args of [['run', file(layer())], ['convert', file(layer()), '-'], ['render', file(layer())], ['code', file(layer())], ['info', file(layer())], ['info'], ['kernels'], ['--man'], ['--help'], ['run', '--help'],
    ['--completion', 'zsh'], ['bench', '--tokens', '8', '--seconds', '0'], ['train', '--steps', '1'], ['train', '--steps', '120', '--json'], ['grad', file(layer()), '--target', 'weights[0,0,0]']]) {
    const done = toFull(...args);
    assert.deepEqual([done.status, done.stderr], [badData, 'attn: standard output: it cannot be written: No space left on device.\n'], args.join(' '));
  }
  // What is learned is kept though nobody could be told of it.
  const learned = join(folder, 'learned.safetensors');
  assert.equal(toFull('train', '--steps', '120', '--json', '--out', learned).status, badData);
  assert.match(attn('info', learned).stdout, /float32/);
});

test('a refusal is in the language that is asked for', () => {
  const given = file('', '.npz');
  assert.match(refusal(badData, attn('run', given)), /\.npz: it is empty/);
  assert.match(refusal(badData, attn('--lang', 'de', 'run', given)), /\.npz: .*leer/);
  const env = {...process.env, ATTN_LANG: 'zh'};
  assert.match(attn('run', given, {env}).stderr, /\.npz.*\p{Script=Han}/u);
  assert.match(refusal(badData, attn('--lang', 'en', 'run', given, {env})), /it is empty/);
  assert.match(refusal(wrongUse, attn('--lang', 'xx', 'run', given)), /xx/);
});

test('what may not be read or written is said, and stays as it is', (t) => {
  // Root may do everything: it looks on as nobody, where nobody can come to the program.
  const nobody = process.getuid() === 0 ? {uid: 65534, gid: 65534} : {};
  chmodSync(folder, 0o755);
  try {
    attn('--version', nobody);
  } catch (error) {
    return t.skip(String(error));
  }
  const locked = join(folder, 'locked.json'), given = file(layer()), place = join(folder, 'closed');
  writeFileSync(locked, 'mine');
  chmodSync(locked, 0o444);
  assert.match(refusal(badData, attn('run', given, '--out', locked, nobody)), /locked\.json: it cannot be written: Permission denied/);
  assert.equal(readFileSync(locked, 'utf8'), 'mine');
  mkdirSync(place, {mode: 0o555});
  assert.match(refusal(badData, attn('run', given, '--out', join(place, 'out.npz'), nobody)), /out\.npz: it cannot be written: Permission denied/);
  chmodSync(given, 0o000);
  assert.match(refusal(badData, attn('run', given, nobody)), /\.json: it cannot be read: Permission denied/);
  const tensors = join(folder, 'closed.npz');
  writeFileSync(tensors, 'PK', {mode: 0o000});
  assert.match(refusal(badData, attn('run', tensors, nobody)), /closed\.npz: it cannot be read: Permission denied/);
  return undefined;
});

test('a refusal leaves what was there, and nothing beside it', () => {
  const out = join(folder, 'kept.json');
  writeFileSync(out, 'what was there');
  const before = readdirSync(folder).length;
  refusal(badData, attn('run', file(layer({mask: filled([9])})), '--out', out));
  assert.equal(readFileSync(out, 'utf8'), 'what was there');
  assert.equal(readdirSync(folder).length, before + 1);  // only the refused file itself was added
});

test('a disk that fills up leaves nothing', {skip: process.platform !== 'linux'}, () => {
  const out = join(folder, 'limited.json');
  const big = file({q: filled([1, 400, 2]), k: filled([1, 400, 2]), v: filled([1, 400, 2])});
  const before = readdirSync(folder).length;
  // A limit of 100 KB on written files; its signal is ignored, so that writing fails instead.
  const done = attn('run', big, '--outputs', 'weights', '--out', out, {limits: "trap '' XFSZ; ulimit -f 100"});
  assert.match(refusal(badData, done), /limited.json: it cannot be written: File too large/);
  assert.equal(readdirSync(folder).length, before);
});

test('more memory than there is gets a sentence', () => {
  // 4 million tokens, which take 8 MB of text, would need 64 TB for the scores.
  const ones = {shape: [4_000_000, 1], data: new Array(4_000_000).fill(1)};
  // Without this option a sanitizer would abort on such an allocation, which the system refuses.
  const env = {...process.env, ASAN_OPTIONS: `${process.env.ASAN_OPTIONS ?? ''}:allocator_may_return_null=1`};
  const sentence = refusal(badData, attn('run', file({q: ones, k: ones, v: ones}), '--outputs', 'weights', {env}));
  assert.match(sentence, /weights: .*4000000 queries × 4000000 keys take 64 TB, and .* are free/);
});
