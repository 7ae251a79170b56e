// The wheels with attn, for Linux on two processors. `./play test wheels`, because attn is compiled once more for each.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {attn, file, layer} from '../cli/harness.mjs';
import {python} from '../numpy.mjs';
import {root, version} from '../setup/tree.mjs';
import {built, run, script} from './installed.mjs';

const wheels = join(root, 'build/wheels'), folder = mkdtempSync(join(tmpdir(), 'wheels-'));
const MACHINES = {x86_64: 'Advanced Micro Devices X86-64', aarch64: 'AArch64'};
const named = (machine) => join(wheels, readdirSync(wheels).find((name) => name.includes(`manylinux`) && name.endsWith(`_${machine}.whl`)));
const unpacked = {};
before(() => {
  for (const machine of Object.keys(MACHINES)) {
    unpacked[machine] = join(folder, machine);
    run(python, '-m', 'zipfile', '-e', named(machine), unpacked[machine]);
  }
});
after(() => rmSync(folder, {recursive: true}));
const program = (machine) => join(unpacked[machine], `attention_playground-${version}.data/scripts/attn`);

const older = (a, b) => a[0] - b[0] || a[1] - b[1];
for (const [machine, name] of Object.entries(MACHINES)) {
  test(`the tag for ${machine} is true: no symbol of a newer C library, and no other library`, () => {
    const [, major, minor] = /manylinux_(\d+)_(\d+)_/.exec(named(machine));
    const versions = [...run('readelf', '--version-info', '--wide', program(machine)).matchAll(/Name: (\w+?)_([\d.]+)/g)];
    assert.ok(versions.length > 0);
    assert.deepEqual(versions.filter(([, library]) => library !== 'GLIBC'), []);
    const newest = versions.map(([, , number]) => number.split('.').map(Number)).sort(older).at(-1);
    assert.ok(older(newest, [Number(major), Number(minor)]) <= 0, `it needs ${newest.join('.')}`);
    const libraries = [...run('readelf', '--dynamic', '--wide', program(machine)).matchAll(/NEEDED.*\[(.+)\]/g)].map(([, library]) => library);
    assert.deepEqual(libraries.filter((library) => !/^(lib(c|m|dl|pthread|rt)\.so\.\d|ld-linux-[\w-]+\.so\.\d)$/.test(library)), []);
    assert.match(run('readelf', '--file-header', program(machine)), new RegExp(`Machine: +${name}`));
  });
}

test('auditwheel says of both what their names say', () => {
  const place = join(folder, 'auditor');
  run(python, '-m', 'venv', place);
  run(join(place, 'bin/python'), '-m', 'pip', 'install', '--quiet', 'auditwheel==6.8.2');
  for (const machine of Object.keys(MACHINES)) {
    const said = run(join(place, 'bin/auditwheel'), 'show', named(machine)).replace(/\s+/g, ' ');
    assert.match(said, new RegExp(`is consistent with the following platform tag: "manylinux_2_17_${machine}"`));
  }
});

test('pip takes the wheel of the platform, and the one without attn for all others', () => {
  const dist = join(root, 'build/python/dist'), taken = (platform) => {
    const to = join(folder, platform);
    run(python, '-m', 'pip', 'download', '--quiet', '--no-index', '--no-deps', '--only-binary=:all:', '--find-links', wheels, '--find-links', dist, '--platform', platform, '--dest', to, 'attention-playground');
    return readdirSync(to)[0].split('-').at(-1);
  };
  assert.match(taken('manylinux_2_17_x86_64'), /^manylinux_2_17_x86_64/);
  assert.match(taken('manylinux2014_x86_64'), /^manylinux_2_17_x86_64/);
  assert.match(taken('manylinux_2_17_aarch64'), /^manylinux_2_17_aarch64/);
  for (const platform of ['macosx_11_0_arm64', 'musllinux_1_2_x86_64', 'manylinux_2_12_x86_64']) assert.equal(taken(platform), 'any.whl', platform);
});

test('every file has the sum that RECORD names, and attn its terms', () => {
  const check = `import base64, csv, hashlib, io, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
rows = list(csv.reader(io.TextIOWrapper(wheel.open(next(n for n in wheel.namelist() if n.endswith("/RECORD"))), "utf-8")))
assert sorted(r[0] for r in rows) == sorted(wheel.namelist())
for name, given, size in rows[:-1]:
    content = wheel.read(name)
    assert given == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode() and int(size) == len(content), name
print(wheel.read(next(n for n in wheel.namelist() if n.endswith("NOTICES-attn.txt"))).decode())`;
  for (const machine of Object.keys(MACHINES)) {
    const terms = run(python, '-c', check, named(machine));
    for (const name of ['CLI11', 'JSON for Modern C++', 'Eigen', 'libc++', 'Run-time parts of Zig', 'Dear ImGui']) assert.ok(terms.includes(name), name);
  }
});

/** Numbers in texts may differ in their last digits: another compiler orders sums in another way. */
function alike(found, wanted, what) {
  [found, wanted] = [found, wanted].map((text) => text.replace(/base64,[^"]*/g, ''));  // a picture in a figure
  const number = /(?<![#\w.])-?\d+(\.\d+)?(e[-+]?\d+)?(?!\w)/g;  // no colour
  assert.equal(found.replace(number, '#'), wanted.replace(number, '#'), what);
  const [ours, theirs] = [found, wanted].map((text) => Array.from(text.matchAll(number), ([word]) => Number(word)));
  ours.forEach((value, i) => assert.ok(Math.abs(value - theirs[i]) <= 2e-6 * Math.max(1, Math.abs(theirs[i])), `${what}: ${value} and ${theirs[i]}`));
}
const TASKS = [['run', '--outputs', 'weights,output'], ['run', '--set', 'normalizer=entmax15', '--set', 'score=cosine'], ['grad', '--target', 'weights[1,2,1]'], ['render'], ['render', '--what', 'board'], ['code', '--as', 'numpy']];

test('on x86-64 pip installs the package and attn beside it, which computes what ours does, with the same kernels', (t) => {
  run(python, '-m', 'venv', '--system-site-packages', join(folder, 'venv'));
  const bin = join(folder, 'venv/bin'), began = performance.now();
  run(join(bin, 'python'), '-m', 'pip', 'install', '--quiet', '--no-index', '--no-deps', named('x86_64'));
  const said = run(join(bin, 'python'), '-c', 'import attention_playground as ap; print(ap.Playground(q=[[1, 0], [0, 1]], k=[[1, 0], [0, 1]], v=[[1], [2]]).picture()[:4])');
  t.diagnostic(`${((performance.now() - began) / 1000).toFixed(1)} s from the wheel to a picture of the weights`);
  assert.equal(said, '<svg\n');
  const path = file(layer());
  assert.equal(run(join(bin, 'attn'), '--version'), `attn ${version}\n`);
  assert.equal(run(join(bin, 'attn'), 'kernels'), attn('kernels').stdout);
  for (const task of TASKS) {
    const [command, ...options] = task, wanted = attn(command, path, ...options);
    assert.equal(wanted.status, 0, wanted.stderr);
    alike(run(join(bin, 'attn'), command, path, ...options), wanted.stdout, task.join(' '));
  }
});

test('without libraries of the system its figures are drawn alike, and a script that its fonts lack is refused', () => {
  const own = join(folder, 'venv/bin/attn'), plain = file(layer()), labelled = file({...layer(), tokens: ['−I', '␣saw', 'aᵀ'], key_labels: ['a', 'b', 'c', 'é']});
  for (const what of [['--what', 'weights'], ['--what', 'arcs', '--style', 'dark'], ['--what', 'board']]) {
    const path = what[1] === 'board' ? plain : labelled;  // the board measures labels, in fonts that are not the same
    const [ours, theirs] = ['ours', 'theirs'].map((name) => join(folder, `${name}.png`));
    run(own, 'render', path, ...what, '-o', ours);
    assert.equal(attn('render', path, ...what, '-o', theirs).status, 0);
    const [size, wanted, off] = JSON.parse(run(python, script('pictures.py'), ours, theirs));
    assert.deepEqual(size, wanted);
    assert.ok(off < 7, `${what.join(' ')}: ${off} of 255`);
    const pdf = join(folder, 'figure.pdf');
    run(own, 'render', path, ...what, '--width', '3.25in', '-o', pdf);
    const text = readFileSync(pdf, 'latin1');
    assert.match(text, /^%PDF-1\.7\n[\s\S]*\/MediaBox\[0 0 234 [\s\S]*%%EOF\n$/);
    const [, start] = /startxref\n(\d+)\n/.exec(text);
    assert.ok(text.slice(Number(start)).startsWith('xref\n'));
    for (const [, offset] of text.slice(Number(start)).matchAll(/^(\d{10}) 00000 n/gm)) assert.match(text.slice(Number(offset), Number(offset) + 12), /^\d+ 0 obj\n/);
    const outlined = run(own, 'render', path, ...what, '--outlines');
    assert.ok(!outlined.includes('<text') && outlined.includes('<path d="M'));
  }
  const {status, stderr} = spawnSync(own, ['render', file({...layer(), tokens: ['日本', 'a', 'b']}), '-o', join(folder, 'no.png')], {encoding: 'utf8'});
  assert.deepEqual([status, existsSync(join(folder, 'no.png'))], [1, false]);
  assert.match(stderr, /^attn: --out: this build of attn has no font for "日"; write SVG, /);
});

test('the package finds its attn without a PATH', () => {
  const own = join(folder, 'venv/bin/python'), empty = join(folder, 'empty');
  mkdirSync(empty);
  const code = `import json, sys, numpy, attention_playground as ap
board = ap.Playground(q=[[1, 0], [0, 1]], k=[[1, 0], [0, 1]], v=[[1], [2]], normalizer="sparsemax")
figure = ap.Layer("a", *(numpy.ones((1, 1, 2, 2), "f4"),) * 3, 1.0).figure("weights")
figure.save(sys.argv[1] + "/own.pdf")
print(json.dumps([board.tensor("weights").shape, figure.svg[:4], open(sys.argv[1] + "/own.pdf", "rb").read(5).decode()]))`;
  const env = {...process.env, PATH: empty};
  delete env.ATTN;
  assert.deepEqual(JSON.parse(run(own, {env}, '-c', code, folder)), [[1, 2, 2], '<svg', '%PDF-']);
});

test('on arm64 it computes the same, under an emulator', () => {
  const path = file(layer()), emulated = (...args) => run('qemu-aarch64-static', '-L', '/usr/aarch64-linux-gnu', program('aarch64'), ...args);
  run('chmod', '+x', program('aarch64'));
  assert.equal(emulated('--version'), `attn ${version}\n`);
  for (const [command, ...options] of TASKS) alike(emulated(command, path, ...options), attn(command, path, ...options).stdout, command);
  const npz = join(folder, 'all.npz');
  emulated('convert', path, npz);
  assert.equal(attn('info', npz).status, 0);
});

test('a program that needs more than its tag may say is refused', () => {
  const wheel = (programFile) => spawnSync('python3', [join(root, 'src/shell/wheel.py'), built('.whl'), programFile, file('terms', '.txt'), folder], {encoding: 'utf8', env: {...process.env, SOURCE_DATE_EPOCH: '1700000000'}});
  const {status, stderr} = wheel(join(root, 'build/native/attn'));
  assert.equal(status, 1);
  assert.match(stderr, /^attn needs what not every Linux has: .*libstdc\+\+\.so\.6/);
});
