// The package for Debian: what lintian says of it, and its whole life on a Debian that has nothing else. `./play test debian`, as root.
import assert from 'node:assert/strict';
import {spawn, spawnSync} from 'node:child_process';
import {cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, test} from 'node:test';
import {timed} from '../timed.mjs';
import {until} from '../until.mjs';
import {root, version} from './tree.mjs';

const build = join(root, 'build/installers'), folder = mkdtempSync(join(tmpdir(), 'debian-'));
after(() => rmSync(folder, {recursive: true}));
const [deb] = readdirSync(build).filter((name) => name.endsWith('.deb')), archive = readdirSync(build).find((name) => name.endsWith('.tar.gz'));

function run(program, args, options = {}) {
  const done = spawnSync(program, args, {encoding: 'utf8', timeout: 600_000, maxBuffer: 1 << 26, ...options});
  assert.equal(done.status, 0, `${program} ${args.join(' ')}: ${done.stderr || done.error || done.stdout}`);
  return done.stdout;
}
const filesIn = (text) => text.split('\n').filter((line) => line.startsWith('-')).map((line) => line.split(/\s+/)[5]);

test('lintian finds nothing but the address of a maintainer, whom only who publishes the package can name', () => {
  const {stdout} = spawnSync('lintian', ['--tag-display-limit', '0', '--allow-root', join(build, deb)], {encoding: 'utf8', timeout: 600_000});
  assert.deepEqual(stdout.split('\n').filter((line) => line && !/ bogus-mail-host(-in-debian-changelog)? .*attention-playground@localhost/.test(line)), []);
});

test('a package made again has the same bytes, and the same files as the archive', () => {
  const bytes = () => [deb, archive].map((name) => readFileSync(join(build, name), 'base64')), before = bytes();
  run('bash', ['-c', 'source ./play; touch build/native/manuals/*; pack_installers'], {cwd: root});
  const now = bytes();
  assert.ok(now[0] === before[0] && now[1] === before[1]);
  const inDeb = filesIn(run('dpkg-deb', ['--contents', join(build, deb)])).map((path) => path.replace('./usr/', '').replace(/\.gz$/, ''));
  const inArchive = filesIn(run('tar', ['--list', '--verbose', '--file', join(build, archive)])).map((path) => path.replace(/^[^/]*\//, ''));
  for (const path of ['bin/attn', 'bin/attention-playground', 'share/mime/packages/attention-playground.xml', 'share/man/man1/attn.1']) assert.ok(inDeb.includes(path), path);
  const debian = ['share/doc/attention-playground/changelog', 'share/doc/attention-playground/copyright'];
  assert.deepEqual(inArchive.filter((path) => !inDeb.includes(path)), ['share/doc/attention-playground/LICENSE']);
  assert.deepEqual(inDeb.filter((path) => !inArchive.includes(path)).sort(), debian);
});

test('the archive runs where it is unpacked', () => {
  run('tar', ['--extract', '--file', join(build, archive), '--directory', folder, '--strip-components=1']);
  for (const name of ['attn', 'attention-playground']) assert.match(run(join(folder, 'bin', name), ['--version']), new RegExp(version.replaceAll('.', '\\.')));
});

/** A screen in memory; gives its name, which programs in the other root reach too. */
async function screen() {
  const server = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1600x1000x24'], {stdio: ['ignore', 'ignore', 'ignore', 'pipe']});
  let number = '';
  server.stdio[3].on('data', (text) => { number += text; });
  await until('a screen', () => /\n/.test(number));
  return {display: `:${number.trim()}`, close: () => server.kill()};
}

/** A copy of a root that ./play has brought, with a file in its /tmp; how a program is run in it, and with which environment. */
function rooted(name, file, display) {
  const bare = join(folder, name), proxies = Object.fromEntries(Object.entries(process.env).filter(([variable]) => /_proxy$/i.test(variable)));
  // Mesa keeps shaders of whatever program draws, not in $HOME but in the home that the list of users names, if it has the time.
  const env = {PATH: process.env.PATH, HOME: '/tmp', XDG_CACHE_HOME: '/tmp', DISPLAY: display, DEBIAN_FRONTEND: 'noninteractive', ...proxies};
  run('cp', ['-a', join(root, '.toolchain', name), bare]);
  cpSync(join(build, file), join(bare, 'tmp', file));
  // As in Debian's images for containers: dpkg does not wait for the disk after each file, which took 8 of 28 seconds on a busy machine.
  writeFileSync(join(bare, 'etc/dpkg/dpkg.cfg.d/unsafe-io'), 'force-unsafe-io\n');
  return {bare, env, inside: (...command) => run('chroot', [bare, ...command], {env})};
}
const DRAW = ['--size', '1200x800', '--screenshot', '/tmp/board.png'];

/** All that is under a root, but the lists, downloads and logs of apt. */
const everything = (bare) => run('find', [bare, '-xdev', '(', ...['tmp', 'var/lib/apt', 'var/cache/apt', 'var/log'].flatMap((path, i) => [...i ? ['-o'] : [], '-path', join(bare, path)]), ')', '-prune', '-o', '-print']).split('\n');

test('on a Debian with nothing else it is installed, draws a window, and is removed without a trace', async (t) => {
  const shown = await screen();
  try {
    const {bare, env, inside} = rooted('bare', deb, shown.display), before = new Set(everything(bare));
    inside('apt-get', 'update', '-q');
    const install = ['chroot', bare, 'apt-get', 'install', '-y', '-q', '--no-install-recommends', `/tmp/${deb}`];
    const parts = {fetched: timed([...install, '--download-only'], {env}), installed: timed(install, {env}), drawn: timed(['chroot', bare, 'attention-playground', ...DRAW], {env})};
    const sum = (what) => Object.values(parts).reduce((total, part) => total + part[what], 0);
    const [, megabytes] = /^Fetched ([\d.]+ .?B)/m.exec(parts.fetched.stdout);
    const told = Object.entries(parts).map(([what, {seconds, processor}]) => `${what} in ${seconds.toFixed(1)} (${processor.toFixed(1)})`).join(', ');
    t.diagnostic(`${sum('seconds').toFixed(1)} s from the package to a drawn window, of which processors worked ${sum('processor').toFixed(1)}: ${told}; ${megabytes} beside it`);
    // 8 s here, two thirds of which are for Mesa and its LLVM, on which Debian's libglfw3 depends and without which nothing is drawn.
    assert.ok(sum('processor') <= 40, 'seconds of processors');
    assert.ok(readFileSync(join(bare, 'tmp/board.png')).length > 50_000);
    assert.match(inside('attn', '--version'), new RegExp(version.replaceAll('.', '\\.')));
    assert.ok(inside('dpkg', '-L', 'attention-playground').split('\n').filter((path) => /attention-playground|attn/.test(path)).length > 60);
    inside('apt-get', 'purge', '--autoremove', '-y', '-q', 'attention-playground');
    assert.deepEqual(everything(bare).filter((path) => !before.has(path)), [], 'what stays, of all that is on the disk');
  } finally {
    shown.close();
  }
});

test('the archive starts on a newer Debian too, with the libraries that FEATURES.md names', async () => {
  const shown = await screen(), [, libraries] = /`apt install (libglfw3[^`]*)`/.exec(readFileSync(join(root, 'web/FEATURES.md'), 'utf8'));
  try {
    const {bare, inside} = rooted('newer', archive, shown.display), programs = `/tmp/${archive.replace('.tar.gz', '')}/bin`;
    inside('apt-get', 'update', '-q');
    inside('apt-get', 'install', '-y', '-q', '--no-install-recommends', ...libraries.split(/\s+/));
    inside('tar', '--extract', '--file', `/tmp/${archive}`, '--directory', '/tmp', '--no-same-owner');
    inside(`${programs}/attention-playground`, ...DRAW);
    assert.ok(readFileSync(join(bare, 'tmp/board.png')).length > 50_000);
    assert.match(inside(`${programs}/attn`, '--version'), new RegExp(version.replaceAll('.', '\\.')));
    assert.match(inside('cat', '/etc/debian_version'), /^1[3-9]/);
  } finally {
    shown.close();
  }
});
