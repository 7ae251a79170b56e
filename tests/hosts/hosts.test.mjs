// The recipes of web/hosts. Tested with the actual tool: a plain page, reveal.js, Sphinx, MyST-Parser, React (the component for
// Docusaurus). Tested only with the HTML that they produce: Quarto, WordPress, Observable, mystmd, Notion, Moodle, Docusaurus itself.
import assert from 'node:assert/strict';
import {cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {SCREENSHOTS, SITE, launch, serve} from '../browser/harness.mjs';
import {until} from '../until.mjs';
import {blocks, fresh, install, isAsShown, load, repository, root, run, visit} from './tools.mjs';

const hosts = join(repository, 'web/hosts'), recipes = readFileSync(join(hosts, 'README.md'), 'utf8');
const EXAMPLE = 'https://example.org/playground/';
let browser;
before(async () => {
  install();
  browser = await launch();
});
after(() => browser?.close());

/** A folder with the playground, and pages that refer to it locally. */
function folder(name, pages) {
  const made = fresh(name);
  cpSync(SITE, join(made, 'playground'), {recursive: true});
  for (const [file, html] of Object.entries(pages)) writeFileSync(join(made, file), html.replaceAll(EXAMPLE, '/playground/'));
  return made;
}
const page = (body) => `<!doctype html><html lang="en"><title>A page</title><link rel="icon" href="data:,"><body>${body}</body></html>`;

async function isShown(board) {
  const names = (await board.call('items')).map(({name}) => name);
  for (const name of ['matrix:q', 'matrix:k', 'matrix:weights']) assert.ok(names.includes(name), name);
  await board.check();
}

test('a page of its own: its text follows the board and drives it', async () => {
  const made = folder('plain', {'index.html': readFileSync(join(hosts, 'plain.html'), 'utf8')});
  await visit(browser, made, 'index.html', async (board, tab) => {
    await isShown(board);
    const said = () => tab.locator('#weight').textContent();
    await until('the number', async () => await said() === (await board.value('weights', 0, 3, 2)).toFixed(2));
    assert.equal(await said(), '0.69');
    await tab.locator('#less').click();
    await until('another number', async () => Number(await said()) < 0.5);
    await board.drag('k', [0, 2, 2], -250, 0);
    await until('the verdict', async () => await tab.locator('#verdict').textContent() === 'That is below 0.30.');
  });
});

test('a page around a frame: the frame is as high as its board, and the page follows and drives it', async () => {
  const made = folder('frame', {'index.html': page(blocks('A frame as high as its board, that scripts can drive')[0].text)});
  cpSync(join(SITE, 'host.js'), join(made, 'host.js'));
  const server = await serve(made, {policy: false}), tab = await (await browser.newContext({viewport: {width: 900, height: 900}})).newPage(), errors = [];
  try {
    tab.on('pageerror', (error) => errors.push(error.message));
    await tab.goto(`${server.url}/`);
    const weight = () => tab.locator('#weight').textContent(), height = () => tab.locator('iframe').evaluate((frame) => frame.clientHeight);
    await until('the number', async () => await weight() === '0.69');
    await until('the height', async () => await height() !== 320);
    await tab.screenshot({path: `${SCREENSHOTS}/hosts-frame.png`});
    await tab.frames()[1].evaluate(() => document.querySelector('attention-playground').set('temperature', 5));
    await until('another number', async () => await weight() !== '0.69');
    await tab.locator('#mask').click();
    await until('the mask', () => tab.frames()[1].evaluate(() => document.querySelector('attention-playground').get('causal') === false));
    assert.deepEqual(errors, []);
  } finally {
    await tab.context().close();
    await server.close();
  }
});

test('reveal.js: a board keeps its keys, and takes the pointer where slides are scaled', async () => {
  const html = readFileSync(join(hosts, 'reveal.html'), 'utf8').replaceAll('https://cdn.jsdelivr.net/npm/reveal.js@5/dist/', './reveal/');
  const made = folder('reveal', {'index.html': html});
  cpSync(join(root, 'node_modules/reveal.js/dist'), join(made, 'reveal'), {recursive: true});
  await visit(browser, made, 'index.html', async (board, tab) => {
    await tab.setViewportSize({width: 1500, height: 900});
    await until('the slide', () => tab.evaluate(() => document.querySelector('attention-playground').offsetWidth > 0));
    await board.rest();
    const scale = await tab.evaluate(() => document.querySelector('attention-playground').getBoundingClientRect().width / document.querySelector('attention-playground').offsetWidth);
    assert.ok(scale > 1.05, `slides are scaled by ${scale}`);
    await board.drag('q', [0, 1, 1], 40, 0);
    assert.ok(Math.abs(await board.value('q', 0, 1, 1) - 0.6 - 0.4) < 0.15, String(await board.value('q', 0, 1, 1)));
    const index = () => tab.evaluate(() => location.hash);
    const before = await index();
    await board.press('ArrowLeft', 'ArrowRight');  // moves among the cells of the board
    assert.equal(await index(), before);
    await tab.evaluate(() => document.activeElement.blur());
    await board.press('ArrowRight');
    await until('the next slide', async () => await index() !== before);
    await until('its board', () => tab.evaluate(() => document.querySelectorAll('attention-playground')[1].ready.then(() => true)));
    await tab.screenshot({path: `${SCREENSHOTS}/web-reveal.png`});
    await board.check();
  });
});

// ---------------------------------------------------------------- Sphinx

function sphinx() {
  const made = fresh('sphinx'), source = join(made, 'source');
  mkdirSync(join(source, 'deeper'), {recursive: true});
  cpSync(join(hosts, 'attention_playground.py'), join(source, 'attention_playground.py'));
  cpSync(join(repository, 'web/board.png'), join(source, 'weights.png'));
  const [python, rst] = blocks('Sphinx'), [myst] = blocks('MyST and Jupyter Book');
  writeFileSync(join(source, 'conf.py'), `${python.text.replace(EXAMPLE, '_static/playground/').replace('extensions = [', 'extensions = ["myst_parser", ')}
project = "Tried"
html_theme = "basic"
html_static_path = ["static"]
master_doc = "index"
`);
  mkdirSync(join(source, 'static'));
  cpSync(SITE, join(source, 'static/playground'), {recursive: true});
  writeFileSync(join(source, 'index.rst'), `Tried\n=====\n\n.. toctree::\n\n   deeper/page\n   plain\n\n${rst.text}\nWords after it.\n`);
  writeFileSync(join(source, 'deeper/page.md'), `# With MyST\n\n${myst.text}\nWords after it.\n`);
  writeFileSync(join(source, 'plain.md'), '# A page without a board\n\nWords.\n');
  writeFileSync(join(source, 'board.json'), '{"version": 1, "labels": ["a \\"b\\"", "<i>"], "q": [[[1], [2]]], "k": [[[1], [2]]], "v": [[[1], [2]]]}');
  writeFileSync(join(source, 'own.rst'), ':orphan:\n\nOwn\n===\n\n.. attention-playground::\n   :state: board.json\n   :fit:\n');
  return {made, source};
}

test('Sphinx and MyST-Parser: the element in HTML, the picture in LaTeX, a sentence where something is missing', async () => {
  const {made, source} = sphinx();
  const build = (kind, ...more) => run('sphinx-build', ['-q', '-W', '-b', kind, ...more, source, join(made, kind)]);
  build('html');
  const read = (file) => readFileSync(join(made, 'html', file), 'utf8');
  assert.doesNotMatch(read('plain.html'), /element\.js/, 'pages without a board load nothing');
  for (const file of ['index.html', 'deeper/page.html', 'own.html']) {
    await visit(browser, join(made, 'html'), file, async (board, tab) => {
      if (file === 'own.html') {
        assert.deepEqual(await board.get('labels'), ['a "b"', '<i>'], 'text from a file is text');
        assert.ok(await tab.evaluate(() => document.querySelector('attention-playground').offsetHeight !== 440), 'it fits');
        return board.check();
      }
      await isShown(board);
      assert.equal(await tab.evaluate(() => document.querySelector('attention-playground').offsetHeight), 320);
      await (file === 'index.html' ? isAsShown(tab, 'sphinx', blocks('Sphinx')[1]) : isAsShown(tab, 'myst-and-jupyter-book', blocks('MyST and Jupyter Book')[0]));
      if (file === 'index.html') assert.match(await tab.evaluate(() => document.querySelector('attention-playground > img').alt), /The weights of four words/);
    }, {allow: [/favicon/, /404/]});
  }
  build('latex');
  const tex = readdirSync(join(made, 'latex')).find((name) => name.endsWith('.tex') && readFileSync(join(made, 'latex', name), 'utf8').includes('Tried'));
  assert.match(readFileSync(join(made, 'latex', tex), 'utf8'), /\\(sphinx)?includegraphics(\[[^\]]*\])?\{\{?weights\}?\.png\}/);
  assert.ok(existsSync(join(made, 'latex/weights.png')));
  build('text');
  assert.match(readFileSync(join(made, 'text/index.txt'), 'utf8'), /The weights of four words/);

  writeFileSync(join(source, 'own.rst'), ':orphan:\n\nOwn\n===\n\n.. attention-playground::\n   :state: missing.json\n');
  assert.throws(() => build('html'), /attention-playground: state: missing\.json cannot be read/);
  writeFileSync(join(source, 'own.rst'), ':orphan:\n\nOwn\n===\n\n.. attention-playground:: uniform\n   :theme: pink\n');
  assert.throws(() => build('html'), /pink/);
  assert.throws(() => build('html', '-D', 'attention_playground_script=embed.js'), /attention_playground_script must be one of 'element\.js', 'standalone\.js', not 'embed\.js'\./);
});

/** What Jupyter Book 1 makes of its _config.yml: the folders of local extensions are in the path, and `config` is settings of Sphinx. */
const BOOK = `
import os, sys, yaml
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "_config.yml"), encoding="utf-8") as file:
    book = yaml.safe_load(file)["sphinx"]
sys.path += [os.path.join(os.path.dirname(os.path.abspath(__file__)), path) for path in book["local_extensions"].values()]
extensions = ["myst_parser", *book["local_extensions"]]
globals().update(book["config"])
html_theme, master_doc = "basic", "index"
`;
test('Jupyter Book: its settings, with Sphinx and MyST-Parser in place of the tool', async () => {
  const made = fresh('book'), source = join(made, 'source'), [myst, yaml] = blocks('MyST and Jupyter Book');
  mkdirSync(source);
  cpSync(join(hosts, 'attention_playground.py'), join(source, 'attention_playground.py'));
  writeFileSync(join(source, '_config.yml'), yaml.text.replace(EXAMPLE, 'playground/'));
  writeFileSync(join(source, 'conf.py'), BOOK);
  writeFileSync(join(source, 'index.md'), `# A book\n\n${myst.text}`);
  run('sphinx-build', ['-q', '-W', '-b', 'html', source, join(made, 'html')]);
  cpSync(SITE, join(made, 'html/playground'), {recursive: true});
  await visit(browser, join(made, 'html'), 'index.html', isShown, {allow: [/favicon/, /404/]});
});

// ---------------------------------------------------------------- a playground of another origin

const MODULE = `<script type="module" src="${EXAMPLE}element.js"></script>`, CLASSIC = blocks('From another origin').find(({language}) => language === 'html').text.trim();
const HEADER = Object.fromEntries([blocks('From another origin').find(({language}) => language === 'text').text.trim().split(': ')]);

/** A page that loads the playground from `address`, as a module or by the classic script: [folder, file, the words that stand in place of the
 * board]. */
const ofAnotherOrigin = {
  'a page of its own': (address, isClassic) => {
    const html = readFileSync(join(hosts, 'plain.html'), 'utf8');
    assert.ok(html.includes(CLASSIC), 'the page offers the classic script');
    return ownPage('plain', html, address, isClassic, /^Here a board shows the queries/);
  },
  ...Object.fromEntries([['Quarto', (text) => /```\{=html\}\n([\s\S]*?)```/.exec(text)[1]], ['WordPress', (text) => text]].map(([name, pick]) =>
    [name, (address, isClassic) => ownPage(name.toLowerCase(), page(pick(blocks(name)[0].text)), address, isClassic, /^$/)])),
  Sphinx: (address, isClassic) => {
    const {made, source} = sphinx();
    const script = /attention_playground_script = "(.*?)"/.exec(recipes)[1];
    run('sphinx-build', ['-q', '-W', '-D', `attention_playground_site=${address}`, ...isClassic ? ['-D', `attention_playground_script=${script}`] : [], source, join(made, 'html')]);
    return [join(made, 'html'), 'deeper/page.html', /^An attention layer whose numbers can be changed/];
  },
};

function ownPage(name, html, address, isClassic, words) {
  const made = fresh(`other-${name}`), script = isClassic ? html.replace(MODULE, CLASSIC) : html;
  writeFileSync(join(made, 'index.html'), script.replaceAll(EXAMPLE, address));
  return [made, 'index.html', words];
}

for (const [name, make] of Object.entries(ofAnotherOrigin)) {
  test(`${name} with a playground of another origin: its header or the classic script brings the board, and without both the words stand there`, async () => {
    const [plain, open] = await Promise.all([{}, HEADER].map((headers) => serve(SITE, {policy: false, headers})));
    const allow = [/favicon|404/];
    try {
      for (const [site, isClassic] of [[open, false], [plain, true]]) {
        const [folder, file] = make(`${site.url}/`, isClassic);
        await visit(browser, folder, file, async (board) => {
          await isShown(board);
          assert.equal((await board.call('link')).split('#')[0], `${site.url}/`);
          await board.call('openLesson', 'query');
        }, {allow});
      }
      const [folder, file, words] = make(`${plain.url}/`, false);
      await visit(browser, folder, file, async (_, tab) => {
        assert.equal(await tab.evaluate(() => typeof customElements.get('attention-playground')), 'undefined');
        assert.match(await tab.locator('attention-playground').innerText(), words);
      }, {selector: null, allow: [...allow, /blocked by CORS policy/, /ERR_FAILED/]});
    } finally {
      await Promise.all([plain.close(), open.close()]);
    }
  });
}

// ---------------------------------------------------------------- HTML produced by other tools

test('Docusaurus: its component, with React', async () => {
  const {build} = await load('esbuild'), [{text}, {text: used}] = blocks('Docusaurus'), [, imported, element] = /^(import .*;)\n\n(<[^]*\/>)$/.exec(used.trim()), source = fresh('docusaurus-source'), made = folder('docusaurus', {'index.html': page('<div id="root"></div><script type="module" src="main.js"></script>')});
  writeFileSync(join(source, 'Attention.jsx'), text);
  writeFileSync(join(source, 'main.jsx'), `import React from 'react'; import {createRoot} from 'react-dom/client'; ${imported.replace('@site/src/components/Attention', './Attention.jsx')}
    createRoot(document.querySelector('#root')).render(${element});`);
  writeFileSync(join(source, 'server.jsx'), `import React from 'react'; import {renderToString} from 'react-dom/server'; import Attention from './Attention.jsx';
    console.log(renderToString(<Attention preset="uniform">Words in its place.</Attention>));`);
  const options = {absWorkingDir: root, bundle: true, format: 'esm', logLevel: 'error', define: {'process.env.NODE_ENV': '"production"'}};
  await build({...options, entryPoints: {main: 'docusaurus-source/main.jsx'}, splitting: true, outdir: made});
  for (const name of readdirSync(SITE).filter((file) => file.endsWith('.wasm'))) cpSync(join(SITE, name), join(made, name));
  if (!existsSync(join(made, 'playground.wasm'))) for (const part of ['wasm', 'rest.wasm', 'files.wasm']) cpSync(join(SITE, `playground-relaxed.${part}`), join(made, `playground.${part}`));
  await visit(browser, made, 'index.html', async (board, tab) => {
    await isShown(board);
    assert.equal(await tab.evaluate(() => document.querySelector('attention-playground').offsetHeight), 320);
    await isAsShown(tab, 'docusaurus', blocks('Docusaurus')[1]);
  });
  await build({...options, entryPoints: {server: 'docusaurus-source/server.jsx'}, platform: 'node', format: 'cjs', outdir: join(root, 'docusaurus-source'), outExtension: {'.js': '.cjs'}});
  assert.match(run('node', ['docusaurus-source/server.cjs']), /^<attention-playground preset="uniform" style="display:block">Words in its place\.<\/attention-playground>/);
});

for (const [name, pick] of [['Quarto', (text) => /```\{=html\}\n([\s\S]*?)```/.exec(text)[1]], ['WordPress', (text) => text]]) {
  test(`${name}: its HTML, without the tool`, async () => {
    const made = folder(name.toLowerCase(), {'index.html': page(pick(blocks(name)[0].text))});
    await visit(browser, made, 'index.html', isShown);
  });
}

test('Observable: its cell, without the tool', async () => {
  const [load1, cell] = blocks('Observable').map(({text}) => text), body = cell.replace(/^viewof weights = /, '').trim();
  const made = folder('observable', {'index.html': page(`<script type="module">await ${load1.trim()}; const view = (() => ${body})(); globalThis.heard = 0; view.addEventListener('input', () => globalThis.heard++); document.body.append(view);</script>`)});
  await visit(browser, made, 'index.html', async (board, tab) => {
    await isShown(board);
    await until('its value', () => tab.evaluate(() => document.querySelector('attention-playground').value?.data.length === 32));
    const before = await tab.evaluate(() => [globalThis.heard, document.querySelector('attention-playground').value.data[4]]);
    await board.drag('q', [0, 1, 0], 30, 0);
    await until('another value', () => tab.evaluate(([heard, first]) => globalThis.heard > heard && document.querySelector('attention-playground').value.data[4] !== first, before));
  });
});

const frames = {
  WordPress: () => blocks('WordPress')[1].text,
  Notion: () => `<iframe src="${blocks('Notion')[0].text.trim().replaceAll('&', '&amp;')}" style="width:100%;height:320px"></iframe>`,
  Moodle: () => blocks('Moodle')[0].text,
  mystmd: () => `<iframe src="${/\{iframe\} (\S+)/.exec(blocks('MyST and Jupyter Book').find(({text}) => text.includes('{iframe}')).text)[1].replaceAll('&', '&amp;')}" style="width:100%;height:320px"></iframe>`,
};
for (const [name, html] of Object.entries(frames)) {
  test(`${name}: its frame, without the tool`, async () => {
    const made = folder(`frame-${name.toLowerCase()}`, {'index.html': page(html())});
    await visit(browser, made, 'index.html', async (_, tab) => {
      const frame = await until('the frame', () => tab.frames().find((one) => one.url().includes('/playground/embed.html')));
      const found = await until('its board', () => frame.evaluate(() => document.querySelector('attention-playground')?.ready?.then((element) => ({preset: element.getState().preset, lock: element.lock, show: element.show}))).catch(() => null));
      assert.equal(found.preset, 'i-saw-a-saw');
      await frame.evaluate(() => document.querySelector('attention-playground').openLesson('query'));  // in a sandbox nothing can be fetched
      assert.equal(found[name === 'Moodle' ? 'lock' : 'show'], name === 'Moodle' ? 'all' : 'q,k,weights');
      await tab.screenshot({path: `${SCREENSHOTS}/web-frame-${name}.png`});
    }, {selector: null});
  });
}

test('every place of the list has its recipe, and what was not tried with the tool says so', () => {
  const rows = [...recipes.matchAll(/^\| \[(.+?)\]\((\S+?)\).*\| (.+?) \| (.+?) \|$/gm)];
  assert.ok(rows.length >= 9);
  for (const [, name, target, , tried] of rows) {
    if (target.startsWith('#')) assert.match(recipes.toLowerCase().replace(/[^\w\n# ]/g, ''), new RegExp(`^## ${target.slice(1).replaceAll('-', ' ')}$`, 'm'), name);
    else assert.ok(existsSync(join(hosts, target)), target);
    assert.ok(tried.length > 5);
  }
});
