// Nothing is lost and nothing is overwritten: files as the desktop program writes them, and how it ends.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {chmodSync, copyFileSync, existsSync, lstatSync, mkdirSync, openSync, closeSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {Session, environment, folder, run, startDisplay} from './harness.mjs';
import {until} from '../until.mjs';

const BUILD = process.env.BUILD ?? fileURLToPath(new URL('../../build/native', import.meta.url));
let display;
before(async () => { display = await startDisplay(); });
after(() => display?.close());

const BOARD = ['--size', '1440x900', '--theme', 'light'];
const start = (t, args = BOARD, options = {}) => Session.start(t, display, args, options);

/** A folder with a state in mine.json. */
async function withState(t) {
  const home = folder(t);
  const app = await start(t, BOARD, {home});
  await app.saved();
  await app.close();
  copyFileSync(join(home, 'attention.json'), join(home, 'mine.json'));
  rmSync(join(home, 'attention.json'));
  return {home, file: join(home, 'mine.json')};
}

const saves = async (app) => { await app.key('ctrl+s'); return app.settled(); };
const causal = async (app) => app.click(await app.place('causal'));

test('a saved file keeps its permissions, and no planted name is followed', async (t) => {
  const {home, file} = await withState(t);
  chmodSync(file, 0o640);
  writeFileSync(join(home, 'victim'), 'untouched');
  symlinkSync(join(home, 'victim'), `${file}.part`);
  symlinkSync(file, join(home, 'link.json'));
  const app = await start(t, [...BOARD, '--state', 'link.json'], {home});
  await causal(app);
  await saves(app);
  assert.equal(JSON.parse(readFileSync(file, 'utf8')).causal, false);
  assert.equal(statSync(file).mode & 0o7777, 0o640);
  assert.ok(lstatSync(join(home, 'link.json')).isSymbolicLink(), 'the link stays one');
  assert.equal(readFileSync(join(home, 'victim'), 'utf8'), 'untouched');
  assert.deepEqual(readdirSync(home).filter((name) => name.startsWith('.attention')), [], 'nothing is left over');
});

test('a read-only file is left alone, and the dot says that nothing was saved', async (t) => {
  const {home, file} = await withState(t);
  const old = readFileSync(file, 'utf8');
  chmodSync(file, 0o444);
  const app = await start(t, [...BOARD, '--state', file], {home});
  await causal(app);
  await saves(app);
  assert.equal(readFileSync(file, 'utf8'), old);
  assert.equal(statSync(file).mode & 0o7777, 0o444);
  assert.match(app.tool('getwindowname', app.window), /^• mine\.json/);
});

test('pictures go into devices and pipes, and never replace them', (t) => {
  const home = folder(t);
  const shot = (file) => run(['--screenshot', file, '--size', '320x320'], {display: display.name, home});
  assert.equal(spawnSync('mkfifo', [join(home, 'pipe')]).status, 0);
  const lonely = shot('pipe');
  assert.deepEqual([lonely.status, lonely.stderr], [1, 'attention-playground: Cannot write pipe: nobody reads from it.\n']);
  assert.ok(lstatSync(join(home, 'pipe')).isFIFO());
  const read = spawnSync('sh', ['-c', 'cat pipe >picture.png & "$0" --screenshot pipe --size 320x320; wait', join(BUILD, 'attention-playground')],
    {cwd: home, env: environment(display.name, home), encoding: 'utf8', timeout: 60000});
  assert.equal(read.status, 0, read.stderr);
  assert.equal(readFileSync(join(home, 'picture.png')).subarray(1, 4).toString(), 'PNG');
  assert.ok(lstatSync(join(home, 'pipe')).isFIFO());
  assert.equal(shot('/dev/null').status, 0);
  assert.ok(lstatSync('/dev/null').isCharacterDevice());
  assert.match(shot('/dev/full').stderr, /^attention-playground: Cannot write \/dev\/full: No space left on device\.\n$/);
  mkdirSync(join(home, 'sub'));
  assert.match(shot('sub').stderr, /Is a directory/);
});

test('a state is read from files only: a pipe or a device gets a sentence at once', (t) => {
  const home = folder(t);
  spawnSync('mkfifo', [join(home, 'pipe')]);
  for (const name of ['pipe', '/dev/zero']) {
    const result = run(['--state', name], {display: display.name, home});
    assert.equal(result.status, 1);
    assert.equal(result.stderr, `attention-playground: Cannot read ${name}: it is a pipe or a device; give a file.\n`);
  }
});

test('what standard output does not take is a failure', (t) => {
  const home = folder(t);
  for (const args of [['--locate', 'q,0,0,0'], ['--items'], ['--help'], ['--version']]) {
    const full = openSync('/dev/full', 'w');
    const result = spawnSync(join(BUILD, 'attention-playground'), args, {stdio: ['ignore', full, 'pipe'], env: environment(display.name, home), encoding: 'utf8', timeout: 60000});
    closeSync(full);
    assert.equal(result.status, 1, args.join());
    assert.match(result.stderr, /^attention-playground: Standard output cannot be written.*\.\n$/);
  }
});

test('control characters of names do not reach the terminal', (t) => {
  const home = folder(t);
  for (const args of [['--state', '\x1b[31mred\x07.json'], ['--preset', '\x1b]0;title\x07'], ['--\x1b[2J'], ['--size', '\x1b[A'], ['--state', 'a\u009b31m']]) {
    const result = run(args, {display: display.name, home});
    assert.notEqual(result.status, 0);
    assert.doesNotMatch(result.stderr, /[\x00-\x09\x0b-\x1f\x7f-\x9f]/, JSON.stringify(result.stderr));
    assert.match(result.stderr, /\\x(1b|9b)/);
  }
});

test('Ctrl+S in a folder that is gone saves to the home folder', async (t) => {
  const home = folder(t), gone = join(home, 'gone');
  mkdirSync(gone);
  const app = await start(t, BOARD, {home, cwd: gone});
  rmSync(gone, {recursive: true});
  app.cwd = home;  // where the harness runs its own
  await causal(app);
  await saves(app);
  assert.equal(JSON.parse(readFileSync(join(home, 'attention.json'), 'utf8')).causal, false);
});

test('a window may be made as small as 20 by 44 and large again', async (t) => {
  const app = await start(t);
  for (const [width, height] of [[20, 44], [1, 1], [44, 20], [1440, 900]]) {
    app.tool('windowsize', '--sync', app.window, width, height);
    await app.settled();
  }
  await causal(app);
  assert.equal((await app.saved()).causal, false);
});

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
  test(`${signal} keeps what was not saved, and the next start opens it`, async (t) => {
    const home = folder(t), kept = join(home, '.local/state/attention-playground');
    const first = await start(t, BOARD, {home});
    await causal(first);
    first.process.kill(signal);
    await until('the program to end', () => first.process.signalCode !== null || first.process.exitCode !== null);
    assert.equal(first.process.signalCode, signal, 'it ends by the signal, as its sender expects');
    const [name] = readdirSync(kept);
    assert.equal(JSON.parse(readFileSync(join(kept, name), 'utf8')).causal, false);

    const second = await start(t, BOARD, {home});
    second.process.kill('SIGTERM');  // not looked at: kept again, in the same place
    await until('the program to end', () => second.process.signalCode !== null);
    assert.deepEqual(readdirSync(kept), [name]);

    const third = await start(t, BOARD, {home});
    assert.equal((await third.saved()).causal, false);
    assert.deepEqual(readdirSync(kept), [], 'saved: nothing is to be recovered');
    assert.equal(await third.close(), 0);
  });
}

test('without edits a signal leaves nothing behind; what is recovered waits while a file is open', async (t) => {
  const {home, file} = await withState(t);
  const kept = join(home, '.local/state/attention-playground');
  const idle = await start(t, BOARD, {home});
  idle.process.kill('SIGTERM');
  await until('the program to end', () => idle.process.signalCode !== null);
  assert.ok(!existsSync(kept) || readdirSync(kept).length === 0);

  mkdirSync(kept, {recursive: true});
  writeFileSync(join(kept, 'recovered.json'), readFileSync(file));
  const other = await start(t, [...BOARD, '--state', file], {home});
  await other.close();
  assert.deepEqual(readdirSync(kept), ['recovered.json']);
  writeFileSync(join(kept, 'recovered.json'), '{"damaged');
  const damaged = await start(t, BOARD, {home});
  assert.equal(await damaged.close(), 0);
  assert.deepEqual(readdirSync(kept), ['recovered.json'], 'what could not be read is kept');
});
