// Typing into cells in a real window: no digit is lost, whether typing is slow or fast.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {Session, startDisplay} from './harness.mjs';

let display;
before(async () => { display = await startDisplay(); });
after(() => display?.close());

const BOARD = ['--size', '1440x900', '--theme', 'light'];
const start = (t) => Session.start(t, display, BOARD);
const number = async (app, name, row, col) => {
  const {shape: [, , d], data} = (await app.saved())[name];
  return data.flat(Infinity)[row * d + col];
};
/** Sends keys without waiting for the program in between. GLFW takes two presses of a key in the same millisecond for one. */
const quickly = async (app, ...keys) => { app.tool('key', '--delay', 4, ...keys); await app.settled(); };
const KEYS = {'-': 'minus', '.': 'period', ',': 'comma'};
const keysOf = (text) => [...text].map((c) => KEYS[c] ?? c);

test('a digit, a rest, and another digit make one number', async (t) => {
  const app = await start(t);
  await app.click(await app.place('q', 0, 1, 1));
  await app.key('4');  // waits until the program is idle again
  await app.key('2');
  await app.key('Return');
  assert.equal(await number(app, 'q', 1, 1), 42);
});

test('a minus or a point begins a number, slowly and quickly, and so does a decimal comma inside', async (t) => {
  const app = await start(t);
  for (const [text, value] of [['-7', -7], ['.5', 0.5], ['3.25', 3.25], ['-0,8', -0.8], ['12345', 12345]]) {
    await app.click(await app.place('q', 0, 2, 0));
    for (const key of keysOf(text)) await app.key(key);
    await app.key('Return');
    assert.equal(await number(app, 'q', 2, 0), value, `${text}, slowly`);
    await app.click(await app.place('q', 0, 3, 2));
    await quickly(app, ...keysOf(text), 'Return');
    assert.equal(await number(app, 'q', 3, 2), value, `${text}, quickly`);
  }
});

test('Enter opens a number with all of it selected', async (t) => {
  const app = await start(t);
  await app.click(await app.place('q', 0, 0, 0));
  await app.key('Return');
  await app.key('6', 'Return');
  assert.equal(await number(app, 'q', 0, 0), 6);
  await quickly(app, 'Return', '5', 'period', '5', 'Return');
  assert.equal(await number(app, 'q', 0, 0), 5.5);
});

test('Tab enters and opens the next cell, Shift+Tab the one before', async (t) => {
  const app = await start(t);
  await app.click(await app.place('q', 0, 0, 1));
  await app.key('1', 'Tab');
  await app.key('2', 'Tab');
  await app.key('3', 'shift+Tab');
  await app.key('4', 'Return');
  assert.deepEqual([await number(app, 'q', 0, 1), await number(app, 'q', 0, 2), await number(app, 'q', 1, 0)], [1, 4, 3]);
  await quickly(app, '7', 'Tab', '8', 'Tab', '9', 'Return');
  assert.deepEqual([await number(app, 'q', 0, 2), await number(app, 'q', 1, 0), await number(app, 'q', 1, 1)], [7, 8, 9]);
});

test('what is refused stays in its field, and is mended there', async (t) => {
  const app = await start(t);
  const {q} = await app.saved();
  await app.click(await app.place('q', 0, 1, 1));
  await app.key('4');
  await app.key('x');
  await app.key('Return');
  await app.key('BackSpace');
  await app.key('5', 'Return');
  assert.equal(await number(app, 'q', 1, 1), 45);
  await app.key('8', 'x');
  await app.click(await app.place('q', 0, 3, 1));  // tries to leave the field, is refused, and selects nothing
  await app.key('BackSpace', 'Return');
  assert.equal(await number(app, 'q', 1, 1), 8);
  assert.equal(await number(app, 'q', 3, 1), q.data.flat(Infinity)[3 * q.shape[2] + 1]);
});

test('a word that finds no field is no row of commands', async (t) => {
  const app = await start(t);
  const old = await app.saved();
  await app.click(await app.place('scores', 0, 2, 1));
  await quickly(app, 'j', 'a', 'm');
  await quickly(app, 'Return', 'c', 't', 'h');
  assert.deepEqual(await app.saved(), old);
});
