// The first visit to the window: the board and the first steps of the page's, once, and never over what was asked for.
import assert from 'node:assert/strict';
import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {Session, folder, startDisplay, until} from './harness.mjs';

let display;
before(async () => { display = await startDisplay(); });
after(() => display.close());

const kept = (home) => join(home, 'config/attention-playground/lessons.json');
const isCoached = (home) => existsSync(kept(home)) && readFileSync(kept(home), 'utf8').includes('"coached":true');
/** Starts as at a first visit, and presses Escape, which ends the first steps if there are any. */
async function visit(t, home, args = []) {
  const app = await Session.start(t, display, args, {home, visits: true});
  await app.key('Escape');
  return app;
}

test('a first visit has one head of "I saw a saw" and the first steps, which are remembered as on the page', async (t) => {
  const home = folder(t), first = await visit(t, home);
  await until('the first steps to be remembered', () => isCoached(home));
  const state = await first.saved(join(home, 'attention.json'));
  assert.deepEqual([state.heads ?? 1, state.tokens ?? state.labels.length, state.causal ?? false], [1, 4, false]);
  assert.ok(JSON.parse(readFileSync(kept(home), 'utf8')).closed, 'the column beside the board is closed');
  await first.close();
});

test('what is asked for, and what was left, have no first steps', async (t) => {
  const home = folder(t), file = join(home, 'mine.json');
  const plain = await visit(t, folder(t), ['--preset', 'pronoun']);
  const state = await plain.saved();
  assert.equal(state.heads, 2);
  assert.ok(!isCoached(plain.home), 'with an example');
  writeFileSync(file, JSON.stringify(state));
  const opened = await visit(t, home, ['--state', file]);
  assert.deepEqual((await opened.saved(file)).labels, state.labels);
  assert.ok(!isCoached(home), 'with a file');
});
