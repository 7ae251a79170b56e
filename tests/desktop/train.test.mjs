// Training in the window, by a real pointer: Step gives the same result as `attn train`, clicks are handled during a run, and the trained
// layer can be opened on the board.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {readFileSync, statSync, writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import {after, before, test} from 'node:test';
import {Session, folder, startDisplay, until, weights} from './harness.mjs';

const ATTN = process.env.ATTN ? resolve(process.env.ATTN) : fileURLToPath(new URL('../../build/native/attn', import.meta.url));

let display;
before(async () => { display = await startDisplay(); });
after(() => display.close());

const SIZE = ['--size', '1440x900'];
const flat = (tensor) => tensor.data.flat(Infinity);

/** The window with the training page, and the positions of its controls, which are queried before anything is saved to the file. */
async function trainPage(t) {
  const home = folder(t), file = join(home, 'board.json');
  const first = await Session.start(t, display, [], {home});
  const state = await first.saved();
  await first.close();
  writeFileSync(file, JSON.stringify({...state, view: 'train'}));
  const app = await Session.start(t, display, ['--state', file, ...SIZE], {home});
  const places = {};
  for (const name of ['train:play', 'train:step', 'train:reset', 'train:open', 'view:train', 'train_causal']) places[name] = await app.place(name);
  const click = (name) => app.click(places[name]);
  /** Moves and clicks without waiting until the program is idle, which it is not during a run. */
  const press = async (name) => { await app.move(places[name].x, places[name].y); app.tool('click', 1); };
  /** The content saved by Ctrl+S, once it has been written. */
  const saved = async () => {
    const was = statSync(file).mtimeMs;
    app.tool('key', 'ctrl+s');
    await until('the file to be written', () => statSync(file).mtimeMs > was);
    return JSON.parse(readFileSync(file, 'utf8'));
  };
  /** The layer in its present state of training, as a saved board; then returns to the page. */
  const opened = async () => {
    await click('train:open');
    const board = await saved();
    await click('view:train');
    return board;
  };
  return {app, home, click, press, opened};
}

/** The first layer after that many steps on the command line. */
function trained(home, steps) {
  const out = join(home, `${steps}.json`);
  const done = spawnSync(ATTN, ['train', '--task', 'tags', '--steps', String(steps), '--out', out], {encoding: 'utf8', timeout: 120_000});
  assert.equal(done.status, 0, done.stderr);
  return JSON.parse(readFileSync(out, 'utf8'));
}
const near = (is, wanted) => is.length === wanted.length && is.every((v, i) => Math.abs(v - wanted[i]) <= 1e-6 * Math.max(1, Math.abs(wanted[i])));

test('Step learns what attn train learns; Reset begins anew; the layer opens on the board', async (t) => {
  const {home, click, opened} = await trainPage(t);
  const begun = await opened();
  assert.deepEqual([begun.mode, begun.labels], ['x', ['I', 'saw', 'a', 'saw']]);
  for (const steps of [1, 2]) {
    await click('train:step');
    const board = await opened(), file = trained(home, steps);
    for (const name of ['w_q', 'w_k', 'w_v', 'w_o']) {
      assert.ok(near(flat(board[name]), flat(file[`layers.0.${name}`])), `${name} after ${steps} steps`);
      assert.ok(!near(flat(board[name]), flat(begun[name])), `${name} was learned`);
    }
  }
  await click('train:reset');
  const again = await opened();
  for (const name of ['x', 'w_q', 'w_k', 'w_v', 'w_o']) assert.deepEqual(again[name], begun[name], name);
});

test('Play learns while a click is answered; Pause, and the program sleeps', async (t) => {
  const {app, press, opened} = await trainPage(t);
  const begun = await opened();
  assert.notEqual(begun.train_causal, false);
  const used = app.ticks().used;
  await press('train:play');
  await until('a run', () => app.ticks().used > used + 100);  // one second of processor time
  await press('train_causal');  // handled between frames of the run, which is restarted and continues
  const then = app.ticks().used;
  await until('the run to go on', () => app.ticks().used > then + 100);
  await press('train:play');
  await app.settled();
  const board = await opened();
  assert.equal(board.train_causal, false, 'the switch was heard');
  assert.equal(board.causal, false, 'and the layer that was trained is one without the mask');
  assert.ok(!near(flat(board.w_q), flat(begun.w_q)), 'it learned');
  // The first "saw" may attend to later tokens, as the weights on the board show.
  const {q, k} = projected(board);
  for (const head of [0, 1]) {
    const [, first] = weights({...board, q, k, scale: true, temperature: 1}, head);
    assert.ok(Math.abs(first.reduce((a, b) => a + b) - 1) < 1e-9 && first[2] > 0 && first[3] > 0);
  }
});

/** Q and K of a board that holds X and the matrices, in plain loops. */
function projected({x, w_q: wq, w_k: wk, tokens, heads}) {
  const input = flat(x), rows = tokens ?? x.shape.at(-2), d = x.shape.at(-1);
  const of = (w) => {
    const columns = w.shape.at(-1), dim = columns / heads, numbers = flat(w), data = [];
    for (let h = 0; h < heads; h++) {
      for (let i = 0; i < rows; i++) {
        for (let c = 0; c < dim; c++) {
          let sum = 0;
          for (let m = 0; m < d; m++) sum += input[i * d + m] * numbers[m * columns + h * dim + c];
          data.push(sum);
        }
      }
    }
    return {shape: [heads, rows, dim], data};
  };
  return {q: of(wq), k: of(wk)};
}
