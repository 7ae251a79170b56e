// Loading on demand: only boards near the viewport are loaded, with a placeholder in the meantime and a message if it fails.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {pathToFileURL} from 'node:url';
import {brotliCompressSync} from 'node:zlib';
import {until} from '../until.mjs';
import {SCREENSHOTS, SITE, suite} from './harness.mjs';

const {browser} = suite({seen: true});
const VIEW = {viewport: {width: 800, height: 600}};
const open = (path, options) => browser.open(path, {...VIEW, wait: false, allow: [/./], ...options});

/** Has the board begun to load? Does not use `ready`, which would start loading. */
const begun = (board, selector) => board.page.evaluate((name) => document.querySelector(name).shadowRoot?.querySelector('canvas') != null, selector);
const alertOf = (board, selector = 'attention-playground') => until('a sentence', () => board.page.evaluate((name) => {
  const alert = document.querySelector(name).shadowRoot?.querySelector('[role=alert]');
  return alert && !alert.hidden && alert.textContent;
}, selector));
const failure = (board) => board.page.evaluate(() => customElements.whenDefined('attention-playground').then(() =>
  document.querySelector('attention-playground').ready.then(() => null, ({type, message}) => ({type, message}))));

test('a board far down the page loads when it comes near, or when it is asked for', async () => {
  const board = await open('/pages/article.html', {allow: []});
  await board.page.evaluate(() => customElements.whenDefined('attention-playground').then(() => document.querySelector('#near').ready));
  await board.settle();
  assert.equal(await begun(board, '#far'), false);
  await board.page.evaluate(() => document.querySelector('#far').scrollIntoView());
  await until('it to be drawn', () => board.page.evaluate(() => document.querySelector('#far').shadowRoot.querySelector('canvas')?.style.visibility === ''));
  const added = await board.page.evaluate(async () => {
    scrollTo(0, 0);
    const make = (loading) => document.body.appendChild(Object.assign(document.createElement('attention-playground'), {loading}));
    const [lazy, eager] = [make('lazy'), make('eager')];
    const has = (one) => one.shadowRoot.querySelector('canvas') !== null;
    const was = [has(lazy), has(eager)];
    await lazy.ready;
    return [...was, has(lazy)];
  });
  assert.deepEqual(added, [false, true, true]);
  await board.close();
});

test('while it loads there is what the author wrote, his picture, and a bar; none of them afterwards', async () => {
  let release;
  const released = new Promise((resolve) => release = resolve);
  const board = await open('/pages/article.html', {allow: [], prepare: (page) => page.route('**/*.wasm', async (route) => { await released; await route.continue(); })});
  const shown = () => board.page.evaluate(() => {
    const isSeen = (element) => element != null && element.checkVisibility({visibilityProperty: true});
    const {shadowRoot} = document.querySelector('#near');
    return [isSeen(document.querySelector('#own')), isSeen(shadowRoot?.querySelector('.poster')), isSeen(shadowRoot?.querySelector('progress'))];
  });
  await until('all three', async () => (await shown()).every(Boolean));
  await board.page.screenshot({path: `${SCREENSHOTS}/web-loading.png`});
  release();
  await until('none of them', async () => (await shown()).every((seen) => !seen));
  await board.close();
});

for (const [what, route, wanted] of [
  ['not found', (one) => one.fulfill({status: 404, body: ''}), /status 404 for playground\S*\.wasm/],
  ['cut off', (one) => one.abort(), /did not arrive/],
  ['damaged', (one) => one.fulfill({contentType: 'application/wasm', body: Buffer.from('0061736d0100000001', 'hex')}), /damaged/],
  ['a page of HTML in its place', (one) => one.fulfill({contentType: 'text/html', body: '<!doctype html><p>Welcome</p>'}), /damaged/],
  ['of another version', (one) => one.fulfill({contentType: 'application/wasm', body: Buffer.from('0061736d01000000', 'hex')}), /files of the playground do not fit together/],
]) {
  test(`a module that is ${what}: a sentence, what the author wrote, and Retry`, async () => {
    const board = await open('/pages/article.html', {prepare: (page) => page.route(/playground[^.]*\.wasm/, route)});
    const {type, message} = await failure(board);
    assert.equal(type, 'load');
    assert.match(message, wanted);
    assert.doesNotMatch(message, /CompileError|LinkError|TypeError|WebAssembly\.|expected|offset|Import #|function/);
    assert.equal(await alertOf(board), message);
    assert.ok(await board.page.locator('#own').isVisible());
    if (what === 'not found') await board.page.screenshot({path: `${SCREENSHOTS}/web-failed.png`});
    await board.page.unroute(/playground[^.]*\.wasm/);
    await board.page.locator('#near button', {hasText: 'Retry'}).click();
    await until('the board', async () => await failure(board) === null);
    assert.equal(await board.page.locator('#own').isVisible(), false);
    board.selector = '#near';
    await board.drag('q', [0, 0, 0], 30, 0);
    await board.check();
    await board.close();
  });
}

test('scripts that do not arrive, or are damaged, are said in a sentence too', async () => {
  for (const body of ['', 'export default 7;', 'this is not JavaScript']) {
    const board = await open('/pages/embed.html', {prepare: (page) => page.route(/playground[^.]*\.js/, (route) => route.fulfill({contentType: 'text/javascript', body}))});
    const {type, message} = await failure(board);
    assert.equal(type, 'load');
    assert.match(message, /playground\S*\.js did not arrive, or is damaged|files of the playground do not fit together/);
    await board.close();
  }
});

test('what never arrives is given up after a time, and ready settles', async () => {
  const board = await open('/pages/embed.html', {async prepare(page) {
    await page.route(/\.wasm/, () => {});
    await page.clock.install();
  }});
  await board.page.clock.fastForward(46_000);
  const {type, message} = await failure(board);
  assert.equal(type, 'load');
  assert.match(message, /nothing arrived within 45 seconds/);
  await board.page.unroute(/\.wasm/);
  await board.page.locator('attention-playground button', {hasText: 'Retry'}).press('Enter');
  await until('the board', async () => await failure(board) === null);
  await board.close();
});

test('one that is taken off the page before it is ready says so', async () => {
  const board = await open('/pages/embed.html', {prepare: (page) => page.route(/\.wasm/, () => {})});
  const message = await board.page.evaluate(async () => {
    await customElements.whenDefined('attention-playground');
    const element = document.querySelector('attention-playground'), {ready} = element;
    element.remove();
    return ready.catch((error) => error.message);
  });
  assert.match(message, /taken off the page before it was ready/);
  await board.close();
});

test('opened from a file the page says that it needs a web server', async () => {
  const page = await (await browser.browser.newContext()).newPage();
  await page.goto(pathToFileURL(`${SITE}/index.html`).href);
  const text = page.locator('foreignObject p');
  const isInView = () => text.evaluate((p) => p.getBoundingClientRect().left >= 0);
  assert.equal(await isInView(), false, 'not while the page may still be loading');
  await until('the sentence', isInView);
  assert.match(await text.textContent(), /only from a web server, and not from a file/);
  await page.screenshot({path: `${SCREENSHOTS}/web-file.png`});
  await page.context().close();
});

test('a browser too old for the scripts: the page says which ones are new enough', async () => {
  const page = await (await browser.browser.newContext()).newPage();
  await page.route(/element\.js$/, (route) => route.fulfill({contentType: 'text/javascript', body: 'class Element { #field = @unknown; }'}));
  await page.goto(`${browser.server.url}/`);
  const text = page.locator('foreignObject p');
  await until('the sentence', () => text.evaluate((p) => p.getBoundingClientRect().left >= 0));
  assert.match(await text.textContent(), /Chrome 91, Firefox 89, Safari 16\.4 or newer/);
  await page.context().close();
});

test('without scripts each page says what is switched off, before anything else', async () => {
  const context = await browser.browser.newContext({javaScriptEnabled: false, viewport: {width: 390, height: 844}}), page = await context.newPage();
  for (const name of ['index.html', 'embed.html', 'glossary.html']) {
    await page.goto(`${browser.server.url}/${name}`);
    const said = page.locator('noscript'), {y} = await said.boundingBox();
    assert.match(await said.textContent(), /switched off here/);
    assert.ok(y < 500, `${name}: ${y}`);
    for (const other of await page.locator('foreignObject p').all()) assert.ok((await other.boundingBox()).y > y, name);
  }
  await page.goto(`${browser.server.url}/tutorial.html`);
  assert.ok(await page.locator('attention-playground p').first().isVisible());
  await context.close();
});

for (const [what, path, blocked, wanted] of [
  ['embed.js', '/embed.html', /embed\.js/, /scripts of this board did not arrive, or something blocks them/],
  ['element.js', '/embed.html', /element\.js/, /element\.js did not arrive, or is damaged/],
  ['standalone.js', '/sandbox.html', /standalone\.js/, /standalone\.js did not arrive, or is damaged/],
]) {
  test(`a frame without ${what}: a sentence stands in the place of the board`, async () => {
    const board = await open('/empty', {prepare: (page) => page.route(blocked, (route) => route.abort())}), {page} = board;
    await page.setContent(`<iframe src="${browser.server.url}/embed.html" ${path === '/sandbox.html' ? 'sandbox="allow-scripts"' : ''} width="700" height="300"></iframe>`);
    const frame = await until('the frame', () => page.frames().find((one) => one.url().endsWith('/embed.html')));
    const text = frame.locator('attention-playground');
    await until('the sentence', () => text.evaluate((element) => {
      const range = document.createRange();
      range.selectNodeContents(element.querySelector('p') ?? element);
      const {left, bottom, height} = range.getBoundingClientRect();
      return left >= 0 && bottom < innerHeight && height > 10;
    }));
    assert.match(await text.innerText(), wanted);
    await board.close();
  });
}

for (const kind of ['playground', 'playground-relaxed']) {
  test(`before the first frame of ${kind} come at most 250 KB, after Brotli, without the words of controls`, () => {
    const files = ['index.html', 'element.js', `${kind}.js`, `${kind}.wasm`].map((name) => readFileSync(`${SITE}/${name}`));
    const bytes = files.reduce((sum, file) => sum + brotliCompressSync(file).length, 0);
    assert.ok(bytes <= 1024 * 250, `${bytes} bytes`);
    // What tooltips say comes later, unless what divides the module takes something for the address of their table.
    const words = 'Returns the board to the state in which it was opened';
    assert.deepEqual([files.at(-1), readFileSync(`${SITE}/${kind}.rest.wasm`)].map((file) => file.includes(words)), [false, true]);
  });
}
