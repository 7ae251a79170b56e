// The views, by a real mouse and real keys: tabs open pages in place of the board, whose controls set options of the state. Numbers are
// checked with plain arithmetic.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {start} from './harness.mjs';

let browser;
before(async () => { browser = await start(); });
after(() => browser.stop());

const onBoard = (name, body, path = '/', options = {}) => test(name, async () => {
  const board = await browser.open(path, options);
  await body(board);
  await board.close();
});

const names = async (board) => new Set((await board.call('items')).map(({name}) => name));
const click = async (board, name) => {
  await board.click(name);
  await board.settle();
};
const rows = async (board, name) => {
  const {data, shape} = await board.tensor(name);
  return Array.from({length: shape[1]}, (_, i) => data.slice(i * shape[2], (i + 1) * shape[2]));
};
const near = (got, want, bound, what) => got.forEach((row, i) => row.forEach((x, c) =>
  assert.ok(Math.abs(x - want[i][c]) <= bound, `${what}[${i}][${c}] is ${x}, and should be ${want[i][c]}`)));
const TABS = [['view:block', 'block', 'block_norm:0'], ['view:segments', 'segments', 'segment:0'], ['lab:1', 'spread', 'lab:scaled']];
const openMore = async (board, name) => {
  await click(board, 'views:more');
  await click(board, name);
};

onBoard('a tab opens its page in the place of the board, and back; header and side panel stay', async (board) => {
  const was = await board.call('locate', 'causal');
  for (const [tab, view, part] of TABS) {
    await (tab === 'view:block' ? click : openMore)(board, tab);
    assert.equal(await board.get('view'), view);
    const shown = await names(board);
    assert.ok(shown.has(part) && shown.has('undo') && shown.has('view:layer'), view);
    assert.ok(!shown.has('matrix:q') && !shown.has('arcs') && !shown.has('head:0'), `the board gave way to ${view}`);
    const {x, y} = await board.call('locate', 'causal');
    assert.deepEqual([x, y], [was.x, was.y]);
    await click(board, 'causal');  // the side panel changes the layer that the page is about
    await click(board, 'causal');
    await board.check();
  }
  await click(board, 'view:layer');
  assert.equal(await board.get('view'), 'layer');
  assert.ok((await names(board)).has('matrix:q'));
  assert.equal(await board.get('experiment'), 'none');
});

onBoard('keys: b, g, e, the digits and Escape', async (board) => {
  await board.click('weights', 0, 3, 0);
  for (const [key, view] of [['b', 'block'], ['g', 'segments'], ['e', 'spread']]) {
    await board.press(key);
    await board.settle();
    assert.equal(await board.get('view'), view);
    await board.press('Escape');
    await board.settle();
    assert.equal(await board.get('view'), 'layer', 'Escape goes back');
  }
  await board.press('e');
  for (const [digit, view] of ['spread', 'dense', 'memory', 'block', 'segments', 'cost'].entries()) {
    await board.press(String(digit + 1));
    await board.settle();
    assert.equal(await board.get('view'), view);
  }
});

onBoard('a control of a page is reached by arrows and changed by them', async (board) => {
  await openMore(board, 'lab:1');
  await board.press('ArrowDown', 'ArrowRight');
  await board.settle();
  assert.equal(await board.get('spread_dim'), 128);
  assert.equal(await board.value('spread:table', 0, 0, 0), 128);
  await board.press('Control+z');
  assert.equal(await board.get('spread_dim'), 64);
});

onBoard('any d_k is typed, and the deviation is √d · σ² for it', async (board) => {
  await openMore(board, 'lab:1');
  for (const [typed, want] of [['37', 37], ['1', 1], ['1000', 1000]]) {
    await click(board, 'spread_dim-value');
    await board.press('Control+a');
    await board.type(typed);
    await board.press('Enter');
    assert.equal(await board.get('spread_dim'), want);
    const {at} = await board.tensor('spread:table');
    assert.ok(Math.abs(at(0, 0, 6) - Math.sqrt(want)) < 1e-4, `${at(0, 0, 6)}`);
    assert.ok(Math.abs(at(0, 0, 5) / at(0, 0, 6) - 1) < 0.12);
  }
  await click(board, 'spread_dim-value');
  await board.press('Control+a');
  await board.type('1025');
  await board.press('Enter');
  assert.equal(await board.get('spread_dim'), 1000);
  await board.press('Escape');
});

onBoard('what an experiment is set to is undone, kept in the state and set by scripts', async (board) => {
  const before = await board.call('getState');
  assert.deepEqual(Object.keys(before).filter((key) => /^(view|experiment|spread_|dense_|reach_|block_dropout_)/.test(key)), []);
  await openMore(board, 'lab:1');
  await click(board, 'lab:scaled');
  await click(board, 'lab:draw');
  assert.deepEqual([await board.get('spread_scaled'), await board.get('spread_seed')], [false, 2]);
  const drawn = (await board.tensor('spread:table')).data;
  const kept = await board.call('getState');
  assert.deepEqual([kept.experiment, kept.spread_scaled, kept.spread_seed], ['spread', false, 2], 'the view has its older name in the text');
  await board.press('Control+z', 'Control+z');
  assert.deepEqual([await board.get('spread_scaled'), await board.get('spread_seed')], [true, 1]);
  assert.notDeepEqual((await board.tensor('spread:table')).data, drawn);
  await board.call('setState', kept);
  assert.deepEqual((await board.tensor('spread:table')).data, drawn);
  await board.call('set', 'reach_tokens', 40);
  assert.equal((await board.tensor('reach:curve')).shape[1], 40);
  await board.call('set', 'dense_moved', 'values');
  near(await rows(board, 'weights:following'), await rows(board, 'weights'), 0, 'weights stay where only values move');
  await assert.rejects(board.call('set', 'view', 'trains'), /view: "trains" is unknown/);
});

onBoard('drops: Z is shown, drawn again without new weights, and plain dropout leaves what it keeps', async (board) => {
  await board.call('set', 'block_dropout', 0.5);
  await click(board, 'view:block');
  await click(board, 'stage:dropout_1');
  const [w1, z] = [(await board.tensor('w_1')).data, (await board.tensor('block:drop_mask_1')).data];
  assert.ok(z.every((v) => v === 0 || v === 1) && z.includes(0) && z.includes(1));
  const cell = await board.call('locate', 'block:drop_mask_1', 0, 1, 1), kept = await board.call('locate', 'block:dropout_1', 0, 1, 1);
  assert.ok(Math.abs(cell.width - kept.width) < 0.01, 'one size of cells in an equation');
  const product = async (factor) => {
    const [a, mask] = [await rows(board, 'block:attention'), await rows(board, 'block:drop_mask_1')];
    near(await rows(board, 'block:dropout_1'), a.map((row, i) => row.map((v, c) => v * mask[i][c] * factor)), 1e-6, `× ${factor}`);
  };
  await product(2);
  await click(board, 'block_dropout_seed');
  assert.deepEqual((await board.tensor('w_1')).data, w1);
  assert.notDeepEqual((await board.tensor('block:drop_mask_1')).data, z);
  assert.equal(await board.get('block_seed'), 1);
  await product(2);
  await click(board, 'block_dropout_kind:1');
  assert.equal(await board.get('block_dropout_kind'), 'plain');
  await product(1);
});

onBoard('the concatenation of heads: what is side by side is what each head gives', async (board) => {
  await click(board, 'view:block');
  await click(board, 'stage:attention');
  const [heads, concat, wo, output] = [await board.tensor('head_output'), await rows(board, 'concat'), await rows(board, 'w_o'), await rows(board, 'block:attention')];
  concat.forEach((row, i) => row.forEach((v, c) => assert.equal(v, heads.at(Math.floor(c / heads.shape[2]), i, c % heads.shape[2]))));
  near(output, concat.map((row) => wo[0].map((_, c) => row.reduce((sum, v, j) => sum + v * wo[j][c], 0))), 1e-5, 'concat · W_O');
}, '/?preset=transformer-block');

onBoard('segments: u, weights and sums as the equations say', async (board) => {
  await openMore(board, 'view:segments');
  const [h, w, query, weights] = [await rows(board, 'output'), await rows(board, 'token_w'), await rows(board, 'token_query'), await rows(board, 'token_weights')];
  const scores = h.map((row) => query[0].reduce((sum, q, j) => sum + q * Math.tanh(row.reduce((z, v, i) => z + v * w[i][j], 0)), 0));
  const pairs = [[0, 2], [2, 4]];
  for (const [from, to] of pairs) {
    const e = scores.slice(from, to).map(Math.exp), sum = e.reduce((a, b) => a + b);
    near(weights.slice(from, to), e.map((x) => [x / sum]), 1e-5, 'token_weights');
  }
});

for (const [path, view] of [['/?view=segments', 'segments'], ['/?preset=segments&view=block', 'block'], ['/?view=memory', 'memory']]) {
  onBoard(`${path} opens ${view}`, async (board) => assert.equal(await board.get('view'), view), path);
}

onBoard('the attribute opens a view, and one that there is not is said', async (board) => {
  const set = (view) => board.page.evaluate((value) => { document.querySelector('attention-playground').view = value; }, view);
  await set('dense');
  await board.until('the page is open', () => document.querySelector('attention-playground').get('view') === 'dense');
  const errors = await board.listen('error');
  await set('nowhere');
  assert.equal(await board.get('view'), 'dense');
  assert.match((await errors())[0].detail.message, /view: "nowhere" is unknown; use "layer"/);
  await set('layer');
  assert.equal(await board.get('view'), 'layer');
});

onBoard('hide="views" takes the tabs and their keys away, and leaves the page that is open', async (board) => {
  await board.page.evaluate(() => { document.querySelector('attention-playground').hide = 'views'; });
  await board.call('set', 'view', 'segments');
  await board.settle();
  const shown = await names(board);
  assert.ok(shown.has('segment:0') && !shown.has('view:layer') && !shown.has('views:more'));
  await board.press('Escape', 'b', '1');
  assert.equal(await board.get('view'), 'segments');
});

for (const [width, height] of [[640, 440], [390, 844], [1000, 700]]) {
  onBoard(`at ${width} × ${height} a menu holds the views, and nothing leaves the window`, async (board) => {
    if (!(await names(board)).has('views')) await click(board, 'more');
    else await click(board, 'views');
    await click(board, 'view:block');
    assert.equal(await board.get('view'), 'block');
    for (const [name, view] of [['view:segments', 'segments'], ['lab:1', 'spread'], ['view:layer', 'layer']]) {
      for (const {name: part, rect: r} of await board.call('items')) {
        if (/^(block|segment|token|lab|stage|slider)/.test(part)) assert.ok(r.x >= 0 && r.right <= width + 0.01, `${part} of ${await board.get('view')}`);
      }
      await click(board, 'views');
      await click(board, name);
      assert.equal(await board.get('view'), view);
    }
  }, '/', {viewport: {width, height}});
}
