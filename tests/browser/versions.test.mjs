// The site as a release lays it out: each version in its folder, and beside it a page that leads to the newest.
import assert from 'node:assert/strict';
import {createHash} from 'node:crypto';
import {mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {root} from '../setup/tree.mjs';
import {SITE, launch, serve} from './harness.mjs';

let folder, server, browser;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'versions-'));
  symlinkSync(SITE, join(folder, '1.2.3'));
  mkdirSync(join(folder, 'host'));
  writeFileSync(join(folder, 'index.html'), readFileSync(join(root, 'web/newest.html'), 'utf8').replaceAll('@VERSION@', '1.2.3'));
  [server, browser] = await Promise.all([serve(folder, {policy: false}), launch()]);
});
after(async () => {
  await browser.close();
  await server.close();
  rmSync(folder, {recursive: true});
});

/** A page at a path, once its board is ready. */
async function open(path) {
  const page = await browser.newPage();
  await page.goto(server.url + path);
  await page.waitForURL(/\/1\.2\.3\/|\/host\//);
  await page.evaluate(() => customElements.whenDefined('attention-playground').then(() => document.querySelector('attention-playground').ready));
  return page;
}
const call = (page, method, ...args) => page.evaluate(([name, given]) => document.querySelector('attention-playground')[name](...given), [method, args]);

test('the address without a version leads to the newest one, with what the link says', async () => {
  const page = await open('/?preset=pronoun#a');
  assert.equal(page.url(), `${server.url}/1.2.3/?preset=pronoun#a`);
  assert.equal((await call(page, 'getState')).preset, 'pronoun');
  assert.ok((await call(page, 'link')).startsWith(`${server.url}/1.2.3/#s=`), 'and stays there');
  await page.close();
});

test('without scripts it leads there too', async () => {
  const context = await browser.newContext({javaScriptEnabled: false}), page = await context.newPage();
  await page.goto(`${server.url}/`);
  await page.waitForURL(`${server.url}/1.2.3/`);
  await context.close();
});

test('embed code of a version has the sum of its element.js, and another one is not run', async () => {
  const page = await open('/1.2.3/'), code = await call(page, 'embedCode'), sum = createHash('sha384').update(readFileSync(join(SITE, 'element.js'))).digest('base64');
  assert.ok(code.startsWith(`<script type="module" src="${server.url}/1.2.3/element.js" integrity="sha384-${sum}"></script>\n<attention-playground `), code);
  await page.close();
  writeFileSync(join(folder, 'host/page.html'), code);
  const host = await open('/host/page.html');
  assert.equal(await call(host, 'get', 'tokens'), 4);
  await host.close();
  const other = await browser.newPage(), said = [];
  other.on('console', (message) => said.push(message.text()));
  await other.route('**/element.js', async (route) => route.fulfill({response: await route.fetch(), body: 'document.title = "other";'}));
  await other.goto(`${server.url}/host/page.html`, {waitUntil: 'load'});
  assert.equal(await other.title(), '');
  assert.match(said.join('\n'), /integrity/);
  await other.close();
});
