// The formats of tensors: files written by NumPy are read bit for bit, and files written by attn are read by NumPy.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync} from 'node:fs';
import {basename, join} from 'node:path';
import {test} from 'node:test';
import {python} from '../numpy.mjs';
import {attn, folder, here, refusal} from './harness.mjs';

function numpy(...args) {
  const done = spawnSync(python, [join(here, 'formats.py'), ...args], {encoding: 'utf8', maxBuffer: 1 << 28});
  assert.equal(done.status, 0, done.stderr);
  return done.stdout;
}
function quietly(...args) {
  const done = attn(...args);
  assert.deepEqual([done.status, done.stderr], [0, ''], args.join(' '));
  return done.stdout;
}
function place(name) {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}

const samples = place('samples');
numpy('samples', samples);
const kinds = readdirSync(samples).filter(name => /^[a-z0-9]+\.npy$/.test(name)).map(name => basename(name, '.npy'));

test('there is a sample of every type', () => {
  for (const type of ['float64', 'float32', 'float16', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64', 'bool'])
    assert.ok(kinds.includes(type), type);
});

test('.npy of every type: both byte orders, both orders of axes, three versions, written as NumPy writes it', () => {
  for (const name of kinds)
    for (const variant of ['', '-big', '-fortran', '-v1', '-v2', '-v3'])
      quietly('convert', join(samples, `${name}${variant}.npy`), join(samples, `out-${name}${variant}.npy`));
  numpy('same', '', samples, ...kinds);
});

test('every type by way of every format that has names', () => {
  for (const from of ['all.npz', 'packed.npz', 'all.safetensors']) {
    const outs = ['npz', 'safetensors', 'json'].map(ending => join(samples, `from-${from.replaceAll('.', '-')}.${ending}`));
    for (const out of outs) quietly('convert', join(samples, from), out);
    const [npz, safetensors, json] = outs;
    quietly('convert', json, join(samples, 'back.npz'));
    quietly('convert', safetensors, join(samples, 'again.npz'));
    quietly('convert', npz, join(samples, 'again.safetensors'));
    numpy('same-all', npz, safetensors, join(samples, 'back.npz'), join(samples, 'again.npz'), join(samples, 'again.safetensors'));
  }
});

test('tables keep every bit of a number too', () => {
  for (const name of ['float64', 'int32', 'bool', 'float32'])
    for (const ending of ['csv', 'tsv']) {
      const table = join(samples, `${name}.${ending}`), again = join(samples, `${name}-again.${ending}`);
      quietly('convert', join(samples, `${name}.npy`), table);
      quietly('convert', table, again);
      assert.equal(readFileSync(again, 'utf8').split('\n').length, readFileSync(table, 'utf8').split('\n').length);
      if (name === 'float64' || name === 'bool') quietly('convert', table, join(samples, `${name}-${ending}.npy`));
    }
  for (const ending of ['csv', 'tsv']) numpy('same', `-${ending}.npy`, samples, 'float64', 'bool');
});

test('info lists names, types and shapes, of any format and of standard input', () => {
  const lines = quietly('info', join(samples, 'all.safetensors')).trim().split('\n').map(line => line.split(/  +/));
  assert.deepEqual(lines.find(([name]) => name === 'brain'), ['brain', 'bfloat16', '[4]']);
  assert.deepEqual(lines.find(([name]) => name === 'float16'), ['float16', 'float16', '[2, 3, 4]']);
  assert.deepEqual(lines.find(([name]) => name === 'scalar'), ['scalar', 'float64', '[]']);
  assert.match(quietly('info', join(samples, 'float64-fortran.npy')), /float64 +\[2, 3, 4\] +Fortran order\n/);
  assert.match(quietly('info', join(samples, 'int32-big.npy')), /int32 +\[3, 5\] +big-endian\n/);
  for (const name of ['all.npz', 'packed.npz', 'all.safetensors', 'float32.npy']) {
    const piped = quietly('info', '-', {input: readFileSync(join(samples, name))});
    assert.equal(piped.replace(/^tensor /, 'float32 '), quietly('info', join(samples, name)), name);
  }
  assert.match(quietly('info'), /^attn \d.*\nkernels: scalar.*\n$/);
});

// ------------------------------------------------------------------------------------------------------------ layers

const layers = place('layers');
numpy('layer', layers);
const at = name => join(layers, name);
const plain = quietly('run', at('layer.json'));

test('one layer is the same in every format, to the last bit', () => {
  for (const name of ['plain.NPZ', 'packed.npz', 'nameless.npz', 'fused.npz', 'columns.npz', 'streamed.npz', 'plain.safetensors', 'model.safetensors', 'stacked.npy'])
    assert.equal(quietly('run', at(name)), plain, name);
  assert.equal(quietly('run', at('q.npy'), at('k.npy'), at('v.npy')), plain);
  assert.equal(quietly('run', at('v.npy'), '--set', 'causal=false', at('q.npy'), at('k.npy')), plain);
  assert.equal(quietly('run', at('q.csv'), at('k.npy'), at('v.csv')), plain);
  assert.equal(quietly('run', at('rows.npy')), quietly('run', at('rows.json')));
  const tables = attn('run', at('q.tsv'), at('k.tsv'), at('v.tsv'));
  assert.equal(tables.stdout, quietly('run', at('head.json')));
  assert.match(tables.stderr, /^(attn: .*[qkv]\.tsv: row 1 is taken as a heading and left out\.\n){3}$/);
});

test('standard input is known by its first bytes', () => {
  for (const name of ['plain.NPZ', 'plain.safetensors', 'layer.json', 'stacked.npy'])
    assert.equal(quietly('run', '-', {input: readFileSync(at(name))}), plain, name);
  assert.equal(quietly('run', '-', '--out', '-', {input: readFileSync(at('layer.json'))}), plain);
  const rows = quietly('run', at('rows.npy'), '--outputs', 'weights');
  assert.equal(quietly('run', '-', '--outputs', 'weights', {input: readFileSync(at('q.csv'))}), rows);
});

test('masks, options, other names and labels of a file are taken', () => {
  assert.equal(quietly('run', at('mask.npz')), quietly('run', at('mask.json')));
  const causal = quietly('run', at('causal.json'), '--outputs', 'output,weights,scores');
  for (const name of ['causal.npz', 'causal.safetensors']) {
    assert.equal(quietly('run', at(name), '--outputs', 'output,weights,scores'), causal, name);
    const state = JSON.parse(quietly('convert', at(name), '-', '--state'));
    assert.deepEqual([state.labels, state.causal, state.scale], [['I', 'saw', '▁a'], true, 0.25]);
  }
});

test('what the notes of a .safetensors say of the layer goes with it into every format, and nothing else of them', () => {
  const wanted = quietly('run', at('causal.json'), '--outputs', 'output,weights,scores');
  for (const first of ['notes.safetensors', 'causal.npz', 'causal.safetensors']) {
    let from = at(first);
    for (const ending of ['npz', 'json', 'safetensors', 'json', 'npz', 'safetensors']) {
      const to = at(`noted-${basename(from).replaceAll('.', '-')}.${ending}`);
      quietly('convert', from, to);
      assert.equal(quietly('run', to, '--outputs', 'output,weights,scores'), wanted, to);
      const {labels, causal, scale} = JSON.parse(quietly('convert', to, '-', '--state'));
      assert.deepEqual([labels, causal, scale], [['I', 'saw', '▁a'], true, 0.25], to);
      from = to;
    }
  }
});

test('numbers of 16 and 64 bits are those of their type', () => {
  assert.equal(quietly('run', at('sixteen.npz')), quietly('run', at('wide.npz')));
  assert.notEqual(quietly('run', at('sixteen.npz')), plain);
});

test('a file of many layers asks which one, and takes it', () => {
  const said = refusal(2, attn('run', at('layers.safetensors')));
  assert.match(said, /--prefix: 300 layers have q, k and v; choose one, such as "layers\.0\."/);
  assert.equal(quietly('run', at('layers.safetensors'), '--prefix', 'layers.1'), plain);
  assert.notEqual(quietly('run', at('layers.safetensors'), '--prefix', 'layers.2.'), plain);
  assert.match(refusal(2, attn('run', at('layers.safetensors'), '--prefix', 'blocks.1')), /--prefix: no tensor's name begins with "blocks\.1"/);
});

test('results are written in every format, and NumPy reads them', () => {
  const want = JSON.parse(quietly('run', at('layer.json'), '--outputs', 'weights,output'));
  for (const name of ['out.npz', 'out.safetensors', 'OUT.NPZ']) {
    quietly('run', at('plain.NPZ'), '--outputs', 'weights,output', '--out', at(name));
    const found = JSON.parse(numpy('output', at(name)));
    for (const tensor of ['weights', 'output']) {
      assert.deepEqual(found[tensor].shape, want[tensor].shape);
      assert.deepEqual(found[tensor].data.map(Math.fround), want[tensor].data.map(Math.fround), `${name} ${tensor}`);
    }
  }
  quietly('run', at('plain.NPZ'), '--out', at('out.npy'));
  assert.deepEqual(JSON.parse(numpy('output', at('out.npy'))).output.data.map(Math.fround), want.output.data.map(Math.fround));
  quietly('run', at('plain.NPZ'), '--outputs', 'weights', '--out', at('out.csv'));
  assert.deepEqual(readFileSync(at('out.csv'), 'utf8').split(/[\n,]+/).filter(Boolean).map(Number), want.weights.data);
  assert.match(refusal(2, attn('run', at('plain.NPZ'), '--outputs', 'weights,output', '--out', at('two.npy'))), /--outputs names 2/);
  assert.ok(!existsSync(at('two.npy')));
});

test('a state goes to tensors with everything in it, and they make the same layer again', () => {
  for (const [name, options] of [['board.json', []], ['rotary.json', ['position=rotary', 'window_left=1', 'softcap=5']]]) {
    quietly('convert', at('causal.npz'), at(name), '--state');
    const settings = options.length > 0 ? ['--set', ...options] : [];
    const state = JSON.parse(readFileSync(at(name), 'utf8'));
    for (const option of options) {
      const [key, value] = option.split('=');
      state[key] = Number.isNaN(Number(value)) ? value : Number(value);
    }
    writeFileSync(at(name), JSON.stringify(state));
    for (const ending of ['npz', 'safetensors', 'json']) {
      const all = at(`all-${name}.${ending}`);
      quietly('convert', at(name), all);
      if (ending !== 'json') {
        const names = Object.keys(JSON.parse(numpy('output', all))).filter(key => key !== 'options' && key !== 'labels');
        for (const tensor of ['q', 'k', 'v', 'scores', 'masked', 'weights', 'head_output', 'output']) assert.ok(names.includes(tensor), tensor);
      }
      assert.equal(quietly('run', all, '--outputs', 'weights,masked'), quietly('run', at('causal.npz'), '--outputs', 'weights,masked', ...settings), `${name} ${ending}`);
    }
  }
});

// ----------------------------------------------------------------------------------------------------- weights alone

test('weights without q and k are drawn and become a board, one layer or all of them, however they were saved', () => {
  const alone = place('alone'), wanted = JSON.parse(numpy('alone', alone)), file = (name) => join(alone, name);
  for (const name of ['attentions.npy', 'w.npy', 'list.npz', 'named.npz', 'half.npz', 'texts.npz', 'weights.safetensors', 'list.json', 'named.json']) {
    quietly('convert', file(name), file('board.json'), '--state');
    const {batch, batch_of, labels} = JSON.parse(readFileSync(file('board.json'), 'utf8'));
    assert.deepEqual([batch, batch_of], [3, 'layers'], name);
    if (/named|half|weights/.test(name)) assert.deepEqual(labels, ['I', '\u2423saw', '▁a', '\\n'], name);
    wanted.forEach((heads, layer) => {
      const figure = quietly('render', file(name), '--layer', String(layer), '--head', '1');
      const drawn = [...figure.matchAll(/JetBrains[^>]*>([\d.]+)</g)].map(([, digits]) => digits).slice(0, 10);
      assert.deepEqual(drawn, heads[1].flatMap((row, i) => row.slice(0, i + 1)).map((w) => w.toFixed(2)), `${name}, layer ${layer}`);
    });
    const weights = JSON.parse(quietly('run', file('board.json'), '--outputs', 'weights')).weights;
    const flat = wanted.flat(Infinity).slice(0, weights.data.length), near = name.startsWith('half') ? 1e-3 : 1e-6;
    weights.data.forEach((w, i) => assert.ok(Math.abs(w - flat[i]) <= near, `${name}, weight ${i}: ${w}, not ${flat[i]}`));
    assert.match(quietly('code', file(name), '--layer', '2'), /^output = /m);
  }
  assert.match(refusal(1, attn('render', file('list.npz'), '--layer', '3')), /list\.npz: layer: 3 is not one of 3 layers, which are counted from 0/);
  assert.match(refusal(1, attn('run', file('named.npz'))), /q: it is missing; the file has 4 tensors/, 'what needs q and k says so');
});

// ------------------------------------------------------------------------------------------------- other programs' ways

test('infinities of a mask are read as Python writes them, and NaN is named', () => {
  const made = place('python');
  numpy('python', made);
  const at = (name) => join(made, name);
  const masked = JSON.parse(readFileSync(at('plain.json'), 'utf8'));
  Object.assign(masked, {mask: [[0, '-inf', '-inf'], [0, 0, '-inf'], [0, 0, 0]]});
  writeFileSync(at('masked.json'), JSON.stringify(masked));
  const wanted = quietly('run', at('masked.json'));
  assert.equal(quietly('run', at('python.json')), wanted);
  assert.match(quietly('info', at('python.json')), /mask +float32 +\[3, 3\]\n/);
  quietly('convert', at('python.json'), at('python.npz'));
  assert.equal(quietly('run', at('python.npz')), wanted);
  assert.deepEqual(JSON.parse(quietly('convert', at('python.json'), '-', '--state')).labels, ['\u2423a', 'Infinity', 'NaN'], 'words in texts stay');
  assert.match(refusal(1, attn('run', at('nan.json'))), /q\[0, 1, 1\]: NaN cannot be used/);
  assert.match(quietly('info', at('nan.json')), /q +float32 +\[1, 3, 2\]\n/);
});

test('numbers of spreadsheets and of figures: a real minus sign, a decimal comma; what is written in another way is no token', () => {
  const table = (text, ending) => {
    const path = join(folder, `sheet.${ending}`);
    writeFileSync(path, text);
    return path;
  };
  const rows = quietly('run', table('1,-4.5\n-0.25,3\n', 'csv'));
  assert.equal(quietly('run', table('1\t\u22124.5\n\u22120.25\t3\n', 'tsv')), rows);
  assert.equal(quietly('run', table('1\t\u22124,5\n\u22120,25\t3\n', 'tsv')), rows);
  assert.equal(quietly('run', table('1;\u22124,5\r\n-0,25;3\r\n', 'csv')), rows);
  for (const wrong of ['1,000.5', '1.000,5', '50 %', '$3', '\u22121\u00a0000'])
    assert.match(refusal(1, attn('run', table(`${wrong}\t2\n3\t4\n`, 'tsv'))), /sheet\.tsv: row 1, column 1: ".*" is no number; give numbers such as -0\.5/, wrong);
});

test('tables: a row of words is a heading, and is said to be one; a word among numbers is refused; lines may end with CR alone', () => {
  const table = (text, ending = 'csv') => {
    const path = join(folder, `table.${ending}`);
    writeFileSync(path, text);
    return path;
  };
  const rows = quietly('run', table('1,2\n3,4\n'));
  for (const [text, ending] of [['a,b\n1,2\n3,4\n'], ['"a, or b","c"\n1,2\n3,4\n'], ['a\tb\r1\t2\r3\t4\r', 'tsv'], ['# made by hand\n,b\n1,2\n3,4']]) {
    const {stdout, stderr, status} = attn('run', table(text, ending));
    assert.deepEqual([stdout, status], [rows, 0], text);
    assert.match(stderr, /^attn: .*table\.[ct]sv: row [12] is taken as a heading and left out\.\n$/);
  }
  assert.match(attn('info', table('a,b\n1,2\n')).stderr, /row 1 is taken as a heading/);
  assert.equal(quietly('run', table('1,2\r3,4\r')), rows);
  assert.equal(quietly('run', table('1,2\r\n3,4\r\n')), rows);
  assert.match(refusal(1, attn('run', table('1.0,2.O\n3,4\n5,6\n'))), /row 1, column 2: "2\.O" is no number/);
  assert.match(refusal(1, attn('run', table('I,1.0,2.O\nsaw,3,4\n'))), /row 1, column 3: "2\.O" is no number/);
  for (const text of ['1.O,2\n3,4\n5,6\n', '# x\n1.O;2\n3;4\n']) assert.match(refusal(1, attn('run', table(text))), /row [12], column 1: "1\.O" is no number/, text);
  assert.match(refusal(1, attn('run', table('a,b\n1.O,2\n3,4\n'))), /row 2, column 1: "1\.O" is no number/);
  assert.deepEqual(JSON.parse(quietly('convert', table('I,1,2\n2,3,4\nsaw,5,6\n'), '-', '--state')).labels, ['I', '2', 'saw'], 'a token may be a number');
  assert.match(refusal(1, attn('run', table('a,b\nc,d\n1,2\n'))), /row 2, column 2: "d" is no number/);
  for (const open of ['"a,b\n1,2\n', 'a,"b\n1,2\n', '"I",1\n"saw,2\n']) assert.match(refusal(1, attn('run', table(open))), /row [12]: a quotation mark is not closed; close it in the same row, or leave it out\./, open);
});

// --------------------------------------------------------------------------------------------------------- errors

const broken = place('broken');
numpy('bad', broken);
const bad = [
  ['cut.npy', /takes 96 bytes, found 91 bytes; it is cut off/],
  ['head.npy', /header should take \d+ bytes, and the file has 40 bytes/],
  ['magic.npy', /it ends in its header/],
  ['more.npy', /takes 96 bytes, found 100 bytes; its header is corrupt, or another array follows/],
  ['empty.npy', /it is empty/],
  ['text.npy', /does not begin as an \.npy file does/],
  ['version.npy', /its version of \.npy is 9; expected 1, 2 or 3/],
  ['header.npy', /its header .* is not understood/],
  ['huge.npy', /takes more bytes than any memory holds, found 96/],
  ['lies.npy', /the shape \[2, 3, 9\] of float32 takes 216 bytes, found 96/],
  ['objects.npy', /it holds Python objects \(dtype "\|O"\), which are pickled and never read/],
  ['records.npy', /it holds records/],
  ['complex.npy', /it holds complex numbers \(dtype "<c8"\)/],
  ['dates.npy', /it holds dates or times/],
  ['nan.npz', /q\[1, 2, 3\]: NaN cannot be used; give a finite number/],
  ['inf.npz', /k\[\d, \d, \d\]: inf is only for a mask/],
  ['beyond.npz', /v\[0, 0, 0\]: .*e\+?(299|300) is too large for 32 bits/],
  ['intmask.npz', /mask: a mask of int64 is neither true and false nor numbers to be added/],
  ['texts.npz', /q: it holds texts/],
  ['twice.npz', /query: another tensor of the file means q too/],
  ['unknown.npz', /"quux": the field is unknown/],
  ['option.npz', /options\.causl: the option is unknown/],
  ['missing.npz', /q: it is missing; the file has 1000 tensors: "layer_0", "layer_1", "layer_2", "layer_3" …/],
  ['objects.npz', /q: it holds Python objects/],
  ['cut.npz', /the directory at its end is missing; it is cut off/],
  ['cutmore.npz', /the directory at its end is missing/],
  ['damaged.npz', /q\.npy: its checksum does not match/],
  ['pickle.npz', /an archive of PyTorch, which is pickled and never read/],
  ['words.npz', /the archive has no \.npy in it/],
  ['bzip.npz', /q\.npy: its compression has the number 12; expected 0 \(none\) or 8/],
  ['nonpy.npz', /q: it does not begin as an \.npy file does/],
  ['bomb.npz', /q\.npy: the archive of 1 MB would inflate to more than 68 MB \(this entry alone to 210 MB\)/],
  ['lyingbomb.npz', /q\.npy: it does not inflate to the 1000 bytes that the directory says/],
  ['overlap.npz', /k\.npy: (the archive has "q\.npy" in its place|its bytes overlap)/],
  ['directory.npz', /its directory of \d+ bytes claims 60000 entries/],
  ['encrypted.npz', /q\.npy: it is encrypted/],
  ['npy.npz', /its name ends in \.npz, and it begins as an \.npy file does/],
  ['npz.npy', /its name ends in \.npy, and it begins as an archive does/],
  ['overlap.safetensors', /k: its data at 4 overlaps the previous tensor, which ends at 8/],
  ['hole.safetensors', /k: its data begins at 12, and the previous tensor ends at 8; expected no gap/],
  ['beyond.safetensors', /k: its data_offsets \[8, 16\] do not lie within the 12 bytes of data/],
  ['shape.safetensors', /q: the shape \[3\] of F32 takes 12 bytes, and its data_offsets have 8/],
  ['huge.safetensors', /q: the shape .* takes more bytes than any memory holds/],
  ['negative.safetensors', /q: its header has -2 in a place/],
  ['type.safetensors', /q: its type "F8_E4M3" is not read/],
  ['field.safetensors', /q: its field "more" is unknown/],
  ['nodtype.safetensors', /q: its dtype, shape or data_offsets are missing/],
  ['twice.safetensors', /q: the header has it twice/],
  ['tail.safetensors', /its tensors take 8 bytes, found 12/],
  ['json.safetensors', /its header is no JSON/],
  ['long.safetensors', /its header should take 1125899906842624 bytes, found 2/],
  ['short.safetensors', /it has 3 bytes/],
  ['ragged.csv', /row 2: it has 2 numbers, those before it 3/],
  ['word.csv', /row 2, column 2: "four" is no number/],
  ['cell.csv', /row 2, column 2: the cell is empty/],
  ['none.csv', /it has no numbers/],
  ['blocks.csv', /the block that ends here has 1 rows, those before it 2/],
  ['sixteen.csv', /it is UTF-16/],
];
for (const [name, sentence] of bad) {
  test(`refused in one sentence: ${name}`, () => {
    const path = join(broken, name);
    const said = refusal(1, attn('run', path));
    assert.ok(said.startsWith(`attn: ${path}: `), said);
    assert.match(said, sentence);
    const out = join(broken, `out-${name}.json`);
    attn('convert', path, out);
    assert.ok(!readdirSync(broken).some(entry => entry.includes('.part')));
  });
}

test('each format under the name of every other is refused in one sentence', () => {
  const files = {npz: 'plain.NPZ', npy: 'q.npy', safetensors: 'plain.safetensors', csv: 'k.csv', tsv: 'q.tsv', json: 'layer.json'};
  for (const [is, name] of Object.entries(files))
    for (const said of Object.keys(files)) {
      if (is === said || (is === 'csv' && said === 'tsv')) continue;  // one column of decimal commas
      const path = join(broken, `mislabelled.${said}`);
      writeFileSync(path, readFileSync(at(name)));
      assert.match(refusal(1, attn('run', path)), /^attn: .*mislabelled\.\w+: /, `${is} as ${said}`);
    }
});

test('2 GB of zeros are refused at once, or are one array that is read as it is looked at', () => {
  for (const ending of ['npz', 'npy', 'safetensors']) {
    const path = join(broken, `zeros.${ending}`);
    writeFileSync(path, '');
    truncateSync(path, 2 ** 31);
    assert.match(refusal(1, attn('run', path, {limits: 'ulimit -v 3000000'})), /zeros\.\w+: /);
    rmSync(path);
  }
  const path = join(broken, 'zeros.npy'), header = "{'descr': '<f4', 'fortran_order': False, 'shape': (512, 1024, 1024), }".padEnd(117) + '\n';
  writeFileSync(path, Buffer.concat([Buffer.from('\x93NUMPY\x01\x00v\x00', 'latin1'), Buffer.from(header)]));
  truncateSync(path, 128 + 2 ** 31);
  assert.match(quietly('info', path, {limits: 'ulimit -v 3000000'}), /zeros +float32 +\[512, 1024, 1024\]\n/);
  assert.match(refusal(1, attn('run', path, {limits: 'ulimit -v 3000000'})), /memory/);
  rmSync(path);
});

test('a claim of size takes no memory', {skip: process.platform !== 'linux'}, () => {
  for (const name of ['bomb.npz', 'lyingbomb.npz', 'huge.npy', 'huge.safetensors', 'long.safetensors', 'directory.npz']) {
    const done = spawnSync('bash', ['-c', `/usr/bin/env python3 - "$0" "$@" <<'P'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
P`, process.env.ATTN ?? join(here, '../../build/native/attn'), 'info', join(broken, name)], {encoding: 'utf8'});
    assert.ok(Number(done.stdout) > 0, done.stderr);
    const most = process.env.ATTN ? 400_000 : 30_000;  // KB; sanitizers need additional memory
    assert.ok(Number(done.stdout) < most, `${name}: ${done.stdout} KB`);
  }
});

test('a row of NaN is hidden and said: in figures, states and programs, and where they are read again', () => {
  const nan = join(broken, 'nan.npz'), board = join(broken, 'nan-board.json'), said = /: q\[1, 2, 3\] of the file \(head, token, column, from 0\) is NaN\. Such rows are 0 here, and hidden\.\n$/;
  for (const args of [['render', nan, '-o', join(broken, 'nan.svg')], ['convert', nan, board, '--state'], ['code', nan], ['run', board], ['run', board, '--set', 'causal=true']]) {
    const {status, stderr, stdout} = attn(...args);
    assert.equal(status, 0, stderr);
    assert.match(stderr, said, args.join(' '));
    if (args[0] === 'code') assert.match(stdout, /^# q\[1, 2, 3\] of the file .* is NaN\. .*\n/);
  }
  assert.match(readFileSync(join(broken, 'nan.svg'), 'utf8'), /NaN t3/);
  const all = join(broken, 'nan-all.npz'), {weights} = JSON.parse(attn('run', board, '--outputs', 'weights').stdout);
  assert.deepEqual(weights.data.slice(9 + 6, 9 + 9), [0, 0, 0], 'of the query of that row');
  quietly('convert', board, all);
  assert.match(attn('run', all).stderr, said);
  assert.match(refusal(1, attn('grad', nan, '--target', 'weights[0,0,0]')), /q\[1, 2, 3\]: NaN cannot be used/);
});
