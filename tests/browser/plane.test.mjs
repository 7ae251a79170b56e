// The plane in the card below the matrices: arrows and points are where arithmetic says, and are dragged by a real mouse and a finger.
import assert from 'node:assert/strict';
import {suite} from './harness.mjs';

const {browser, onBoard} = suite();

const click = async (board, name) => {
  await board.click(name);
  await board.settle();
};
const rows = async (board, name, head = 0) => {
  const {data, shape} = await board.tensor(name);
  const from = head * shape[1] * shape[2];
  return Array.from({length: shape[1]}, (_, i) => data.slice(from + i * shape[2], from + (i + 1) * shape[2]));
};
const dot = (a, b) => a.reduce((sum, v, i) => sum + v * b[i], 0);
const middle = ({x, y, width, height}) => ({x: x + width / 2, y: y + height / 2});
const place = async (board, name) => middle(await board.call('locate', name));
const away = (a, b) => Math.hypot(a.x - b.x, a.y - b.y);

/** The two directions in which Σ rrᵀ is largest, by power iteration. */
function principal(vectors) {
  const width = vectors[0].length, found = [];
  for (let which = 0; which < 2; ++which) {
    let e = Array.from({length: width}, (_, i) => 1 / (1 + i + which));
    for (let step = 0; step < 4000; ++step) {
      let next = Array(width).fill(0);
      for (const r of vectors) next = next.map((v, i) => v + dot(r, e) * r[i]);
      for (const f of found) next = next.map((v, i) => v - dot(next, f) * f[i]);
      const length = Math.hypot(...next);
      e = next.map((v) => v / length);
    }
    const largest = e.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a));
    found.push(e.map((v) => v * Math.sign(largest)));
  }
  return found;
}

async function drag(board, from, by, steps = 6) {
  const {mouse} = board.page;
  await mouse.move(from.x, from.y);
  await mouse.down();
  for (let i = 1; i <= steps; ++i) await mouse.move(from.x + by.x * i / steps, from.y + by.y * i / steps);
  await mouse.up();
  await board.settle();
}

onBoard('the tabs open the views of the card; the option, a link and JavaScript say the same', async (board) => {
  for (const card of ['plane', 'values', 'changes', 'arcs']) {
    await click(board, `card:${card}`);
    assert.equal(await board.get('card'), card);
  }
  await board.call('set', 'card', 'plane');
  await board.settle();
  assert.equal((await board.call('getState')).card, 'plane');
  assert.ok(!(await board.call('items')).some(({name}) => name === 'arcs'));
  const before = await board.call('getState');
  await board.call('set', 'card', 'arcs');
  assert.equal((await board.call('getState')).card, undefined, 'the arcs are what older texts mean');
  await board.call('setState', before);
  assert.equal(await board.get('card'), 'plane');
  await assert.rejects(board.call('set', 'card', 'circle'), {field: 'card', message: /"circle" is unknown; use "arcs", "plane", "values", "changes" or "loops"/});
});

onBoard('arrows stand at the first two principal axes of all queries and keys', async (board) => {
  await click(board, 'card:plane');
  const q = await rows(board, 'q'), k = await rows(board, 'k');
  const [a, b] = principal([...q, ...k]);
  const origin = await place(board, 'plane:origin');
  const tips = await Promise.all([...q.map((_, i) => `tip:q:${i}`), ...k.map((_, i) => `tip:k:${i}`)].map((name) => place(board, name)));
  const all = [...q, ...k];
  const longest = all.reduce((best, r, i) => (Math.hypot(dot(r, a), dot(r, b)) > Math.hypot(dot(all[best], a), dot(all[best], b)) ? i : best), 0);
  const unit = away(tips[longest], origin) / Math.hypot(dot(all[longest], a), dot(all[longest], b));
  all.forEach((r, i) => {
    const want = {x: origin.x + unit * dot(r, a), y: origin.y - unit * dot(r, b)};
    assert.ok(away(tips[i], want) < 0.6, `arrow ${i} ends at ${JSON.stringify(tips[i])}, and should at ${JSON.stringify(want)}`);
  });
});

onBoard('a dragged tip changes its row of Q in the plane and nowhere else, and is one step of undo', async (board) => {
  await click(board, 'card:plane');
  const q = await rows(board, 'q'), k = await rows(board, 'k'), [a, b] = principal([...q, ...k]);
  const origin = await place(board, 'plane:origin'), from = await place(board, 'tip:q:3');
  const unit = away(from, origin) / Math.hypot(dot(q[3], a), dot(q[3], b));
  const by = {x: -40, y: -25};
  await drag(board, from, by);
  const now = await rows(board, 'q');
  now[3].forEach((v, c) => {
    const want = q[3][c] + by.x / unit * a[c] - by.y / unit * b[c];
    assert.ok(Math.abs(v - want) < 1e-3, `q[3][${c}] is ${v}, and should be ${want}`);
  });
  [0, 1, 2].forEach((i) => assert.deepEqual(now[i], q[i]));
  assert.deepEqual(await rows(board, 'k'), k);
  const left = await place(board, 'tip:q:3');
  assert.ok(away(left, {x: from.x + by.x, y: from.y + by.y}) < 1, 'the arrow stays where it was let go');
  await board.press('Control+z');
  await board.settle();
  assert.deepEqual(await rows(board, 'q'), q);
  assert.equal(await board.get('card'), 'plane', 'the view is the reader\'s');
});

onBoard('two columns are shown as they are: a key goes where it is dragged, to three decimals', async (board) => {
  await board.call('set', 'd_k', 2);
  await click(board, 'card:plane');
  const k = await rows(board, 'k'), origin = await place(board, 'plane:origin'), from = await place(board, 'tip:k:1');
  const unit = away(from, origin) / Math.hypot(...k[1]);
  await drag(board, from, {x: 30, y: 20});
  const [x, y] = (await rows(board, 'k'))[1];
  assert.ok(Math.abs(x - k[1][0] - 30 / unit) < 2e-3 && Math.abs(y - k[1][1] + 20 / unit) < 2e-3, `${x}, ${y} from ${k[1]}`);
  assert.ok(Math.abs(x * 1000 - Math.round(x * 1000)) < 1e-3);
});

onBoard('the output lies within the hull of the values that are seen, where their weights put it', async (board) => {
  await board.call('set', 'd_v', 2);
  await click(board, 'card:values');
  const v = await rows(board, 'v'), w = await rows(board, 'weights');
  const at = await Promise.all(v.map((_, j) => place(board, `tip:v:${j}`))), output = await place(board, 'values:output');
  const want = {x: dot(w[3], at.map((p) => p.x)), y: dot(w[3], at.map((p) => p.y))};
  assert.ok(away(output, want) < 0.6, `the output is at ${JSON.stringify(output)}, and should be at ${JSON.stringify(want)}`);
  await drag(board, at[0], {x: 25, y: 10});
  const moved = await rows(board, 'v');
  assert.notDeepEqual(moved[0], v[0]);
  assert.deepEqual(moved.slice(1), v.slice(1));
  await board.press('Control+z');
  await board.settle();
  assert.deepEqual(await rows(board, 'v'), v);
});

onBoard('turned by their position, arrows are dragged as they are scored', async (board) => {
  await board.call('set', 'd_k', 2);
  await board.call('set', 'position', 'rotary');
  await board.call('set', 'card', 'plane');
  await board.page.mouse.move(700, 600);
  await board.page.mouse.wheel(0, 3000);
  await board.rest();
  const before = (await rows(board, 'q_rotated'))[2], from = await place(board, 'tip:q:2'), origin = await place(board, 'plane:origin');
  const unit = away(from, origin) / Math.hypot(...before);
  await drag(board, from, {x: 24, y: -12});
  const after = (await rows(board, 'q_rotated'))[2];
  assert.ok(Math.abs(after[0] - before[0] - 24 / unit) < 2e-3 && Math.abs(after[1] - before[1] - 12 / unit) < 2e-3);
});

onBoard('computed queries are not dragged, and the board says what to change', async (board) => {
  await board.call('set', 'mode', 'x');
  await board.call('set', 'card', 'plane');
  await board.page.mouse.move(700, 600);
  await board.page.mouse.wheel(0, 3000);
  await board.rest();
  const q = await rows(board, 'q');
  await drag(board, await place(board, 'tip:q:1'), {x: 30, y: 0});
  assert.deepEqual(await rows(board, 'q'), q);
  const names = new Set((await board.call('items')).map(({name}) => name));
  assert.ok(names.has('notice:x') && names.has('notice:w_q'), 'Q is computed: change X or W_Q');
});

onBoard('a finger that holds a tip drags it, up and down too; without resting it scrolls the board, from a tip and beside it', async (board) => {
  await board.call('set', 'card', 'plane');
  await board.rest();
  const find = async (name) => (await board.call('items')).find((item) => item.name === name);
  const at = async (name) => middle((await find(name)).rect);
  const swipe = async ({x, y}, by, holds) => {
    await board.finger([x, y], by.x, by.y, {holds});
    await board.rest();
  };
  const q = await rows(board, 'q'), was = await at('inspector');
  await swipe({x: 374, y: 700}, {x: 0, y: -420});
  assert.deepEqual(await rows(board, 'q'), q);
  assert.ok(was.y - (await at('inspector')).y > 200, 'the board was scrolled');
  const origin = await at('plane:origin'), before = await at('inspector');
  assert.ok(origin.y < 800, `the plane is in view, at ${origin.y}`);
  await swipe(await at('tip:q:0'), {x: 0, y: 60});
  assert.deepEqual(await rows(board, 'q'), q);
  assert.notEqual((await at('inspector')).y, before.y, 'from a tip it was scrolled too');
  const card = await at('inspector');
  await swipe(await at('tip:q:0'), {x: -4, y: 30}, true);
  assert.notDeepEqual((await rows(board, 'q'))[0], q[0], 'the finger dragged the arrow');
  assert.equal((await at('inspector')).y, card.y, 'and nothing was scrolled');
}, {viewport: {width: 390, height: 844}, hasTouch: true, isMobile: true, deviceScaleFactor: 2});

onBoard('hide="plane" takes its tab away, and hide="arcs" the card while it shows arcs, as before', async (board) => {
  const names = async () => new Set((await board.call('items')).map(({name}) => name));
  assert.ok(!(await names()).has('card:plane') && (await names()).has('card:values'));
  await board.page.evaluate(() => { document.querySelector('attention-playground').hide = 'arcs'; });
  await board.settle();
  assert.ok(!(await names()).has('card:plane') && !(await names()).has('arcs'));
  await board.call('set', 'card', 'plane');
  await board.settle();
  assert.ok((await names()).has('plane') && !(await names()).has('card:arcs'));
}, {path: '/?hide=plane'});

void browser;
