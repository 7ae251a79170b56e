// Opening files: dropped, chosen, pasted, by src="…". They are real files, written by NumPy.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {brotliCompressSync} from 'node:zlib';
import {python} from '../numpy.mjs';
import {until} from '../until.mjs';
import {SCREENSHOTS, SITE, start} from './harness.mjs';

const script = fileURLToPath(new URL('files.py', import.meta.url));
let browser, folder;
const path = (name) => join(folder, name);
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'open-'));
  const made = spawnSync(python, [script, 'make', folder], {encoding: 'utf8'});
  assert.equal(made.status, 0, made.stderr);
  writeFileSync(path('row.csv'), `${new Array(200_000).fill('1').join(',')}\n`);
  const header = Buffer.from(JSON.stringify(Object.fromEntries(Array.from({length: 100_001}, (_, i) => [`t${i}`, {dtype: 'F32', shape: [0], data_offsets: [0, 0]}]))));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  writeFileSync(path('many.safetensors'), Buffer.concat([length, header]));
  writeFileSync(path('deep.json'), `{"q": ${'['.repeat(1e6)}${']'.repeat(1e6)}}`);
  browser = await start();
});
after(async () => {
  await browser.stop();
  rmSync(folder, {recursive: true});
});

const names = async (board) => (await board.call('items')).map(({name}) => name);
const isAsked = async (board) => (await names(board)).includes('form');
const choose = async (board, field, number) => {
  await board.rest();  // its size is final
  await board.click(`form:${field}`);
  await until(`the list of ${field}`, async () => (await names(board)).includes(`form:${field}:${number}`));
  await board.rest();
  await board.click(`form:${field}:${number}`);
  await board.rest();
  await until('what it gives', async () => (await names(board)).includes('form-open'));
};
/** Waits for the next event of these types, caused by `action`. */
async function event(board, types, action) {
  const noted = await board.listen(...types);
  await action();
  await until('an event', async () => (await noted()).length > 0);
  return (await noted())[0];
}

/** Drops a real file, which the page reads from the disk. */
async function drop(board, name) {
  const {page} = board;
  const chooser = await page.evaluateHandle(() => Object.assign(document.createElement('input'), {type: 'file'}));
  await chooser.setInputFiles(path(name));
  await page.evaluate((input) => {
    const element = document.querySelector('attention-playground'), dataTransfer = new DataTransfer();
    dataTransfer.items.add(input.files[0]);
    for (const type of ['dragenter', 'dragover', 'drop']) element.dispatchEvent(new DragEvent(type, {dataTransfer, bubbles: true, cancelable: true, composed: true}));
  }, chooser);
}
const paste = (board, text) => board.page.evaluate((words) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData('text/plain', words);
  const canvas = document.querySelector('attention-playground').shadowRoot.querySelector('canvas');
  canvas.dispatchEvent(new ClipboardEvent('paste', {clipboardData, bubbles: true, cancelable: true}));
}, text);

async function onBoard(body, options) {
  const board = await browser.open('/', options);
  await body(board);
  await board.check();
  await board.close();
}

/** The content of a file as numbers, according to NumPy. */
function numbersIn(name) {
  const read = spawnSync(python, [script, 'read', path(name)], {encoding: 'utf8', maxBuffer: 2 ** 30});
  assert.equal(read.status, 0, read.stderr);
  return JSON.parse(read.stdout);
}
const floats = ([, , hex]) => [...new Float32Array(Uint8Array.from(Buffer.from(hex, 'hex')).buffer)];

for (const name of ['clear.npz', 'clear.safetensors', 'lists.json', 'stacked.npy']) {
  test(`${name} is on the board, bit for bit, when it is dropped`, () => onBoard(async (board) => {
    await event(board, ['change'], () => drop(board, name));
    const expected = numbersIn('clear.npz');
    for (const tensor of ['q', 'k', 'v']) assert.deepEqual((await board.tensor(tensor)).data, floats(expected[tensor]), tensor);
    if (name.startsWith('clear')) assert.deepEqual(await board.get('labels'), ['I', 'saw', 'a', 'saw', '.']);
    if (name.startsWith('clear')) assert.equal(await board.get('causal'), false);
    await board.call('undo');
    assert.equal(await board.get('tokens'), 4, 'one step of undo brings back what was there');
  }));
}

test('what reads files gets the parts of the module once', () => onBoard(async (board) => {
  for (const name of ['clear.npz', 'packed.npz', 'lists.json']) await event(board, ['change'], () => drop(board, name));
  assert.deepEqual(await board.page.evaluate(() => globalThis.handed), [true, false, false]);
}, {prepare: (page) => page.addInitScript(() => {
  const {postMessage} = Worker.prototype;
  globalThis.handed = [];
  Worker.prototype.postMessage = function (message, ...rest) {
    if (message.call === 'open') globalThis.handed.push(Boolean(message.parts));
    return postMessage.call(this, message, ...rest);
  };
})}));

test('compressed arrays of other types, orders and names are read', () => onBoard(async (board) => {
  await event(board, ['change'], () => drop(board, 'packed.npz'));
  const {q, k, v} = numbersIn('clear.npz');
  assert.deepEqual((await board.tensor('k')).data, floats(k), 'big-endian');
  assert.deepEqual((await board.tensor('v')).data, floats(v), 'Fortran order, 64 bits');
  const half = (await board.tensor('q')).data;
  floats(q).forEach((value, i) => assert.ok(Math.abs(value - half[i]) < 1e-3, '16 bits'));
}));

test('the Open button opens what a person picks', () => onBoard(async (board) => {
  const picked = board.page.waitForEvent('filechooser');
  await board.click('import');
  const chooser = await picked;
  await event(board, ['change'], () => chooser.setFiles(path('clear.npz')));
  assert.equal(await board.get('tokens'), 5);
}));

test('tables of spreadsheets open as rows that attend to each other', () => onBoard(async (board) => {
  await event(board, ['change'], () => drop(board, 'sheet.csv'));
  assert.deepEqual(await board.get('labels'), ['red', 'green', 'blue']);
  assert.deepEqual((await board.tensor('q')).data, [1, 2, 3, 4.5, -1, 0]);
  await event(board, ['change'], () => drop(board, 'sheet.tsv'));
  assert.deepEqual((await board.tensor('v')).data, [1, 2.5, 3, 4]);
}));

// ---------------------------------------------------------------- the question

test('names that say nothing are asked about, and the board stays until the answer', () => onBoard(async (board) => {
  await drop(board, 'unclear.npz');
  await until('the question', () => isAsked(board));
  assert.equal(await board.get('tokens'), 4);
  const {q, k, v} = numbersIn('clear.npz');
  await choose(board, 'v', 0);
  await board.rest();
  await event(board, ['change'], () => board.click('form-open'));
  assert.deepEqual((await board.tensor('k')).data, floats(k), 'beta');
  assert.deepEqual((await board.tensor('v')).data, floats(q), 'alpha, as it was chosen');
  assert.notDeepEqual(floats(q), floats(v));
  assert.equal(await isAsked(board), false);
}));

test('Escape and Cancel close the question, and keys do not reach the board below', () => onBoard(async (board) => {
  const before = await board.call('getState');
  await drop(board, 'unclear.npz');
  await until('the question', () => isAsked(board));
  await board.page.evaluate(() => document.querySelector('attention-playground').focus());
  await board.press('ArrowUp', 'c', 'h');
  await board.press('Escape');
  await until('it is closed', async () => !(await isAsked(board)));
  await drop(board, 'unclear.npz');
  await until('the question', () => isAsked(board));
  await board.rest();
  await board.click('form-cancel');
  await until('it is closed', async () => !(await isAsked(board)));
  assert.deepEqual(await board.call('getState'), before);
}));

test('labels say that heads come after the tokens', () => onBoard(async (board) => {
  await drop(board, 'tokens-first.npz');
  await until('the question', () => isAsked(board));
  await board.rest();
  await event(board, ['change'], () => board.click('form-open'));
  const {q} = numbersIn('clear.npz');
  assert.deepEqual((await board.tensor('q')).data, floats(q));
}));

test('of many layers one is chosen', () => onBoard(async (board) => {
  await drop(board, 'layers.npz');
  await until('the question', () => isAsked(board));
  await choose(board, 'layer', 10);
  await board.rest();
  await event(board, ['change'], () => board.click('form-open'));
  assert.deepEqual((await board.tensor('k')).data, floats(numbersIn('layers.npz')['layers.10.k']));
}));

test('weights of a checkpoint are turned as Linear has them, and its keys may have fewer heads', () => onBoard(async (board) => {
  await drop(board, 'llama.safetensors');
  await until('the question', () => isAsked(board));
  await choose(board, 'heads', 2);  // four
  await board.rest();
  await event(board, ['change'], () => board.click('form-open'));
  assert.equal(await board.get('heads'), 4);
  assert.equal(await board.get('kv_heads'), 2);
  const w = floats(numbersIn('llama.safetensors')['model.layers.0.self_attn.k_proj.weight']), got = await board.tensor('w_k');
  assert.deepEqual(got.shape.slice(1), [8, 4]);
  for (let row = 0; row < 8; row++) for (let col = 0; col < 4; col++) assert.equal(got.at(0, row, col), w[col * 8 + row]);
}));

// ---------------------------------------------------------------- pasted

test('a range of a spreadsheet and a printed matrix are pasted into cells', () => onBoard(async (board) => {
  await board.click('q', 0, 0, 0);
  await event(board, ['change'], () => paste(board, '9\t8\n7\t6\n'));
  assert.equal(await board.value('q', 0, 1, 1), 6);
  await board.click('v', 0, 0, 0);
  await event(board, ['change'], () => paste(board, 'tensor([[1.5000, 2.0000],\n        [3.0000, 4.0000]], grad_fn=<AddBackward0>)'));
  assert.equal(await board.value('v', 0, 0, 0), 1.5);
  assert.equal(await board.value('v', 0, 1, 1), 4);
  await board.click('v', 0, 2, 0);
  await event(board, ['change'], () => paste(board, '[[ 5. -6.]\n [ 7.  8.]]'));
  assert.equal(await board.value('v', 0, 2, 1), -6);
}));

test('a printed layer is pasted as a whole, and gaps are refused', () => onBoard(async (board) => {
  await board.page.evaluate(() => document.querySelector('attention-playground').focus());
  await event(board, ['change'], () => paste(board, "{'q': [[1, 2], [3, 4]], 'k': [[1, 0], [0, 1]], 'v': [[1, 1], [2, 2]], 'tokens': ['a', 'b']}"));
  assert.deepEqual(await board.get('labels'), ['a', 'b']);
  const {detail} = await event(board, ['error'], () => paste(board, '[[1. 2. ... 3.]\n [4. 5. ... 6.]]'));
  assert.match(detail.message, /left out with "\.\.\." when it was printed/);
}));

// ---------------------------------------------------------------- src

test('src opens a file of the site', async () => {
  const board = await browser.open('/', {prepare: (page) => page.route('**/data/layer.npz', (route) => route.fulfill({body: readFileSync(path('clear.npz'))}))});
  await event(board, ['change'], () => board.page.evaluate(() => { document.querySelector('attention-playground').src = '/data/layer.npz'; }));
  assert.equal(await board.get('tokens'), 5);
  const {detail} = await event(board, ['error'], () => board.page.evaluate(() => { document.querySelector('attention-playground').src = '/data/none.npz'; }));
  assert.match(detail.message, /none\.npz: the server answered with status 404/);
  await board.check();
  board.complaints.splice(0);  // the browser's own message about status 404
  await board.close();
});

// ---------------------------------------------------------------- errors

const WRONG = [
  ['cut.npz', /^cut\.npz: the directory at its end is missing; it is cut off or damaged/],
  ['cut.safetensors', /^cut\.safetensors: v: its data_offsets \[320, 480\] do not lie within the 470 bytes/],
  ['lies.safetensors', /^lies\.safetensors: its header should take 1099511627776 bytes, found 784/],
  ['mislabelled.npy', /its name ends in \.npy, and it begins as an archive does; rename it to \.npz/],
  ['model.pt', /it is pickled, as torch\.save and pickle\.dump write it, and such files are never read/],
  ['pickled.npz', /q: it holds Python objects \(dtype "\|O"\), which are pickled and never read/],
  ['all-nan.npz', /^all-nan\.npz: k\[0, 0, 0\]: NaN cannot be used/],
  ['ragged.csv', /^ragged\.csv: row 2: it has 2 numbers, those before it 3/],
  ['empty.npz', /^empty\.npz: it is empty/],
  ['many.safetensors', /there are more than 100000 tensors; give fewer\.$/],
  ['deep.json', /lists (and objects )?are more than \d+ deep; use /],
  ['bomb.npz', /the archive of 1 MB would inflate to more than 68 MB \(this entry alone to 1001 MB\)/],
];
test('what is wrong is said in one sentence, and the board stays', () => onBoard(async (board) => {
  const before = await board.call('getState');
  for (const [name, sentence] of WRONG) {
    const {detail} = await event(board, ['error'], () => drop(board, name));
    assert.match(detail.message, sentence);
    assert.equal(detail.message.split('\n').length, 1);
  }
  assert.deepEqual(await board.call('getState'), before);
  const {heapBytes} = await board.stats();
  assert.ok(heapBytes < 64e6, `the board took ${heapBytes} bytes meanwhile`);
}));

test('a row with NaN is marked, hidden and said, and the rest is shown; a link says it too', async () => {
  const board = await browser.open('/');  // whose plain arithmetic knows no bias
  await event(board, ['change'], () => drop(board, 'nan.npz'));
  await board.rest();
  assert.ok((await names(board)).includes('notice'));
  const state = await board.call('getState');
  assert.deepEqual(state.labels, ['I', 'saw', 'NaN a', 'saw', '.']);
  assert.equal(state.not_finite, 'k[1, 2, 3]: NaN, 1');
  const weights = await board.call('getTensor', 'weights'), at = (head, row, col) => weights.data[(head * 5 + row) * 5 + col];
  assert.ok(at(0, 4, 2) > 0);
  assert.equal(at(1, 4, 2), 0);
  assert.ok(Math.abs([0, 1, 2, 3, 4].reduce((sum, j) => sum + at(1, 4, j), 0) - 1) < 1e-5);
  await board.call('set', 'focus_head', 1);
  await board.rest();
  const {pathname, hash} = new URL(await board.call('link')), linked = await browser.open(pathname + hash);
  await linked.rest();
  assert.ok((await names(linked)).includes('notice'));
  assert.deepEqual((await linked.call('getState')).labels, state.labels);
  await linked.close();
  await board.close();
});

test('a row of infinity among 1,500 tokens opens, and is said', async () => {
  const board = await browser.open('/');  // whose plain arithmetic would take a minute
  await event(board, ['change'], () => drop(board, 'nan-long.npz'));
  await until('the message', async () => (await names(board)).includes('notice'));  // before it goes
  await board.rest();
  assert.equal((await board.call('getState')).not_finite, 'q[0, 700, 1]: inf, 1');
  await board.close();
});

test('a row of 200,000 columns is read, and cannot be opened, as the board has fewer', () => onBoard(async (board) => {
  await drop(board, 'row.csv');
  await until('the question', () => isAsked(board));
  await board.rest();
  assert.equal((await names(board)).includes('form-open'), false);
  await board.click('form-cancel');
  const {heapBytes} = await board.stats();
  assert.ok(heapBytes < 64e6, `the board took ${heapBytes} bytes meanwhile`);
}));

test('a thousand tensors are asked about', () => onBoard(async (board) => {
  await drop(board, 'thousand.npz');
  await until('the question', () => isAsked(board));
  await board.rest();
  await board.click('form-cancel');
}));

test('50 MB are read beside the page, which goes on drawing', () => onBoard(async (board) => {
  await board.rest();
  await board.page.evaluate(() => {
    globalThis.long = [], globalThis.ticks = 0;
    new PerformanceObserver((list) => globalThis.long.push(...list.getEntries().map(({duration}) => duration))).observe({type: 'longtask'});
    const tick = () => { globalThis.ticks++, requestAnimationFrame(tick); };
    requestAnimationFrame(tick);
  });
  await drop(board, 'large.npz');
  await until('the question', () => isAsked(board), 30_000);
  const {long, ticks} = await board.page.evaluate(() => ({long: globalThis.long, ticks: globalThis.ticks}));
  console.log(`# ${ticks} animation frames while 50 MB were read; tasks over 50 ms: ${long.filter((duration) => duration > 50).map(Math.round).join(', ') || 'none'}`);
  assert.ok(ticks > 3, `${ticks} animation frames`);
  await choose(board, 'layer', 30);
  assert.equal(await isAsked(board), true);
  await board.rest();
  await board.click('form-cancel');
}));

test('readers come with the first file, and not before', async () => {
  const board = await browser.open('/');
  await board.rest();
  assert.equal(board.requests.filter((url) => /reader\.js|files\.wasm/.test(url)).length, 0);
  await event(board, ['change'], () => drop(board, 'clear.npz'));
  await until('they were asked for', () => ['reader.js', '.files.wasm'].every((name) => board.requests.some((url) => url.endsWith(name))));
  assert.equal(board.requests.filter((url) => url.endsWith('.wasm')).length, 3, 'the reader has the parts that the page runs');
  await board.close();
});

test('a large file says how much of it has been read, and Cancel leaves the board as it was', async () => {
  const board = await browser.open('/', {seen: true}), waits = [];
  await board.rest();
  const before = await board.call('getState'), isBarThere = async () => (await names(board)).includes('work:cancel');
  await board.page.route(/files\.wasm$/, (route) => waits.push(route));  // as from a slow disk: what reads does not begin
  await drop(board, 'large.npz');
  await until('the bar', isBarThere, 30_000);
  await board.page.screenshot({path: `${SCREENSHOTS}/web-reading.png`});
  const error = await event(board, ['error'], () => board.click('work:cancel'));
  assert.equal((error.detail ?? error).message, 'large.npz: reading it was cancelled; the board is as it was.');
  await until('the bar has gone', async () => !await isBarThere());
  assert.deepEqual(await board.call('getState'), before);
  await board.page.unroute(/files\.wasm$/);
  await event(board, ['change'], () => drop(board, 'clear.npz'));
  await board.close();
});

test('what reads files stays as small as it is', () => {
  for (const name of readdirSync(SITE).filter((one) => one.endsWith('.files.wasm'))) {
    const size = brotliCompressSync(readFileSync(`${SITE}/${name}`)).length;
    assert.ok(size <= 1024 * 60, `${name}: ${size} bytes after Brotli`);
  }
});

test('what is added to the scores has its share of their colours', async () => {
  const board = await browser.open('/', {seen: true});
  const zeros = {shape: [3, 1], data: [0, 0, 0]};
  await board.call('setState', JSON.stringify({q: zeros, k: zeros, v: zeros, mask: {shape: [3, 3], data: [-2, -20, 0, -1, -2, -3, 0, 0, 0]}}));
  await board.rest();
  const colour = async (...cell) => {
    const {x, y, width} = await board.call('locate', 'scores', 0, ...cell);
    return (await board.page.screenshot({clip: {x: x + width / 2, y: y + 5, width: 2, height: 2}})).toString('base64');
  };
  const [some, much, none] = [await colour(0, 0), await colour(0, 1), await colour(0, 2)];
  assert.equal(some, await colour(1, 1));
  assert.notEqual(some, much);
  assert.notEqual(some, none);
  await board.close();
});
