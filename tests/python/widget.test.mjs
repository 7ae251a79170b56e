// The notebook widget, tested by anywidget's contract with its front end; notebook.test.mjs tests it in a real Jupyter.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {gzipSync} from 'node:zlib';
import {launch, SCREENSHOTS} from '../browser/harness.mjs';
import {until} from '../until.mjs';
import {fresh, run, script} from './installed.mjs';

let home, browser, server, address, text;
before(async () => {
  home = fresh();
  const place = run(home.python, '-c', 'import attention_playground as a, os; print(os.path.dirname(a.__file__), end="")');
  text = run(home.python, '-c', `import numpy as np
import json
from attention_playground import Playground
r = np.random.default_rng(5)
print(json.dumps(Playground(q=r.normal(size=(2, 4, 3)), k=r.normal(size=(2, 4, 3)), v=r.normal(size=(2, 4, 3)), tokens="I saw a saw".split()).state), end="")`);
  const files = {
    '/': [readFileSync(script('notebook.html')), 'text/html'],
    '/widget.js': [readFileSync(join(place, 'widget.js')), 'text/javascript'],
    '/standalone.gz': [gzipSync(readFileSync(join(place, 'page/standalone.js'))), 'application/octet-stream'],
  };
  server = createServer(({url}, response) => {
    const [content, type] = files[url] ?? ['', 'text/plain'];
    response.writeHead(files[url] ? 200 : 404, {'Content-Type': type}).end(content);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${server.address().port}/`;
  browser = await launch();
});
after(async () => {
  await browser.close();
  server.close();
  server.closeAllConnections();
  home.remove();
});

async function notebook() {
  const page = await browser.newPage({viewport: {width: 1300, height: 1400}}), complaints = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && !/favicon/.test(message.location().url) && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(address);
  await until('the widget', () => page.evaluate(() => typeof globalThis.show === 'function'));
  return {page, complaints, async close() {
    await page.close();
    assert.deepEqual(complaints, []);
  }};
}
/** A trait as the kernel has it, and the state that it was told. */
const saved = (page, name, at = 0) => page.evaluate(([trait, i]) => globalThis.cells[i].model.saved?.[trait], [name, at]);
const display = (page, values) => page.evaluate((traits) => (globalThis.cells ??= []).push(globalThis.show(traits)), values);
const weights = (page, at = 0) => page.evaluate((i) => globalThis.cells[i].model.tensors?.weights, at);
const kernel = (page, at = 0) => page.evaluate((i) => globalThis.cells[i].model.kernel, at);

test('the board has the tensors of the kernel, and the kernel gets the state, and the tensors that it asked for', async () => {
  const {page, close} = await notebook();
  await display(page, {state: text, hide: 'guide', height: 620, wanted: ['weights']});
  const first = await until('the weights', () => weights(page));
  assert.deepEqual(first.shape, [2, 4, 4]);
  for (let row = 0; row < 8; ++row) assert.ok(Math.abs(first.data.slice(4 * row, 4 * row + 4).reduce((a, b) => a + b) - 1) < 1e-5);
  assert.deepEqual((await kernel(page)).labels, ['I', 'saw', 'a', 'saw']);
  const wanted = JSON.parse(text).q.data.map(Math.fround);
  assert.deepEqual(await page.evaluate(() => Array.from(document.querySelector('attention-playground').getTensor('q').data)), wanted);
  assert.equal(await page.evaluate(() => document.querySelector('attention-playground').getBoundingClientRect().height), 620);
  await close();
});

test('what the reader changes comes to the kernel, and what the kernel changes to the board', async () => {
  const {page, close} = await notebook();
  await display(page, {state: text});
  await until('the state', async () => (await kernel(page)).version);
  assert.equal(await weights(page), undefined, 'nothing that was not asked for');
  // From the board: dragging a cell.
  const {x, y, width, height} = await page.evaluate(() => document.querySelector('attention-playground').locate('q', 0, 3, 0).toJSON());
  const before = await page.evaluate(() => document.querySelector('attention-playground').getTensor('q').data[9]);
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width / 2, y + height / 2 - 60, {steps: 5});
  await page.mouse.up();
  await until('the edit in the kernel', async () => (await kernel(page)).q.data[9] !== before);
  assert.deepEqual(await page.evaluate(() => globalThis.cells[0].model.changes.at(-1)), ['q'], 'only what has changed');
  // From the kernel: options, then a whole state.
  await page.evaluate(() => globalThis.cells[0].model.set('options', {causal: true, temperature: 2}));
  await until('the options in the state', async () => (await kernel(page)).causal === true && (await kernel(page)).temperature === 2);
  assert.equal(await page.evaluate(() => document.querySelector('attention-playground').get('temperature')), 2);
  assert.deepEqual(await saved(page, 'options'), {});
  await page.evaluate((state) => globalThis.cells[0].model.give_state(JSON.parse(state)), text);
  await until('the state on the board', () => page.evaluate(() => document.querySelector('attention-playground').get('causal') === false));
  assert.equal(await page.evaluate(() => document.querySelector('attention-playground').undo()), true, 'it can be undone');
  // View options.
  await page.evaluate(() => globalThis.cells[0].model.set('height', 444));
  await page.evaluate(() => globalThis.cells[0].model.set('parts', 'q,weights'));
  assert.equal(await page.evaluate(() => document.querySelector('attention-playground').style.height), '444px');
  assert.equal(await page.evaluate(() => document.querySelector('attention-playground').show), 'q,weights');
  await close();
});

test('what the board refuses is a sentence in the kernel, and the board stays', async () => {
  const {page, close} = await notebook();
  await display(page, {state: text, wanted: ['weights']});
  const first = await until('the weights', () => weights(page));
  await page.evaluate(() => globalThis.cells[0].model.set('options', {temperature: -1}));
  assert.match(await until('the refusal', () => saved(page, 'error')), /temperature/);
  await page.evaluate(() => globalThis.cells[0].model.give_state({q: {shape: [1, 1], data: [1]}}));
  await until('the next one', async () => !/temperature/.test(await saved(page, 'error')));
  assert.deepEqual(await page.evaluate(() => Array.from(document.querySelector('attention-playground').getTensor('weights').data)), first.data);
  await close();
});

test('several boards load the page once, and one that is closed leaves nothing', async () => {
  const {page, close} = await notebook();
  await page.evaluate((state) => { globalThis.cells = [0, 1].map(() => globalThis.show({state, height: 400, wanted: ['weights']})); }, text);
  await until('both', async () => (await weights(page, 0)) && (await weights(page, 1)));
  assert.equal(await page.evaluate(() => globalThis.cells.reduce((sum, {model}) => sum + model.sent.filter(({wants}) => wants === 'page').length, 0)), 1);
  await page.evaluate(() => globalThis.cells[0].end());
  assert.equal(await page.evaluate(() => document.querySelectorAll('attention-playground').length), 1);
  assert.equal(await page.evaluate(() => globalThis.cells[0].model.listeners()), 0);
  await page.evaluate(() => globalThis.cells[1].model.set('options', {causal: true}));
  await until('the other one lives', async () => (await kernel(page, 1)).causal === true);
  await close();
});

test('what keeps the board from loading is a sentence in the cell and in the kernel', async () => {
  const {page, close} = await notebook();
  await display(page, {state: text, failing: 'the page is missing'});
  assert.match(await until('the reason', () => saved(page, 'error')), /the page is missing/);
  assert.match(await page.evaluate(() => globalThis.cells[0].el.textContent), /could not be loaded from the kernel \(the page is missing\)/);
  await close();
});

/** All heads of two layers of two, whose kernel answers changes by what they are, and a head of the sweep whenever `globalThis.next()` is called. */
const displayHeads = (page, live) => page.evaluate((isLive) => {
  const none = new ArrayBuffer(0), asked = globalThis.asked = [];
  const waiting = [];
  globalThis.next = () => waiting.shift()?.();
  globalThis.waits = () => waiting.length;
  (globalThis.cells ??= []).push(globalThis.show({state: '{}', kind: 'heads', title: 'GPT-2', layers: [['a', 2], ['b', 2]], live: isLive, answers: {
    thumbnails: () => [{size: 1}, new Uint8Array(4).buffer],
    head: () => [{values: {rows: 1, keys: 1, positions: 'rotary, yarn, factor 2'}, matrices: [['weights', false, [1, 1]]]}, Float32Array.of(1).buffer],
    changed: ({changes, targets}) => {
      asked.push({changes, targets});
      return [{top: [['saw', 0.5, 0.5 - 0.1 * changes.length, 2, -1]], kl: changes.length, loss: targets ? [1, 2] : null}, none];
    },
    effect: ({first}) => new Promise((resolve) => { waiting.push(() => resolve([{found: [first / 10]}, none])); }),
  }}));
}, live);
const cell = (page, selector) => page.locator(`.attention-heads ${selector}`);

test('heads of a model that stands behind the widget are changed by switches, and tried one after the other until it is told to stop', async () => {
  const {page, close} = await notebook();
  await displayHeads(page, true);
  await until('the prediction', async () => /saw/.test(await cell(page, 'table').textContent().catch(() => '')));
  assert.deepEqual(await cell(page, 'tr:nth-child(2) td').allTextContents(), ['saw', '2.00', '0.500'], 'before any change there is one column');
  assert.match(await cell(page, '.links').textContent(), /Positions: rotary, yarn, factor 2\./);
  await cell(page, 'canvas.all').focus();
  await page.keyboard.press('ArrowDown');
  await cell(page, 'select').selectOption('off');
  await until('the head is off', async () => (await page.evaluate(() => globalThis.asked.at(-1).changes)).length === 1);
  assert.deepEqual(await page.evaluate(() => globalThis.asked.at(-1).changes), [[1, 0, 'off', 0.5]]);
  await until('its answer', async () => (await cell(page, 'tr:nth-child(2) td').allTextContents()).length === 5);
  assert.deepEqual(await cell(page, 'tr:nth-child(2) td').allTextContents(), ['saw', '2.00', '−1.00', '0.500', '0.400']);
  await cell(page, 'select').selectOption('scale');
  await cell(page, '.factor').fill('-2');
  await cell(page, '.factor').press('Enter');
  await until('the factor', async () => (await page.evaluate(() => globalThis.asked.at(-1).changes))[0][3] === -2);
  assert.deepEqual(await page.evaluate(() => globalThis.asked.at(-1).changes), [[1, 0, 'scale', -2]]);
  await cell(page, '.targets').fill('saw');
  await cell(page, '.targets').press('Enter');
  await until('the loss', async () => /Loss, nat\s*1\.0002\.000/.test(await cell(page, 'table').textContent()));
  await cell(page, '[aria-label="Head 1.0 as recorded"]').click();
  await until('as recorded', async () => (await page.evaluate(() => globalThis.asked.at(-1).changes)).length === 0);

  const waits = (count) => until('the next head is asked for', async () => await page.evaluate(() => globalThis.waits()) === count);
  await cell(page, 'button:text("Try all heads")').click();
  await waits(1);
  await page.evaluate(() => globalThis.next());
  await until('the first head', async () => /1 of 4 heads/.test(await cell(page, '.switches').textContent()));
  await waits(1);
  await cell(page, 'button:text("Stop")').click();
  await page.evaluate(() => globalThis.next());
  await until('it has stopped', async () => await cell(page, 'button:text("Try all heads")').count() === 1);
  assert.match(await cell(page, '.switches').textContent(), /2 of 4 heads/);
  assert.equal(await page.evaluate(() => globalThis.waits()), 0, 'nothing is asked for any more');
  await page.screenshot({path: join(SCREENSHOTS, 'notebook-switches.png')});
  await cell(page, 'button:text("Try all heads")').click();
  for (let head = 0; head < 4; ++head) {
    await waits(1);
    await page.evaluate(() => globalThis.next());
  }
  await until('all heads', async () => /Each of 4 heads was off alone/.test(await cell(page, '.switches').textContent()));
  await cell(page, 'button.head').first().click();
  await until('the head on which most depends', async () => `${await saved(page, 'chosen')}` === '1,1');
  await page.evaluate(() => globalThis.cells[0].end());
  assert.equal(await page.evaluate(() => globalThis.cells[0].model.listeners()), 0);
  await close();
});

test('a recording without its model has no switches', async () => {
  const {page, close} = await notebook();
  await displayHeads(page, false);
  await until('the head', async () => /Layer 0, head 0/.test(await cell(page, '.links').textContent()));
  assert.equal(await cell(page, '.switches').count(), 0);
  assert.deepEqual(await page.evaluate(() => globalThis.asked), [], 'and nothing is run');
  await close();
});
