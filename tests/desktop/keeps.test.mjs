// Nothing is lost and nothing is overwritten: how the desktop program writes files, and how it ends.
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

test('a link to a file that is not there yet stays a link', async (t) => {
  const {home, file} = await withState(t);
  symlinkSync(file, join(home, 'link.json'));
  const app = await start(t, [...BOARD, '--state', 'link.json'], {home});
  const place = await app.place('causal');
  rmSync(file);
  await app.click(place);
  await saves(app);
  assert.equal(JSON.parse(readFileSync(file, 'utf8')).causal, false);
  assert.ok(lstatSync(join(home, 'link.json')).isSymbolicLink());
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

test('on a full disk Ctrl+S leaves the old file whole, and says that nothing was saved; where there is room again, it saves', {skip: process.platform !== 'linux'}, async (t) => {
  const {home, file} = await withState(t), old = readFileSync(file, 'utf8');
  // A limit of so many bytes for any file that is written; its signal is ignored, so that writing fails instead, as on a full disk.
  const app = await start(t, [...BOARD, '--state', file], {home, first: "trap '' XFSZ"});
  const leaveRoom = (bytes) => assert.equal(spawnSync('prlimit', ['--pid', String(app.process.pid), `--fsize=${bytes}:`]).status, 0);
  await causal(app);
  leaveRoom(100);
  await saves(app);
  assert.equal(readFileSync(file, 'utf8'), old);
  assert.match(app.tool('getwindowname', app.window), /^• mine\.json/);
  assert.deepEqual(readdirSync(home).filter((name) => name.startsWith('.attention') || name.includes('.part')), [], 'nothing is left over');
  leaveRoom('unlimited');
  await saves(app);
  assert.equal(JSON.parse(readFileSync(file, 'utf8')).causal, false);
  assert.match(app.tool('getwindowname', app.window), /^mine\.json/);
  assert.equal(await app.close(), 0);
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

const ended = (app) => until('the program to end', () => app.process.signalCode !== null || app.process.exitCode !== null);
const sessions = (home) => {
  const kept = join(home, '.local/state/attention-playground');
  return existsSync(kept) ? readdirSync(kept).filter((name) => !name.endsWith('.lock')) : [];
};
/** Waits until the window has stored everything done in it, which takes up to a second after the last edit. */
const kept = (home, began = Date.now()) => until('the session to be kept', () => sessions(home).length > 0 && sessions(home).every((name) =>
  Date.now() - Math.max(began, statSync(join(home, '.local/state/attention-playground', name)).mtimeMs) > 1000));

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL', 'closed']) {
  test(`${signal}: the next start comes back with the board and its undo history`, async (t) => {
    const home = folder(t);
    const first = await start(t, BOARD, {home});
    await causal(first);
    await causal(first);
    await causal(first);
    if (signal === 'SIGKILL') await kept(home);
    if (signal === 'closed') assert.equal(await first.close(), 0);
    else first.process.kill(signal);
    await ended(first);
    if (signal !== 'closed') assert.equal(first.process.signalCode, signal, 'it ends by the signal, as its sender expects');
    assert.deepEqual(sessions(home), ['session-1']);

    const second = await start(t, BOARD, {home});
    assert.equal((await second.saved()).causal, false);
    await second.key('ctrl+z');
    assert.equal((await second.saved()).causal, true, 'it can be taken back');
    await second.key('ctrl+z');
    assert.equal((await second.saved()).causal, false);
    await second.key('ctrl+z', 'ctrl+z');
    assert.equal((await second.saved()).causal, true, 'to where the first window began');
    await second.key('ctrl+shift+z');
    assert.equal((await second.saved()).causal, false, 'and forth');
    assert.equal(await second.close(), 0);
    assert.deepEqual(readdirSync(join(home, '.local/state/attention-playground')), ['session-1'], 'no lock is left over');
  });
}

test('an edit is kept within a second, whole or not at all, and idle means that nothing is written', async (t) => {
  const home = folder(t), file = join(home, '.local/state/attention-playground/session-1');
  const app = await start(t, BOARD, {home});
  const at = await app.place('causal');
  await app.move(at.x, at.y);
  app.tool('click', 1);
  const clicked = Date.now();
  await until('the session', () => existsSync(file));
  const took = statSync(file).mtimeMs - clicked;
  assert.ok(took < 5000, `${took} ms, where a second is meant and a busy machine may take longer`);
  const inode = statSync(file).ino;
  await app.click(at);
  await until('another file', () => statSync(file).ino !== inode);  // written under another name and renamed
  await app.settled();
  const {mtimeMs} = statSync(file);
  for (let i = 0; i < 3; ++i) await app.settled();
  assert.equal(statSync(file).mtimeMs, mtimeMs);
  assert.deepEqual(sessions(home), ['session-1']);
});

test('two windows keep a session each, and each comes back', async (t) => {
  const home = folder(t);
  const one = await start(t, BOARD, {home});
  await causal(one);
  const other = await start(t, [...BOARD, '--preset', 'i-saw-a-saw'], {home});  // in front of the first one
  await other.click(await other.place('heads+'));
  await until('two sessions', () => sessions(home).length === 2);
  await kept(home);
  for (const app of [one, other]) {
    app.process.kill('SIGKILL');
    await ended(app);
  }
  const found = [];
  for (let i = 0; i < 2; ++i) {  // the second in front of the first, which is still open
    const back = await start(t, BOARD, {home});
    found.push(await back.saved());
    rmSync(join(home, 'attention.json'));
  }
  assert.deepEqual(found.map(({causal: isCausal, heads}) => [isCausal, heads]).sort(), [[false, 2], [true, 3]].sort());
});

test('without edits nothing is kept; a preset and a file begin anew, and what was kept waits', async (t) => {
  const {home, file} = await withState(t);
  rmSync(join(home, '.local'), {recursive: true, force: true});
  const idle = await start(t, BOARD, {home});
  idle.process.kill('SIGTERM');
  await ended(idle);
  assert.deepEqual(sessions(home), []);

  const first = await start(t, BOARD, {home});
  await causal(first);
  await first.close();
  const other = await start(t, [...BOARD, '--preset', 'pronoun'], {home});
  assert.equal((await other.saved()).preset, 'pronoun');
  rmSync(join(home, 'attention.json'));
  await other.close();
  const withFile = await start(t, [...BOARD, '--state', file], {home});
  assert.equal((await withFile.saved(file)).causal, true);
  await withFile.close();
  assert.ok(sessions(home).includes('session-1'));
});

test('unsaved changes of an open file come back with that file, however the window ended', async (t) => {
  const {home, file} = await withState(t);
  rmSync(join(home, '.local'), {recursive: true, force: true});
  const old = readFileSync(file, 'utf8');
  const first = await start(t, [...BOARD, '--state', file], {home});
  await causal(first);
  await kept(home);
  first.process.kill('SIGKILL');
  await ended(first);
  assert.equal(readFileSync(file, 'utf8'), old);
  const second = await start(t, [...BOARD, '--state', file], {home});
  await until('the dot', () => second.tool('getwindowname', second.window).startsWith('• mine.json'));
  second.process.kill('SIGKILL');
  await ended(second);
  const third = await start(t, BOARD, {home});  // without naming it
  await saves(third);
  assert.equal(JSON.parse(readFileSync(file, 'utf8')).causal, false);
  assert.match(third.tool('getwindowname', third.window), /^mine\.json/);
});

test('closing a window with unsaved changes of a file asks: save, discard, or stay', async (t) => {
  const {home, file} = await withState(t);
  const events = join(BUILD, 'window_events');
  const asks = async (app) => {
    await causal(app);
    spawnSync(events, ['close', app.window], {env: app.env});
    await app.settled();  // which fails if the program has exited
  };
  const stays = await start(t, [...BOARD, '--state', file], {home});
  await asks(stays);
  await stays.key('Escape');
  await causal(stays);  // the board takes input again
  assert.equal((await stays.saved(file)).causal, true);
  assert.equal(await stays.close(), 0, 'saved: it does not ask');

  const saved = await start(t, [...BOARD, '--state', file], {home});
  await asks(saved);
  saved.tool('key', 'Return');
  await ended(saved);
  assert.equal(JSON.parse(readFileSync(file, 'utf8')).causal, false);

  const discarded = await start(t, [...BOARD, '--state', file], {home});
  await asks(discarded);
  discarded.tool('key', 'd');
  await ended(discarded);
  assert.equal(JSON.parse(readFileSync(file, 'utf8')).causal, false);
  const again = await start(t, [...BOARD, '--state', file], {home});
  assert.equal((await again.saved(file)).causal, false, 'what was discarded does not come back');
});

test('a session that cannot be read is set aside; a folder that cannot be written is said once', async (t) => {
  const home = folder(t), place = join(home, '.local/state/attention-playground');
  mkdirSync(place, {recursive: true});
  writeFileSync(join(place, 'session-1'), 'attention window 1\n""\nunsaved\nattention session 1\ndamaged');
  const app = await start(t, BOARD, {home});
  await causal(app);
  await until('its own session', () => sessions(home).includes('session-1'));
  assert.deepEqual(sessions(home).sort(), ['session-1', 'session-1.unreadable']);
  assert.equal((await app.saved()).causal, false);
  await app.close();
  rmSync(place, {recursive: true});
  writeFileSync(place, 'no folder');
  const other = await start(t, BOARD, {home});
  await causal(other);
  assert.equal((await other.saved(join(home, 'attention-1.json'))).causal, false);
  assert.equal(await other.close(), 0);
});

test('Ctrl+S saves on every page', async (t) => {
  const app = await start(t);
  for (const key of ['t', 'b', 'g', 'e']) {
    await app.key(key);
    await app.saved(join(app.cwd, 'attention.json'));
    rmSync(join(app.cwd, 'attention.json'));
    await app.key('Escape');
  }
});
