// With software rendering the window draws only what has changed in a frame: the pixels must be the same as if it drew everything, with far
// less work.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {after, before, test} from 'node:test';
import {Session, cost, run, startDisplay, tensors} from './harness.mjs';

let display;
before(async () => { display = await startDisplay(); });
after(() => display?.close());

/** The window's pixels, row by row, from the X window dump that Xvfb maintains. Only its own: beside it a window of the test before may be about
 * to go. */
function pixels(app) {
  const dump = readFileSync(display.file), word = (at) => dump.readUInt32BE(at), {x, y, width, height} = app.geometry();
  const [begin, line] = [word(0) + word(76) * 12, word(48)];
  return Array.from({length: height}, (_, row) => Buffer.from(dump.subarray(begin + (y + row) * line + 4 * x, begin + (y + row) * line + 4 * (x + width))));
}

/** The rows in which two pictures of the window differ, and the first differing column in the first of them. */
function difference(a, b) {
  const rows = a.flatMap((row, y) => (row.equals(b[y]) ? [] : [y]));
  return rows.length === 0 ? 'none' : `rows ${rows[0]} to ${rows.at(-1)}, from column ${a[rows[0]].findIndex((byte, i) => byte !== b[rows[0]][i]) >> 2}`;
}

/** A change of size, and back, redraws everything. */
async function allDrawn(app) {
  const {width, height} = app.geometry();
  for (const more of [1, 0]) {
    app.tool('windowsize', '--sync', app.window, width, height + more);
    await app.settled();
  }
  return pixels(app);
}

const board = async (app, name) => app.click(await app.place(name, 0, 1, 1));
/** The same with a window half as large again as 960 × 640, in pixels. */
async function larger(app, name) {
  const {stdout} = run(['--size', '960x640', '--locate', name], {display: display.name, home: app.home}), {x, y} = app.geometry();
  const [left, top, w, h] = stdout.split(' ').map(Number);
  await app.click({x: Math.round(x + 1.5 * (left + w / 2)), y: Math.round(y + 1.5 * (top + h / 2))});
}
const SCALED = [['a cell is selected', (app) => larger(app, 'q,0,1,1')], ['its number grows', (app) => app.key('Up')], ['the next is selected', (app) => app.key('Right')],
  ['the theme', (app) => larger(app, 'theme')], ['a control is switched', (app) => larger(app, 'causal')]];
const SMALL = [
  ['a cell is selected', (app) => board(app, 'q')], ['its number grows', (app) => app.key('Up')], ['the next is selected', (app) => app.key('Right')],
  ['a weight is selected', (app) => board(app, 'weights')], ['a control is switched', async (app) => app.click(await app.place('causal'))],
  ['the pointer goes over a cell', async (app) => { const {x, y} = await app.place('k', 0, 2, 0); await app.move(x, y); await app.settled(); }],
  ['a cell is dragged', async (app) => app.drag(await app.place('v', 0, 0, 0), 40, 0)], ['the theme', async (app) => app.click(await app.place('theme'))],
  ['the steps are shown', (app) => app.key('i')], ['and gone', (app) => app.key('Escape')], ['an edit is taken back', (app) => app.key('ctrl+z')],
];
const LARGE = [['a cell of Q', (app) => board(app, 'q')], ['up', (app) => app.key('Up')], ['right', (app) => app.key('Right')],
  ['a cell of K', (app) => board(app, 'k')], ['down', (app) => app.key('Down')], ['another head', async (app) => app.click(await app.place('head:1'))]];

for (const [name, args, steps] of [['four tokens', () => ['--size', '1440x900'], SMALL], ['four tokens, a half larger', () => ['--scale', '1.5', '--size', '960x640'], SCALED],
  ['512 tokens', (t) => [tensors(t, ['q', 'k', 'v'], [3, 512, 16]), '--size', '1440x900'], LARGE]]) {
  test(`what is drawn over the last frame looks as if all were drawn: ${name}`, async (t) => {
    const app = await Session.start(t, display, args(t));
    await app.move(2, 2);  // off the control that the test before has left it on, which would show its tooltip
    await app.settled();
    const first = pixels(app);
    assert.equal(difference(first, await allDrawn(app)), 'none', 'the first frame');
    for (const [step, act] of steps) {
      const old = pixels(app);
      await act(app);
      const now = pixels(app), whole = await allDrawn(app);
      assert.equal(difference(now, whole), 'none', step);
      if (step !== 'the pointer goes over a cell') assert.notEqual(difference(old, now), 'none', `${step}: something is to be seen`);
    }
  });
}

test('12 heads of 1,024 tokens: an arrow key costs a small part of a whole frame', async (t) => {
  const app = await Session.start(t, display, [tensors(t, ['q', 'k', 'v'], [12, 1024, 64]), '--size', '1440x900']);
  await board(app, 'q');
  const whole = await cost(app, () => allDrawn(app)) / 2, moved = await cost(app, () => app.key('Right')), edited = await cost(app, () => app.key('Up'));
  t.diagnostic(`all of it ${whole.toFixed(1)} ms of processor, another cell ${moved.toFixed(1)} ms, another number ${edited.toFixed(1)} ms`);
  assert.ok(moved < whole / 2 && edited < whole, `another cell ${moved} ms, another number ${edited} ms, all of it ${whole} ms`);
});
