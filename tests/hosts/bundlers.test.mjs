// Real builds of an application with a board: the tarball made by ./play dist, bundled with each tool as described in web/hosts/README.md,
// served from a folder, and used in Chromium: drawn, dragged, shared, with a lesson and a file opened; with and without the address of the pages.
import assert from 'node:assert/strict';
import {cpSync, readdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {launch} from '../browser/harness.mjs';
import {until} from '../until.mjs';
import {copyModules, fresh, install, installed, load, root, run, visit} from './tools.mjs';

let browser;
before(async () => {
  install();
  browser = await launch();
});
after(() => browser?.close());

const app = join(root, 'app');
const target = (name) => fresh(`dist-${name}`);

/** The tabs of the Share dialog, whose words are German: languages come along. */
async function tabsOf(board, tab) {
  await board.click('share');
  await until('the dialog', () => tab.locator('attention-playground dialog').isVisible());
  const words = await tab.locator('attention-playground dialog [role=tab]').allTextContents();
  await tab.keyboard.press('Escape');
  return words;
}

/** The address of links and embed code, and the whole dialog. */
async function linksTo(address, board, tab) {
  assert.equal((await board.call('link')).split('#')[0], address);
  assert.ok((await board.call('embedCode', {kind: 'iframe'})).includes(` src="${address}embed.html`));
  assert.deepEqual(await tabsOf(board, tab), ['Link', 'Einbetten', 'Abbildung', 'Code']);
}

/** Checks that the board works in the built application. Where nobody says where the pages are published, what needs them says so, and all
 * else works. */
async function works(folder) {
  await visit(browser, folder, 'index.html', async (board, tab, url) => {
    await board.drag('q', [0, 0, 0], 30, 0);
    assert.ok(Math.abs(await board.value('q', 0, 0, 0) - 0.3) < 0.02);
    await board.check();
    for (const call of ['link', 'embedCode']) await assert.rejects(board.call(call), {field: 'home', message: /set AttentionPlayground\.home to the address where the pages are published/}, call);
    assert.deepEqual(await tabsOf(board, tab), ['Abbildung', 'Code']);
    const name = (home) => tab.evaluate((address) => { customElements.get('attention-playground').home = address; }, home);
    await name('/playground/');
    await linksTo(`${url}/playground/`, board, tab);
    await name(undefined);
    // Parts that are loaded on demand: lessons, and the file reader in its worker.
    await board.call('openLesson', 'query');
    const noted = await board.listen('error');
    await board.drop('1,0\n0,1\n', 'k.csv');
    assert.deepEqual(await noted(), []);
  });
}

for (const vite of ['vite6', 'vite']) {
  test(vite === 'vite' ? 'Vite 8' : 'Vite 6', async () => {
    const {build} = await load(vite), outDir = target(vite);
    await build({root: app, logLevel: 'error', configFile: false, build: {outDir, emptyOutDir: true, minify: vite === 'vite'}});
    await works(outDir);
  });
}

test('webpack 5', async () => {
  const {default: webpack} = await load('webpack'), dist = target('webpack');
  const stats = await new Promise((resolve, reject) => webpack({mode: 'production', context: app, entry: './main.js', output: {path: dist, publicPath: 'auto'}, optimization: {minimize: false}, performance: {hints: false}},
    (error, done) => error ? reject(error) : resolve(done)));
  const {errors, warnings} = stats.toJson({errors: true, warnings: true});
  assert.deepEqual([...errors, ...warnings].map(({message}) => message), []);
  writeFileSync(join(dist, 'index.html'), '<!doctype html><title>An application</title><link rel="icon" href="data:,"><body><script src="main.js"></script>');
  await works(dist);
});

test('esbuild', async () => {
  const {build} = await load('esbuild'), outdir = target('esbuild');
  await build({absWorkingDir: root, entryPoints: {main: 'app/main.js', reader: 'attention-playground/reader.js'}, bundle: true, splitting: true, format: 'esm', outdir, logLevel: 'error'});
  copyModules(outdir);
  cpSync(join(app, 'index.html'), join(outdir, 'index.html'));
  await works(outdir);
});

test('without a connection Share says so, where there is no link to copy either', async () => {
  await visit(browser, join(root, 'dist-esbuild'), 'index.html', async (board, tab) => {
    await tab.addInitScript(() => {  // opens the closed shadow root of the mirror to the test
      const {attachShadow} = Element.prototype;
      Element.prototype.attachShadow = function (options) { return attachShadow.call(this, {...options, mode: 'open'}); };
    });
    await tab.reload();
    await tab.evaluate(() => document.querySelector('attention-playground').ready.then(() => true));
    await tab.route('**/*', (route) => route.abort());
    await board.click('share');
    await until('the sentence', () => tab.evaluate(() => [...document.querySelector('attention-playground').shadowRoot.querySelectorAll('*')].some(({shadowRoot}) =>
      shadowRoot?.textContent.includes('Der Dialog konnte nicht geladen werden: Vielleicht fehlt die Verbindung. Bitte erneut versuchen.'))));
  }, {allow: [/net::ERR/]});
});

test('Rollup', async () => {
  const [{rollup}, {nodeResolve}] = await Promise.all([load('rollup'), load('@rollup/plugin-node-resolve')]), dir = target('rollup'), warnings = [];
  const bundle = await rollup({input: {main: join(app, 'main.js'), reader: join(installed, 'reader.js')}, plugins: [nodeResolve()], onwarn: ({message}) => warnings.push(message)});
  await bundle.write({dir, format: 'es', entryFileNames: '[name].js', chunkFileNames: '[name].js'});
  copyModules(dir);
  cpSync(join(app, 'index.html'), join(dir, 'index.html'));
  assert.deepEqual(warnings, []);
  await works(dir);
});

test('Parcel', async () => {
  const dist = target('parcel');
  run('node_modules/.bin/parcel', ['build', 'app/index.html', '--dist-dir', dist, '--no-cache', '--no-source-maps', '--public-url', './', '--log-level', 'warn'], {env: {...process.env, PARCEL_WORKERS: '0'}});
  await works(dist);
});

const PLAIN = (script) => `<!doctype html><title>A page</title><link rel="icon" href="data:,"><body>${script}
  <attention-playground preset="uniform" lang="de" loading="eager" style="display:block;height:600px"></attention-playground>`;

test('a plain script, from one file: the pages are beside it', async () => {
  const dist = target('plain');
  cpSync(join(installed, 'standalone.js'), join(dist, 'scripts/standalone.js'));
  writeFileSync(join(dist, 'index.html'), PLAIN('<script src="scripts/standalone.js"></script>'));
  await visit(browser, dist, 'index.html', async (board, tab, url) => {
    await linksTo(`${url}/scripts/`, board, tab);
    await board.call('openLesson', 'query');
  });
});

for (const [what, script] of [
  ['under another name', '<script src="board.js"></script>'],
  ['from a kernel, as in notebooks', `<script type="module">import(URL.createObjectURL(await (await fetch('board.js')).blob()))</script>`],
]) {
  test(`a plain script ${what}: only the page knows where the pages are`, async () => {
    const dist = target('plain');
    cpSync(join(installed, 'standalone.js'), join(dist, 'board.js'));
    writeFileSync(join(dist, 'index.html'), PLAIN(script));
    await works(dist);
  });
}

test('the package as it is, in a published folder: its pages, and links to them', async () => {
  await visit(browser, installed, 'index.html', async (board, tab, url) => {
    await board.call('set', 'temperature', 2);
    const link = await board.call('link');
    assert.equal(link.split('#')[0], `${url}/index.html`);
    await tab.goto(link.replace('/index.html#', '/embed.html#'));
    await tab.evaluate(() => customElements.whenDefined('attention-playground').then(() => document.querySelector('attention-playground').ready).then(() => true));
    assert.equal(await board.get('temperature'), 2);
  });
});
