// attn.exe, under Wine. `./play test windows`, because attn is compiled once more for it.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {after, before, test} from 'node:test';
import {attn, file, folder, here, layer} from '../harness.mjs';
import {version} from '../../setup/tree.mjs';

const program = resolve(here, '../../build/portable/x86_64-windows-gnu/attn.exe');
const wine = ['wine64', 'wine', '/usr/lib/wine/wine64'].find((name) => spawnSync(name, ['--version']).status === 0);
const env = {...process.env, WINEPREFIX: join(folder, 'wine'), WINEDEBUG: '-all', WINEDLLOVERRIDES: 'mscoree=;mshtml='};
const attnExe = (...args) => {
  const options = typeof args.at(-1) === 'object' ? args.pop() : {};
  const done = spawnSync(wine, [program, ...args], {encoding: 'utf8', maxBuffer: 1 << 28, timeout: 600_000, env, cwd: folder, ...options});
  if (done.error) throw done.error;
  return done;
};
const good = (...args) => {
  const done = attnExe(...args);
  assert.equal(done.status, 0, done.stderr);
  return done.stdout;
};
after(() => { spawnSync('/usr/lib/wine/wineserver64', ['--kill'], {env}); });  // of this prefix alone
before(() => {
  mkdirSync(env.WINEPREFIX);
  assert.ok(wine, 'Wine is missing: ./play test windows brings it');
  assert.equal(spawnSync(wine, ['wineboot', '--init'], {env, timeout: 600_000}).status, 0);
});

test('it needs no library that Windows does not bring', () => {
  const imports = spawnSync('objdump', ['--private-headers', program], {encoding: 'utf8', maxBuffer: 1 << 26}).stdout;
  const libraries = Array.from(imports.matchAll(/DLL Name: (\S+)/g), ([, name]) => name.toLowerCase());
  assert.ok(libraries.length > 0);
  assert.deepEqual(libraries.filter((name) => !/^(kernel32|ntdll|user32|advapi32|shell32|api-ms-win-crt-[\w-]+)\.dll$/.test(name)), []);
});

test('it computes what ours does, from a file and from standard input, and says its version', () => {
  assert.equal(good('--version'), `attn ${version}\n`);
  const path = file(layer()), wanted = JSON.parse(attn('run', path, '--outputs', 'weights,output').stdout);
  for (const found of [JSON.parse(good('run', path, '--outputs', 'weights,output')), JSON.parse(good('run', '-', '--outputs', 'weights,output', {input: readFileSync(path)}))]) {
    for (const name of ['weights', 'output']) found[name].data.forEach((value, i) => assert.ok(Math.abs(value - wanted[name].data[i]) <= 2e-6));
  }
});

test('files are written byte by byte, also over others, and read again', () => {
  const npz = join(folder, 'all.npz'), labelled = file({...layer(), tokens: ['ein', 'Ġsaw', '日本'], key_labels: ['a', 'b', 'ü', 'd']});
  writeFileSync(npz, 'what was there before');
  good('convert', labelled, npz);
  const listed = attn('info', npz);
  assert.equal(listed.status, 0, listed.stderr);
  assert.equal(good('info', npz), listed.stdout);
  assert.ok(good('render', labelled).includes('日本'));
  assert.ok(!readFileSync(file(good('convert', npz, '-', '--only', 'q')), 'utf8').includes('\r'));
  assert.deepEqual(readdirSync(folder).filter((name) => name.includes('.part')), []);
});

test('a small Transformer is trained, and the model read', () => {
  const model = join(folder, 'model.safetensors');
  good('train', '--steps', '3', '--out', model);
  assert.ok(existsSync(model));
  assert.equal(attn('info', model).status, 0);
});

test('a figure is written as PDF and PNG', () => {
  const path = file(layer());
  for (const [ending, first] of [['pdf', '%PDF-1.7'], ['png', '\u0089PNG\r\n']]) {
    good('render', path, '-o', `figure.${ending}`);
    assert.ok(readFileSync(join(folder, `figure.${ending}`), 'latin1').startsWith(first), ending);
  }
});

test('what is wrong is a sentence: a script without a font, a wrong command, a file that is not there', () => {
  const path = file({...layer(), tokens: ['日本', 'a', 'b']});
  for (const [status, sentence, ...words] of [[1, /--out: this build of attn has no font for/, 'render', path, '-o', 'no.png'],
    [2, /see attn --help/, 'dance'], [1, /it cannot be read: No such file or directory/, 'run', 'nothing.json']]) {
    const done = attnExe(...words);
    assert.deepEqual([done.status, done.stdout], [status, '']);
    assert.match(done.stderr, sentence);
  }
});
