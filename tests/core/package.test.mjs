// The npm package as an application uses it: the tarball made by ./play dist, unpacked under node_modules.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {brotliCompressSync, gzipSync} from 'node:zlib';

const folder = process.env.CORE ?? fileURLToPath(new URL('../../build/package', import.meta.url));
const application = mkdtempSync(join(tmpdir(), 'package-test-'));
const installed = join(application, 'node_modules/attention-playground');

before(() => {
  const tarball = readdirSync(folder).find(name => name.endsWith('.tgz'));
  assert.ok(tarball, `there is no tarball in ${folder}`);
  mkdirSync(installed, {recursive: true});
  assert.equal(spawnSync('tar', ['-xzf', join(folder, tarball), '-C', installed, '--strip-components=1']).status, 0);
});
after(() => rmSync(application, {recursive: true}));

// The output of a module of the application.
function run(lines) {
  writeFileSync(join(application, 'main.mjs'), lines);
  const {status, stdout, stderr} = spawnSync('node', ['main.mjs'], {cwd: application, encoding: 'utf8'});
  assert.equal(status, 0, stderr);
  return stdout.trim();
}

test('it holds the element, the core, their types and both builds, and nothing else', () => {
  assert.deepEqual(readdirSync(installed).sort(), ['LICENSE', 'NOTICES.txt', 'README.md', 'app.webmanifest', 'canvas.js', 'core-relaxed.wasm', 'core.d.ts', 'core.js', 'core.wasm',
    'custom-elements.json', 'dialog.js', 'element.d.ts', 'element.js', 'embed.html', 'embed.js', 'exchange.js', 'figures.js', 'files.js', 'guide.js', 'host.d.ts', 'host.js', 'icon.svg',
    'index.html', 'input-handlers.js', 'installed.js', 'jsx.d.ts', 'keep.js', 'language.js', 'languages', 'later.js', 'lessons', 'link.js', 'message.js', 'methods.js', 'mirror-announcements.js', 'mirror-controls.js', 'mirror-input.js', 'mirror-nodes.js', 'mirror-tables.js', 'mirror.js', 'noted.js', 'package.js', 'package.json', 'plain-context.js', 'playground-relaxed.files.wasm', 'playground-relaxed.js', 'playground-relaxed.rest.wasm',
    'playground-relaxed.wasm', 'playground.files.wasm', 'playground.js', 'playground.rest.wasm', 'playground.wasm', 'react.d.ts', 'react.js', 'reader.js', 'report.js', 'service-worker.js', 'share.js',
    'standalone.js', 'texts', 'texts.js', 'values.js', 'watch.js']);
});

test('lessons and languages are modules too, with the same text', () => {
  const files = [...readdirSync(join(installed, 'languages')).map((name) => `languages/${name}`), ...readdirSync(join(installed, 'lessons')).map((name) => `lessons/${name}`)]
    .filter((name) => name.endsWith('.json') && !/schema\.json$|languages\/index\.json$/.test(name));
  const found = JSON.parse(run(`import {inline} from './node_modules/attention-playground/files.js';
    await import('./node_modules/attention-playground/texts.js');
    const texts = [...inline].filter(([name]) => name.endsWith('.json'));
    console.log(JSON.stringify({languages: inline.get('languages'), texts: await Promise.all(texts.map(async ([name, text]) => [name, await text()]))}));`));
  assert.deepEqual(found.languages, JSON.parse(readFileSync(join(installed, 'languages/index.json'), 'utf8')));
  assert.deepEqual(found.texts.map(([name]) => name).sort(), files.sort());
  for (const [name, text] of found.texts) assert.equal(text, readFileSync(join(installed, name), 'utf8'), name);
});

test('the report of sizes adds up what an entry point imports at once, and nothing that comes later', () => {
  const made = mkdtempSync(join(tmpdir(), 'sizes-')), files = {'package.json': JSON.stringify({exports: {'.': {types: './a.d.ts', default: './a.js'}, './texts/*': './texts/*', './b': './b.js'}}),
    'a.js': "import {b} from './b.js';import './c.js';\nexport * from './d.js';\nimport('./late.js'); import x from 'react';", 'b.js': 'export const b = 1;'.repeat(40), 'c.js': "import './a.js';",
    'd.js': 'export {};', 'late.js': 'x'.repeat(999), 'm.wasm': 'module'.repeat(99)};
  for (const [name, text] of Object.entries(files)) writeFileSync(join(made, name), text);
  const rows = spawnSync('node', [fileURLToPath(new URL('../../src/shell/web/sizes.mjs', import.meta.url)), made], {encoding: 'utf8'}).stdout.trim().split('\n').map((line) => line.trim().split(/ {2,}/));
  rmSync(made, {recursive: true});
  const wanted = (title, ...names) => [title, String(names.length), ...[(text) => text.length, (text) => gzipSync(text, {level: 9}).length, (text) => brotliCompressSync(text).length]
    .map((of) => names.reduce((sum, name) => sum + of(files[name]), 0).toLocaleString('en'))];
  assert.deepEqual(rows, [['entry point', 'files', 'bytes', 'gzip', 'Brotli'], wanted('.', 'a.js', 'b.js', 'c.js', 'd.js'), wanted('./b', 'b.js'), wanted('m.wasm', 'm.wasm')]);
});

test('npm is told to publish with the proof of where it was built', () => {
  assert.deepEqual(JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')).publishConfig, {access: 'public', provenance: true});
});

test('the core is imported by its name', () => {
  assert.equal(run(`import {loadAttention} from 'attention-playground/core';
    const attn = await loadAttention({kernel: 'wasm-simd128'});
    const {output} = attn.forward({q: [1, 0], k: [1, 0, 0, 1], v: [2, 4, 6, 8], heads: 1, queryCount: 1, keyCount: 2, headDim: 2, scale: 0});
    console.log(Array.from(output).join(' '));`), '4 6');
});

test('the README links nothing that is not in the package, names no file that is not in it, and its example of the core runs', () => {
  const readme = readFileSync(join(installed, 'README.md'), 'utf8');
  const links = [...readme.matchAll(/\]\(([^)]*)\)|<(?:img|a)\b[^>]*(?:src|href)="([^"]*)"/g)].map(([, link, other]) => link ?? other);
  assert.ok(links.includes('element.d.ts') && links.includes('NOTICES.txt'));
  for (const link of links) assert.ok(existsSync(join(installed, link)), link);
  for (const [, name] of readme.matchAll(/`([\w.-]+\.(?:js|txt|wasm)|[a-z]+\/)`/g)) assert.ok(existsSync(join(installed, name)), name);
  const [, example] = /```js\n(import \{loadAttention\}[^]*?)```/.exec(readme);
  assert.match(run(example), /^wasm-(relaxed|simd128) Float32Array\(2\) \[ [\d.]+, [\d.]+ \] Float32Array\(2\)/);
});

test('it says which Node it is for, and names an address only if one was given', () => {
  const {engines, repository, homepage} = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  const [major] = process.versions.node.split('.').map(Number), [, least] = /^>=(\d+)$/.exec(engines.node);
  assert.ok(major >= Number(least), engines.node);
  const {AP_REPOSITORY, AP_HOMEPAGE} = process.env;
  assert.deepEqual(repository, AP_REPOSITORY ? {type: 'git', url: `git+${AP_REPOSITORY}`} : undefined);
  assert.equal(homepage, AP_HOMEPAGE || undefined);
});

test('on a server the import is harmless', () => {
  assert.equal(run(`const {AttentionPlayground} = await import('attention-playground');
    console.log(typeof AttentionPlayground, typeof globalThis.customElements);`), 'function undefined');
});

test('the manifest names what the element has', () => {
  const {modules: [{declarations: [{tagName, attributes, members, events}]}]} = JSON.parse(readFileSync(join(installed, 'custom-elements.json'), 'utf8'));
  const source = readFileSync(join(installed, 'element.js'), 'utf8'), types = readFileSync(join(installed, 'element.d.ts'), 'utf8');
  assert.equal(tagName, 'attention-playground');
  for (const {name} of attributes) assert.ok(source.includes(`'${name}'`), name);
  for (const {name} of members) assert.match(types, new RegExp(`\\b${name}[(:]`), name);
  const names = [...types.slice(types.indexOf('class AttentionPlayground')).matchAll(/^ {2}(?:readonly )?(\w+)[(:]/gm)].map(([, name]) => name);
  const named = [...attributes, ...members].map(({name}) => name);
  assert.deepEqual(names.filter((name) => !named.includes(name)), ['addEventListener']);  // every element has it

  // Each event under both names; those that React and the iframe pass on are the same.
  const first = [.../interface PlaygroundEvents \{([^]*?)\n\}/.exec(types)[1].matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name).sort();
  assert.equal(first.length, 10);
  assert.deepEqual(events.map(({name}) => name).sort(), [...first, ...first.map((name) => `attention-${name}`)].sort());
  const quoted = (file, pattern) => [...pattern.exec(readFileSync(join(installed, file), 'utf8'))[1].matchAll(/'(\w+)'/g)].map(([, name]) => name).sort();
  assert.deepEqual(quoted('react.js', /EVENTS = \{([^}]*)\}/), first);
  assert.deepEqual(quoted('embed.js', /EVENTS = \[([^\]]*)\]/), first);

  const union = (text) => [...text.matchAll(/'([^']+)'/g)].map(([, name]) => name);
  for (const [attribute, type] of [['preset', 'PresetName'], ['view', 'ViewName']]) {
    const [, wanted] = new RegExp(`export type ${type} =([^;]+);`).exec(types);
    assert.deepEqual(union(attributes.find(({name}) => name === attribute).type.text), union(wanted), attribute);
  }
});

test('the element is found by its name', () => {
  assert.match(run(`console.log(import.meta.resolve('attention-playground'), import.meta.resolve('attention-playground/element.js'));`),
      /attention-playground\/package\.js .*attention-playground\/package\.js$/);
});
