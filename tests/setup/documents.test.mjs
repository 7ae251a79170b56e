// What READMEs and comments say of the tree is true of it.
import assert from 'node:assert/strict';
import {existsSync, readFileSync} from 'node:fs';
import {basename, dirname, join, relative} from 'node:path';
import {test} from 'node:test';
import {includesOf, picture} from './layers.mjs';
import {filesUnder, root, textsUnder} from './tree.mjs';

const FOLDERS = ['src', 'web', 'tests', 'shaders', '.github'];
const paths = [...FOLDERS.flatMap((folder) => filesUnder(join(root, folder))).map((path) => relative(root, path)), 'README.md', 'CMakeLists.txt', 'play'];
const documents = textsUnder([''], /\.md$/);
const architecture = documents.find(({path}) => path === 'src/README.md').text;

test('the picture of the layers in src/README.md is what the sources include', () => {
  assert.equal(/```mermaid\n[^]*?```\n/.exec(architecture)?.[0], picture(), 'node tests/setup/layers.mjs --write puts the new one there');
});

test('the picture has an arrow for each include that no other arrows lead to', () => {
  const drawn = picture(new Map([['a', new Set(['b', 'c'])], ['b', new Set(['c'])], ['c', new Set()], ['d', new Set(['c'])]]));
  assert.equal(drawn, '```mermaid\nflowchart TD\n  a --> b\n  b --> c\n  d --> c\n```\n');
});

test('each folder of src/files includes only those that src/README.md names before it', () => {
  const [row] = /^\| files \|.*$/m.exec(architecture), includes = includesOf('files');
  const folders = Array.from(row.matchAll(/`(\w+)` /g), ([, name]) => name);
  assert.deepEqual(new Set(folders), new Set(includes.keys()));
  folders.forEach((folder, i) => assert.deepEqual([...includes.get(folder)].filter((name) => !folders.slice(0, i).includes(name)), [], folder));
});

// For each recipe of src/README.md what has been added like that, and what names it.
const ADDED = {
  'A score, or a way to make weights': [/\bentmax15\b/, /Score::cosine|scores\/cosine|use\(cosine\)/],
  'An example': [/'grouped-query'|"grouped-query"/],
  'An option': [/\bvalue_norms\b|\bvalueNorms\b/, /\brotary_base\b|\brotaryBase\b/],
  'A panel': [/\btoolbar\(|\bLayout::toolbar|[lL]ayout\.toolbar/],
  'A page': [/View::cost|view:cost|costPage|VIEW\(cost\)|"memory", "cost"|'memory' \| 'cost'/],
  'A file format': [/Format::npy|files\/npy|"\.npy|'\.npy|\.npy,|\*\.npy/, /'npy'|\bnpy,/],
  'A lesson': [/around-the-layer\.json/],
  'A language': [/\bzh\.json|"zh"|\bzh:|lang=zh/],
};

/** The paths that a recipe lists. */
function listed(title) {
  const [, section] = architecture.split(`\n### ${title}\n`);
  return Array.from(section?.split(/\n##/)[0].matchAll(/`((?:src|web)\/[\w./-]*)`/g) ?? [], ([, path]) => path);
}

test('each recipe of src/README.md lists all files that name what was added like that', () => {
  assert.deepEqual(Array.from(architecture.matchAll(/^### (.+)$/gm), ([, title]) => title), Object.keys(ADDED));
  // Comments and lessons may speak of it as well.
  const texts = textsUnder(['src', 'web'], /\.(cpp|h|def|js|ts|json|html)$/)
      .filter(({path}) => !/^web\/(languages\/|lessons\/(?!schema|examples))/.test(path));
  for (const [title, patterns] of Object.entries(ADDED)) {
    const recipe = [...listed(title), 'web/languages/'];
    assert.ok(recipe.length > 1, title);
    for (const path of recipe) assert.ok(existsSync(join(root, path)), `${title}: ${path}`);
    const isListed = (path) => recipe.some((one) => one === path || (one.endsWith('/') && path.startsWith(one)));
    const code = texts.map(({path, text}) => ({path, text: text.replace(/^ *(\/\/|\*|\/\*\*).*$|\/\/\/<.*$/gm, '')}));
    for (const pattern of patterns) {
      const named = code.filter(({text}) => pattern.test(text)).map(({path}) => path);
      assert.equal(named.length > 0, !['A language', 'A lesson'].includes(title), `${title}: ${pattern}`);  // these are found by their files
      assert.deepEqual(named.filter((path) => !isListed(path)), [], `${title}: ${pattern}`);
    }
  }
});

test('an option is added in two files and a page in four, beside where they take effect and what is made from them', () => {
  for (const [title, most] of [['An option', 2], ['A page', 4]]) {
    const [, section] = architecture.split(`\n### ${title}\n`);
    const [byHand] = section.split(/\n- (?:Where|Made)/);
    assert.equal(byHand.match(/^- /gm).length, most, title);
    assert.equal(Array.from(byHand.matchAll(/`src\/[\w./-]*`/g)).length, most, title);
  }
});

test('each function that src/README.md names is there', () => {
  const named = new Set(Array.from(architecture.matchAll(/`(?:\w+::)*(\w+)\(\)`/g), ([, name]) => name));
  assert.ok(named.size > 10, `${named.size} functions`);
  const texts = textsUnder(['src', 'web'], /\.(cpp|h|js)$/).map(({text}) => text).join('\n');
  assert.deepEqual([...named].filter((name) => !new RegExp(`\\b${name}\\(`).test(texts)), []);
});

test('each link of a README leads to a file that is there', () => {
  const broken = documents.flatMap(({path, text}) => Array.from(withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g), ([, link]) => link)
      .filter((link) => !/^(https?:|#)/.test(link))
      // Two files are made or copied for the packages.
      .filter((link) => !(path.startsWith('web/') && ['LICENSE', 'NOTICES.txt'].includes(link)))
      .filter((link) => !existsSync(join(root, dirname(path), link.split('#')[0])))
      .map((link) => `${path}: ${link}`));
  assert.deepEqual(broken, []);
});

const withoutCode = (text) => text.replace(/^```[^]*?^```/gm, '');

/** The comments of a file, and the words of a README. */
function wordsOf({path, text}) {
  if (path.endsWith('.md')) return withoutCode(text);
  const comment = /\.(cpp|h|def|js|mjs|ts|frag|vert)$/.test(path) ? /\/\/.*|\/\*[^]*?\*\//g : /#.*/g;
  return (text.match(comment) ?? []).join('\n');
}

const commented = [...documents, ...textsUnder(FOLDERS, /\.(cpp|h|def|js|mjs|ts|py|cmake|frag|vert)$/),
  ...['play', 'CMakeLists.txt'].map((path) => ({path, text: readFileSync(join(root, path), 'utf8')}))];

/** The files that a text names and that are not there, nor made by the build. */
function missingIn(words) {
  const named = words.match(/(?<![\w/.<@:*-])[\w-][\w/.-]*/g) ?? [];
  const isThere = (word) => paths.some((path) => path === word || path.endsWith(`/${word}`) || path.startsWith(`${word}/`));
  return named.map((word) => word.replace(/[./]+$/, ''))
      .filter((word) => /^(src|web|tests|shaders)\/[\w./-]+$/.test(word) || /\.(h|cpp|mjs|md)$/.test(word))
      .filter((word) => !/[A-Z]{3}|node_modules|^(shaders|fonts)\.h$|FOLDER/.test(basename(word)) || word.endsWith('.md'))
      .filter((word) => !/FOLDER|node_modules/.test(word) && !isThere(word));
}

test('each file that a README or a comment names is there', () => {
  const hosts = ['src/components/Attention.js'];  // a file of a reader of web/hosts
  const wrong = commented.flatMap((file) => missingIn(wordsOf(file)).filter((word) => !hosts.includes(word)).map((word) => `${file.path}: ${word}`));
  assert.deepEqual(wrong, []);
});

test('a file that is not there is noticed, however it is named', () => {
  const words = 'as src/base/nothing.h, (nothing.h), engine/nothing.cpp, web/nothing/ and NOTHING.md say; engine.h, steps/score.h, web/hosts/ and src/attention are there';
  assert.deepEqual(missingIn(words), ['src/base/nothing.h', 'nothing.h', 'engine/nothing.cpp', 'web/nothing', 'NOTHING.md']);
});

test('no comment cites a document that is not in the repository', () => {
  const cited = /\b[A-Z]{4,}(\.md)?,? (section |§ ?)\d|\bDESIGN\b/;
  const found = commented.filter(({path}) => path !== 'tests/setup/documents.test.mjs').flatMap((file) =>
    wordsOf(file).split('\n').filter((line) => cited.test(line)).map((line) => `${file.path}: ${line.trim()}`));
  assert.deepEqual(found, []);
  assert.match('those of DESIGN §5', cited);
});
