// The page without a connection: one release, whole, and never files of two. Its address is not one of this machine, where nothing is kept.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {until} from '../until.mjs';
import {launch, serve, SITE} from './harness.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const place = mkdtempSync(join(tmpdir(), 'installed-')), folder = join(place, 'some/folder');
const MARKED = ['element.js', 'later.js', 'guide.js', 'lessons/index.json', 'index.html'];  // files of which each release has its own
let server, browser, origin, home;

before(async () => {
  server = await serve(place);
  const {port} = new URL(server.url);
  origin = `http://playground.localhost:${port}`;  // which browsers take for as safe as https
  home = `${origin}/some/folder/`;
  browser = await launch({args: ['--host-resolver-rules=MAP playground.localhost 127.0.0.1']});
});
after(async () => {
  await browser.close();
  await server.close();
  rmSync(place, {recursive: true});
});

const marks = {js: (name) => `\n;(globalThis.releases ??= new Set()).add('${name}');`, json: () => '', html: (name) => `<!-- ${name} -->`};
/** Publishes a release; `half`: all but its module's scripts have arrived. */
function publish(name, {half = false} = {}) {
  const made = join(place, 'made');
  rmSync(made, {recursive: true, force: true});
  cpSync(SITE, made, {recursive: true, filter: (path) => !/\.map$|standalone\.js$/.test(path)});
  for (const file of MARKED) {
    const text = readFileSync(join(made, file), 'utf8');
    writeFileSync(join(made, file), file.endsWith('.json') ? text.replace('{', `{"release": "${name}",`) : text + marks[file.split('.').at(-1)](name));
  }
  const done = spawnSync('node', [here('../../src/shell/web/release-list.mjs'), here('../../web/service-worker.js'), made], {encoding: 'utf8'});
  assert.equal(done.stderr, '');
  mkdirSync(folder, {recursive: true});
  cpSync(made, folder, {recursive: true, filter: (path) => !half || !/later\.js$/.test(path)});
}

/** A reader's browser, with nothing kept, and a release on the server. */
async function visitor(name = 'A') {
  rmSync(folder, {recursive: true, force: true});
  server.cut(false);
  publish(name);
  const context = await browser.newContext(), complaints = [];
  async function open(query = '') {
    const page = await context.newPage();
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()));
    await page.goto(home + query);
    await page.evaluate(() => customElements.whenDefined('attention-playground').then(() => document.querySelector('attention-playground').ready));
    return page;
  }
  return {context, complaints, open};
}
const kept = (page) => page.evaluate(() => navigator.serviceWorker.ready.then(({active}) => new Promise((resolve) => {
  const look = () => active.state === 'activated' && resolve();
  active.addEventListener('statechange', look);
  look();
})));
/** The releases of everything that a page has loaded, and of what it asks for now. */
const releasesOf = (page) => page.evaluate(async () => {
  const {release} = await (await fetch('lessons/index.json')).json();
  const html = await (await fetch('index.html')).text();
  return [...new Set([...globalThis.releases, release, /<!-- (\w+) -->/.exec(html)[1]])].sort().join();
});
const stateOf = (page) => page.evaluate(async () => {
  const found = await navigator.serviceWorker.getRegistration();
  return found && {installing: Boolean(found.installing), waiting: Boolean(found.waiting)};
});
const update = (page) => page.evaluate(async () => (await navigator.serviceWorker.getRegistration()).update().then(() => true, () => false));

test('after one visit the page is there without a connection, whole, in a folder and with what its address asks for', async () => {
  const {context, complaints, open} = await visitor();
  const first = await open();
  await kept(first);
  await first.close();
  server.cut(true);
  const page = await open('?preset=pronoun&lang=de');
  const call = (...values) => page.evaluate(([name, ...args]) => document.querySelector('attention-playground')[name](...args), values);
  assert.equal((await call('getState')).preset, 'pronoun');
  await until('the words', () => page.evaluate(() => document.querySelector('attention-playground').shadowRoot.querySelector('canvas').ariaLabel === 'Attention-Playground'));
  await call('openLesson', 'masks');
  assert.match(await call('link'), /#s=/);
  assert.match(await call('toCode', 'numpy'), /import numpy/);
  assert.match(await page.evaluate(async () => (await fetch('NOTICES.txt')).text()), /Dear ImGui/);
  assert.equal(await page.evaluate(async () => (await fetch('tutorial.html')).status), 200);
  await page.evaluate(() => {
    const element = document.querySelector('attention-playground'), dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(['{"q": [[[1, 2], [3, 4]]], "k": [[[1, 2], [3, 4]]], "v": [[[1, 2], [3, 4]]]}'], 'two.json'));
    for (const type of ['dragenter', 'dragover', 'drop']) element.dispatchEvent(new DragEvent(type, {dataTransfer, bubbles: true, cancelable: true, composed: true}));
  });
  await until('the file', async () => (await call('getTensor', 'q')).shape[1] === 2);
  assert.deepEqual(complaints, []);
  await context.close();
});

test('pages that are open stay with their release, and the next visit has the other one', async () => {
  const {context, open} = await visitor();
  const first = await open();
  await kept(first);
  await first.close();
  const page = await open();
  assert.equal(await releasesOf(page), 'A');
  publish('B');
  assert.equal(await update(page), true);
  await until('B to be whole', async () => (await stateOf(page)).waiting);
  assert.equal(await releasesOf(page), 'A');
  const other = await open();
  assert.equal(await releasesOf(other), 'A', 'two tabs are of one release');
  await Promise.all([page.close(), other.close()]);
  let now;
  await until('B', async () => {
    await now?.close();
    now = await open();
    const all = await releasesOf(now);
    assert.match(all, /^[AB]$/, 'never both');
    return all === 'B';
  });
  assert.equal((await now.evaluate(() => caches.keys())).length, 1, 'A is gone');
  await context.close();
});

test('a release that is half on the server is not taken', async () => {
  const {context, open} = await visitor();
  const first = await open();
  await kept(first);
  await first.close();
  const page = await open();
  publish('B', {half: true});
  await update(page);
  await until('the attempt to end', async () => { const {installing, waiting} = await stateOf(page); return !installing && !waiting; });
  assert.equal(await releasesOf(page), 'A');
  await page.close();
  const again = await open();
  assert.equal(await releasesOf(again), 'A');
  assert.equal((await again.evaluate(() => caches.keys())).length, 1, 'nothing is left of the attempt');
  await context.close();
});

/** Takes a file out of what is kept, as a browser could to save space. */
const drop = (page, name) => page.evaluate(async (file) => {
  const cache = await caches.open((await caches.keys())[0]);
  return cache.delete(new URL(file, location).href);
}, name);

test('a file that is no longer kept comes from the server, if that still has the release', async () => {
  const {context, open} = await visitor();
  const first = await open();
  await kept(first);
  assert.equal(await drop(first, 'later.js'), true);
  await first.close();
  const page = await open();
  assert.equal(await releasesOf(page), 'A');
  await page.close();
  server.cut(true);
  assert.equal(await releasesOf(await open()), 'A', 'and is kept again');
  await context.close();
});

for (const [file, what] of [['later.js', 'a script'], ['index.html', 'the page itself']]) {
  test(`${what} that is no longer kept and is another one by now: never files of two releases, and soon all of the new one`, async () => {
    const {context, open} = await visitor();
    const first = await open();
    await kept(first);
    assert.equal(await drop(first, file), true);
    await first.close();
    publish('B');
    let page, seen = [];
    await until('B', async () => {
      await page?.close();
      page = await context.newPage();
      await page.goto(home);
      const isReady = await page.evaluate(() => customElements.whenDefined('attention-playground').then(() => document.querySelector('attention-playground').ready).then(() => true, () => false));
      seen = await page.evaluate(() => [...globalThis.releases]);
      assert.equal(seen.length, 1, `${seen}`);
      return isReady && seen[0] === 'B';
    });
    assert.equal(await releasesOf(page), 'B');
    await context.close();
  });
}

test('nothing is kept at an address of this machine, in a frame, and by pages of others', async () => {
  const {context} = await visitor();
  const isKept = async (address, frame) => {
    const page = await context.newPage();
    await page.goto(address);
    if (frame) {
      await page.evaluate((src) => document.body.append(Object.assign(document.createElement('iframe'), {src, width: 800, height: 400})), frame);
    }
    const inner = frame ? await until('the frame', () => page.frames()[1]) : page;
    await until('the board', () => inner.evaluate(() => customElements.whenDefined('attention-playground').then(() => document.querySelector('attention-playground').ready).then(() => true)).catch(() => false));
    await inner.evaluate(() => new Promise((done) => requestIdleCallback(() => requestIdleCallback(done))));
    const found = await inner.evaluate(async () => (await navigator.serviceWorker?.getRegistrations() ?? []).length + document.querySelectorAll('link[rel=manifest]').length);
    await page.close();
    return found > 0;
  };
  assert.equal(await isKept(`${server.url}/some/folder/`), false);
  assert.equal(await isKept(`${home}embed.html`), false);
  assert.equal(await isKept(`${origin}/empty`, home), false);
  assert.equal(await isKept(home), true, 'the test sees what it looks for');
  await context.close();
});

test('a browser can install it', async () => {
  const {context, open} = await visitor();
  const page = await open();
  await kept(page);
  const session = await context.newCDPSession(page);
  const {errors, data, url} = await until('the manifest', async () => { const found = await session.send('Page.getAppManifest'); return found.url && found; });
  assert.deepEqual(errors, []);
  assert.equal(url, `${home}app.webmanifest`);
  const {icons, file_handlers: [{accept}]} = JSON.parse(data);
  assert.equal((await context.request.get(`${server.url}/some/folder/${icons[0].src}`)).status(), 200);
  assert.deepEqual(Object.values(accept).flat().sort(), ['.json', '.npz', '.safetensors']);
  const {installabilityErrors} = await session.send('Page.getInstallabilityErrors');
  // A private window, as each test has one, installs nothing.
  assert.deepEqual(installabilityErrors.filter(({errorId}) => errorId !== 'in-incognito'), []);
  await context.close();
});

test('"Open with" gives the file to the board', async () => {
  const {context} = await visitor();
  const page = await context.newPage();
  await page.addInitScript(() => {
    Object.defineProperty(globalThis, 'launchQueue', {value: {setConsumer: (consumer) => { globalThis.consumer = consumer; }}});
  });
  await page.goto(home);
  await page.evaluate(() => customElements.whenDefined('attention-playground').then(() => document.querySelector('attention-playground').ready));
  const shape = () => page.evaluate(() => document.querySelector('attention-playground').getTensor('q').shape.join());
  const before = await shape();
  await page.evaluate(() => globalThis.consumer({files: []}));
  assert.equal(await shape(), before);
  await page.evaluate(() => globalThis.consumer({files: [{getFile: async () => new File(['{"q": [[[1, 2], [3, 4]]], "k": [[[1, 2], [3, 4]]], "v": [[[1, 2], [3, 4]]]}'], 'two.json')}]}));
  await until('the file', async () => await shape() === '1,2,2');
  await context.close();
});
