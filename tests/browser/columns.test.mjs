// Names of the columns of Q and K, tokens as columns, and formulas as loops, which are executed here as they are shown.
import assert from 'node:assert/strict';
import {suite} from './harness.mjs';

const {onBoard} = suite();

const field = (board) => board.until('the field is open', () => document.querySelector('attention-playground').shadowRoot.activeElement?.localName === 'input');

onBoard('a heading of Q is named by a double-click, and Kᵀ has it too; undo takes it back, a link keeps it', async (board) => {
  const changes = await board.listen('change');
  for (const [tensor, column, name, all] of [['q', 0, 'noun', ['noun']], ['k', 2, 'verb', ['noun', '', 'verb']]]) {
    const [x, y] = await board.middle(tensor, 0, 0, column), {width} = await board.call('locate', tensor, 0, 0, column);
    await board.page.mouse.dblclick(...tensor === 'q' ? [x, y - width / 2 - 12] : [x - width / 2 - 20, y]);
    await field(board);
    await board.type(name);
    await board.press('Enter');
    await board.settle();
    assert.deepEqual(await board.get('column_names'), all);
    for (const one of ['q', 'k']) assert.ok((await board.call('locate', `column:${one}:${column}`)).width > 0);
  }
  assert.deepEqual((await changes()).map(({detail}) => [detail.option, detail.source]).at(-1), ['column_names', 'user']);
  const link = await board.call('link', {});
  await board.press('Control+z');
  await board.settle();
  assert.deepEqual(await board.get('column_names'), ['noun']);
  await board.page.goto('about:blank');
  await board.page.goto(link);
  await board.until('the board is there', () => document.querySelector('attention-playground')?.ready.then(() => true));
  assert.deepEqual(await board.get('column_names'), ['noun', '', 'verb']);
});

onBoard('W_Q and W_K have the names of their columns too, and are given them there; a value without a column has none', async (board) => {
  await board.call('set', 'mode', 'x');
  const there = async () => (await board.call('items')).map(({name}) => name).filter((name) => /^column:w_/.test(name)).sort();
  const [x, y] = await board.middle('w_q', 0, 0, 1), {height} = await board.call('locate', 'w_q', 0, 0, 1);
  await board.page.mouse.dblclick(x, y - height / 2 - 12);
  await field(board);
  await board.type('noun');
  await board.press('Enter');
  await board.settle();
  assert.deepEqual(await board.get('column_names'), ['', 'noun']);
  assert.deepEqual(await there(), ['column:w_k:1', 'column:w_q:1']);
  await board.call('set', 'column_names', ['', 'noun', '', 'verb']);  // of the second head
  await board.call('set', 'whole_projections', true);
  await board.settle();
  assert.deepEqual(await there(), ['column:w_k:1', 'column:w_k:3', 'column:w_q:1', 'column:w_q:3']);
  for (const name of await there()) {
    const [, tensor, column] = name.split(':'), named = await board.middle(name), cell = await board.middle(tensor, 0, 0, Number(column));
    assert.ok(Math.abs(named[0] - cell[0]) < 2 && named[1] < cell[1], `${name} stands above its column`);
  }
});

onBoard('biases have the names of what they are added to; what rotary positions have turned has none', async (board) => {
  for (const [option, value] of [['mode', 'x'], ['d_k', 4], ['position', 'rotary'], ['projection_bias', true], ['column_names', ['', 'noun', '', '', '', 'verb']]]) await board.call('set', option, value);
  for (const layout of [false, true]) {
    await board.call('set', 'column_layout', layout);
    for (const bias of ['b_q', 'b_k']) {
      for (const column of [1, 5]) {
        await board.call('locate', bias, 0, 0, column);  // scrolls to it
        await board.settle();
        const places = (await board.call('items')).map(({name}) => name).filter((name) => name.startsWith('column:'));
        assert.ok(places.includes(`column:${bias}:${column}`), `${bias} ${column}, ${layout ? 'turned' : 'plain'}: ${places}`);
        assert.ok(!places.some((name) => /:(b_v|q_rotated|k_rotated):|:b_[qk]:[02]$/.test(name)));
      }
    }
  }
});

for (const [width, height, names] of [[1440, 900, ['w_q', 'w_k', 'w_v']], [640, 440, ['x', 'w_q', 'w_k', 'w_v', 'w_o']]]) {
  onBoard(`${width} × ${height}: the matrices of a line begin at one height, with names above them or not`, async (board) => {
    for (const [option, value] of [['mode', 'x'], ['column_names', ['noun']]]) await board.call('set', option, value);
    for (const layout of [false, true]) {
      await board.call('set', 'column_layout', layout);
      let pairs = 0;
      for (const [i, name] of names.entries()) {
        for (const other of names.slice(i + 1)) {
          await board.call('locate', name, 0, 0, 0);
          await board.settle();  // so that both positions are for the present scroll offset
          const [a, b] = [await board.call('locate', name, 0, 0, 0), await board.call('locate', other, 0, 0, 0)];
          if (Math.abs(a.x - b.x) < a.width || Math.abs(a.y - b.y) > 60) continue;
          assert.ok(Math.abs(a.y - b.y) < 0.5, `${name} at ${a.y}, ${other} at ${b.y}`);
          ++pairs;
        }
      }
      assert.ok(pairs > 1, `${pairs} of them are side by side`);
    }
  }, {viewport: {width, height}});
}

onBoard('names in the side panel, between commas; what is too long says so', async (board) => {
  await board.click('more-sizes');
  await board.settle();
  await board.click('column_names');
  await field(board);
  await board.type('noun, first person');
  await board.press('Enter');
  await board.settle();
  assert.deepEqual(await board.get('column_names'), ['noun', 'first person']);
  await assert.rejects(board.call('set', 'column_names', ['x'.repeat(65)]), {field: 'column_names[0]'});
  await assert.rejects(board.call('set', 'column_names', 3), {field: 'column_names', message: /3 is not a list of texts; use one, or \[\] for none\./});
});

onBoard('tokens as columns: rows and columns meet, a drag and a typed number go where the cell is drawn', async (board) => {
  const before = await board.tensor('output');
  await board.click('more-sizes');
  await board.settle();
  await board.click('column_layout');
  await board.settle();
  assert.equal(await board.get('column_layout'), true);
  assert.deepEqual((await board.tensor('output')).data, before.data, 'no number changes');
  const at = (name, row, col) => board.call('locate', name, 0, row, col);
  assert.equal((await at('q', 3, 0)).x, (await at('scores', 3, 0)).x);
  assert.equal((await at('k', 2, 0)).y, (await at('scores', 0, 2)).y);
  assert.equal((await at('weights', 1, 0)).x, (await at('head_output', 1, 0)).x);
  assert.equal((await at('v', 0, 2)).y, (await at('head_output', 0, 2)).y);
  const was = await board.value('q', 0, 3, 2);
  await board.drag('q', [0, 3, 2], -60, 0);
  await board.settle();
  assert.ok(Math.abs(await board.value('q', 0, 3, 2) - was + 0.6) < 1e-5);
  await board.doubleClick('k', 0, 1, 0);
  await field(board);
  await board.press('Control+a');
  await board.type('0.5');
  await board.press('Tab');  // to what is at the right
  await field(board);
  await board.press('Control+a');
  await board.type('-0.25');
  await board.press('Enter');
  await board.settle();
  assert.deepEqual([await board.value('k', 0, 1, 0), await board.value('k', 0, 1, 1)], [0.5, -0.25]);
  await board.press('Control+z');
  assert.equal(await board.get('column_layout'), true, 'how things are shown stays');
});

for (const [width, height] of [[1440, 900], [900, 700], [640, 440], [390, 844]]) {
  onBoard(`${width} × ${height}: in both layouts and modes every cell can be reached`, async (board) => {
    for (const mode of ['qkv', 'x']) {
      await board.call('set', 'mode', mode);
      await board.call('set', 'column_layout', true);
      await board.settle();
      for (const name of ['q', 'k', 'weights', 'v', 'head_output', ...(mode === 'x' ? ['x', 'w_q', 'w_v', 'output'] : [])]) {
        const {x, y, width: w, height: h} = await board.call('locate', name, 0, 1, 1);
        assert.ok(x >= 0 && y >= 0 && x + w <= width && y + h <= height, name);
      }
    }
  }, {viewport: {width, height}});
}

// ---------------------------------------------------------------- loops

/** Converts the lines to JavaScript. Arrays start at index 1. */
function program(lines) {
  const words = (text) => text.replaceAll('(X + P)', 'XP').replaceAll('(X_KV + P)', 'XP_KV').replaceAll('×', '*').replaceAll('÷', '/').replaceAll('−', '-').replaceAll('∞', 'Infinity').replaceAll('²', ' ** 2')
    .replace(/√(\w+)/g, 'Math.sqrt($1)').replace(/\|([^|]+)\|/g, 'Math.abs($1)').replace(/\b(exp|tanh|max)\(/g, 'Math.$1(')
    .replace(/\[([^\]]+)\]/g, (_, inside) => `[${inside.split(',').join('][')}]`);
  const condition = (text) => words(text).replaceAll(' or ', ' || ').replaceAll(' and ', ' && ').replaceAll(' = ', ' === ');
  const statement = (text) => {
    const sorted = /^(\w+) = (S\[i\])( ÷ [\d.]+)?, largest first$/.exec(text);
    return sorted ? `${sorted[1]} = [0, ...${sorted[2]}.slice(1).map((v) => v ${words(sorted[3] ?? '')}).sort((a, b) => b - a)]` : words(text);
  };
  const out = [], depths = [];
  for (const line of lines) {
    const text = line.trim(), depth = line.length - line.trimStart().length;
    while (depths.length && depths.at(-1) >= depth) out.push('}'), depths.pop();
    const loop = /^for (\w) in (.+?):(?: (.+))?$/.exec(text), choice = /^if (.+?):(?: (.+))?$/.exec(text);
    if (!loop && !choice) {
      out.push(`${statement(text)};`);
      continue;
    }
    const range = loop && /^1 … (\d+)$/.exec(loop[2]);
    out.push(loop ? range ? `for (${loop[1]} = 1; ${loop[1]} <= ${range[1]}; ${loop[1]}++) {` : `for (${loop[1]} of [${loop[2]}]) {` : `if (${condition(choice[1])}) {`);
    const body = (loop ?? choice)[loop ? 3 : 2];
    if (!body) depths.push(depth);
    else {
      const inner = /^if (.+?): (.+)$/.exec(body);
      out.push(inner ? `if (${condition(inner[1])}) ${statement(inner[2])}; }` : `${statement(body)}; }`);
    }
  }
  while (depths.pop() !== undefined) out.push('}');
  return out.join('\n');
}

const table = ({data, shape}, head = 0) => [0, ...Array.from({length: shape[1]}, (_, i) => [0, ...data.slice((head * shape[1] + i) * shape[2], (head * shape[1] + i + 1) * shape[2])])];
const empty = (rows, cols) => Array.from({length: rows + 1}, () => Array(cols + 1).fill(0));

const INPUTS = ['q', 'k', 'v', 'q_rotated', 'k_rotated', 'x', 'x_kv', 'x_v', 'x_positioned', 'x_kv_positioned', 'w_q', 'w_k', 'w_v', 'w_o', 'w_a', 'u_a', 'v_a', 'b_q', 'b_k', 'b_v', 'b_o', 'sink',
  'masked', 'weights', 'head_output', 'output'];
const read = (board) => board.read(INPUTS, ['heads', 'kv_heads', 'd_k', 'd_v']);

async function runs(board, {tensors, options}, what, head = 0) {
  const kvHead = Math.floor(head * options.kv_heads / options.heads);
  const made = {scores: ['S', 'masked'], weights: ['W', 'weights'], head_output: ['O', 'head_output'], output: ['Y', 'output'], q: ['Q', 'q'], k: ['K', 'k'], v: ['V', 'v']}[what];
  const goal = tensors[made[1]], part = what === 'output' ? 0 : what === 'k' || what === 'v' ? kvHead : head;
  const {loops} = await board.call('explain', what === 'scores' ? 'masked' : what, part, 0, 0);
  assert.ok(loops?.length > 2, `${what} has loops`);
  const scope = {};
  for (const [letter, name, h] of [['Q', 'q', head], ['K', 'k', kvHead], ['V', 'v', kvHead], ['Q_r', 'q_rotated', head], ['K_r', 'k_rotated', kvHead], ['X', 'x', 0], ['X_KV', 'x_kv', 0], ['X_V', 'x_v', 0],
    ['XP', 'x_positioned', 0], ['XP_KV', 'x_kv_positioned', 0], ['W_O', 'w_o', 0], ['W_a', 'w_a', head], ['U_a', 'u_a', head], ['S', 'masked', head], ['W', 'weights', head]]) {
    if (tensors[name]) scope[letter] = table(tensors[name], h);
  }
  const columns = (t, h, width) => table(t).map((row) => row === 0 ? 0 : [0, ...row.slice(1 + h * width, 1 + (h + 1) * width)]);
  const {d_k: dk, d_v: dv} = options;
  for (const [letter, name, h, width] of [['W_Q', 'w_q', head, dk], ['W_K', 'w_k', kvHead, dk], ['W_V', 'w_v', kvHead, dv], ['b_Q', 'b_q', head, dk], ['b_K', 'b_k', kvHead, dk], ['b_V', 'b_v', kvHead, dv]]) {
    const t = tensors[name];
    if (t) scope[letter] = letter[0] === 'b' ? columns(t, h, width)[1] : columns(t, h, width);
  }
  const {v_a: vA, b_o: bO, head_output: o, masked, sink} = tensors;
  if (sink) scope.sink = sink.at(head, 0, 0);
  if (vA) scope.v_a = table(vA, head)[1];
  if (bO) scope.b_O = table(bO)[1];
  scope.masked = table(masked, head).map((row) => row === 0 ? 0 : row.map((v) => v === -Infinity));
  if (what === 'output') scope.O = [0, ...Array.from({length: o.shape[0]}, (_, h) => table(o, h))];
  scope.E = empty(masked.shape[1], masked.shape[2]);
  const result = empty(goal.shape[1], goal.shape[2]);
  scope[made[0]] = result;
  if (process.env.LOOPS) console.log(loops.join('\n'));
  new Function(...Object.keys(scope), `var s, z, a, b, c, i, j, m, w, o, y, h, e, r, t, u, q, k, v, sum, squares;\n${program(loops)}`)(...Object.values(scope));
  const want = table(goal, part);
  for (let i = 1; i < want.length; i++) {
    for (let j = 1; j < want[i].length; j++) {
      const near = want[i][j] === result[i][j] || Math.abs(want[i][j] - result[i][j]) < 2e-5 * Math.max(1, Math.abs(want[i][j]));
      assert.ok(near, `${what}[${i},${j}] is ${want[i][j]}, the loops make ${result[i][j]}:\n${loops.join('\n')}`);
    }
  }
}

const LAYERS = [
  [{}], [{scale: false}], [{scale: 0.3, softcap: 2}], [{score: 'general'}], [{score: 'additive'}], [{score: 'additive', additive_dim: 5}], [{score: 'cosine', temperature: 0.2}],
  [{normalizer: 'sparsemax', temperature: 0.5}], [{normalizer: 'entmax15', temperature: 0.5}], [{normalizer: 'sigmoid', temperature: 2}], [{normalizer: 'relu'}], [{normalizer: 'none'}], [{normalizer: 'hardmax'}],
  [{causal: false, window_left: 1, window_right: 1}], [{causal_offset: 1, key_length: 3}], [{prefix: 2}], [{causal: false, pattern: 'strided'}], [{key_length: 0}], [{mask_after_softmax: true}],
  [{softmax_sink: true}], [{softmax_sink: true, temperature: 0.5, key_length: 0}],
  [{position: 'alibi', causal_offset: 2}], [{d_k: 4, position: 'rotary'}], [{kv_heads: 1}], [{hidden_heads: [0]}],
  [{mode: 'x'}, 'q', 'k', 'v', 'output'], [{mode: 'x', projection_bias: true, position: 'sinusoidal'}, 'q', 'k', 'v', 'output'], [{mode: 'x', cross: true, key_tokens: 3}, 'q', 'k', 'v'],
  [{mode: 'x', separate_values: true, hidden_heads: [1]}, 'v', 'output'], [{mode: 'x', output_projection: false}, 'output'],
];

onBoard('what the loops say is what the layer computes, for all of its options', async (board) => {
  const start = await board.call('getState');
  for (const [options, ...more] of LAYERS) {
    await board.call('setState', start);
    for (const [option, value] of Object.entries(options)) await board.call('set', option, value);
    const layer = await read(board);
    for (const head of [0, 1]) for (const what of ['scores', 'weights', 'head_output', ...more]) {
      await runs(board, layer, what, head).catch((error) => { throw new Error(`${JSON.stringify(options)}, head ${head + 1}: ${error.message}`); });
    }
  }
});

onBoard('the card shows the loops of the cell under the pointer, by a click on its tab', async (board) => {
  await board.click('card:loops');
  await board.settle();
  const lines = async () => (await board.call('items')).filter(({name}) => /^loops:\d/.test(name)).length;
  await board.click('weights', 0, 3, 2);
  await board.settle();
  assert.equal(await lines(), (await board.call('explain', 'weights', 0, 3, 2)).loops.length);
  await board.click('head_output', 0, 1, 0);
  await board.settle();
  assert.equal(await lines(), (await board.call('explain', 'head_output', 0, 1, 0)).loops.length);
  await board.call('set', 'column_layout', true);
  assert.equal(await board.get('card'), 'loops');
});
