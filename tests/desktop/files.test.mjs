// Files on the desktop: as an argument, dropped, by a dialog; saved in other formats. They are real files, written by NumPy.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {python} from '../numpy.mjs';
import {Session, folder, run, startDisplay, until} from './harness.mjs';

const script = fileURLToPath(new URL('../browser/files.py', import.meta.url));

let display;
before(async () => { display = await startDisplay(); });
after(() => display.close());

function made(t) {
  const path = folder(t), done = spawnSync(python, [script, 'make', path], {encoding: 'utf8'});
  assert.equal(done.status, 0, done.stderr);
  return path;
}
const placesOf = (file, home) => {
  const found = run([file, '--items'], {display: display.name, home});
  assert.equal(found.status, 0, found.stderr);
  return JSON.parse(found.stdout);
};

test('any file is an argument: clear ones open, unclear ones ask, wrong ones are refused in one sentence', (t) => {
  const files = made(t);
  for (const name of ['clear.npz', 'packed.npz', 'stacked.npy', 'clear.safetensors', 'sheet.csv', 'sheet.tsv', 'lists.json', 'nan.npz'])
    assert.ok(!placesOf(name, files).some((item) => item.name === 'form'), name);
  for (const name of ['unclear.npz', 'layers.npz', 'llama.safetensors', 'thousand.npz'])
    assert.ok(placesOf(name, files).some((item) => item.name === 'form-open'), name);
  for (const [name, sentence] of [['cut.npz', /directory at its end is missing/], ['pickled.npz', /pickled and never read/], ['model.pt', /torch\.save/],
    ['bomb.npz', /would inflate to more than 68 MB/], ['all-nan.npz', /k\[0, 0, 0\]: NaN/], ['mislabelled.npy', /rename it to \.npz/]]) {
    const refused = run([name, '--items'], {display: display.name, home: files});
    assert.equal(refused.status, 1, name);
    assert.match(refused.stderr, sentence);
    assert.equal(refused.stderr.trim().split('\n').length, 1, name);
  }
});

/** A program that replaces the desktop's dialog and answers immediately. */
function dialog(home, answer) {
  const bin = join(home, 'bin');
  if (!existsSync(bin)) mkdirSync(bin);
  writeFileSync(join(bin, 'zenity'), `#!/bin/sh\necho "$@" >> "${join(home, 'asked')}"\n${answer}\n`);
  chmodSync(join(bin, 'zenity'), 0o755);
  return bin;
}

test('Open and Save as ask by a dialog; the end of the name says the format', async (t) => {
  const home = made(t), path = process.env.PATH;
  process.env.PATH = `${dialog(home, `echo "${join(home, 'clear.npz')}"`)}:${path}`;
  t.after(() => { process.env.PATH = path; });
  const app = await Session.start(t, display, [], {home});
  await app.key('ctrl+o');
  await until('the layer', async () => (await app.saved()).tokens === 5);
  assert.match(readFileSync(join(home, 'asked'), 'utf8'), /--file-selection/);
  for (const name of ['out.npz', 'out.safetensors', 'out.json']) {
    dialog(home, `echo "${join(home, name)}"`);
    await app.key('ctrl+shift+s');
    await until(`${name} to be written`, () => existsSync(join(home, name)));
  }
  assert.match(readFileSync(join(home, 'asked'), 'utf8'), /--save --confirm-overwrite/);
  const numbersIn = (name) => {
    const read = spawnSync(python, [script, 'read', join(home, name)], {encoding: 'utf8'});
    assert.equal(read.status, 0, read.stderr);
    return JSON.parse(read.stdout);
  };
  const opened = numbersIn('clear.npz');
  for (const name of ['out.npz', 'out.safetensors'])
    for (const tensor of ['q', 'k', 'v']) assert.deepEqual(numbersIn(name)[tensor], opened[tensor], `${tensor} of ${name}`);
  assert.ok(numbersIn('out.npz').weights);
  dialog(home, 'exit 1');
  await app.key('ctrl+o');
  await app.settled();
  assert.equal((await app.saved(join(home, 'out.json'))).tokens, 5, 'a dialog that was closed changes nothing');
  assert.equal(await app.close(), 0);
});

test('a file that is dropped asks, and Enter takes what it offers', async (t) => {
  const home = made(t), app = await Session.start(t, display, [], {home});
  assert.equal(app.drop(join(home, 'unclear.npz')), 0);
  await app.settled();
  await app.key('Return');
  const state = await app.saved();
  assert.equal(state.tokens, 5);
  assert.equal(state.heads, 2);
  assert.equal(await app.close(), 0);
});

test('a recorded model opens with all its layers; keys go through them, and to the page of all heads and back', async (t) => {
  const home = made(t), app = await Session.start(t, display, ['layers.npz'], {home});
  await app.key('Return');  // what the form proposes first
  await until('all layers', async () => { const {batch, batch_of} = await app.saved(); return batch === 12 && batch_of === 'layers'; });
  await app.key('j');
  await app.key('j');
  await until('the third layer', async () => (await app.saved()).batch_item === 2);
  await app.key('ctrl+z');
  await until('the second layer', async () => (await app.saved()).batch_item === 1);
  for (const key of ['a', 'j', 'Escape']) await app.key(key);  // on the page of all heads, j is not a shortcut
  assert.equal((await app.saved()).batch_item, 1);
  await app.key('j');
  await until('the third layer again', async () => (await app.saved()).batch_item === 2);
});
