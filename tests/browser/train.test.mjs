// Training on the page, by a real mouse: it learns, answers in the meantime, goes back in the run, and opens what was learned on the board.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {isMirrored, opened, start} from './harness.mjs';
import {until} from '../until.mjs';

let browser;
before(async () => { browser = await start(); });
after(() => browser.stop());

const onBoard = (name, body, path = '/?view=train', options = {}) => test(name, {timeout: 180_000}, async () => {
  const board = await browser.open(path, options);
  await body(board);
  await board.close();
});
const train = (board, steps) => board.page.evaluate((n) => document.querySelector('attention-playground').train(n), steps);
const names = async (board) => new Set((await board.call('items')).map(({name}) => name));
const click = async (board, name) => {
  await board.click(name);
  await board.settle();
};

onBoard('the tab opens the page; Play, and a control answers while the run goes on; Pause', async (board) => {
  await click(board, 'view:train');
  assert.equal(await board.get('view'), 'train');
  const shown = await names(board);
  for (const name of ['train:play', 'train:step', 'train:reset', 'train:scrub', 'train:map:0:0', 'train:map:1:1', 'train:confusion', 'train:open']) assert.ok(shown.has(name), name);
  await board.listen('train');
  await board.click('train:play');
  await board.until('a hundred steps', () => document.querySelector('attention-playground').getTensor('train:loss').shape[1] > 100);
  assert.equal(await board.get('train_running'), true);
  const before = (await board.stats()).frames;
  await board.click('train_layer_norm');  // another model: the run is restarted, and continues
  await board.until('the switch', () => document.querySelector('attention-playground').get('train_layer_norm') === false);
  assert.ok((await board.stats()).frames - before < 60, 'the click was answered among the frames of the run');
  await board.click('train:play');
  await board.until('a pause', () => document.querySelector('attention-playground').get('train_running') === false);
  await board.rest();
}, '/');

onBoard('el.train: tags is learned, and the numbers are those of the history and of plain arithmetic', async (board) => {
  const first = await train(board, 1);
  assert.equal(first.step, 1);
  const done = await train(board, 399);
  assert.equal(done.step, 400);
  assert.ok(done.heldOut.accuracy > 0.98, `held out: ${done.heldOut.accuracy}`);
  assert.ok(done.gradientNorm > 0 && done.loss < first.loss / 4);
  const loss = await board.call('getTensor', 'train:loss');
  assert.deepEqual(loss.shape, [1, 400, 3]);
  assert.equal(loss.data[3 * 399], 400);
  assert.ok(Math.abs(loss.data[3 * 399 + 1] - done.loss) < 1e-6);
  for (const layer of [1, 2]) {
    const {data, shape} = await board.call('getTensor', `train:weights:${layer}`);
    assert.deepEqual(shape, [2, 4, 4], '"I saw a saw" comes first');
    for (let row = 0; row < 8; ++row) {
      const weights = Array.from(data).slice(4 * row, 4 * row + 4);
      assert.ok(Math.abs(weights.reduce((sum, w) => sum + w, 0) - 1) < 1e-5);
      assert.ok(weights.every((w, key) => key <= row % 4 || w === 0), 'causal');
    }
  }
});

onBoard('the same seed gives the same run; resetTraining begins anew', async (board) => {
  const first = await train(board, 30);
  await board.page.evaluate(() => document.querySelector('attention-playground').resetTraining());
  assert.equal((await board.call('getTensor', 'train:loss')).shape[1], 0);
  assert.deepEqual(await train(board, 30), first);
  await board.call('set', 'train_seed', 8);
  assert.notDeepEqual(await train(board, 30), first);
});

onBoard('Step, Reset, and back through the run; a head is switched off', async (board) => {
  await train(board, 300);
  await board.settle();
  await click(board, 'train:step');
  await board.until('one more', () => document.querySelector('attention-playground').getTensor('train:loss').shape[1] === 301);
  await click(board, 'train:first');
  await click(board, 'train:next');
  await click(board, 'train:last');
  await click(board, 'train:head:0');
  await click(board, 'train:head:0');
  await click(board, 'train:hardest:0');
  await click(board, 'train:reset');
  await board.until('a new run', () => document.querySelector('attention-playground').getTensor('train:loss').shape[1] === 0);
});

onBoard('"Open this layer on the board": X, W_Q … of the sentence, whose weights are those of the run', async (board) => {
  await train(board, 200);
  await board.settle();
  const trained = await board.call('getTensor', 'train:weights:1');
  await click(board, 'train:open');
  assert.equal(await board.get('view'), 'layer');
  assert.equal(await board.get('mode'), 'x');
  assert.deepEqual(await board.get('labels'), ['I', 'saw', 'a', 'saw']);
  const weights = await board.call('getTensor', 'weights');
  assert.deepEqual(weights.shape, trained.shape);
  Array.from(weights.data).forEach((w, i) => assert.ok(Math.abs(w - trained.data[i]) < 1e-5, `weight ${i}: ${w}, trained ${trained.data[i]}`));
});

onBoard('own sentences, and what cannot be read', async (board) => {
  const refused = (value) => board.page.evaluate((text) => {
    try { document.querySelector('attention-playground').set('train_sentences', text); return ''; } catch (error) { return error.message; }
  }, value);
  assert.match(await refused('I saw a zebra'), /train_sentences: line 1: "zebra" is in no sentence to learn from/);
  assert.equal(await refused('I saw a zebra\nthe/determiner zebra/noun saw/verb you/pronoun'), '');
  await train(board, 5);
  assert.deepEqual((await board.call('getTensor', 'train:weights:1')).shape, [2, 4, 4]);
});

onBoard('own sentences are announced as they are written', async (board) => {
  await isMirrored(board);
  const own = 'I saw a zebra\nthe/determiner zebra/noun saw/verb you/pronoun';
  await board.call('set', 'train_sentences', own);
  await until('the announcement', () => board.page.evaluate((text) =>
    document.querySelector('attention-playground').shadowRoot.querySelector('.hidden').shadowRoot.querySelector('[role=status]').textContent.startsWith(`Train sentences: ${text}, was `), own));
}, '/?view=train', {prepare: opened});

onBoard('a rate that blows up: the promise is refused, and the run stands at its last good step', async (board) => {
  for (const [option, value] of [['train_optimizer', 'sgd'], ['train_layer_norm', false], ['train_rate', 1000]]) await board.call('set', option, value);
  const [message, field] = await board.page.evaluate(() => document.querySelector('attention-playground').train(100).then(() => [], (error) => [error.message, error.field]));
  assert.equal(field, 'train_rate');
  assert.match(message, /^train_rate: at step \d+ the \w+ was not a finite number, so the run went back to step \d+/);
  assert.ok(Array.from((await board.call('getTensor', 'train:loss')).data).every(Number.isFinite));
});

onBoard('induction is learned from Play on, drawing included', async (board) => {
  await board.call('set', 'train_task', 'induction');
  await board.click('train:play');
  const from = Date.now();
  await board.until('prefix matching', () => {
    const el = document.querySelector('attention-playground'), {data, shape} = el.getTensor('train:loss');
    return shape[1] > 0 && data[3 * shape[1] - 1] < 0.9;
  });
  console.log(`# induction: held-out loss below 0.9 after ${((Date.now() - from) / 1000).toFixed(1)} s`);
});

onBoard('where frames come late a run goes on between them, and the next frame shows it', async (board) => {
  await board.call('set', 'train_running', true);
  await board.until('some steps', () => document.querySelector('attention-playground').getTensor('train:loss').shape[1] > 10);
  await board.page.evaluate(() => {
    globalThis.held = [];
    globalThis.ask = globalThis.requestAnimationFrame;
    globalThis.requestAnimationFrame = (call) => globalThis.held.push(call);
  });
  await board.until('a frame that is held back', () => globalThis.held.length > 0);
  const [frames, steps] = await board.page.evaluate(() => {
    const el = document.querySelector('attention-playground');
    return [el.stats().frames, el.getTensor('train:loss').shape[1]];
  });
  await board.until('more steps', (n) => document.querySelector('attention-playground').getTensor('train:loss').shape[1] > n + 50, steps);
  assert.equal((await board.stats()).frames, frames);
  await board.page.evaluate(() => {
    globalThis.requestAnimationFrame = globalThis.ask;
    globalThis.held.forEach((call) => globalThis.ask(call));
  });
  await board.until('frames', (n) => document.querySelector('attention-playground').stats().frames > n, frames);
  await board.call('set', 'train_running', false);
  await board.rest();
});

test('while a model learns, its large tables in words come one after the other', async () => {
  const board = await browser.open('/?view=train', {prepare: (page) => page.addInitScript(() => {
    const {createElement} = Document.prototype;
    let now = 0;
    Object.assign(globalThis, {tables: 0, tablesAtOnce: 0});
    Document.prototype.createElement = function (name, ...more) {
      if (name === 'table') {
        if (!now++) queueMicrotask(() => { now = 0; });
        ++globalThis.tables, globalThis.tablesAtOnce = Math.max(globalThis.tablesAtOnce, now);
      }
      return createElement.call(this, name, ...more);
    };
  })});
  await board.until('the tables of the task before', () => globalThis.tables > 0);  // from now on it waits for a quiet moment, which a run has not
  await board.page.evaluate(() => {
    const element = document.querySelector('attention-playground');
    element.set('train_task', 'induction');  // two layers with two heads of 32 × 32 weights
    element.resetTraining();
    element.set('train_running', true);
    Object.assign(globalThis, {tables: 0, tablesAtOnce: 0});  // the small tables of the task before may have come together
  });
  await board.until('all tables', () => globalThis.tables >= 4);
  assert.equal(await board.page.evaluate(() => globalThis.tablesAtOnce), 1);
  await board.call('set', 'train_running', false);
  await board.rest();
  await board.close();
});

test('a place that is asked for is where it stays, also in the bar below the page', async () => {
  for (const viewport of [{width: 1440, height: 900}, {width: 640, height: 440}, {width: 390, height: 844}]) {
    const board = await browser.open('/', {viewport});
    await board.call('set', 'view', 'train');
    await board.settle();
    for (const {name} of (await board.call('items')).filter(({name}) => /^train:(first|back|run|next|last|scrub)$/.test(name))) {
      const {x, y} = await board.call('locate', name);
      await board.settle();
      const {rect} = (await board.call('items')).find((item) => item.name === name);
      assert.deepEqual([x, y], [rect.x, rect.y], `${name} at ${viewport.width}`);
    }
    await board.close();
  }
});
