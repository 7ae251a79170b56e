// Rules of the source tree that no compiler checks on every platform.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, relative} from 'node:path';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {filesUnder, root, textsUnder, version} from './tree.mjs';

const sources = textsUnder(['src'], /\.(cpp|h)$/, join(root, 'src'));

// The lines of all sources that match, as "path:line: text".
function lines(pattern, skip = () => false) {
  return sources.filter(({path}) => !skip(path)).flatMap(({path, text}) =>
    text.split('\n').flatMap((line, i) => pattern.test(line) ? [`${path}:${i + 1}: ${line.trim()}`] : []));
}

test('platform and instruction-set macros stay in kernels and shells', () => {
  const macro = /__EMSCRIPTEN__|<emscripten|__wasm|wasm_simd128\.h|__(AVX|SSE|FMA|ARM|NEON|x86_64|i386|aarch64|linux|APPLE)|_WIN32|immintrin/;
  const allowed = path => path.startsWith('attention/kernels/') || /^shell\/\w+\/shell_/.test(path);
  assert.deepEqual(lines(macro, allowed), []);
});

test('includes point downward', () => {
  const order = ['base', 'attention', 'training', 'document', 'files', 'draw', 'views', 'app', 'shell'];
  const below = Object.fromEntries(order.map((layer, i) => [layer, order.slice(0, i + 1)]));
  below.draw = ['base', 'draw'];
  below.views = below.views.filter(layer => layer !== 'files');
  const wrong = [];
  for (const {path, text} of sources) {
    const layer = path.split('/')[0];
    assert.ok(below[layer], `src/${layer} is no layer`);
    for (const [, included] of text.matchAll(/^\s*#\s*include\s*["<]([^">]+)[">]/gm)) {
      const target = included.split('/')[0];
      if (target === '..' || (below[target] && included.includes('/') && !below[layer].includes(target))) wrong.push(`${path}: ${included}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('the maths, the state and the files know neither ImGui nor OpenGL', () => {
  const above = path => !/^(base|attention|document|files)\//.test(path);
  assert.deepEqual(lines(/#\s*include\s*[<"](imgui|GL|GLES|GLFW)/, above), []);
});

test('every source file is named in CMakeLists.txt', () => {
  const cmake = readFileSync(join(root, 'CMakeLists.txt'), 'utf8');
  const named = new Set(cmake.split(/[\s|"();]+/));
  const own = sources.map(({path}) => path).filter(path => path.endsWith('.cpp')).map(path => path.replace(/^[^/]+\//, ''));
  const unit = filesUnder(join(root, 'tests/unit')).filter(path => path.endsWith('.cpp')).map(path => relative(join(root, 'tests/unit'), path));
  const shaders = filesUnder(join(root, 'shaders')).filter(path => /\.(vert|frag)$/.test(path)).map(path => relative(root, path));
  assert.deepEqual([...own, ...unit, ...shaders].filter(path => !named.has(path)), []);
});

test('clang-format 19 would change no file', () => {
  const isOurs = (name) => / version 19\./.test(spawnSync(name, ['--version'], {encoding: 'utf8'}).stdout);
  const program = ['clang-format-19', 'clang-format'].find(isOurs);
  assert.ok(program, 'clang-format 19 is missing; ./play setup test brings it');
  const check = (files, input) => spawnSync(program, ['--dry-run', '-Werror', ...files], {cwd: root, input, encoding: 'utf8'});
  const files = textsUnder(['src', 'tests'], /\.(cpp|h)$/).map(({path}) => path);
  assert.equal(check(files).stderr, '', `${program} -i FILE… puts it right`);
  assert.match(check(['--assume-filename=src/any.cpp'], 'int  any ;\n').stderr, /code should be clang-formatted/);
});

test('the version stands in CMakeLists.txt, once, and nowhere else', () => {
  const texts = [...textsUnder(['src', 'web'], /\.(cpp|h|cmake|mjs|js|ts|json|html|py|toml|md)$/), {path: 'README.md', text: readFileSync(join(root, 'README.md'), 'utf8')}];
  // A lock file has the versions of others.
  const found = texts.filter(({path, text}) => !path.endsWith('package-lock.json') && text.includes(version)).map(({path}) => path);
  assert.deepEqual(found, []);
  assert.equal(readFileSync(join(root, 'CMakeLists.txt'), 'utf8').split(version).length, 2);
});

test('the changelog begins with this version', () => {
  const heading = /^## \[(\S+)\] - \d{4}-\d\d-\d\d$/m.exec(readFileSync(join(root, '.github/CHANGELOG.md'), 'utf8'));
  assert.equal(heading?.[1], version);
});

test('no lock file names a download address', () => {
  for (const folder of ['tests', 'tests/bench', 'tests/hosts', 'web/docs']) {
    const lock = join(root, folder, 'package-lock.json');
    if (existsSync(lock)) assert.doesNotMatch(readFileSync(lock, 'utf8'), /"resolved": "http/);
  }
});

test('no test waits for a time: only until(), for a condition', () => {
  const waits = /\b(setTimeout|setInterval|setImmediate|waitForTimeout|Atomics\.wait|nanosleep|usleep|sleep_for|sleep_until)\b|\bsleep\(|['"]sleep['"]|timers\/promises/;
  const own = relative(root, fileURLToPath(import.meta.url));
  const found = ['browser', 'cli', 'core', 'desktop', 'docs', 'hosts', 'python', 'setup', 'unit'].flatMap(folder => filesUnder(join(root, 'tests', folder)))
      .filter(path => /\.(mjs|html|cpp|h)$/.test(path) && relative(root, path) !== own)
      .flatMap(path => readFileSync(path, 'utf8').split('\n').flatMap((line, i) =>
        waits.test(line) ? [`${relative(root, path)}:${i + 1}: ${line.trim()}`] : []));
  assert.deepEqual(found, []);
  assert.match(readFileSync(join(root, 'tests/until.mjs'), 'utf8'), waits, 'the rule sees what it looks for');
});

// The functions under a folder with more than 80 lines or 6 parameters, as "path function".
function largeFunctions(folder) {
  const python = join(root, '.toolchain/lizard/bin/python');
  const {error, stdout, stderr} = spawnSync(python, ['-m', 'lizard', '-l', 'cpp', '--csv', '.'], {cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26});
  assert.ok(!error && stderr === '', error?.message ?? stderr);
  // NLOC, CCN, tokens, parameters, lines, location, file, function …
  const rows = stdout.trim().split('\n').map(row => row.match(/^\d+,\d+,\d+,(\d+),(\d+),"[^"]*","([^"]*)","([^"]*)"/) ?? assert.fail(row));
  return rows.filter(([, parameters, length]) => parameters > 6 || length > 80)
      .map(([, , , file, name]) => `${file.replace(/^\.\//, '')} ${name.split('::').at(-1)}`);
}

const isMeasured = existsSync(join(root, '.toolchain/lizard/bin/python'));
test('no function has more than 80 lines or 6 parameters', {skip: !isMeasured && 'pip could not bring lizard'}, () => {
  const excused = [
    // Inner loops over plain arrays: everything is in registers, and a structure could go through memory.
    /^attention\/kernels\//,
    // Called from JavaScript, which has numbers only; OpenGL's own.
    /^shell\/web\/shell_web\.cpp playground_pointer$/,
    /^shell\/cli\/no_graphics\.cpp glTex(Sub)?Image2D$/,
  ];
  const found = largeFunctions(join(root, 'src'));
  assert.deepEqual(found.filter(one => !excused.some(pattern => pattern.test(one))), []);
  assert.deepEqual(excused.filter(pattern => !found.some(one => pattern.test(one))).map(String), [], 'what is small needs no excuse');
  const folder = mkdtempSync(join(tmpdir(), 'functions-'));
  try {
    writeFileSync(join(folder, 'large.cpp'), `void wide(int a, int b, int c, int d, int e, int f, int g) {}\nvoid long_() {\n${'  wide();\n'.repeat(80)}}\n`);
    assert.deepEqual(largeFunctions(folder), ['large.cpp wide', 'large.cpp long_'], 'the rule sees what it looks for');
  } finally {
    rmSync(folder, {recursive: true});
  }
});
