// Third-party tools for pages with boards: installed once into build/hosts according to package-lock.json, together with the tarball made
// by ./play dist.
import assert from 'node:assert/strict';
import {spawn, spawnSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {once} from 'node:events';
import {cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {Board, serve} from '../browser/harness.mjs';
import {resultOf} from '../../web/docs/results.js';
import {until} from '../until.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const built = process.env.CORE ?? fileURLToPath(new URL('../../build/package', import.meta.url));
/** The path of the tarball. */
export const packed = () => join(built, readdirSync(built).find((name) => name.endsWith('.tgz')));
export const root = fileURLToPath(new URL('../../build/hosts', import.meta.url));
export const installed = join(root, 'node_modules/attention-playground');
export const repository = fileURLToPath(new URL('../..', import.meta.url));

export function run(command, values, {cwd = root, ...options} = {}) {
  const {status, stdout, stderr, error} = spawnSync(command, values, {cwd, encoding: 'utf8', ...options});
  assert.equal(status, 0, `${command} ${values.join(' ')}: ${error?.message ?? ''}\n${stdout?.slice(-3000)}\n${stderr?.slice(-3000)}`);
  return stdout;
}

/** The same beside others: its exit status, and all that it prints. */
export async function start(command, values) {
  const child = spawn(command, values, {cwd: root, stdio: ['ignore', 'pipe', 'pipe']});
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => { output += text; });
  const [status] = await once(child, 'close');
  return {status, output};
}

const recipes = readFileSync(join(repository, 'web/hosts/README.md'), 'utf8');
/** The list of code blocks under a heading of the recipes. */
export function blocks(heading) {
  const section = recipes.split(/^## /m).find((part) => part.startsWith(`${heading}\n`));
  assert.ok(section, `a recipe for ${heading}`);
  return [...section.matchAll(/^(`{3,})(\S*)\n([\s\S]*?)^\1$/gm)].map(([, , language, text]) => ({language, text}));
}

/** Whether the documentation shows the very element that a tool has written: the same attributes. */
export async function isAsShown(tab, page, {language, text}, selector = 'attention-playground') {
  const [written, shown] = await tab.evaluate(([html, where]) => {
    const {content} = Object.assign(document.createElement('template'), {innerHTML: html});
    return [document.querySelector(where), content.querySelector('attention-playground')].map((board) =>
      ({...Object.fromEntries(Array.from(board.attributes, ({name, value}) => [name, value])), style: board.style.cssText}));
  }, [resultOf(page, language, text).html, selector]);
  assert.deepEqual(shown, written, `the result of ${page} in the documentation`);
}

/** Files that a bundler does not process are copied beside the bundle. */
export const copyModules = (to) => readdirSync(installed).filter((name) => name.endsWith('.wasm') && !name.startsWith('core')).forEach((name) => cpSync(join(installed, name), join(to, name)));

export function install() {
  mkdirSync(root, {recursive: true});
  const files = ['package.json', 'package-lock.json'].map((name) => join(here, name)), mark = join(root, 'installed');
  const key = createHash('sha256').update(files.map((file) => readFileSync(file, 'utf8')).join()).digest('hex');
  if (!existsSync(mark) || readFileSync(mark, 'utf8') !== key) {
    rmSync(join(root, 'node_modules'), {recursive: true, force: true});
    files.forEach((file) => cpSync(file, join(root, file.slice(here.length))));
    // Not `ci`, which refuses a lock file if a registry lacks packages for other platforms.
    run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']);
    writeFileSync(mark, key);
  }
  rmSync(installed, {recursive: true, force: true});
  mkdirSync(installed);
  run('tar', ['-xzf', packed(), '-C', installed, '--strip-components=1']);
  for (const name of ['app', 'types']) {
    rmSync(join(root, name), {recursive: true, force: true});
    cpSync(join(here, name), join(root, name), {recursive: true});
  }
}

/** Imports a package of these tools by name. */
export const load = async (name) => import(pathToFileURL(createRequire(join(root, 'package.json')).resolve(name)));

/** An empty folder for the output of a tool. */
export function fresh(name) {
  const folder = join(root, name);
  rmSync(folder, {recursive: true, force: true});
  mkdirSync(folder, {recursive: true});
  return folder;
}

/** Serves a folder, opens a page of it, and passes its first board, once ready, to `body`; nothing may be logged to the console. */
export async function visit(browser, folder, page, body, {selector = 'attention-playground', allow = []} = {}) {
  const server = await serve(folder, {policy: false});
  const context = await browser.newContext({viewport: {width: 1440, height: 700}}), tab = await context.newPage(), complaints = [];
  const complain = (text) => allow.some((pattern) => pattern.test(text)) || complaints.push(text);
  tab.on('console', (message) => ['error', 'warning'].includes(message.type()) && complain(message.text()));
  tab.on('pageerror', (error) => complain(String(error)));
  try {
    await tab.goto(`${server.url}/${page}`);
    if (selector) {
      await until('the element', () => tab.evaluate((one) => Boolean(document.querySelector(one)?.shadowRoot), selector));
      await tab.evaluate((one) => document.querySelector(one).ready.then(() => true), selector);
    }
    await body(new Board(tab, selector), tab, server.url);
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
    await server.close();
  }
}
