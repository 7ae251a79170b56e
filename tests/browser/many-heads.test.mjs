// The page of all heads at its limits: 48 layers of 64 heads, 4,096 tokens, and as many numbers as a board has room for.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {until} from '../until.mjs';
import {SCREENSHOTS, start} from './harness.mjs';

const MEGABYTE = 2 ** 20;
let browser;
before(async () => { browser = await start(); });
after(() => browser.stop());

const random = (i) => (Math.sin(i * 12.9898) * 43758.5453) % 1;
const items = async (board, pattern) => (await board.call('items')).filter(({name}) => pattern.test(name));
/** The heads from the first to the last, as "0:1". */
const order = async (board) => (await items(board, /^layer:\d+:\d+$/)).sort(({rect: a}, {rect: b}) => a.y - b.y || a.x - b.x).map(({name}) => name.slice(6));

/** Drops a recording, opens all that is in it, and goes to the page. */
async function opened(content, layers, dropped = (board) => board.drop(JSON.stringify(content), 'recording.json')) {
  const board = await browser.open('/', {viewport: {width: 1440, height: 900}, seen: true});
  await dropped(board);
  await until('the question', async () => (await items(board, /^form-open$/)).length > 0, 60_000);
  await board.click('form-open');
  await until('the layers', async () => await board.get('batch') === layers, 60_000);
  await board.call('set', 'view', 'model');
  board.noted = await noted(board);
  await drawn(board);
  return board;
}
/** Notes in each frame how many heads have a picture, and how many have been computed; returns a function that gives all that there was. */
async function noted(board) {
  await board.page.evaluate(() => {
    globalThis.noted = new Set();
    const look = () => {
      globalThis.noted.add(JSON.stringify(document.querySelector('attention-playground').stats().heads));
      requestAnimationFrame(look);
    };
    look();
  });
  return async () => (await board.page.evaluate(() => [...globalThis.noted])).map((one) => JSON.parse(one));
}

/** Waits until all heads are measured and drawn: then no further frame is asked for. */
async function drawn(board) {
  let last = -1;
  await until('all heads are drawn', async () => {
    const {frames} = await board.stats(), isStill = frames === last;
    last = frames;
    await board.rest();
    return isStill;
  }, 300_000);
}

test('48 layers of 64 heads: the grid opens, is ordered, filtered and searched, and a press opens a head', async () => {
  const LAYERS = 48, HEADS = 64, TOKENS = 12, tokens = 'I saw a saw by the river and the mill by river'.split(' '), rivers = [6, 11];
  const weights = Array.from({length: LAYERS}, (_, layer) => Array.from({length: HEADS}, (__, head) => Array.from({length: TOKENS}, (___, i) => {
    const parts = Array.from({length: TOKENS}, (____, j) => j > i ? 0 : Math.exp(4 * random(((layer * HEADS + head) * TOKENS + i) * TOKENS + j))), sum = parts.reduce((a, b) => a + b);
    return parts.map((part) => part / sum);
  })));
  const board = await opened({attentions: weights, tokens}, LAYERS);
  const places = Array.from({length: LAYERS * HEADS}, (_, i) => `${Math.floor(i / HEADS)}:${i % HEADS}`);
  assert.deepEqual(await order(board), places);
  const ordered = async (measure) => {
    await drawn(board);
    const found = await order(board);
    assert.equal(new Set(found).size, places.length);
    found.reduce((before, name) => {
      const [layer, head] = name.split(':').map(Number), value = measure(weights[layer][head]);
      assert.ok(value <= before + 1e-5, `${name}: ${value} after ${before}`);
      return value;
    }, Infinity);
    return found;
  };
  await board.call('set', 'model_find', 'river');
  const first = (await ordered((rows) => rows.reduce((sum, row, i) => sum + rivers.reduce((part, j) => part + (i === j ? 0 : row[j]), 0), 0)))[0];
  await board.page.screenshot({path: `${SCREENSHOTS}/web-many-heads.png`});
  await board.click('model:by');
  await board.rest();
  await board.click('model:by:1');
  await ordered((rows) => rows.reduce((sum, row, i) => sum + (i > 1 ? row[i - 1] : 0), 0));
  await board.click('model:show:none');
  await board.call('set', 'model_find', '');
  await board.call('set', 'model_find', 'river');
  await drawn(board);
  await board.click(`layer:${first}`);
  await until('the head', async () => await board.get('view') === 'layer');
  assert.equal(`${await board.get('layer')}:${await board.get('focus_head')}`, first);
  assert.ok((await board.stats()).heapBytes < 128 * MEGABYTE);
  await board.close();
});

test('12 layers × 12 heads × 256 tokens of 64 columns: the whole recording opens, in less than 300 MB', async () => {
  const SHAPE = [12, 256, 64], LAYERS = 12;
  const board = await opened(null, LAYERS, (one) => one.page.evaluate(([shape, layers]) => {
    const names = Array.from({length: layers}, (_, i) => ['q', 'k', 'v'].map((name) => `h.${i}.${name}`)).flat(), size = shape.reduce((a, b) => a * b);
    const header = JSON.stringify(Object.fromEntries(names.map((name, i) => [name, {dtype: 'F32', shape, data_offsets: [i * size * 4, (i + 1) * size * 4]}])));
    const padded = header.padEnd(Math.ceil(header.length / 8) * 8), length = new DataView(new ArrayBuffer(8));
    length.setBigUint64(0, BigInt(padded.length), true);
    const numbers = Float32Array.from({length: size}, (_, i) => Math.sin(i * 12.9898)), dataTransfer = new DataTransfer(), element = document.querySelector('attention-playground');
    dataTransfer.items.add(new File([length, padded, ...names.map(() => numbers)], 'recording.safetensors'));
    for (const type of ['dragenter', 'dragover', 'drop']) element.dispatchEvent(new DragEvent(type, {dataTransfer, bubbles: true, cancelable: true, composed: true}));
  }, [SHAPE, LAYERS]));
  assert.equal((await order(board)).length, 144);
  const states = (await board.noted()).filter(({whole}) => whole > 0);
  assert.ok(states.length > 0 && states.every(({pictured}) => pictured === 144), JSON.stringify(states));
  const {heapBytes} = await board.stats();
  console.log(`${(heapBytes / MEGABYTE).toFixed(0)} MB`);
  assert.ok(heapBytes < 300 * MEGABYTE, `${heapBytes} bytes`);
  await board.close();
});

test('8 heads of 1,024 tokens: all have a picture before the one in view is followed by another, and in the end all are computed', async () => {
  const board = await browser.open('/', {viewport: {width: 1440, height: 900}, seen: true});
  await board.call('set', 'heads', 1);
  const found = await noted(board);
  await board.page.evaluate(() => {
    const element = document.querySelector('attention-playground');
    for (const [option, value] of [['d_k', 64], ['heads', 8], ['tokens', 1024]]) element.set(option, value);
  });
  await until('all heads', async () => (await board.stats()).heads.whole === 8, 60_000);
  const states = await found();  // of a busy machine, not all that there were
  for (const {pictured, whole} of states) assert.ok(whole < 2 || pictured === 8, JSON.stringify(states));
  await board.close();
});

test('4,096 tokens: the grid opens within memory, is searched, and a press opens a head', async () => {
  const LAYERS = 2, TOKENS = 4096, COLUMNS = 4, content = {tokens: Array.from({length: TOKENS}, (_, i) => `t${i % 97}`)};
  for (let layer = 0; layer < LAYERS; ++layer) {
    content[`h.${layer}.causal`] = true;
    for (const name of ['q', 'k', 'v']) content[`h.${layer}.${name}`] = [Array.from({length: TOKENS}, (_, i) => Array.from({length: COLUMNS}, (__, j) => 2 * random(layer * 1e5 + name.charCodeAt(0) * 1e4 + i * COLUMNS + j)))];
  }
  const board = await opened(content, LAYERS);
  assert.deepEqual(await order(board), ['0:0', '1:0']);
  await board.call('set', 'model_find', 't5');
  await drawn(board);
  await board.page.screenshot({path: `${SCREENSHOTS}/web-many-tokens.png`});
  assert.deepEqual((await order(board)).sort(), ['0:0', '1:0']);
  await board.click('layer:1:0');
  await until('the head', async () => await board.get('view') === 'layer' && await board.get('layer') === 1);
  assert.ok((await board.stats()).heapBytes < 1024 * MEGABYTE, `${(await board.stats()).heapBytes} bytes`);
  await board.close();
});

test('of many choices the mirror asks for each as often as for a control of its own, however many others there are', async () => {
  const board = await browser.open('/', {viewport: {width: 1440, height: 900}, seen: true});
  await board.page.evaluate(() => {
    const {get} = Map.prototype;
    globalThis.asked = {};
    Map.prototype.get = function (key) {
      if (key === 'control layer:0:0' || key === 'control undo') globalThis.asked[key] = (globalThis.asked[key] ?? 0) + 1;
      return get.call(this, key);
    };
  });
  for (const [name, value] of [['tokens', 4], ['heads', 1], ['d_k', 16], ['heads', 16], ['d_k', 1], ['batch', 8], ['batch_of', 'layers'], ['view', 'model']]) await board.call('set', name, value);
  const asked = () => board.page.evaluate(() => globalThis.asked);
  await until('the choices', async () => (await asked())['control layer:0:0'] > 0);
  await board.rest();
  await board.page.evaluate(() => { globalThis.asked = {}; });
  await board.call('set', 'decimals', 3);
  await until('the choices once more', async () => (await asked())['control layer:0:0'] > 0);
  const {'control layer:0:0': choice, 'control undo': own} = await asked();
  assert.ok(choice <= 4 * own, `${choice} and ${own} times`);
  await board.close();
});
