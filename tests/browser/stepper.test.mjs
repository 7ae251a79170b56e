// Stepping through a row, and arithmetic that responds to the pointer, by a real mouse and real keys. The text of the lines is compared
// with attention computed here.
import assert from 'node:assert/strict';
import {suite} from './harness.mjs';

const {onBoard} = suite();

/** Softmax attention for one row of one head of the causal layer, with all its steps. */
async function row(board, head, i) {
  const q = await board.tensor('q'), k = await board.tensor('k'), v = await board.tensor('v');
  const width = q.shape[2], keys = k.shape[1];
  const raw = [...Array(keys)].map((_, j) => [...Array(width)].reduce((sum, __, c) => sum + q.at(head, i, c) * k.at(head, j, c), 0));
  const scores = raw.map((s) => s / Math.sqrt(width)), masked = scores.map((s, j) => (j <= i ? s : -Infinity));
  const max = Math.max(...masked), e = masked.map((s) => Math.exp(s - max)), sum = e.reduce((a, b) => a + b), weights = e.map((x) => x / sum);
  const output = [...Array(v.shape[2])].map((_, c) => weights.reduce((all, w, j) => all + w * v.at(head, j, c), 0));
  return {q, k, raw, scores, max, e, sum, weights, output};
}

/** Starts stepping through the selected row, by its key. */
async function begin(board) {
  await board.click('weights', 0, 3, 2);
  await board.press('i');
  await stepperIs(board, 1);
}

const has = (board, name) => board.call('locate', name).then(() => true, () => false);
const close = (a, b, what) => assert.ok(Math.abs(a - b) < 1e-5, `${what}: ${a}, not ${b}`);
/** Waits until `step` steps are shown, and the animation of the last one has ended. */
async function stepperIs(board, step) {
  await board.until(`step ${step}`, ([selector, to]) => document.querySelector(selector).get('stepper') === to, [board.selector, step]);
  await board.rest();
}

onBoard('the button opens the first step, arrows go through all nine, Escape ends; the numbers are those of attention', async (board) => {
  await board.click('weights', 0, 3, 2);
  await board.click('stepper');
  await stepperIs(board, 1);
  const it = await row(board, 0, 3);
  for (let c = 0; c < 3; c++) {
    assert.ok(await has(board, `number:q:3:${c}`), 'the operands of q·k stand in the arithmetic');
    assert.ok(await has(board, `number:k:2:${c}`));
  }
  assert.ok(!await has(board, 'number:row_sum:3:0'), 'what is not reached is not drawn');
  const names = ['number:raw:3:2', null, 'number:masked:3:2', 'number:row_max:3:0', 'number:exponentials:3:0', 'number:row_sum:3:0', 'number:weights:3:0', 'number:head_output:3:0'];
  for (let step = 2; step <= 9; step++) {
    await board.press('ArrowRight');
    await stepperIs(board, step);
    const name = names[step - 2];
    if (name) assert.ok(await has(board, name), `step ${step} shows ${name}`);
  }
  await board.press('ArrowRight');
  await stepperIs(board, 9);
  for (const [name, value] of [['raw', it.raw[2]], ['scores', it.scores[2]], ['exponentials', it.e[2]], ['weights', it.weights[2]]])
    close(await board.value(name, 0, 3, 2), value, name);
  close(await board.value('row_max', 0, 3, 0), it.max, 'the maximum');
  close(await board.value('row_sum', 0, 3, 0), it.sum, 'the sum');
  const output = await board.tensor('output');
  for (let c = 0; c < 3; c++) close(output.at(0, 3, c), it.output[c], 'the output, of which head 1 is the first columns');
  await board.press('ArrowLeft');
  await stepperIs(board, 8);
  await board.press('Escape');
  await stepperIs(board, 0);
  assert.ok(!await has(board, 'stepper-bar'));
});

onBoard('play, pause and the dots; a script and a link can be in the middle of a row', async (board) => {
  await begin(board);
  await board.click('stepper-play');
  const pause = await board.middle('stepper-play');  // looked up now, because it plays on meanwhile
  await board.until('the third step', (selector) => document.querySelector(selector).get('stepper') >= 3, board.selector);
  await board.page.mouse.click(...pause);
  await board.rest(1500);
  const there = await board.get('stepper');
  assert.ok(there >= 3 && there < 9);
  await board.click('stepper:6');
  await stepperIs(board, 6);
  assert.equal((await board.call('getState')).stepper, 6);
  await board.call('set', 'stepper', 2);
  await stepperIs(board, 2);
  await assert.rejects(board.call('set', 'stepper', 99), /stepper/);
  await board.click('stepper-close');
  await stepperIs(board, 0);
  assert.equal((await board.call('getState')).stepper, undefined);
});

onBoard('with reduced motion the numbers appear', async (board) => {
  await begin(board);
  const before = (await board.stats()).frames;
  await board.press('ArrowRight');
  await stepperIs(board, 2);
  assert.ok((await board.stats()).frames - before < 20, 'no frames of a motion');
}, {reducedMotion: 'reduce'});

/** The middle of a part of the track: `part` of the way through a step. */
async function onTrack(board, step, part) {
  const {x, y, width} = await board.call('locate', `stepper:${step}`);
  return [x + part * width, y + 13];
}

/** The picture of the matrices, without what is below them. */
const picture = async (board) => (await board.page.screenshot({clip: {x: 230, y: 44, width: 1210, height: 780}})).toString('base64');

onBoard('the numbers move: the track is dragged back and forth, a time has one picture, and nothing is drawn while it rests', async (board) => {
  await begin(board);
  await board.page.mouse.move(...await onTrack(board, 1, 0.1));
  await board.page.mouse.down();
  const seen = [];
  for (const [step, part] of [[1, 0.2], [1, 0.5], [1, 0.85], [2, 0.5], [8, 0.5], [2, 0.5], [1, 0.85], [1, 0.5], [1, 0.2]]) {
    await board.page.mouse.move(...await onTrack(board, step, part));
    await stepperIs(board, step);
    assert.ok(await has(board, 'stepper-caption'), `step ${step} says what it does`);
    seen.push(await picture(board));
  }
  assert.equal(new Set(seen).size, 5, 'five times, five pictures');
  for (let i = 0; i < 4; i++) assert.equal(seen[i], seen[8 - i], `time ${i} looks the same on the way back`);
  await board.page.mouse.up();
  await board.rest();
  const {frames} = await board.stats();
  await board.rest();
  assert.equal((await board.stats()).frames, frames);
  await board.press('ArrowRight');
  await stepperIs(board, 2);
  await board.press('ArrowLeft');
  await stepperIs(board, 1);
  await board.press('Space');
  await stepperIs(board, 9);
  assert.ok(!await has(board, 'stepper-caption'), 'all have arrived');
}, {seen: true});

onBoard('a drag of a number ends the steps, in the middle of a motion too', async (board) => {
  await begin(board);
  const before = await board.value('q', 0, 3, 2);
  await board.press('Space');
  await board.drag('q', [0, 3, 2], 30, 0);
  await stepperIs(board, 0);
  close(await board.value('q', 0, 3, 2), before + 0.3, 'the number has changed');
});

onBoard('with reduced motion a time of the track has the end of its motion, and nothing between', async (board) => {
  await begin(board);
  await board.page.mouse.move(...await onTrack(board, 1, 0.1));
  await board.page.mouse.down();
  const seen = [];
  for (const part of [0.2, 0.25, 0.3]) {  // of q·k: 0 to 0.35 is the slide, which has faded in after 0.1
    await board.page.mouse.move(...await onTrack(board, 1, part));
    await board.rest();
    seen.push((await board.page.screenshot({clip: {x: 230, y: 44, width: 1210, height: 400}})).toString('base64'));
  }
  await board.page.mouse.up();
  assert.equal(new Set(seen).size, 1);
}, {reducedMotion: 'reduce', seen: true});

for (const [score, normalizer, position, steps] of [['additive', 'sparsemax', 'none', 8], ['cosine', 'hardmax', 'rotary', 10], ['general', 'sigmoid', 'alibi', 7], ['dot', 'relu', 'none', 5]]) {
  onBoard(`${score} scores with ${normalizer} and positions ${position} have ${steps} steps`, async (board) => {
    for (const [name, value] of [['d_k', 4], ['score', score], ['normalizer', normalizer], ['position', position]]) await board.call('set', name, value);
    await begin(board);
    await board.press('End');
    await stepperIs(board, steps);
    assert.ok(await has(board, `stepper:${steps}`));
    assert.ok(!await has(board, `stepper:${steps + 1}`));
  });
}

/** The colour slightly above the digits of each cell of the board, by tensor, row and column. */
async function colours(board, shapes) {
  const rects = await board.page.evaluate(([selector, all]) => all.flatMap(([name, count, cols]) => Array.from({length: count * cols}, (_, at) => {
    const i = Math.floor(at / cols), j = at % cols;
    return [`${name}[${i}, ${j}]`, document.querySelector(selector).locate(name, 0, i, j).toJSON()];
  })), [board.selector, shapes]);
  const shot = (await board.page.screenshot()).toString('base64');
  return board.page.evaluate(async ([base64, all]) => {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], {type: 'image/png'}));
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d', {willReadFrequently: true});
    context.drawImage(bitmap, 0, 0);
    return all.map(([name, {x, y, width}]) => [name, ...context.getImageData(Math.round(x + width / 2), Math.round(y + 7), 1, 1).data]);
  }, [shot, rects]);
}

onBoard('tokens as columns: each step lights, dims, shows and leaves out the same cells as with tokens as rows', async (board) => {
  const shapes = [['q', 4, 3], ['k', 4, 3], ['scores', 4, 4], ['weights', 4, 4], ['v', 4, 3], ['head_output', 4, 3]];
  await begin(board);
  await board.page.mouse.move(5, 895);
  let differ = 0, last = [];
  for (let step = 1; step <= 9; step++) {
    const seen = [];
    for (const layout of [false, true]) {
      await board.call('set', 'column_layout', layout);
      await board.call('set', 'stepper', step);
      await board.rest(60);
      const {y, height} = await board.call('locate', 'stepper-bar');
      assert.equal(Math.round(y + height), 900, 'the steps stand at the bottom');
      seen.push(await colours(board, shapes));
    }
    const [inRows, inColumns] = seen;
    for (const [i, [name, ...rgb]] of inRows.entries()) {
      const isFuture = /^(scores|weights)/.test(name) && /\[(\d), (\d)\]/.exec(name).slice(1).reduce((row, col) => Number(row) < Number(col));
      const away = Math.max(...rgb.map((value, c) => Math.abs(value - inColumns[i][c + 1])));
      if (!isFuture) assert.ok(away < 8, `step ${step}: ${name} is ${rgb} in rows and ${inColumns[i].slice(1)} in columns`);
    }
    if (JSON.stringify(inRows) !== JSON.stringify(last)) differ++;
    last = inRows;
  }
  assert.ok(differ >= 6, `only ${differ} steps differ from the ones before`);
  await board.press('Home');
  await stepperIs(board, 1);
  await board.press('ArrowRight');
  await stepperIs(board, 2);
  await board.press('Escape');
  await stepperIs(board, 0);
  assert.equal(await board.get('column_layout'), true);
}, {reducedMotion: 'reduce', seen: true});

onBoard('a number of the arithmetic goes to its cell on a click, and a drag on it edits that cell in one step of undo', async (board) => {
  await board.click('weights', 0, 3, 2);
  await board.page.mouse.move(...await board.middle('inspector'));
  await board.rest();
  const before = await board.value('q', 0, 3, 2), told = await board.listen('change', 'select');
  await board.drag('number:q:3:2', [], 30, 0);
  await board.rest();
  const after = await board.value('q', 0, 3, 2);
  close(after, before + 0.3, 'a pixel is a hundredth');
  const events = await told();
  assert.equal(events.filter(({type}) => type === 'change').length, 1);
  close((await row(board, 0, 3)).weights[2], await board.value('weights', 0, 3, 2), 'the weight follows');
  await board.call('undo');
  close(await board.value('q', 0, 3, 2), before, 'undone at once');
  await board.page.mouse.move(...await board.middle('inspector'));
  await board.rest();
  await board.click('number:k:2:0');
  await board.rest();
  assert.deepEqual((await told()).filter(({type}) => type === 'select').at(-1).detail, {name: 'k', head: 0, row: 2, col: 0});
});

onBoard('a number that is a sum opens into it and closes again', async (board) => {
  await board.call('set', 'mask_after_softmax', true);  // has no formula, so that the arithmetic is in lines
  await board.click('weights', 0, 3, 2);
  await board.page.mouse.move(...await board.middle('inspector'));
  await board.rest();
  await board.click('number:row_sum:3:0');
  await board.rest();
  for (let j = 0; j < 4; j++) assert.ok(await has(board, `number:exponentials:3:${j}`));
  await board.click('number:row_sum:3:0');
  await board.rest();
  assert.ok(!await has(board, 'number:exponentials:3:0'));
});

onBoard('factors that are negative stand in parentheses, with the sign of arithmetic, which can be typed too', async (board) => {
  const {text} = await board.call('explain', 'weights', 0, 3, 2);
  assert.match(text, /0\.20×0\.30 \+ \(−0\.70\)×\(−0\.50\) \+ 1\.60×1\.40 = 2\.65/);
  assert.doesNotMatch(text, /-/);
  for (const sign of ['-', '−']) {
    await board.doubleClick('q', 0, 0, 0);
    await board.type(`${sign}0.5`);
    await board.press('Enter');
    await board.rest();
    close(await board.value('q', 0, 0, 0), -0.5, `typed with ${sign}`);
    await board.call('undo');
  }
});

onBoard('by a finger: a tap on a number goes to its cell, and the steps are large enough to tap', async (board) => {
  await begin(board);
  await board.rest();
  for (const name of ['stepper-back', 'stepper-play', 'stepper-next', 'stepper-close']) {
    const {width, height} = await board.call('locate', name);
    assert.ok(width >= 28 && height >= 28, name);
  }
  await board.page.touchscreen.tap(...await board.middle('stepper-next'));
  await stepperIs(board, 2);
  const {x, y, width, height} = await board.call('locate', 'stepper-line');
  assert.ok(x >= 0 && x + width <= 390 && y + height <= 844, 'the arithmetic is on the screen');
}, {viewport: {width: 390, height: 844}, deviceScaleFactor: 2, hasTouch: true});
