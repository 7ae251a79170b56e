// A model with several layers: the page of all heads, the selector, keys, scripts, the mirror, links; and the colours of cells.
import assert from 'node:assert/strict';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {inflateRawSync} from 'node:zlib';
import {after, before, test} from 'node:test';
import {until} from '../until.mjs';
import {start} from './harness.mjs';

const LAYERS = 4, HEADS = 3, TOKENS = 5, COLUMNS = 4;
let browser, folder;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'layers-'));
  browser = await start();
});
after(async () => {
  await browser.stop();
  rmSync(folder, {recursive: true});
});

const number = (layer, name, i) => Math.sin(1 + 37 * layer + 5 * name.charCodeAt(0) + 0.7 * i) * 1.5;
/** A recording: q, k and v of every layer, under the name of the layer. */
function model(layers = LAYERS) {
  const out = {tokens: ['I', 'saw', 'a', 'saw', '.']};
  for (let layer = 0; layer < layers; layer++)
    for (const name of ['q', 'k', 'v'])
      out[`h.${layer}.${name}`] = Array.from({length: HEADS}, (_, h) => Array.from({length: TOKENS}, (_, t) => Array.from({length: COLUMNS}, (_, c) => Math.fround(number(layer, name, (h * TOKENS + t) * COLUMNS + c)))));
  return JSON.stringify(out);
}

/** Drops it on the board, and opens what is proposed first. */
async function opened(settings) {
  const board = await browser.open('/', settings);
  await board.drop(model(), 'model.json');
  await board.rest();
  await board.click('form-open');
  await until('the layers', async () => await board.get('batch') === LAYERS);
  await board.rest();
  return board;
}
const names = async (board) => (await board.call('items')).map(({name}) => name);
const q0 = (layer) => Math.fround(number(layer, 'q', 0));

test('a recorded model opens with all its layers, and the board goes through them', async () => {
  const board = await opened();
  assert.equal(await board.get('batch_of'), 'layers');
  assert.equal(await board.value('q', 0, 0, 0), q0(0));
  await board.click('layer+');
  assert.equal(await board.get('layer'), 1);
  assert.equal(await board.value('q', 0, 0, 0), q0(1));
  await board.click('layer:heads+');
  assert.equal(await board.get('layer'), 2);
  await board.check();
  await board.page.focus('attention-playground');
  await board.press('j');
  assert.equal(await board.get('layer'), 3);
  await board.press('j');
  assert.equal(await board.get('layer'), 0, 'the first follows the last');
  await board.press('Shift+J');
  assert.equal(await board.get('layer'), 3);
  // Scripts; undo and redo also change layers, and show each edit in its layer.
  await board.call('set', 'layer', 1);
  await board.call('setTensor', 'q', Array(HEADS * TOKENS * COLUMNS).fill(0.5), [HEADS, TOKENS, COLUMNS]);
  await board.call('set', 'layer', 2);
  assert.equal(await board.value('q', 0, 0, 0), q0(2));
  await board.call('undo');
  assert.deepEqual([await board.get('layer'), await board.value('q', 0, 0, 0)], [1, 0.5]);
  await board.call('undo');
  assert.deepEqual([await board.get('layer'), await board.value('q', 0, 0, 0)], [1, q0(1)]);
  await board.call('redo');
  await board.call('redo');
  assert.equal(await board.get('layer'), 2);
  await assert.rejects(board.call('set', 'layer', 4), /layer: 4 is too large; use 0 to 3\./);
  await board.close();
});

test('a figure and its file name the layer that they are of', async () => {
  const board = await opened();
  await board.call('set', 'layer', 2);
  await board.click('share');
  const panel = board.page.locator('attention-playground dialog');
  await panel.getByRole('tab', {name: 'Figure'}).click();
  const image = panel.getByRole('img', {name: /^Attention/});
  await until('the figure', async () => /^Attention weights, layer 3, head 1\./.test(await image.first().getAttribute('alt', {timeout: 1000}).catch(String)));
  assert.match(await panel.getByText(/\.svg$/).locator('visible=true').textContent(), /-weights-layer-3-head-1\.svg$/);
  await board.close();
});

test('all heads of all layers stand on one page; a press opens one', async () => {
  for (const viewport of [{width: 1440, height: 900}, {width: 390, height: 844}]) {
    const board = await opened({viewport});
    await board.call('set', 'view', 'model');
    await board.rest();
    const found = new Set(await names(board));
    for (let layer = 0; layer < LAYERS; layer++)
      for (let head = 0; head < HEADS; head++) assert.ok(found.has(`layer:${layer}:${head}`), `layer ${layer}, head ${head}`);
    await board.click('layer:2:1');
    await board.settle();
    assert.deepEqual([await board.get('view'), await board.get('layer'), await board.get('focus_head')], ['layer', 2, 1]);
    await board.page.focus('attention-playground');
    await board.press('a');
    assert.equal(await board.get('view'), 'model');
    await board.press('Escape');
    assert.equal(await board.get('view'), 'layer');
    await board.close();
  }
});

test('the mirror has the selector and every head by its name', async () => {
  const board = await opened();
  const session = await board.page.context().newCDPSession(board.page);
  await session.send('Accessibility.enable');
  const spoken = async () => (await session.send('Accessibility.getFullAXTree')).nodes.filter((n) => !n.ignored).map((n) => `${n.role?.value}: ${n.name?.value}`);
  await until('the selector', async () => (await spoken()).includes('spinbutton: Layer, of 4'));
  await board.call('set', 'view', 'model');
  await until('the heads', async () => (await spoken()).includes('radio: Layer 4, head 3'));
  await board.close();
});

test('a link holds the layer on the board, and says so; the state holds all of them', async () => {
  const board = await opened();
  await board.call('set', 'layer', 2);
  await board.call('setTensor', 'q', [-0, ...Array(HEADS * TOKENS * COLUMNS - 1).fill(0.25)], [HEADS, TOKENS, COLUMNS]);
  const link = await board.call('link');
  const state = inflateRawSync(Buffer.from(link.split('#s=')[1], 'base64url')).toString();
  assert.equal(JSON.parse(state).pages, undefined);
  const there = await browser.open(new URL(link).pathname + new URL(link).hash);
  assert.ok(Object.is((await there.tensor('q')).data[0], -0));
  assert.deepEqual((await there.tensor('q')).data, (await board.tensor('q')).data);
  assert.deepEqual((await there.tensor('weights')).data, (await board.tensor('weights')).data);
  assert.equal(await there.get('batch'), 1);
  await there.close();
  const whole = await board.call('getState');
  const other = await browser.open();
  await other.call('setState', whole);
  assert.deepEqual([await other.get('batch'), await other.get('layer')], [LAYERS, 2]);
  await other.call('set', 'layer', 3);
  assert.equal(await other.value('q', 0, 0, 0), q0(3));
  await other.close();
  await board.click('share');
  await until('what the link leaves out', () => board.page.evaluate(() => {
    const all = [document];
    for (const root of all) for (const node of root.querySelectorAll('*')) if (node.shadowRoot) all.push(node.shadowRoot);
    return all.some((root) => /It holds the layer on the board alone/.test(root.textContent));
  }));
  await board.close();
});

const figure = (board, options) => board.page.evaluate(async (wanted) => (await document.querySelector('attention-playground').toBlob(wanted)).text(), {format: 'svg', ...options});
const wordsOf = (svg) => [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, words]) => words);

test('a figure, in the dialog too, is of the layer on the board, with the tokens of that layer', async () => {
  const own = JSON.parse(model());
  delete own.tokens;
  for (let layer = 0; layer < LAYERS; layer++) own[`h.${layer}.tokens`] = Array.from({length: TOKENS}, (_, i) => `${'abcd'[layer]}${i}`);
  const board = await browser.open();
  await board.drop(JSON.stringify(own), 'own.json');
  await board.rest();
  await board.click('form-open');
  await until('the layers', async () => await board.get('batch') === LAYERS);
  for (const layer of [2, 0, 3]) {
    await board.call('set', 'layer', layer);
    const {data} = await board.tensor('weights'), wanted = data.slice(TOKENS * TOKENS, 2 * TOKENS * TOKENS).map((w) => w.toFixed(2));
    const words = wordsOf(await figure(board, {what: 'weights', head: 1}));
    for (let i = 0; i < TOKENS; i++) assert.ok(words.includes(`${'abcd'[layer]}${i}`), `the labels of layer ${layer}: ${words}`);
    const from = words.indexOf(wanted[0]);
    assert.deepEqual(words.slice(from, from + wanted.length), wanted, `layer ${layer}`);
  }
  await board.click('share');
  await board.page.getByRole('tab', {name: 'Figure', exact: true}).click();
  const image = board.page.getByRole('tabpanel', {name: 'Figure', exact: true}).locator('img');
  await until('its picture', async () => decodeURIComponent(await image.getAttribute('src') ?? '').includes('>d0<'));
  await board.close();
});

test('weights alone open as a board to look at: layers, the page of all heads, and words where Q and K say nothing', async () => {
  const rows = (layer, head) => Array.from({length: TOKENS}, (_, i) => Array.from({length: TOKENS}, (_, j) => Math.exp(number(layer, 'w', (head * TOKENS + i) * TOKENS + j)))).map((row) => row.map((w) => w / row.reduce((a, b) => a + b)));
  const all = Array.from({length: LAYERS}, (_, layer) => Array.from({length: HEADS}, (_, head) => rows(layer, head)));
  for (const [name, content] of [['attentions.json', {attentions: all, tokens: ['I', '\u0120saw', '\u2581a', '\n', '.']}], ['list.json', all]]) {
    const board = await browser.open();
    await board.drop(JSON.stringify(content), name);
    await board.rest();
    assert.ok((await names(board)).includes('form-open'), `${name} is asked about`);
    await board.click('form-open');
    await until('the layers', async () => await board.get('batch') === LAYERS);
    await board.rest();
    assert.equal(await board.get('batch_of'), 'layers');
    if (content.tokens) assert.deepEqual(await board.get('labels'), ['I', '\u2423saw', '\u2581a', '\\n', '.']);
    await board.click('layer+');
    const {data} = await board.tensor('weights');
    all[1].flat(2).forEach((w, i) => assert.ok(Math.abs(w - data[i]) < 1e-6, `weight ${i}`));
    const words = wordsOf(await figure(board, {what: 'board'}));
    assert.ok(words.includes('zeros: the bias makes the weights'), String(words));
    await board.call('setTensor', 'q', Array(HEADS * TOKENS).fill(1), [HEADS, TOKENS, 1]);
    await board.call('setTensor', 'k', Array(HEADS * TOKENS).fill(1), [HEADS, TOKENS, 1]);
    assert.ok(!wordsOf(await figure(board, {what: 'board'})).includes('zeros: the bias makes the weights'));
    await board.call('undo');
    await board.call('undo');
    await board.call('set', 'view', 'model');
    await board.rest();
    await board.click('layer:3:2');
    await board.settle();
    assert.deepEqual([await board.get('view'), await board.get('layer'), await board.get('focus_head')], ['layer', 3, 2]);
    await board.close();
  }
});

// ---------------------------------------------------------------- colours

/** The colour in the upper left of a cell, where there is no digit. */
async function colour(board, ...cell) {
  const {x, y} = await board.call('locate', ...cell);
  const shot = await board.page.screenshot({clip: {x: Math.round(x) + 5, y: Math.round(y) + 5, width: 2, height: 2}});
  return board.page.evaluate(async (bytes) => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(bytes)], {type: 'image/png'})), canvas = new OffscreenCanvas(2, 2), pen = canvas.getContext('2d');
    pen.drawImage(image, 0, 0);
    return Array.from(pen.getImageData(0, 0, 1, 1).data.slice(0, 3));
  }, [...shot]);
}
const far = (a, b) => Math.max(...a.map((x, i) => Math.abs(x - b[i])));

test('one cell of −1e30 leaves all others their colours, and the board says where they end', async () => {
  const board = await browser.open('/', {seen: true});
  await board.rest();
  const shape = (await board.tensor('q')).shape;
  const data = Array.from({length: shape.reduce((a, b) => a * b, 1)}, (_, i) => (i % 2 ? 1 : -1) * 0.9);
  await board.call('setTensor', 'q', data, shape);
  await board.rest();
  const before = [await colour(board, 'q', 0, 1, 0), await colour(board, 'q', 0, 1, 1)];
  assert.ok(far(...before) > 40, `two signs: ${before}`);
  assert.ok(!(await names(board)).includes('clipped:q'));
  await board.call('setTensor', 'q', [-1e30, ...data.slice(1)], shape);
  await board.rest();
  assert.ok(far(await colour(board, 'q', 0, 1, 0), before[0]) < 3);
  assert.ok(far(await colour(board, 'q', 0, 1, 1), before[1]) < 3);
  assert.ok((await names(board)).includes('clipped:q'));
  await board.close();
});

test('cividis and grey are colours of the board, by option, control and pixels', async () => {
  const board = await browser.open('/', {seen: true});
  await board.call('set', 'causal', false);
  const w = await board.tensor('weights'), size = w.shape[1];
  await board.rest();
  const own = await colour(board, 'weights', 0, 0, 0);
  await board.call('set', 'color_map', 'cividis');
  await board.rest();
  const stops = [[0, 32, 81], [17, 54, 108], [60, 77, 110], [98, 100, 111], [127, 124, 117], [154, 148, 120], [187, 175, 113], [226, 203, 92], [253, 234, 69]];
  for (let i = 0; i < size; i++)
    for (let j = 0; j < size; j++) {
      const at = w.at(0, i, j) * 8, from = Math.min(7, Math.floor(at)), wanted = stops[from].map((x, n) => x + (stops[from + 1][n] - x) * (at - from));
      const seen = await colour(board, 'weights', 0, i, j);
      assert.ok(far(seen, wanted) < 4, `weight ${w.at(0, i, j)} is ${seen}, not ${wanted}`);
    }
  await board.call('set', 'color_map', 'grey');
  await board.rest();
  const lightness = [];
  for (let j = 0; j < size; j++) {
    const [r, g, b] = await colour(board, 'weights', 0, 1, j);
    assert.ok(Math.abs(r - g) < 5 && Math.abs(g - b) < 8, `grey: ${[r, g, b]}`);
    lightness.push([w.at(0, 1, j), r]);
  }
  lightness.sort((a, b) => a[0] - b[0]);
  for (let i = 1; i < size; i++) assert.ok(lightness[i][1] <= lightness[i - 1][1], 'a larger weight is darker');
  const q = await board.tensor('q'), [low, high] = [Math.min(...q.data.slice(0, size * 2)), Math.max(...q.data.slice(0, size * 2))].map((x) => q.data.indexOf(x));
  const at = (i) => colour(board, 'q', 0, Math.floor(i / q.shape[2]), i % q.shape[2]);
  assert.ok((await at(low))[0] < (await at(high))[0], 'of signed numbers the lowest is darkest');
  // It is a view option: undo does not change it, a link contains it, and its control is in the panel.
  await board.call('undo');
  assert.equal(await board.get('color_map'), 'grey');
  await board.call('redo');
  assert.match(inflateRawSync(Buffer.from((await board.call('link')).split('#s=')[1], 'base64url')).toString(), /"color_map": *"grey"/);
  await board.click('color_map');
  await board.rest();
  await board.click('color_map:own');
  await board.rest();
  assert.ok(far(await colour(board, 'weights', 0, 0, 0), own) < 3);
  await board.close();
});
