// The documentation: its links, its size, how it looks to a screen reader, its search, and the places from which it works.
import assert from 'node:assert/strict';
import {cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {dirname, join, relative, resolve} from 'node:path';
import {after, before, test} from 'node:test';
import {SITE, launch, serve} from '../browser/harness.mjs';
import {until} from '../until.mjs';
import {decoded, folder, pages} from './pages.mjs';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const STRICT = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-src 'self'";
let browser, server;
before(async () => {
  [browser, server] = await Promise.all([launch(), serve(SITE, {policy: false})]);
});
after(() => Promise.all([browser?.close(), server?.close()]));

/** Opens a page, calls `look`, and expects that nothing went wrong in it. */
async function visit(address, look, options = {}) {
  const context = await browser.newContext({viewport: {width: 1440, height: 900}, ...options}), page = await context.newPage(), faults = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  page.on('response', (response) => response.status() >= 400 && faults.push(`${response.status()} ${response.url()}`));
  try {
    await page.goto(address);
    await look(page);
    assert.deepEqual(faults, [], address);
  } finally {
    await context.close();
  }
}

const addressesIn = (html) => Array.from(html.matchAll(/<[^>]+?\s(?:href|src)="([^"]*)"/g), ([, address]) => decoded(address));

/** What a page refers to and is not there; nothing in a page names a path from the root of a server. */
function broken({name, html}) {
  return addressesIn(html).filter((address) => !/^(https?:|mailto:|data:)/.test(address)).filter((address) => {
    const [path, anchor] = address.split('#'), file = path ? resolve(folder, path.split('?')[0]) : join(folder, name);
    if (address.startsWith('/') || !existsSync(file) || statSync(file).isDirectory()) return true;
    return anchor && file.startsWith(folder) && !new RegExp(`\\sid="${anchor.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}"`).test(readFileSync(file, 'utf8'));
  }).map((address) => `${name}: ${address}`);
}

test('every link leads to a page that is there, and to a place in it', () => {
  assert.ok(pages.length > 30, `${pages.length} pages`);
  assert.deepEqual(pages.flatMap(broken), []);
  const wrong = ['nothing.html', '/docs/index.html', 'index.html#nothing', '../nothing.js'];
  assert.deepEqual(broken({name: 'index.html', html: wrong.map((address) => `<a href="${address}">`).join('')}), wrong.map((address) => `index.html: ${address}`));
});

test('every lesson, puzzle and question that a page leads to is in the Guide', () => {
  const {lessons} = JSON.parse(readFileSync(join(SITE, 'lessons/index.json'), 'utf8')), known = new Set(lessons.map(({id}) => id));
  const named = pages.flatMap(({html}) => addressesIn(html)).flatMap((address) => /index\.html\?lesson=([\w-]+)/.exec(address)?.[1] ?? []);
  assert.ok(named.length >= known.size, `${named.length} links, ${known.size} cards`);
  assert.deepEqual(named.filter((id) => !known.has(id)), []);
});

test('every page has one title, a description, and its place among all pages', () => {
  const [{html: first}] = pages.filter(({name}) => name === 'index.html'), listed = [first, ...pages.filter(({name}) => name === 'recipes.html').map(({html}) => html)].join('');
  for (const {name, html} of pages) {
    assert.equal(html.match(/<h1[ >]/g)?.length, 1, name);
    assert.match(html, /<meta name="description" content="[^"]{30,}">/, name);
    assert.ok(listed.includes(`href="${name}"`), `${name} is not among all pages`);
    assert.doesNotMatch(html.replace(/<(pre|textarea|code)\b[^]*?<\/\1>| data-live="[^"]*"/g, ''), /\{\{|\{%|undefined|\[object /, name);
  }
  assert.equal(new Set(pages.map(({html}) => /<title>(.*)<\/title>/.exec(html)[1])).size, pages.length, 'titles that differ');
});

test('no page needs more than 150 KB before its board', () => {
  for (const {name, html} of pages) {
    // Pictures come when a reader gets there, but that of the first screen at once; those of the style sheet are the fonts.
    const eager = html.replace(/<img (?![^>]*board-light)[^>]*loading="lazy"[^>]*>/g, '').matchAll(/<(?:script|link|img)[^>]+?(?:href|src)="([^"]+)"/g);
    const files = new Set(Array.from(eager, ([, path]) => resolve(folder, path)));
    for (const [, path] of readFileSync(join(folder, 'assets/docs.css'), 'utf8').matchAll(/url\(([^)]+)\)/g)) files.add(join(folder, 'assets', path));
    const bytes = Buffer.byteLength(html) + [...files].reduce((sum, file) => sum + statSync(file).size, 0);
    assert.ok(bytes <= 150 * 1024, `${name}: ${bytes} bytes`);
  }
});

for (const colorScheme of ['light', 'dark']) {
  for (const width of [1440, 390]) {
    test(`axe finds nothing wrong with any page, ${colorScheme}, ${width} wide`, async () => {
      const context = await browser.newContext({viewport: {width, height: 900}, colorScheme, reducedMotion: 'reduce'}), page = await context.newPage();
      // What frames and boards show is tried by tests of their own.
      await page.route(/\/element\.js$|search\.json$/, (route) => route.fulfill({contentType: 'text/javascript', body: ''}));
      for (const {name} of pages) {
        await page.goto(`${server.url}/docs/${name}`);
        await page.addScriptTag({path: AXE});
        const wrong = await page.evaluate(async () => (await globalThis.axe.run({exclude: ['iframe', 'attention-playground']}, {iframes: false})).violations.map(({id, nodes}) => `${id}: ${nodes[0].html.slice(0, 200)}`));
        assert.deepEqual(wrong, [], name);
        const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.equal(wider, 0, `${name} is wider than the window`);
      }
      await context.close();
    });
  }
}

test('the first screen has a board that computes', async () => {
  await visit(`${server.url}/docs/index.html`, async (page) => {
    const board = page.locator('attention-playground');
    await until('a board', () => board.count());
    assert.equal(await board.evaluate((element) => element.ready === undefined), true, 'it waits for its reader');
    await page.keyboard.press('Shift');
    await until('its numbers', () => board.evaluate((element) => element.ready?.then(() => true)));
    assert.ok((await board.boundingBox()).y < 300);
    assert.ok(Math.abs(await board.evaluate((element) => element.getTensor('weights').data[14]) - 0.69) < 0.01);
  });
});

test('the search finds words of text and titles by the keyboard, also without a connection', async () => {
  await visit(`${server.url}/docs/index.html`, async (page) => {
    await until('the script of the page', () => page.evaluate(() => document.querySelector('.code .copy') !== null));
    await page.keyboard.press('/');
    await page.keyboard.type('sparsemax');
    await until('what is found', async () => await page.locator('#found a').count() > 0);
    assert.match(await page.locator('#found a').first().textContent(), /sparsemax/i);
    await page.locator('#find').fill('zzyzx');
    assert.match(await page.locator('#found').textContent(), /^Nothing is found for/);
    await page.context().setOffline(true);
    await page.locator('#find').fill('key_lengths one per batch');
    await until('what is found', async () => /attn run/.test(await page.locator('#found a').first().textContent()));
    await page.context().setOffline(false);
    await page.keyboard.press('Enter');
    await page.waitForURL(/command-line\.html#attn-run$/);
  });
});

test('it works from a folder within a folder, under a strict content policy', async () => {
  const place = mkdtempSync(join(tmpdir(), 'docs-'));
  try {
    cpSync(join(folder), join(place, 'some/where/docs'), {recursive: true});
    for (const name of ['element.js', 'icon.svg', 'later.js', 'index.html', ...['', '-relaxed'].flatMap((kind) => ['js', 'wasm', 'rest.wasm'].map((end) => `playground${kind}.${end}`))]) {
      symlinkSync(join(SITE, name), join(place, 'some/where', name));
    }
    const other = await serve(place, {policy: false, headers: {'Content-Security-Policy': STRICT}});
    try {
      await visit(`${other.url}/some/where/docs/index.html`, async (page) => {
        await page.keyboard.press('Shift');  // a reader is there, so the board does not wait
        await until('a board', () => page.locator('attention-playground').evaluate((element) => element.ready?.then(() => true)));
        await page.locator('nav.pages a', {hasText: 'Scores'}).click();
        await page.waitForURL(/some\/where\/docs\/scores\.html$/);
        await until('a picture', () => page.locator('.picture img.light').first().evaluate((image) => { image.scrollIntoView(); return image.complete && image.naturalWidth > 0; }));
      });
    } finally {
      await other.close();
    }
  } finally {
    rmSync(place, {recursive: true});
  }
});

test('a reader chooses light or dark, on every page', async () => {
  await visit(`${server.url}/docs/scores.html`, async (page) => {
    const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(await back(), 'rgb(255, 255, 255)');
    await page.locator('#theme').click();
    assert.equal(await back(), 'rgb(16, 18, 22)');
    await page.goto(`${server.url}/docs/weights.html`);
    assert.equal(await back(), 'rgb(16, 18, 22)');
    assert.equal(await page.locator('.picture img.light').first().isVisible(), false);
    assert.equal(await page.locator('.picture img.dark').first().isVisible(), true);
  }, {colorScheme: 'light'});
});

test('the service worker of the page keeps none of it', () => {
  const worker = readFileSync(join(SITE, 'service-worker.js'), 'utf8');
  assert.match(worker, /"element\.js":/);
  assert.doesNotMatch(worker, /"docs\//);
});

test('what is generated is what its sources say', () => {
  const text = (name) => pages.find((page) => page.name === name).html, root = relative('.', dirname(dirname(SITE)));
  const [{attributes, members, events}] = JSON.parse(readFileSync(join(root, 'web/custom-elements.json'), 'utf8')).modules[0].declarations;
  for (const {name} of attributes) assert.ok(text('reference.html').includes(`id="attribute-${name}"`), name);
  for (const {name} of members.filter(({kind}) => kind === 'method')) assert.ok(text('reference.html').includes(`id="method-${name}"`), name);
  for (const {name} of events.filter((one) => !one.name.startsWith('attention-'))) assert.ok(text('reference.html').includes(`id="event-${name}"`), name);
  for (const {id} of JSON.parse(readFileSync(join(root, 'web/lessons/glossary.en.json'), 'utf8')).terms) assert.ok(text('glossary.html').includes(`id="${id}"`), id);
  const registry = readFileSync(join(root, 'src/attention/mechanisms/registry.h'), 'utf8');
  for (const [list, name] of [['SCORES', 'scores.html'], ['NORMALIZERS', 'weights.html']]) {
    const [, names] = new RegExp(`#define ATTENTION_${list}\\(use\\)([^]*?)\\n(?:#|\\n)`).exec(registry);
    for (const [, one] of names.matchAll(/use\((\w+)\)/g)) assert.ok(text(name).includes(`<h2 id="${one}">`), one);
  }
  // Each measured benchmark with its machine, the others with the command that measures them.
  const measured = JSON.parse(readFileSync(join(root, 'tests/bench/measured.json'), 'utf8')), tested = decoded(text('tested.html'));
  for (const [, names] of readFileSync(join(root, 'play'), 'utf8').matchAll(/^(?:MORE_)?BENCHES="(.*?)"/gm)) for (const name of names.split(' ')) {
    const run = measured[name], wanted = run ? [`${run.when}: ${run.processor}, ${run.cores} processors`, ...run.report] : [`./play bench ${name}`];
    for (const line of wanted) assert.ok(tested.includes(line), `${name}: ${line}`);
  }
});
