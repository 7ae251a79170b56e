// `cmake --install`: the programs with everything that belongs to them, and the page. The last of the suites, because nothing may be built
// at the same time.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {existsSync, readFileSync, readdirSync, renameSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {test} from 'node:test';
import {attn, file, folder, here, layer} from '../cli/harness.mjs';

const build = resolve(here, '../../build/native');
const has = (program) => spawnSync('which', [program]).status === 0;

test('cmake --install without manual pages says what to build, and copies nothing', () => {
  const prefix = join(folder, 'nothing'), manuals = join(build, 'manuals'), aside = `${manuals}.aside`;
  renameSync(manuals, aside);
  try {
    const done = spawnSync('cmake', ['--install', build, '--prefix', prefix], {encoding: 'utf8', timeout: 120_000});
    assert.notEqual(done.status, 0);
    assert.match(done.stderr.replace(/\s+/g, ' '), /manual pages and completions, are not built yet\. Build them first: cmake --build "\S+native" --target manuals/);
    assert.ok(!existsSync(prefix));
  } finally {
    renameSync(aside, manuals);
  }
});

/** What Fedora's package of each library is called, by the name that a program asks for; without those of the compiler, which every Fedora has. */
const FEDORA = {
  glfw: ['libglfw.so.3'], 'libglvnd-opengl': ['libOpenGL.so.0'], 'libglvnd-glx': ['libGLX.so.0', 'libGL.so.1'], libdeflate: ['libdeflate.so.0'],
  pango: ['libpango-1.0.so.0', 'libpangocairo-1.0.so.0', 'libpangoft2-1.0.so.0'],
};
const BELOW_PANGO = /^lib(cairo\.so\.2|freetype\.so\.6|fontconfig\.so\.1|g(lib|object)-2\.0\.so\.0)$/, OF_THE_COMPILER = /^lib(c|m|stdc\+\+|gcc_s)\.so\.[16]$/;

test('the programs ask for no library that Fedora lacks, and for none newer than FEATURES.md says', (t) => {
  const features = readFileSync(resolve(here, '../../web/FEATURES.md'), 'utf8'), [, installed] = /`dnf install ([^`]+)`/.exec(features);
  assert.deepEqual(installed.split(/\s+/).sort(), Object.keys(FEDORA).sort());
  const [, minor] = /glibc 2\.(\d+) and the libstdc\+\+ of GCC 12/.exec(features), newest = {GLIBC: [2, Number(minor)], GLIBCXX: [3, 4, 30], CXXABI: [1, 3, 13], GCC: [12]};
  const said = ['attn', 'attention-playground'].map((name) => spawnSync('readelf', ['--dynamic', '--version-info', '--wide', join(build, name)], {encoding: 'utf8'}).stdout).join('');
  const libraries = Array.from(said.matchAll(/\(NEEDED\).*\[(.+)\]/g), ([, library]) => library), versions = Array.from(said.matchAll(/ Name: ([A-Z]+)_([\d.]+) /g));
  assert.ok(libraries.length > 10 && versions.length > 10);
  assert.deepEqual(libraries.filter((library) => !Object.values(FEDORA).flat().includes(library) && !BELOW_PANGO.test(library) && !OF_THE_COMPILER.test(library)), []);
  if (Number(process.report.getReport().header.glibcVersionRuntime?.split('.')[1]) > 36) return t.skip('versions are those of Debian 12, on which a release is made');
  const above = (found, most) => found.map((part, i) => part - (most[i] ?? 0)).find((part) => part !== 0) > 0;
  assert.deepEqual(versions.filter(([, library, number]) => above(number.split('.').map(Number), newest[library])).map(([all]) => all.trim()), []);
});

test('cmake --install puts programs, manual pages, completions, desktop entry, icon and page in place, and what is installed runs', () => {
  const prefix = join(folder, 'prefix');
  const done = spawnSync('cmake', ['--install', build, '--prefix', prefix], {encoding: 'utf8', timeout: 120_000});
  assert.equal(done.status, 0, done.stderr);
  const installed = (path) => assert.ok(existsSync(join(prefix, path)), path);
  for (const name of ['attn', 'attention-playground']) {
    for (const path of [`bin/${name}`, `share/man/man1/${name}.1`, `share/bash-completion/completions/${name}`, `share/zsh/site-functions/_${name}`, `share/fish/vendor_completions.d/${name}.fish`]) installed(path);
    const run = (...args) => spawnSync(join(prefix, 'bin', name), args, {encoding: 'utf8', timeout: 60_000, cwd: prefix});
    assert.equal(run('--version').status, 0);
    assert.equal(run('--man').stdout, readFileSync(join(prefix, `share/man/man1/${name}.1`), 'utf8'), 'the page is that of this program');
  }
  const computed = spawnSync(join(prefix, 'bin/attn'), ['run', file(layer())], {encoding: 'utf8', timeout: 60_000, cwd: prefix});
  assert.deepEqual(JSON.parse(computed.stdout), JSON.parse(attn('run', file(layer())).stdout));
  const entry = readFileSync(join(prefix, 'share/applications/attention-playground.desktop'), 'utf8');
  assert.match(entry, /^Exec=attention-playground %f$/m);
  installed('share/mime/packages/attention-playground.xml');
  installed(`share/icons/hicolor/scalable/apps/${/^Icon=(.*)$/m.exec(entry)[1]}.svg`);
  if (has('desktop-file-validate')) assert.equal(spawnSync('desktop-file-validate', [join(prefix, 'share/applications/attention-playground.desktop')], {encoding: 'utf8'}).stdout, '');
  for (const name of ['index.html', 'embed.html', 'element.js', 'reader.js']) installed(`share/attention-playground/page/${name}`);
  if (has('man')) assert.match(spawnSync('man', ['-l', join(prefix, 'share/man/man1/attn.1')], {encoding: 'utf8', env: {...process.env, MANWIDTH: '100'}}).stdout, /Compute the tensors of an attention layer/);
  assert.deepEqual(readdirSync(prefix).sort(), ['bin', 'share']);
});
