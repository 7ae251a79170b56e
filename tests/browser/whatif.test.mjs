// Dragging a weight changes its query, or its key, as little as possible; numbers are checked with plain arithmetic.
import assert from 'node:assert/strict';
import {suite} from './harness.mjs';

const {browser, onBoard} = suite();
void browser;

const names = async (board) => new Set((await board.call('items')).map(({name}) => name));
const rows = async (board, name) => {
  const {data, shape} = await board.tensor(name);
  return Array.from({length: shape[1]}, (_, i) => data.slice(i * shape[2], (i + 1) * shape[2]));
};
const dot = (a, b) => a.reduce((sum, v, i) => sum + v * b[i], 0);
const softmaxAt = (q, k, key) => {
  const e = k.map((row) => Math.exp(dot(q, row) / Math.sqrt(q.length)));
  return e[key] / e.reduce((a, b) => a + b);
};

onBoard('a selected weight is dragged to 0.40: q changes by as little as can be, as one step of undo', async (board) => {
  await board.click('weights', 0, 3, 2);
  await board.settle();
  const q = await rows(board, 'q'), k = await rows(board, 'k'), start = softmaxAt(q[3], k, 2);
  const pixels = Math.round((0.40 - start) / 0.005);
  await board.drag('weights', [0, 3, 2], pixels, 0);
  await board.settle();
  const now = await rows(board, 'q'), w = (await rows(board, 'weights'))[3][2];
  assert.ok(Math.abs(w - 0.40) < 0.0051 && Math.abs(w / 0.005 - Math.round(w / 0.005)) < 0.02, `the weight is ${w}`);
  assert.ok(Math.abs(softmaxAt(now[3], k, 2) - w) < 1e-4);
  [0, 1, 2].forEach((i) => assert.deepEqual(now[i], q[i]));
  assert.deepEqual(await rows(board, 'k'), k);
  // No change is shorter if it is perpendicular to the level surface of the weight.
  const delta = now[3].map((v, c) => v - q[3][c]), length = Math.hypot(...delta);
  const slope = [0, 1, 2].map((c) => {
    const at = (by) => softmaxAt(now[3].map((v, i) => v + (i === c ? by : 0)), k, 2);
    return (at(1e-4) - at(-1e-4)) / 2e-4;
  });
  const cosine = Math.abs(dot(delta, slope)) / (length * Math.hypot(...slope));
  assert.ok(cosine > 0.9999, `the change stands at ${cosine} to the slope`);
  assert.ok((await names(board)).has('notice'), 'the change is named');
  await board.press('Control+z');
  await board.settle();
  assert.deepEqual(await rows(board, 'q'), q);
});

onBoard('by its key: only its row of K changes', async (board) => {
  await board.call('set', 'weight_by', 'key');
  await board.click('weights', 0, 3, 2);
  await board.settle();
  const q = await rows(board, 'q'), k = await rows(board, 'k');
  await board.drag('weights', [0, 3, 2], -60, 0);
  await board.settle();
  const now = await rows(board, 'k');
  assert.deepEqual(await rows(board, 'q'), q);
  [0, 1, 3].forEach((j) => assert.deepEqual(now[j], k[j]));
  const by = now[2].map((v, c) => v - k[2][c]), along = dot(by, q[3]) / (Math.hypot(...by) * Math.hypot(...q[3]));
  assert.ok(Math.abs(Math.abs(along) - 1) < 1e-5, 'it moved along q');
});

onBoard('a masked weight stays, and the board says why; another drag still selects a range', async (board) => {
  const state = await board.call('getState');
  await board.click('weights', 0, 1, 3);
  await board.settle();
  await board.drag('weights', [0, 1, 3], 40, 0);
  await board.settle();
  assert.deepEqual(await board.call('getState'), state);
  assert.ok((await names(board)).has('notice'));
  await board.drag('weights', [0, 2, 0], 60, 0);
  await board.settle();
  assert.deepEqual(await board.call('getState'), state);
  assert.ok((await names(board)).has('notice:q'));
});

onBoard('Shift + Space hides the key of a weight from every query, and shows it again', async (board) => {
  await board.click('weights', 0, 3, 2);
  await board.press('Shift+ ');
  await board.settle();
  const w = await rows(board, 'weights');
  w.forEach((row) => assert.equal(row[2], 0));
  assert.deepEqual((await board.call('getState')).mask.data.filter((_, i) => i % 4 === 2), [false, false, false, false]);
  await board.press('Shift+ ');
  await board.settle();
  assert.equal((await board.call('getState')).mask, undefined);
});

onBoard('arcs are as thick as what a value adds', async (board) => {
  const w = await rows(board, 'weights'), v = await rows(board, 'v');
  const adds = w[3].map((x, j) => x * Math.hypot(...v[j])), sum = adds.reduce((a, b) => a + b);
  assert.ok(adds.every((x) => x / sum > 0));
  const clip = await board.call('locate', 'arcs');
  const picture = async () => {
    await board.rest(120);
    return (await board.page.screenshot({clip: {x: clip.x, y: clip.y + 50, width: clip.width, height: clip.height - 60}})).toString('base64');
  };
  const before = await picture();
  await board.click('value_norms');
  await board.settle();
  assert.equal(await board.get('value_norms'), true);
  assert.ok((await names(board)).has('arcs-note'), 'the card says what it shows');
  assert.notEqual(await picture(), before);
  await board.click('value_norms');
  assert.equal(await picture(), before);
}, {seen: true});

/** Scrolls to the bar of a key; returns a position in its upper part, away from the last press, to avoid a double-click. */
async function bar(board, name) {
  await board.call('locate', name);
  await board.settle();
  const {x, y, width, height} = await board.call('locate', name);
  return [x + width / 2, y + height / 2];
}

onBoard('a bar of the arithmetic is pressed, then dragged: its weight is what is made', async (board) => {
  await board.click('weights', 0, 3, 2);
  await board.page.mouse.click(...await bar(board, 'bar:3:0'));
  await board.rest(600);
  const q = await rows(board, 'q'), before = (await rows(board, 'weights'))[3][0], [x, y] = await bar(board, 'bar:3:0');
  const {mouse} = board.page;
  await mouse.move(x, y);
  await mouse.down();
  await mouse.move(x, y - 40, {steps: 5});
  await mouse.up();
  await board.settle();
  const after = (await rows(board, 'weights'))[3][0];
  assert.ok(Math.abs(after - before - 0.2) < 0.006, `${before} became ${after}`);
  await board.press('Control+z');
  await board.settle();
  assert.deepEqual(await rows(board, 'q'), q, 'one step of undo');
});

onBoard('beside the matrices of an embed a bar is dragged to the right', async (board) => {
  await board.click('weights', 0, 3, 2);
  await board.page.mouse.click(...await bar(board, 'bar:3:0:brief'));
  await board.rest(600);
  const before = (await rows(board, 'weights'))[3][0], [x, y] = await bar(board, 'bar:3:0:brief');
  const {mouse} = board.page;
  await mouse.move(x, y);
  await mouse.down();
  await mouse.move(x + 40, y, {steps: 5});
  await mouse.up();
  await board.settle();
  const after = (await rows(board, 'weights'))[3][0];
  assert.ok(Math.abs(after - before - 0.2) < 0.006, `${before} became ${after}`);
}, {viewport: {width: 640, height: 440}});

for (const [what, name, viewport, along] of [['on a tablet', 'bar:3:0', {width: 1180, height: 1000}, [0, -1]], ['beside the matrices', 'bar:3:0:brief', {width: 640, height: 440}, [1, 0]]]) {
  onBoard(`a finger drags a bar ${what} that it holds${along[0] ? ', or sideways one that it has tapped' : ''}, and otherwise scrolls the board`, async (board) => {
    const session = await board.page.context().newCDPSession(board.page);
    const send = (type, ...touchPoints) => session.send('Input.dispatchTouchEvent', {type, touchPoints});
    const swipe = async (from, holds) => {
      await board.finger(from, along[0] * 40, along[1] * 40, {holds});
      await board.rest();
    };
    await board.page.touchscreen.tap(...await board.middle('weights', 0, 3, 2));
    await board.rest(600);
    const state = await board.call('getState'), before = (await rows(board, 'weights'))[3][0];
    for (let i = 0; i < 9 && !((await names(board)).has(name) && (await bar(board, name))[1] < 980); i++) {  // the full inspector is further down
      await send('touchStart', {x: 8, y: 600});
      for (let y = 590; y >= 450; y -= 10) await send('touchMove', {x: 8, y});
      await board.rest();
      await send('touchEnd');
      await board.rest();
    }
    await swipe(await bar(board, name));
    assert.deepEqual(await board.call('getState'), state, 'it was not tapped');
    await board.page.touchscreen.tap(...await bar(board, name));
    await board.rest(600);
    for (const holds of along[0] ? [false, true] : [true]) {
      await swipe(await bar(board, name), holds);
      const after = (await rows(board, 'weights'))[3][0];
      assert.ok(after - before > 0.1 && after - before < 0.22, `${before} became ${after}`);
      await board.call('undo');
    }
  }, {viewport, hasTouch: true, isMobile: true});
}

onBoard('a finger drags a weight that it tapped before', async (board) => {
  await board.middle('weights', 0, 3, 2);
  await board.settle();
  const [x, y] = await board.middle('weights', 0, 3, 2);
  await board.page.touchscreen.tap(x, y);
  await board.rest(600);  // to avoid a double tap, which would open a text field
  const q = await rows(board, 'q');
  await board.finger([x, y], -56, 0);
  await board.rest();
  assert.notDeepEqual((await rows(board, 'q'))[3], q[3]);
}, {viewport: {width: 390, height: 844}, hasTouch: true, isMobile: true});
