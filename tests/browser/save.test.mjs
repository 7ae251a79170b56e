// Saving the board as a file: by the Save menu, by Save as, by toBlob(). The files are read back by NumPy and by the board.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {python} from '../numpy.mjs';
import {until} from '../until.mjs';
import {start} from './harness.mjs';

const script = fileURLToPath(new URL('files.py', import.meta.url));
let browser, folder;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'save-'));
  browser = await start();
});
after(async () => {
  await browser.stop();
  rmSync(folder, {recursive: true});
});

const TENSORS = ['q', 'k', 'v', 'scores', 'masked', 'weights', 'head_output', 'output'];
const hexOf = (data) => Buffer.from(new Float32Array(data).buffer).toString('hex');

function numbersIn(path) {
  const read = spawnSync(python, [script, 'read', path], {encoding: 'utf8', maxBuffer: 2 ** 30});
  assert.equal(read.status, 0, read.stderr);
  return JSON.parse(read.stdout);
}

/** Writes the bytes of toBlob() to a file. */
async function blob(board, options, name) {
  const {base64, type} = await board.page.evaluate(async (wanted) => {
    const made = await document.querySelector('attention-playground').toBlob(wanted);
    return {base64: btoa(Array.from(new Uint8Array(await made.arrayBuffer()), (byte) => String.fromCharCode(byte)).join('')), type: made.type};
  }, options);
  const path = join(folder, name);
  writeFileSync(path, Buffer.from(base64, 'base64'));
  return {path, type};
}

const drop = (board, path) => board.page.evaluate(async ([base64, name]) => {
  const element = document.querySelector('attention-playground'), dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], name));
  const done = new Promise((resolve) => ['change', 'error'].forEach((type) => element.addEventListener(type, resolve, {once: true})));
  for (const type of ['dragenter', 'dragover', 'drop']) element.dispatchEvent(new DragEvent(type, {dataTransfer, bubbles: true, cancelable: true, composed: true}));
  await done;
}, [readFileSync(path).toString('base64'), path.split('/').at(-1)]);

/** The file saved by an entry of the menu. */
async function saved(board, entry) {
  const download = board.page.waitForEvent('download');
  await board.click('export');
  await until('the menu', async () => (await board.call('items')).some(({name}) => name === entry));
  await board.rest();  // it has its final position then
  await board.click(entry);
  const file = await download, path = join(folder, file.suggestedFilename());
  await file.saveAs(path);
  return path;
}

for (const format of ['npz', 'safetensors']) {
  for (const preset of ['i-saw-a-saw', 'pronoun', 'batch']) {
    test(`every tensor of ${preset} is in .${format} by its name and with its bits, and opens as the same board`, async () => {
      const board = await browser.open('/');
      if (preset === 'batch') await board.call('set', 'batch', 3);
      else await board.page.evaluate((name) => { document.querySelector('attention-playground').preset = name; }, preset);
      const {path} = await blob(board, {format}, `${preset}.${format}`);
      const found = numbersIn(path);
      for (const name of TENSORS) {
        const {data, shape} = await board.tensor(name);
        const [type, sizes, hex] = found[name];
        assert.equal(type, 'float32');
        const wanted = name === 'output' ? shape.slice(1) : shape;
        assert.deepEqual(sizes, preset === 'batch' ? [3, ...wanted] : wanted, name);
        assert.ok(hex.startsWith(hexOf(data)), `${name}: other bits`);
      }
      const kept = await board.call('getState');
      await board.call('reset');
      await board.call('set', 'tokens', 7);
      await drop(board, path);
      const again = await board.call('getState');
      for (const name of ['q', 'k', 'v', 'labels', 'causal', 'mask']) assert.deepEqual(again[name], kept[name], name);
      kept.pages?.forEach((page, i) => ['q', 'k', 'v'].forEach((name) => assert.deepEqual(again.pages[i][name], page[name], name)));
      await board.check();
      await board.close();
    });
  }
}

test('the Save menu gives files: the state, all tensors, the weights as a table', async () => {
  const board = await browser.open('/');
  const state = await saved(board, 'export:save');
  assert.deepEqual(JSON.parse(readFileSync(state, 'utf8')), await board.call('getState'));
  await until('the notice', async () => (await board.call('items')).some(({name}) => name === 'notice'));
  const npz = numbersIn(await saved(board, 'export:npz'));
  assert.equal(npz.weights[2], hexOf((await board.tensor('weights')).data));
  assert.deepEqual(npz.labels[2], await board.get('labels'));
  const safetensors = numbersIn(await saved(board, 'export:safetensors'));
  assert.equal(safetensors.q[2], hexOf((await board.tensor('q')).data));
  const csv = readFileSync(await saved(board, 'export:csv'), 'utf8');
  const cells = csv.trim().split('\n\n').map((head) => head.split('\n').map((row) => row.split(',').map((cell) => Math.fround(Number(cell)))));
  assert.deepEqual(cells.flat(2), (await board.tensor('weights')).data);
  await board.close();
});

test('Save as asks where to, and Save then goes there', async () => {
  const board = await browser.open('/', {prepare: (page) => page.addInitScript(() => {
    globalThis.asked = [];
    globalThis.written = [];
    globalThis.pick = 'mine.json';
    globalThis.showSaveFilePicker = async (options) => {
      globalThis.asked.push(options.suggestedName);
      if (!globalThis.pick) throw new DOMException('closed', 'AbortError');
      const name = globalThis.pick;
      return {name, createWritable: async () => ({write: async (content) => globalThis.written.push([name, content.size ?? content.length]), close: async () => {}})};
    };
  })});
  const {page} = board;
  const saveAs = async () => {
    await board.click('export');
    await until('the menu', async () => (await board.call('items')).some(({name}) => name === 'export:save-as'));
    await board.rest();
    await board.click('export:save-as');
  };
  const written = (count) => until(`file ${count}`, () => page.evaluate((n) => globalThis.written.length >= n && globalThis.written.at(-1), count));
  await saveAs();
  assert.equal((await written(1))[0], 'mine.json');
  await board.press('Control+s');
  assert.equal((await written(2))[0], 'mine.json', 'without asking again');
  await page.evaluate(() => { globalThis.pick = 'mine.npz'; });
  await saveAs();
  assert.equal((await written(3))[0], 'mine.npz');
  await page.evaluate(() => { globalThis.pick = ''; });
  await saveAs();
  await until('the dialog', () => page.evaluate(() => globalThis.asked.length === 3));
  assert.equal(await page.evaluate(() => globalThis.written.length), 3, 'closed: nothing is written');
  await board.close();
});

test('toBlob() gives one tensor as a table or .npy, and says what it does not know', async () => {
  const board = await browser.open('/');
  const {path, type} = await blob(board, {format: 'npy', tensor: 'q'}, 'q.npy');
  assert.equal(type, 'application/octet-stream');
  assert.equal(numbersIn(path)[''][2], hexOf((await board.tensor('q')).data));
  assert.equal((await blob(board, {format: 'csv', tensor: 'v'}, 'v.csv')).type, 'text/csv');
  assert.deepEqual(JSON.parse(readFileSync((await blob(board, {format: 'json'}, 'a.json')).path, 'utf8')), await board.call('getState'));
  const long = 'wights'.repeat(200);
  for (const [options, field, sentence] of [
    [{format: 'pt'}, 'format', /^format must be 'json', 'npy', .* or 'png'/], [{format: 7}, 'format', /^format must be/], [null, 'options', /^options must be an object/],
    [{format: 'svg', what: 'legs'}, 'what', /^what: "legs" is no figure; use board, weights, heads or arcs/], [{format: 'png', style: 'neon'}, 'style', /^style: "neon" is no style/],
    [{format: 'svg', what: 'board', style: 'neon'}, 'style', /^style: "neon" is no style/], [{format: 'svg', scale: 0}, 'scale', /^scale: "0" is no scale/],
    [{format: 'png', what: 'board', scale: 0}, 'scale', /^scale: 0 is no scale/], [{format: 'svg', head: 9}, 'head', /^head: 9 is not one of 2 heads/],
    [{format: 'svg', with: ['legs']}, 'with', /^with: "legs" is/], [{format: 'svg', colors: 'loud'}, 'colors', /^colors: "loud" is/],
    [{format: 'csv', tensor: 'wights'}, 'tensor', /"wights" is not one of this layer; use .*weights/], [{format: 'csv', tensor: long}, 'tensor', /^tensor is too long/],
  ]) await assert.rejects(board.call('toBlob', options), {message: sentence, field});
  await board.close();
});

for (const style of ['print', 'light', 'dark']) {
  for (const what of ['weights', 'heads', 'arcs']) {
    test(`the figure of ${what}, ${style}, is SVG with real text, and a PNG of the same size`, async () => {
      const board = await browser.open('/?preset=pronoun');
      const {path, type} = await blob(board, {format: 'svg', what, style, scale: 2, head: 0}, `${what}-${style}.svg`);
      assert.equal(type, 'image/svg+xml');
      const svg = readFileSync(path, 'utf8');
      const seen = await board.page.evaluate((text) => {
        const {documentElement: root} = new DOMParser().parseFromString(text, 'image/svg+xml');
        return {tag: root.tagName, width: Number(root.getAttribute('width')), words: [...root.querySelectorAll('text')].map(({textContent}) => textContent)};
      }, svg);
      assert.equal(seen.tag, 'svg');
      if (what !== 'heads') for (const label of await board.get('labels')) assert.ok(seen.words.includes(label), label);
      const weights = await board.tensor('weights');
      if (what === 'weights') {
        const [, rows, cols] = weights.shape;
        for (let i = 0; i < rows; i++) for (let j = 0; j < cols; j++) assert.ok(seen.words.includes(weights.at(0, i, j).toFixed(2)), 'the numbers of the board');
        assert.ok(seen.words.some((words) => words.includes('sum to 1')), 'the caption');
      }
      const png = readFileSync((await blob(board, {format: 'png', what, style, scale: 2, head: 0}, `${what}-${style}.png`)).path);
      assert.equal(png.toString('latin1', 1, 4), 'PNG');
      assert.ok(Math.abs(png.readUInt32BE(16) - seen.width) <= 1);
      await board.close();
    });
  }
}

test('the board itself is a picture of any size, and is as it was afterwards', async () => {
  const board = await browser.open('/', {seen: true});
  const before = await board.page.screenshot();
  const png = readFileSync((await blob(board, {format: 'png', what: 'board', scale: 2}, 'board.png')).path);
  assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [2880, 1800]);
  await board.rest();
  assert.ok(before.equals(await board.page.screenshot()));
  await board.close();
});
