// What a person does first: npm installs the tarball made by ./play dist beside Vite into an empty folder, and Vite's development server shows a
// board. Seconds are printed, and not judged: other programs work at the same time.
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {Board, launch} from '../browser/harness.mjs';
import {timed} from '../timed.mjs';
import {until} from '../until.mjs';
import {blocks, install, installed, packed, root} from './tools.mjs';

let browser, folder;
before(async () => {
  install();
  folder = mkdtempSync(join(tmpdir(), 'vite-'));  // outside of all others, whose packages it would find too
  browser = await launch();
});
after(async () => {
  await browser?.close();
  rmSync(folder, {recursive: true, force: true});
});

/** An empty application with a board. */
function application(name) {
  const app = join(folder, name);
  cpSync(join(root, 'app'), app, {recursive: true});
  writeFileSync(join(app, 'package.json'), '{"private": true, "type": "module"}');
  return app;
}

/** Starts a development server, and passes the first board of its page, once drawn, to `body`; nothing may be logged to the console. */
async function developed(app, vite, body) {
  const server = spawn(process.execPath, [join(vite, 'bin/vite.js'), '--host', '127.0.0.1'], {cwd: app, env: {...process.env, NO_COLOR: '1'}}), ended = once(server, 'exit');
  let said = '';
  for (const stream of [server.stdout, server.stderr]) stream.setEncoding('utf8').on('data', (text) => { said += text; });
  const tab = await browser.newPage({viewport: {width: 1440, height: 700}}), complaints = [];
  tab.on('console', (message) => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()));
  tab.on('pageerror', (error) => complaints.push(String(error)));
  try {
    const [address] = await until('the server', () => /http:\/\/127\.0\.0\.1:\d+\//.exec(said) ?? assert.equal(server.exitCode, null, said));
    await tab.goto(address);
    await tab.evaluate(() => customElements.whenDefined('attention-playground').then(() => document.querySelector('attention-playground').ready).then(() => true));
    await body(new Board(tab, 'attention-playground'), tab);
    assert.deepEqual(complaints, []);
  } finally {
    await tab.close();
    server.kill();
    await ended;
  }
}

/** What is fetched when it is used: a lesson, and the reader of files, a worker. */
async function loadsTheRest(board) {
  await board.call('openLesson', 'query');
  const noted = await board.listen('error');
  await board.drop('1,0\n0,1\n', 'k.csv');
  assert.deepEqual(await noted(), []);
}

test('from npm install in an empty folder to a board', async (t) => {
  const app = application('app'), {version} = JSON.parse(readFileSync(join(root, 'node_modules/vite/package.json'), 'utf8'));
  // This Vite has been installed for other tests, so it comes from npm's cache, as for who has used it before.
  const {seconds, processor} = timed(['npm', 'install', '--prefer-offline', packed(), `vite@${version}`], {cwd: app}), began = performance.now();
  await developed(app, join(app, 'node_modules/vite'), async (board) => {
    const drawn = (performance.now() - began) / 1000;
    t.diagnostic(`${(seconds + drawn).toFixed(1)} s from npm install to a board in Vite ${version}: installed in ${seconds.toFixed(1)} (processors worked ${processor.toFixed(1)}), drawn in ${drawn.toFixed(1)}`);
    await board.drag('q', [0, 0, 0], 30, 0);
    assert.ok(Math.abs(await board.value('q', 0, 0, 0) - 0.3) < 0.02);
    await loadsTheRest(board);
  });
});

test('the development server of Vite 6, as the recipe sets it up', async () => {
  const app = application('app6'), modules = join(app, 'node_modules'), {text} = blocks('Bundlers').find(({text: one}) => one.includes('optimizeDeps'));
  mkdirSync(modules);
  cpSync(installed, join(modules, 'attention-playground'), {recursive: true});
  symlinkSync(join(root, 'node_modules/uqr'), join(modules, 'uqr'));
  writeFileSync(join(app, 'vite.config.js'), text);
  await developed(app, join(root, 'node_modules/vite6'), loadsTheRest);
});
