// The experiments over the board, by real clicks; the block and the segments are what plain arithmetic gives.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {start} from './harness.mjs';

let browser;
before(async () => { browser = await start(); });
after(() => browser.stop());

const onPage = (name, page, body, options = {}) => test(name, async () => {
  const board = await browser.open();
  for (const [option, value] of Object.entries(options)) await board.call('set', option, value);
  await board.settle();
  await board.click('experiments');
  await board.settle();
  await board.click(`lab:${page}`);
  await board.settle();
  await body(board);
  await board.close();
});

const rows = async (board, name) => {
  const {data, shape} = await board.tensor(name);
  return Array.from({length: shape[1]}, (_, i) => data.slice(i * shape[2], (i + 1) * shape[2]));
};
const near = (got, want, bound, what) => got.forEach((row, i) => row.forEach((x, c) =>
  assert.ok(Math.abs(x - want[i][c]) <= bound, `${what}[${i}][${c}] is ${x}, and should be ${want[i][c]}`)));
const added = (a, b) => a.map((row, i) => row.map((x, c) => x + b[i][c]));
const normalised = (x) => x.map((row) => {
  const mean = row.reduce((a, b) => a + b) / row.length;
  const variance = row.reduce((a, b) => a + (b - mean) ** 2, 0) / row.length;
  return row.map((v) => (v - mean) / Math.sqrt(variance + 1e-5));
});
// Abramowitz and Stegun 1964, 7.1.26: within 1.5e-7.
const erf = (x) => {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const tail = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t * Math.exp(-x * x);
  return Math.sign(x) * (1 - tail);
};
const activations = [(h) => Math.max(h, 0), (h) => h * (1 + erf(h / Math.SQRT2)) / 2, Math.tanh];

// Every stage of a post-norm block from the ones before it; the seeded weights show in hidden_raw and feed_forward alone.
async function checkBlock(board, activation) {
  const stage = (name) => rows(board, `block:${name}`);
  const first = await stage('residual_1'), second = await stage('residual_2');
  near(first, added(await rows(board, 'x'), await stage('dropout_1')), 1e-5, 'residual_1');
  near(await stage('norm_1'), normalised(first), 1e-4, 'norm_1');
  near(await stage('hidden'), (await stage('hidden_raw')).map((row) => row.map(activation)), 1e-5, 'hidden');
  near(second, added(await stage('norm_1'), await stage('dropout_2')), 1e-5, 'residual_2');
  near(await stage('norm_2'), normalised(second), 1e-4, 'norm_2');
}

onPage('the block: every activation, normalisation and residual', 4, async (board) => {
  for (let i = 0; i < 3; i++) {
    await board.click(`block_activation:${i}`);
    assert.equal(await board.get('block_activation'), ['relu', 'gelu', 'tanh'][i]);
    await checkBlock(board, activations[i]);
  }
  await board.click('block_norm:2');
  assert.equal(await board.get('block_norm'), 'pre');
  near(await rows(board, 'block:residual_2'), added(await rows(board, 'block:residual_1'), await rows(board, 'block:dropout_2')), 1e-5, 'pre');
  await board.click('block_norm:0');
  await assert.rejects(board.tensor('block:norm_1'), /block_norm/);
  await board.click('block_residual');
  assert.equal(await board.get('block_residual'), false);
  near(await rows(board, 'block:residual_1'), await rows(board, 'block:dropout_1'), 0, 'no residual');
  await board.press('Control+z');
  assert.equal(await board.get('block_residual'), true, 'undo works over the board, too');
}, {mode: 'x'});

onPage('dropout: what is kept is scaled, the rest is 0', 4, async (board) => {
  const {x, y, width, height} = await board.call('locate', 'slider:block_dropout');
  await board.page.mouse.click(x + width / 2, y + height / 2);
  const rate = await board.get('block_dropout');
  assert.ok(rate > 0.2 && rate < 0.7, `${rate}`);
  const [whole, dropped] = [await rows(board, 'block:attention'), await rows(board, 'block:dropout_1')];
  dropped.forEach((row, i) => row.forEach((v, c) =>
    assert.ok(v === 0 || Math.abs(v - whole[i][c] / (1 - rate)) < 1e-5, `[${i}][${c}]`)));
});

onPage('segments: both levels of weights sum to 1', 5, async (board) => {
  for (const by of ['tokens', 'punctuation']) {
    await board.click(`segment_by:${by === 'tokens' ? 0 : 1}`);
    assert.equal(await board.get('segment_by'), by);
    await board.settle();
    const segments = (await board.tensor('segment_weights')).data;
    assert.ok(Math.abs(segments.reduce((a, b) => a + b) - 1) < 1e-5);
    const tokens = (await board.tensor('token_weights')).data;
    assert.ok(Math.abs(tokens.reduce((a, b) => a + b) - segments.length) < 1e-4, 'each segment shares out 1');
  }
});

onPage('a cell of a parameter: typed by double-click and Enter, changed by arrows, undone', 4, async (board) => {
  const gamma = async (col) => (await board.tensor('gamma_2')).at(0, 0, col);
  const {x, y, height} = await board.call('locate', 'slider:gamma_2');
  await board.page.mouse.dblclick(x + 1.5 * height, y + height / 2);
  await board.type('-2.5');
  await board.press('Enter');
  assert.equal(await gamma(1), -2.5);
  await board.press('ArrowUp', 'ArrowLeft', 'Enter');
  assert.ok(Math.abs(await gamma(1) + 2.4) < 1e-6);
  await board.press('Control+a');
  await board.type('4');
  await board.press('Enter');
  assert.equal(await gamma(0), 4);
  await checkBlockNorm(board, [4, -2.4]);
  await board.press('7', 'Enter');
  assert.equal(await gamma(0), 7);
  await board.press('Control+z', 'Control+z', 'Control+z', 'Control+z');
  assert.deepEqual([await gamma(0), await gamma(1)], [1, 1]);
  await board.press('Escape');
  assert.equal(await board.get('experiment'), 'block', 'the first Escape leaves the cell, the second the page');
  await board.press('Escape');
  assert.equal(await board.get('experiment'), 'none');
}, {mode: 'x'});

/** The last normalisation, with these for the first numbers of gamma. */
async function checkBlockNorm(board, gamma) {
  const plain = normalised(await rows(board, 'block:residual_2'));
  const scaled = plain.map((row) => row.map((v, c) => v * (gamma[c] ?? 1)));
  near(await rows(board, 'block:norm_2'), scaled, 1e-4, 'norm_2');
}

for (const [page, name] of [[1, 'spread'], [2, 'weights'], [3, 'reach']]) {
  onPage(`the page of experiment ${name} draws, and Escape closes it`, page, async (board) => {
    await board.click('lab:draw');
    await board.settle();
    await board.press('Escape');
    await board.settle();
    await assert.rejects(board.call('locate', 'lab:draw'));
    await board.check();
  });
}

for (const page of [1, 2, 3, 4, 5]) {
  onPage(`every control of page ${page} does something, or nothing, without harm`, page, async (board) => {
    const isControl = ({name}) => /^(lab:(?![1-5]$)|slider:|block_|segment_)/.test(name);
    const onScreen = async () => (await board.call('items')).filter(isControl).map(({name}) => name);
    for (const name of await onScreen()) {
      if (!(await onScreen()).includes(name)) continue;  // a choice before it took it away
      const {x, y, width, height} = await board.call('locate', name);
      await board.page.mouse.click(x + width * 0.7, y + height / 2);
      await board.settle();
    }
    await board.check();
  }, {mode: 'x'});
}
