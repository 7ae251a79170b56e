// Real builds of an application with a board: the tarball made by ./play dist, bundled with each tool as described in web/hosts/README.md,
// served from a folder, and used in Chromium: drawn, dragged, shared, with a lesson and a file opened.
import assert from 'node:assert/strict';
import {cpSync, readdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {SITE, launch} from '../browser/harness.mjs';
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

/** Checks that the board works in the built application. */
async function works(folder) {
  cpSync(SITE, join(folder, 'playground'), {recursive: true});
  await visit(browser, folder, 'index.html', async (board, tab, url) => {
    await board.drag('q', [0, 0, 0], 30, 0);
    assert.ok(Math.abs(await board.value('q', 0, 0, 0) - 0.3) < 0.02);
    await board.check();
    const link = new URL(await board.call('link'));
    assert.equal(link.origin + link.pathname, `${url}/playground/`);
    // Parts that are fetched on demand: the dialog, lessons, the file reader in its worker.
    await board.click('share');
    await until('the dialog', () => tab.locator('attention-playground dialog').isVisible());
    await tab.keyboard.press('Escape');
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

test('a plain script, from one file', async () => {
  const dist = target('plain');
  cpSync(join(installed, 'standalone.js'), join(dist, 'standalone.js'));
  writeFileSync(join(dist, 'index.html'), `<!doctype html><title>A page</title><link rel="icon" href="data:,"><body><script src="standalone.js"></script>
    <script>customElements.whenDefined('attention-playground').then((kind) => { kind.home = '/playground/'; });</script>
    <attention-playground preset="uniform" loading="eager" style="display:block;height:600px"></attention-playground>`);
  await works(dist);
});
