// The pages Memory and Cost, by a real mouse, compared with the recurrent network and attention over its states in plain loops, gradients
// by differences, and costs by counting.
import assert from 'node:assert/strict';
import {suite} from './harness.mjs';

const {onBoard} = suite();

const open = async (board, tab) => {
  await board.click('views:more');
  await board.settle();
  await board.click(tab);
  await board.settle();
};
const close = (a, b, within, what) => assert.ok(Math.abs(a - b) <= within, `${what}: ${a}, not ${b}`);
const sigmoid = (z) => 1 / (1 + Math.exp(-z));

/** h for every word, the gates, both contexts and the weights, computed from x and the parameters of the network. */
function read(x, p, isLstm) {
  const units = p.memory_u.shape[1], columns = p.memory_w.shape[2], states = [], gates = [];
  let h = Array(units).fill(0), c = Array(units).fill(0);
  for (const word of x) {
    const z = Array.from({length: columns}, (_, j) => word.reduce((sum, v, i) => sum + v * p.memory_w.at(0, i, j), p.memory_b.at(0, 0, j))
      + h.reduce((sum, v, i) => sum + v * p.memory_u.at(0, i, j), 0));
    if (isLstm) {
      const [i, f, g, o] = [0, 1, 2, 3].map((part) => z.slice(part * units, (part + 1) * units).map(part === 2 ? Math.tanh : sigmoid));
      c = c.map((v, n) => f[n] * v + i[n] * g[n]);
      h = c.map((v, n) => o[n] * Math.tanh(v));
      gates.push([...i, ...f, ...g, ...o]);
    } else {
      h = z.map(Math.tanh);
    }
    states.push(h);
  }
  const last = states.at(-1);
  const scores = states.map((state) => Array.from({length: units}, (_, m) => p.memory_v_a.at(0, 0, m) * Math.tanh(
    last.reduce((sum, v, i) => sum + v * p.memory_w_a.at(0, i, m), 0) + state.reduce((sum, v, i) => sum + v * p.memory_u_a.at(0, i, m), 0)))
    .reduce((a, b) => a + b));
  const e = scores.map((s) => Math.exp(s)), sum = e.reduce((a, b) => a + b), weights = e.map((v) => v / sum);
  const attended = last.map((_, n) => states.reduce((total, state, t) => total + weights[t] * state[n], 0));
  return {states, gates, weights, contexts: [last, attended]};
}

const PARAMETERS = ['memory_w', 'memory_u', 'memory_b', 'memory_w_a', 'memory_u_a', 'memory_v_a'];

async function check(board, isLstm) {
  const p = Object.fromEntries(await Promise.all(PARAMETERS.map(async (name) => [name, await board.tensor(name)])));
  const tensor = await board.tensor('x'), x = Array.from({length: tensor.shape[1]}, (_, t) => Array.from({length: tensor.shape[2]}, (_, i) => tensor.at(0, t, i)));
  const got = Object.fromEntries(await Promise.all(['states', 'weights', 'contexts', 'gradients'].map(async (name) => [name, await board.tensor(`memory:${name}`)])));
  const want = read(x, p, isLstm);
  want.states.forEach((row, t) => row.forEach((v, n) => close(got.states.at(0, t, n), v, 2e-5, `h[${t}, ${n}]`)));
  want.weights.forEach((w, t) => close(got.weights.at(0, t, 0), w, 2e-5, `a[${t}]`));
  want.contexts.forEach((row, way) => row.forEach((v, n) => close(got.contexts.at(0, way, n), v, 2e-5, `context ${way}`)));
  if (isLstm) {
    const gates = await board.tensor('memory:gates');
    want.gates.forEach((row, t) => row.forEach((v, n) => close(gates.at(0, t, n), v, 2e-5, `gate[${t}, ${n}]`)));
  }
  for (let t = 0; t < x.length; t++) {
    assert.equal(got.gradients.at(0, t, 0), x.length - 1 - t);
    const squares = [0, 0];
    for (let i = 0; i < x[t].length; i++) {
      const [above, below] = [1e-4, -1e-4].map((by) => read(x.map((row, r) => row.map((v, j) => v + (r === t && j === i ? by : 0))), p, isLstm).contexts);
      for (const way of [0, 1]) above[way].forEach((v, n) => { squares[way] += ((v - below[way][n]) / 2e-4) ** 2; });
    }
    for (const way of [0, 1]) close(got.gradients.at(0, t, way + 1), Math.sqrt(squares[way]), 1e-3 * (1 + Math.sqrt(squares[way])), `gradient ${way} of word ${t}`);
  }
}

onBoard('a recurrent network reads the sentence: tanh, LSTM, and U changed by hand', async (board) => {
  await board.call('set', 'mode', 'x');
  await open(board, 'lab:3');
  await check(board, false);
  const before = await board.value('memory_u', 0, 1, 2);
  const {x, y, width, height} = await board.call('locate', 'memory_u', 0, 1, 2);
  const {mouse} = board.page;
  await mouse.move(x + width / 2, y + height / 2);
  await mouse.down();
  await mouse.move(x + width / 2, y + height / 2 - 60, {steps: 6});
  await mouse.up();
  await board.settle();
  close(await board.value('memory_u', 0, 1, 2), before + 0.6, 0.02, 'U was dragged upwards');
  await check(board, false);
  await board.press('Control+z');
  await board.settle();
  assert.equal(await board.value('memory_u', 0, 1, 2), before);
  await assert.rejects(board.call('getTensor', 'memory:gates'), /a tanh network has no gates; set memory_cell to "lstm"/);
  await board.click('memory_cell:1');
  await board.settle();
  assert.equal(await board.get('memory_cell'), 'lstm');
  await check(board, true);
  await board.click('memory_units-');
  await board.settle();
  assert.equal(await board.get('memory_units'), 3);
  await check(board, true);
  const state = await board.call('getState');
  assert.deepEqual([state.memory_cell, state.memory_units], ['lstm', 3]);
});

onBoard('a decoder asks anew for each word that it writes: its state before the word is the query', async (board) => {
  await board.page.evaluate((selector) => document.querySelector(selector).setAttribute('preset', 'recurrent-decoder'), board.selector);
  await board.settle();
  const names = ['memory:states', 'memory_w_a', 'memory_u_a', 'memory_v_a', 'decoder_u', 'decoder_c', 'decoder:weights', 'decoder:contexts', 'decoder:states'];
  const looked = async () => {
    const [h, wA, uA, vA, u, c, weights, contexts, states] = await Promise.all(names.map((name) => board.tensor(name)));
    const row = (t, r) => Array.from({length: t.shape[2]}, (_, i) => t.at(0, r, i));
    const times = (v, m) => Array.from({length: m.shape[2]}, (_, j) => v.reduce((sum, x, i) => sum + x * m.at(0, i, j), 0));
    const words = Array.from({length: h.shape[1]}, (_, t) => row(h, t));
    let query = words.at(-1);
    for (let i = 0; i < weights.shape[1]; i++) {
      const scores = words.map((word) => times(query, wA).reduce((sum, z, m) => sum + vA.at(0, 0, m) * Math.tanh(z + times(word, uA)[m]), 0));
      const e = scores.map(Math.exp), sum = e.reduce((a, b) => a + b);
      e.forEach((v, t) => close(weights.at(0, i, t), v / sum, 2e-5, `a[${i}, ${t}]`));
      const context = words[0].map((_, n) => words.reduce((total, word, t) => total + e[t] / sum * word[n], 0));
      const next = times(context, c).map((z, n) => Math.tanh(z + times(query, u)[n]));
      context.forEach((v, n) => close(contexts.at(0, i, n), v, 2e-5, `c[${i}]`));
      next.forEach((v, n) => close(states.at(0, i, n), v, 2e-5, `s[${i}]`));
      query = next;
    }
    return weights;
  };
  const largest = (weights) => Array.from({length: weights.shape[1]}, (_, i) => [0, 1, 2, 3].reduce((best, t) => (weights.at(0, i, t) > weights.at(0, i, best) ? t : best)));
  assert.deepEqual(largest(await looked()), [0, 2, 1, 3]);
  assert.match(JSON.stringify(await board.call('explain', 'decoder:weights', 0, 1, 2)), /a\[y₂, car₃\] = 0\.90/);
  await board.click('memory_words-');
  await board.settle();
  assert.equal((await looked()).shape[1], 3);
  // The state after "the" asks for "red" instead.
  await board.page.evaluate((selector) => document.querySelector(selector).setTensor('memory_w_a', Float32Array.from([0, 2, 0, 0, 0, 0, 0, 2, 0, 2, 0, 0, 2, 0, 0, 0]), [1, 4, 4]), board.selector);
  await board.settle();
  assert.deepEqual(largest(await looked()), [0, 1, 3]);
});

onBoard('over a longer distance both curves are gradients', async (board) => {
  await open(board, 'lab:3');
  await board.call('set', 'reach_input', 0);
  await board.call('set', 'reach_tokens', 256);
  const curve = await board.tensor('reach:gradients');
  assert.deepEqual(curve.shape, [1, 256, 4]);
  const lead = Math.exp(await board.get('reach_lead'));
  let powers = 0;
  for (let n = 0; n < 256; n++) {
    // Without input each Jacobian is U, of norm 0.9, and the norm of a sum of its powers is at most the sum of their norms.
    if (n > 0) powers += 0.9 ** n;
    close(curve.at(0, n, 1) / 0.9 ** n, 1, 1e-4, 'recurrent');
    assert.ok(curve.at(0, n, 2) <= (lead + powers) / (lead + n) * 1.0001 && curve.at(0, n, 2) >= (lead - powers) / (lead + n) * 0.9999, `attention at ${n}`);
  }
});

onBoard('the cost of the layer is what loops count', async (board) => {
  await board.call('set', 'mode', 'x');
  await open(board, 'view:cost');
  assert.equal(await board.get('view'), 'cost');
  const table = async () => {
    const {at, shape} = await board.tensor('cost:table');
    return [0, 1].map((row) => Array.from({length: shape[2]}, (_, c) => at(0, row, c)));
  };
  const [tokens, heads, dk, dv, model] = await Promise.all(['tokens', 'heads', 'd_k', 'd_v', 'model_dim'].map((o) => board.get(o)));
  const count = (score) => {
    let parameters = 0, adds = 0, tanhs = 0, pairs = 0;
    for (const columns of [heads * dk, heads * dk, heads * dv, heads * dv]) {
      parameters += model * columns;
      for (let t = 0; t < tokens; t++) adds += model * columns;
    }
    for (let h = 0; h < heads; h++) {
      if (score === 'additive') {
        parameters += 2 * dk * dk + dk;
        adds += 2 * tokens * dk * dk;
      }
      for (let i = 0; i < tokens; i++) {
        for (let j = 0; j <= i; j++) {
          pairs++;
          for (let c = 0; c < dk; c++) { adds++; tanhs += score === 'additive'; }
          for (let c = 0; c < dv; c++) adds++;
        }
      }
    }
    return [tokens, parameters, adds, tanhs, 4 * parameters, 4 * tokens * heads * (dk + dv), 4 * (pairs + tanhs), 1];
  };
  assert.deepEqual(await table(), [count('dot'), count('additive')]);
  await board.click('cost_compare:3');
  await board.settle();
  assert.equal(await board.get('cost_compare'), 'recurrent');
  const units = heads * dv, [, recurrent] = await table();
  assert.deepEqual(recurrent, [tokens, units * (model + units + 1), tokens * units * (model + units), tokens * units, 4 * units * (model + units + 1), 4 * units, 0, tokens]);
  await board.click('cost_compare:2');
  const {x, y, width, height} = await board.call('locate', 'slider:n');
  await board.page.mouse.click(x + width - 3, y + height / 2);
  await board.settle();
  assert.equal(await board.get('cost_tokens'), 1e6);
  const [full, window] = await table();
  close(full[6] / (4 * heads * 1e6 * (1e6 + 1) / 2), 1, 1e-6, 'all pairs of a million tokens');
  close(window[6] / (4 * heads * (1e6 * 128 - 127 * 128 / 2)), 1, 1e-6, 'a window of 128');
  await assert.rejects(board.call('set', 'cost_tokens', 1000001), /cost_tokens: 1000001 is too large; use 0 to 1000000\./);
  await board.press('Escape');
});

onBoard('ways to compute are timed on this machine when asked, and then nothing is drawn any more', async (board) => {
  await open(board, 'view:cost');
  const there = async (name) => (await board.call('items')).some((item) => item.name === name);
  assert.ok(!await there('cost:found'));
  await board.click('cost:measure');
  await board.until('times', () => document.querySelector('attention-playground').items().some(({name}) => name === 'cost:found'));
  const frames = await board.rest();
  assert.ok(!await there('work:cancel'));
  await board.rest(300);
  assert.equal((await board.stats()).frames, frames);
});
