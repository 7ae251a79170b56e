// The Python package without PyTorch and without a notebook: built, installed, its files read by `attn`, its page opened in a browser.
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {mkdirSync, readFileSync, readdirSync, writeFileSync} from 'node:fs';
import {request} from 'node:http';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {attn} from '../cli/harness.mjs';
import {launch} from '../browser/harness.mjs';
import {version} from '../setup/tree.mjs';
import {until} from '../until.mjs';
import {built, dist, fresh, run, script} from './installed.mjs';

let home, made, browser;
before(async () => {
  home = fresh();
  made = JSON.parse(run(home.python, script('package.py'), 'make', home.folder));
  browser = await launch();
});
after(async () => {
  await browser.close();
  home.remove();
});
const path = (name) => join(home.folder, name);
const near = (found, wanted, what) => {
  assert.equal(found.length, wanted.length, what);
  found.forEach((value, i) => assert.ok(Math.abs(value - wanted[i]) <= 1e-5, `${what}: number ${i} is ${value}, not ${wanted[i]}`));
};
const ran = (...args) => {
  const done = attn('run', ...args);
  assert.equal(done.status, 0, done.stderr);
  return JSON.parse(done.stdout);
};

test('wheel and sdist hold the package, the whole page and the licence, and need NumPy alone', () => {
  const listed = JSON.parse(run(home.python, '-c', 'import json, sys, zipfile; print(json.dumps(zipfile.ZipFile(sys.argv[1]).namelist()))', built('.whl')));
  for (const name of ['__init__.py', 'watch.py', 'tensors.wasm', 'widget.js', 'page/index.html', 'page/element.js', 'page/standalone.js', 'page/reader.js', 'page/lessons/index.json']) {
    assert.ok(listed.includes(`attention_playground/${name}`), name);
  }
  for (const name of ['LICENSE', 'NOTICES.txt']) assert.ok(listed.some((one) => one.endsWith(`licenses/${name}`)), name);
  assert.deepEqual(listed.filter((name) => /\.map$|__pycache__/.test(name)), []);
  assert.ok(built('.whl').endsWith('-py3-none-any.whl'));
  const sources = run('tar', '-tzf', built('.tar.gz')).split('\n');
  for (const name of ['pyproject.toml', 'README.md', 'LICENSE', 'attention_playground/page/index.html']) assert.ok(sources.some((one) => one.endsWith(`/${name}`)), name);
  const needs = run(home.python, '-c', 'from importlib.metadata import requires; print(requires("attention-playground"))');
  assert.match(needs, /^\['numpy>=[\d.]+', "?'?anywidget.*extra == .notebook.*wasmtime.*extra == .wasm.*\]\n$/);
});

test('on Windows pip takes the wheel with attn.exe, and nowhere else; beside it lies an archive with attn.exe alone', () => {
  const wheels = path('wheels'), names = (wheel) => JSON.parse(run(home.python, '-c', 'import json, sys, zipfile; print(json.dumps(zipfile.ZipFile(sys.argv[1]).namelist()))', wheel));
  mkdirSync(wheels);
  writeFileSync(path('attn.exe'), 'MZ, as programs for Windows begin; ./play test windows runs the real one');
  run('python3', {env: {...process.env, SOURCE_DATE_EPOCH: '1700000000'}}, fileURLToPath(new URL('../../src/shell/wheel.py', import.meta.url)), built('.whl'), path('attn.exe'), fileURLToPath(new URL('../../LICENSE', import.meta.url)), wheels);
  const taken = (platform) => {
    run(home.python, '-m', 'pip', 'download', '--quiet', '--no-index', '--no-deps', '--only-binary=:all:', '--find-links', wheels, '--find-links', dist, '--platform', platform, '--dest', path(platform), 'attention-playground');
    return readdirSync(path(platform))[0];
  };
  const wheel = taken('win_amd64'), base = `attention_playground-${version}`;
  assert.equal(wheel, `${base}-py3-none-win_amd64.whl`);
  assert.equal(taken('manylinux_2_17_x86_64'), `${base}-py3-none-any.whl`);
  assert.deepEqual(names(path(`win_amd64/${wheel}`)).filter((name) => /attn/.test(name)).sort(), [`${base}.data/scripts/attn.exe`, `${base}.dist-info/licenses/NOTICES-attn.txt`]);
  assert.deepEqual(names(join(wheels, `attn-${version}-windows-x86_64.zip`)).map((name) => name.split('/')[1]).sort(), ['LICENSE', 'NOTICES.txt', 'attn.exe']);
});

test('it is installed in its own environment, with the version of the programs', () => {
  assert.ok(made.where.startsWith(home.folder), made.where);
  assert.equal(made.version, version);
  assert.equal(run(home.python, '-c', 'from importlib.metadata import version; print(version("attention-playground"))').trim(), version);
});

test('figures of a recording are those of attn, with the numbers of layer and head that were typed', () => {
  const [one, heads, arcs, kept] = made.figures, words = (svg) => [...svg.matchAll(/<text [^>]*>([^<]*)</g)].map(([, text]) => text);
  assert.equal(words(one)[0], 'Attention weights, layer 2, head 3');
  assert.match(one, /<svg [^>]*width="312"/);
  assert.deepEqual(words(one).filter((word) => /^0\.(50|12)$/.test(word)).length >= 2, true, 'the ends of the range');
  assert.equal(readFileSync(path('figure.svg'), 'utf8'), one);
  assert.match(readFileSync(path('figure.pdf'), 'latin1'), /^%PDF-/);
  assert.equal(readFileSync(path('figure.png')).toString('latin1', 1, 4), 'PNG');
  assert.ok(!heads.includes('Attention weights of all heads') && words(heads).includes('head 1'));
  assert.ok(words(arcs).includes('vis'));
  for (const number of ['0.25', '0.75']) assert.ok(words(kept).includes(number), 'the weights that the model computed, not those of q and k');
  for (const [i, sentence] of [/^ValueError: what: 'legs' is not a figure; use weights, heads, arcs or board\.$/, /^IndexError: layer: 3 is not one of 3 layers, which are counted from 0\.$/,
    /^ValueError: head: 9 is not one of 4 heads/, /^ValueError: width: "3 feet" is no width/, /^ValueError: range: "1,0" is no range of weights/].entries()) assert.match(made.unfit[i], sentence);
});

for (const kind of ['npz', 'safetensors']) {
  test(`attn computes the weights of every recorded layer of an .${kind}`, () => {
    for (const {name, weights} of made.layers) near(ran(path(`layers.${kind}`), '--prefix', name, '--outputs', 'weights').weights.data, weights, name);
  });
}

test('one layer, and one entry of a batch, is a file that needs no choice', () => {
  const {weights} = made.layers[1];
  near(ran(path('entry.npz'), '--outputs', 'weights').weights.data, weights.slice(weights.length / 2), 'the second entry');
});

test('a board saved without a browser is what attn reads, mask and labels too', () => {
  near(ran(path('board.json'), '--outputs', 'weights').weights.data, made.layers[0].weights, 'the first layer');
  assert.deepEqual(JSON.parse(readFileSync(path('board.json'), 'utf8')).labels, ['[CLS]', '▁I', 'Ġsaw', '\n', '日本']);
  const [first, second] = [ran(path('lists.npz'), '--outputs', 'weights').weights.data, ran(path('mask.json'), '--outputs', 'weights').weights.data];
  assert.deepEqual(first.slice(0, 2), [1, 0]);
  assert.deepEqual(second.slice(0, 2), [1, 0]);
  const score = 1 / Math.SQRT2;
  near(first.slice(2), [1 / (1 + Math.exp(score)), 1 / (1 + Math.exp(-score))], 'the second row');
});

test('a tensor is computed without a browser, by NumPy as by attn', () => {
  assert.equal(made.computed.length, 5);
  for (const off of made.computed) assert.ok(off <= 2e-6, `${off}`);
});

test('without attn, wasmtime computes every kind of layer as attn does, and refuses what it refuses', () => {
  const env = {...process.env, PYTHONPATH: fileURLToPath(new URL('../../.toolchain/wasmtime', import.meta.url)), PATH: home.folder};
  const {off, refused} = JSON.parse(run(home.python, {env}, script('package.py'), 'module'));
  assert.equal(off.length, 12);
  for (const one of off) assert.ok(one <= 2e-6, `${one}`);
  assert.match(refused[0], /^ValueError: options\.normalizer: "softestmax" is unknown; use /);
  assert.equal(refused[1], 'ValueError: "legs" is none of its tensors.');
});

test('a recording is one line as text, and a picture without scripts', async () => {
  assert.deepEqual(made.texts, ['<Recording: 3 layers × 2 to 4 heads, 3 to 5 tokens, 1 to 2 prompts, 1 cross>', '<Recording: 1 layer × 4 heads, 5 tokens, 1 prompt>']);
  assert.match(made.picture, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" id="attention-\d+-[0-9a-f]{8}" viewBox="0 0 806 180"/);
  assert.doesNotMatch(made.picture, /<script|https?:(?!\/\/www\.w3\.org\/2000\/svg)/);
  const page = await browser.newPage();
  await page.setContent(`<img src="data:image/svg+xml;base64,${Buffer.from(made.picture).toString('base64')}">`);
  assert.equal(await page.evaluate(() => document.images[0].decode().then(() => document.images[0].naturalWidth)), 806, 'it is well formed');
  const thumbnails = await page.evaluate(async (svg) => {  // the first picture in it, as pixels
    const image = new Image();
    image.src = new DOMParser().parseFromString(svg, 'image/svg+xml').querySelector('image').getAttribute('href');
    await image.decode();
    const canvas = Object.assign(document.createElement('canvas'), {width: image.naturalWidth, height: image.naturalHeight}), context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    return {size: [canvas.width, canvas.height], first: Array.from(context.getImageData(0, 0, 1, 1).data), later: Array.from(context.getImageData(13, 0, 1, 1).data)};
  }, made.picture);
  assert.deepEqual(thumbnails, {size: [64, 48], first: [58, 28, 104, 255], later: [255, 255, 255, 255]}, 'a causal head: weight 1 on the first token, 0 on later ones');
  await page.close();
});

test('in marimo a recording and a board are the value of their cell, and no server is waited for', () => {
  const [recording, board] = made.marimo;
  if (made.needs.anywidget) return assert.deepEqual(made.marimo, ['Heads', 'Board']);
  assert.match(recording, /^<Recording: 3 layers .*>\nTo see it here: pip install anywidget/);
  assert.match(board, /^Playground\(.*\)\nTo see it here: pip install anywidget/);
});

test('to_html() is one file that works from a disk without a network, and asks for nothing', async () => {
  const context = await browser.newContext({offline: true}), page = await context.newPage(), requests = [];
  page.on('request', (asked) => requests.push(asked.url()));
  await page.goto(`file://${path('heads.html')}`);
  await page.evaluate(() => document.querySelector('attention-playground').ready.then(() => true));
  const call = (method, ...args) => page.evaluate(([name, given]) => document.querySelector('attention-playground')[name](...given), [method, args]);
  await until('the layer', async () => (await call('get', 'heads')) === 4);
  near(await page.evaluate(() => Array.from(document.querySelector('attention-playground').getTensor('weights').data)), made.layers[0].weights, 'the layer on the board');
  assert.deepEqual(await call('get', 'labels'), ['[CLS]', '▁I', '␣saw', '\\n', '日本']);
  assert.deepEqual(requests.filter((address) => !/^(file|data|blob):/.test(address)), []);
  assert.equal(requests.filter((address) => address.startsWith('file:')).length, 1);
  await context.close();
});

test('to_html() of several layers asks nothing: those that are alike open on the page Model, and others stand in a list', async () => {
  const context = await browser.newContext({offline: true}), page = await context.newPage(), complaints = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  const board = () => page.evaluate(() => {
    const element = document.querySelector('attention-playground');
    try {
      return {view: element.get('view'), layers: element.get('batch_of') === 'layers' ? element.get('batch') : 1, heads: element.get('heads'), keys: element.get('labels').length, causal: element.get('causal'),
        asks: element.items().some(({name}) => name.startsWith('form'))};
    } catch {
      return {};  // not ready
    }
  });
  const open = (name) => page.goto(`file://${path(name)}`), names = () => page.locator('nav option').allTextContents();
  const is = async (wanted) => assert.deepEqual(await until(JSON.stringify(wanted), async () => {
    const found = await board();
    return found.asks || (JSON.stringify({...found, ...wanted}) === JSON.stringify(found)) ? found : null;
  }), {...await board(), ...wanted, asks: false});
  await open('alike.html');
  await is({view: 'model', layers: 3, heads: 4, causal: true});
  assert.deepEqual(await names(), []);
  await open('many.html');
  assert.deepEqual(await names(), ['h.0 to h.10, 10 layers', 'h.1']);
  await is({view: 'model', layers: 10, heads: 4, causal: true});
  await page.locator('nav select').selectOption('h.1');
  await is({view: 'layer', layers: 1, heads: 4, causal: false});
  await open('unlike.html');
  assert.deepEqual(await names(), ['prompt 1: h.0.attn', 'prompt 1: h.1.attn', 'prompt 1: decoder.0.cross', 'prompt 2: h.1.attn']);
  await page.locator('nav select').selectOption('prompt 1: decoder.0.cross');
  await is({view: 'layer', layers: 1, heads: 2, keys: 3});
  assert.deepEqual(complaints, []);
  assert.deepEqual(made.parts, ['h.0 to h.5, 6 layers', 'h.6 to h.11, 6 layers'], 'as many as one board can hold');
  await context.close();
});

test('what is wrong is a sentence with its name, and leaves no file behind', () => {
  const wanted = [/^TypeError: q: it is missing/, /^TypeError: q: must hold numbers/, /^ValueError: q\[0, 1\]: is nan/, /^ValueError: path: '.*layers\.pt' does not end in/,
    /^ValueError: layers: none was chosen/, /^FileNotFoundError/, /^LookupError: weights: a layer of this kind is computed by attn, which is not on the PATH, or with wasmtime \(pip install wasmtime\); or by the board, which is not shown yet/];
  wanted.forEach((pattern, i) => assert.match(made.refused[i] ?? 'nothing', pattern));
  assert.deepEqual(made.left.filter((name) => name.startsWith('.')), []);
  if (!made.needs.anywidget) assert.match(made.plain, /pip install anywidget/);
});

/** The status for a path that is sent unmodified, including dots. */
const status = (port, path, host = `127.0.0.1:${port}`) => new Promise((resolve, reject) => {
  request({port, path, headers: {host}}, (response) => {
    response.resume();
    response.on('end', () => resolve(response.statusCode));
  }).on('error', reject).end();
});

test('show() serves the page with the board, and a recording asks for its layer', async () => {
  const server = spawn(home.python, [script('package.py'), 'serve'], {stdio: ['pipe', 'pipe', 'inherit']});
  try {
    let said = '';
    server.stdout.on('data', (data) => { said += data; });
    await until('the addresses', () => said.includes('\n'));
    const {board, layers, state, weights} = JSON.parse(said), requests = [], complaints = [];
    const page = await browser.newPage();
    page.on('request', (asked) => requests.push(asked.url()));
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()));
    const open = async (address) => {
      await page.goto(address);
      await page.evaluate(() => customElements.whenDefined('attention-playground').then(() => document.querySelector('attention-playground').ready));
    };
    const call = (method, ...args) => page.evaluate(([name, given]) => document.querySelector('attention-playground')[name](...given), [method, args]);
    await open(board);
    await until('the board', async () => (await page.evaluate(() => document.querySelector('attention-playground').getTensor('q').data[0])) === Math.fround(state.q.data[0]));
    assert.deepEqual(await call('get', 'labels'), ['I', 'saw', 'a', 'saw']);
    assert.equal(await call('get', 'causal'), true);
    await open(layers);
    const items = async () => (await call('items')).map(({name}) => name);
    await until('the question for the layer', async () => (await items()).includes('form:layer'));
    const placeOf = (name) => page.evaluate((wanted) => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
      const element = document.querySelector('attention-playground');
      done(element.items().some((item) => item.name === wanted) ? JSON.stringify(element.locate(wanted)) : '');
    }))), name);
    const click = async (name) => {  // waits until it no longer moves: a dialog adapts to its content in the next frame
      let last = '';
      await until(name, async () => last === (last = await placeOf(name)) && last !== '');
      const {x, y, width, height} = JSON.parse(last);
      await page.mouse.click(x + width / 2, y + height / 2);
    };
    await click('form:layer');
    await click('form:layer:1');  // h.0.attn, after decoder.0.cross
    await until('what it gives', async () => !(await items()).includes('form:layer:1'));
    await click('form-open');
    await until('the layer', async () => (await call('get', 'heads')) === 4);
    near(await page.evaluate(() => Array.from(document.querySelector('attention-playground').getTensor('weights').data)), weights, 'the layer on the board');
    assert.deepEqual([await call('get', 'causal'), await call('get', 'kv_heads')], [true, 2]);
    assert.deepEqual(await call('get', 'labels'), ['[CLS]', '▁I', '␣saw', '\\n', '日本']);
    assert.ok(requests.every((address) => address.startsWith(new URL(board).origin)), String(requests));
    assert.deepEqual(complaints, []);
    // Only visible to who knows the address, on this computer.
    const {port, pathname} = new URL(board);
    assert.equal(await status(port, pathname), 200);
    assert.equal(await status(port, `${pathname}board.json`), 200);
    for (const path of ['/', '/board.json', '/index.html', `${pathname}../../../../../../../../etc/passwd`, `${pathname}../server.py`, `${pathname}%2e%2e/server.py`]) {
      assert.equal(await status(port, path), 404, path);
    }
    assert.equal(await status(port, pathname, `elsewhere.example:${port}`), 403);
    await page.close();
  } finally {
    server.stdin.end();
  }
});
