// The other pages beside the board, by real clicks; their numbers are checked with plain arithmetic.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {suite} from './harness.mjs';

const {browser} = suite();

const onPage = (name, page, body, options = {}) => test(name, async () => {
  const board = await browser.open();
  for (const [option, value] of Object.entries(options)) await board.call('set', option, value);
  await board.settle();
  await board.call('focus');
  await board.press('e');
  await board.settle();
  await board.press(String(page));
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

// Computes every stage of a post-norm block from the stages before it; the seeded parameters are only used in hidden_raw and feed_forward.
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
  assert.equal(await board.get('block_residual'), true, 'undo works on a page, too');
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

/** Checks the last normalisation, with these as the first numbers of gamma. */
async function checkBlockNorm(board, gamma) {
  const plain = normalised(await rows(board, 'block:residual_2'));
  const scaled = plain.map((row) => row.map((v, c) => v * (gamma[c] ?? 1)));
  near(await rows(board, 'block:norm_2'), scaled, 1e-4, 'norm_2');
}

onPage('cells of the block and of the segments are where they are drawn, and explained', 4, async (board) => {
  const [first, other] = [await board.call('locate', 'block:norm_2'), await board.call('locate', 'block:norm_2', 0, 2, 1)];
  assert.ok(Math.abs(other.x - first.x - first.width) < 0.01 && Math.abs(other.y - first.y - 2 * first.height) < 0.01);
  const {text, terms} = await board.call('explain', 'block:norm_2', 0, 2, 1);
  assert.ok(text.includes((await board.value('block:norm_2', 0, 2, 1)).toFixed(2).replace('-', '\u2212')), text);
  assert.ok(terms.length >= 2);
  await assert.rejects(board.call('locate', 'block:hidden'), /open it in the experiments/);
  await board.click('stage:norm_1');
  await board.settle();
  const gamma = await board.call('locate', 'gamma_1', 0, 0, 3);
  const all = await board.call('locate', 'slider:gamma_1');
  assert.ok(gamma.x > all.x && gamma.x + gamma.width <= all.x + all.width + 0.01);
  await board.press('5');
  await board.settle();
  assert.ok((await board.call('locate', 'token_weights', 0, 1)).y > (await board.call('locate', 'segment_weights', 0, 0)).y);
  const weight = await board.value('segment_weights', 0, 1, 0);
  assert.ok((await board.call('explain', 'segment_weights', 0, 1)).text.includes(weight.toFixed(2)));
});

const clickAt = async (board, name, part) => {
  const {x, y, width, height} = await board.call('locate', name);
  await board.page.mouse.click(x + width * part, y + height / 2);
  await board.settle();
};

// Vaswani et al. 2017, footnote 4, for N(μ, σ²): raw and scaled scores in one row of the table.
function checkSpread(raw, scaled) {
  const [d, mu, sigma] = raw;
  const mean = d * mu ** 2, deviation = Math.sqrt(d * ((sigma ** 2 + mu ** 2) ** 2 - mu ** 4));
  for (const [[, , , measuredMean, predictedMean, measured, predicted, largest, entropy], by] of [[raw, 1], [scaled, Math.sqrt(d)]]) {
    assert.ok(Math.abs(predicted - deviation / by) <= 1e-5 * deviation / by, `predicted ${predicted} for ${deviation / by}`);
    assert.ok(Math.abs(predictedMean - mean / by) <= 1e-5 * (mean + 1) / by);
    assert.ok(Math.abs(measured / predicted - 1) < 0.12, `d = ${d}: measured ${measured}, predicted ${predicted}`);
    assert.ok(Math.abs(measuredMean - predictedMean) < 0.3 * predicted, `d = ${d}: mean ${measuredMean}, predicted ${predictedMean}`);
    assert.ok(largest > 1 / 16 && largest <= 1 && entropy >= 0 && entropy < 4);
  }
  assert.ok(Math.abs(raw[5] / scaled[5] / Math.sqrt(d) - 1) < 1e-4 && raw[7] >= scaled[7] - 1e-6);
}

onPage('the spread: deviations are as predicted for every d_k, μ and σ', 1, async (board) => {
  const table = async () => {
    const {at} = await board.tensor('spread:table');
    return [0, 1].map((head) => Array.from({length: 9}, (_, c) => at(head, 0, c)));
  };
  assert.deepEqual((await table())[0].slice(0, 3), [64, 0, 1]);
  checkSpread(...await table());
  await clickAt(board, 'slider:d_k', 0.8);
  await clickAt(board, 'slider:mean', 0.6);
  await clickAt(board, 'slider:deviation', 0.6);
  const [raw, scaled] = await table();
  assert.ok(raw[0] > 128 && raw[1] > 0 && raw[2] > 1, `${raw.slice(0, 3)}`);
  checkSpread(raw, scaled);
  const curve = await board.tensor('spread:curve');
  for (let row = 0; row < 11; row++) {
    const [a, b] = [0, 1].map((head) => Array.from({length: 9}, (_, c) => curve.at(head, row, c)));
    assert.deepEqual(a.slice(0, 3), [2 ** row, raw[1], raw[2]]);
    checkSpread(a, b);
  }
  const counts = await board.tensor('spread:counts');
  for (const [head, [, , , mean, , deviation]] of [raw, scaled].entries()) {
    const bins = Array.from({length: counts.shape[1]}, (_, i) => [counts.at(head, i, 0), counts.at(head, i, 1)]);
    const wide = bins[1][0] - bins[0][0];
    assert.equal(bins.reduce((sum, [, n]) => sum + n, 0), 2048);
    const middle = bins.reduce((sum, [x, n]) => sum + x * n, 0) / 2048;
    assert.ok(Math.abs(middle - mean) < wide / 2);
    const spread = Math.sqrt(bins.reduce((sum, [x, n]) => sum + (x - middle) ** 2 * n, 0) / 2048);
    assert.ok(Math.abs(spread - deviation) < wide, `${spread} ${deviation}`);
  }
  await board.click('lab:draw');
  await board.settle();
  const [again] = await table();
  assert.ok(again[5] !== raw[5]);
  assert.equal(again[6], raw[6]);
});

onPage('the spread: q and k apart, 456 components, 123 queries, and gradients that vanish', 1, async (board) => {
  const counted = async () => {
    const counts = await board.tensor('spread:counts');
    return Array.from({length: counts.shape[1]}, (_, i) => counts.at(0, i, 1)).reduce((a, b) => a + b);
  };
  assert.equal(await counted(), 2048);
  await board.call('set', 'spread_dim', 456);
  await board.call('set', 'spread_draws', 123);
  assert.equal(await counted(), 123 * 16);
  await board.click('lab:apart');
  await board.settle();
  assert.equal(await board.get('spread_same'), false);
  await clickAt(board, 'slider:key-mean', 0.8);
  await clickAt(board, 'slider:key-deviation', 0.3);
  await clickAt(board, 'slider:mean', 0.4);
  const table = await board.tensor('spread:table'), keys = await board.tensor('spread:saturation');
  const [d, muQ, sigmaQ] = [0, 1, 2].map((c) => table.at(0, 0, c)), [muK, sigmaK] = [1, 2].map((c) => keys.at(0, 0, c));
  assert.equal(d, 456);
  assert.ok(muK > 0 && muQ < 0 && sigmaK < 1.2 && sigmaQ === 1, `${[muQ, sigmaQ, muK, sigmaK]}`);
  const deviation = Math.sqrt(d * ((sigmaQ ** 2 + muQ ** 2) * (sigmaK ** 2 + muK ** 2) - muQ ** 2 * muK ** 2));
  assert.ok(Math.abs(table.at(0, 0, 6) / deviation - 1) < 1e-5);
  assert.ok(Math.abs(table.at(0, 0, 4) / (d * muQ * muK) - 1) < 1e-5);
  assert.ok(Math.abs(table.at(0, 0, 5) / deviation - 1) < 0.2);
  await board.call('set', 'spread_same', true);
  await board.call('set', 'spread_mean', 0);
  const curve = await board.tensor('spread:saturation');
  assert.deepEqual(curve.shape, [2, 12, 7]);
  assert.ok(curve.at(0, 11, 3) < 0.01 * curve.at(1, 11, 3), 'without the scale the Jacobian vanishes, with it it does not');
  assert.ok(Math.abs(curve.at(0, 1, 3) - curve.at(1, 1, 3)) < 1e-6, 'at d_k = 1 there is no difference');
  const state = await board.call('getState');
  assert.deepEqual([state.spread_dim, state.spread_draws], [456, 123]);
  await board.call('undo');
  assert.notEqual(await board.get('spread_mean'), 0);
});

onPage('fixed or following: what moves changes the weights of attention alone', 2, async (board) => {
  const [q, weights, v] = [await board.tensor('q'), await board.tensor('weights'), await board.tensor('v')];
  const named = (name) => board.tensor(`weights:${name}`);
  // Weights times the values of the head's group, for values that were not perturbed.
  const summed = (w) => Array.from({length: w.shape[0] * w.shape[1] * v.shape[2]}, (_, i) => {
    const c = i % v.shape[2], r = Math.floor(i / v.shape[2]) % w.shape[1], h = Math.floor(i / v.shape[2] / w.shape[1]);
    const group = Math.floor(h * v.shape[0] / q.shape[0]);
    return Array.from({length: w.shape[2]}, (_, j) => w.at(h, r, j) * v.at(group, j, c)).reduce((a, b) => a + b);
  });
  const close = (got, want, what) => got.forEach((x, i) => assert.ok(Math.abs(x - want[i]) < 1e-5, `${what}[${i}] is ${x}, not ${want[i]}`));
  await board.click('lab:moved:1');  // Q and K
  await board.settle();
  const [fixed, following] = [await named('fixed'), await named('following')];
  assert.deepEqual(fixed.data, weights.data);
  assert.notDeepEqual(following.data, fixed.data);
  close((await named('connected')).data, summed(fixed), 'connected');
  close((await named('attended')).data, summed(following), 'attended');
  await board.click('lab:moved:0');  // V
  await board.settle();
  assert.deepEqual((await named('following')).data, weights.data);
  close((await named('connected')).data, (await named('attended')).data, 'both');
  assert.notDeepEqual((await named('attended')).data, summed(weights));
});

onPage('reach: e^lead against n − 1 others, 1/n, and powers of the recurrent scale', 3, async (board) => {
  const rowsOf = async () => (await rows(board, 'reach:curve'));
  assert.equal((await rowsOf()).length, 32);
  await clickAt(board, 'slider:lead', 0.7);
  await clickAt(board, 'slider:steps', 0.3);
  const reach = await rowsOf();
  assert.ok(reach.length > 64);
  const lead = Math.round(10 * Math.log(reach[1][2] / (1 - reach[1][2]))) / 10;
  assert.ok(lead > 4, `${lead}`);
  reach.forEach(([distance, recurrent, attention, even], i) => {
    assert.equal(distance, i);
    assert.ok(Math.abs(even - 1 / (i + 1)) < 1e-7);
    assert.ok(Math.abs(attention - Math.exp(lead) / (Math.exp(lead) + i)) < 1e-6, `${i}`);
    assert.ok(recurrent <= 0.9 ** i * 1.00001, 'tanh only takes away');
  });
  await clickAt(board, 'slider:input', 0.001);  // there is no input: h stays 0, and each Jacobian is U
  (await rowsOf()).forEach(([, recurrent], i) => assert.ok(Math.abs(recurrent / 0.9 ** i - 1) < 1e-4, `${i}: ${recurrent}`));
});

for (const [page, name] of [[1, 'spread'], [2, 'weights'], [3, 'reach']]) {
  onPage(`the page of experiment ${name} draws, and Escape goes back`, page, async (board) => {
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
    const open = await board.call('get', 'experiment');
    for (const name of await onScreen()) {
      if (!(await onScreen()).includes(name)) continue;  // an earlier choice has removed it
      const parameter = /^slider:((?:gamma|delta|w|b)_[12]|(?:token|segment)_(?:w|b|query))$/.exec(name)?.[1];
      const place = () => parameter ? board.call('locate', parameter, 0, 0, 0) : board.call('locate', name);
      await place();  // scrolls to a cell
      await board.settle();
      const {x, y, width, height} = await place();
      await board.page.mouse.click(x + width * 0.7, y + height / 2);
      await board.settle();
      assert.equal(await board.call('get', 'experiment'), open, `${name} is on the page`);
    }
    await board.check();
  }, {mode: 'x'});
}
