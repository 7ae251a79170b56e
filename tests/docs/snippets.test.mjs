// Everything in the documentation that somebody may copy is run: HTML and JavaScript in a page, command lines, Python. What needs a bundler, Sphinx, PyTorch
// or root is in a list, with the test that runs it.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {copyFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {SITE, launch, serve} from '../browser/harness.mjs';
import {until} from '../until.mjs';
import {blocks, decoded, pages} from './pages.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url)), native = join(root, 'build/native'), EXAMPLE = 'https://example.org/playground/';
const place = mkdtempSync(join(tmpdir(), 'snippets-'));
let browser, server;
before(async () => {
  [browser, server] = await Promise.all([launch(), serve(SITE, {policy: false})]);
});
after(async () => {
  rmSync(place, {recursive: true});
  await Promise.all([browser?.close(), server?.close()]);
});

function run(command, args, options = {}) {
  const {status, stdout, stderr, error} = spawnSync(command, args, {cwd: place, encoding: 'utf8', timeout: 120_000, ...options});
  assert.equal(status, 0, `${command} ${args.join(' ')}: ${error?.message ?? ''}${stderr}`);
  return stdout;
}

/** Opens HTML as a page of its own, in which every board and every frame must draw. */
async function opened(html, name, look = async () => {}) {
  const context = await browser.newContext({viewport: {width: 900, height: 900}}), page = await context.newPage(), faults = [];
  page.on('pageerror', (error) => faults.push(error.message));
  const names = JSON.stringify({imports: {'attention-playground': `${server.url}/element.js`}}), local = html.replaceAll(EXAMPLE, `${server.url}/`).replaceAll("'./host.js'", `'${server.url}/host.js'`);
  try {
    await page.route(`${server.url}/snippet`, (route) => route.fulfill({contentType: 'text/html; charset=utf-8',
      body: /<!doctype/i.test(local) ? local : `<!doctype html><html lang="en"><link rel="icon" href="data:,"><script type="importmap">${names}</script>${local.replace(/src="(element\.js)"/, `src="${server.url}/$1"`)}</html>`}));
    await page.goto(`${server.url}/snippet`);
    await page.locator('attention-playground, iframe').first().waitFor({state: 'attached'});
    const isDrawn = () => Promise.all([...document.querySelectorAll('attention-playground')].map((board) => customElements.whenDefined('attention-playground').then(() => board.ready))).then((all) => all.length);
    for (const frame of page.frames()) assert.ok(await frame.evaluate(isDrawn) > 0 || page.frames().length > 1, name);
    await look(page);
    assert.deepEqual(faults, [], name);
  } finally {
    await context.close();
  }
}

test('each block of HTML draws what it says', async () => {
  const all = blocks('html').filter(({code}) => /<(attention-playground|iframe)\b/.test(code));
  assert.ok(all.length >= 10, `${all.length} blocks`);
  for (const {page, code} of all.filter((block) => !listed(block))) await opened(code, page);
});

const examples = () => Array.from(pages.find(({name}) => name === 'examples.html').html.matchAll(/<textarea [^>]*>([^]*?)<\/textarea>/g), ([, code]) => decoded(code));
const holds = {
  3: async (page) => until('the number', async () => await page.locator('#weight').textContent() === '0.69'),
  4: async (page) => {
    await page.locator('#causal').uncheck();
    assert.equal(await page.locator('attention-playground').evaluate((board) => board.get('causal')), false);
  },
  5: async (page) => {
    await page.locator('attention-playground').evaluate((board) => board.setTensor('q', board.getTensor('q').data.map((x, i) => i === 11 ? -1.6 : x)));
    await until('the verdict', async () => /^Solved/.test(await page.locator('#task').textContent()));
  },
  11: async (page) => {
    await page.locator('#copy').click();
    await until('the table', async () => /1.*\n/.test(await page.locator('#text').textContent()));
  },
};
test('each of the twelve examples draws, follows and answers', async () => {
  assert.equal(examples().length, 12);
  for (const [i, code] of examples().entries()) await opened(code, `example ${i}`, holds[i]);
});

test('an example is edited in place: what is written at the left is drawn at the right, and can be taken back', async () => {
  const page = await browser.newPage({viewport: {width: 1440, height: 900}});
  await page.goto(`${server.url}/docs/examples.html`);
  await page.keyboard.press('Shift');
  const area = page.locator('.try').first(), text = area.locator('textarea'), frame = area.frameLocator('iframe');
  await frame.locator('attention-playground').waitFor();
  const written = await text.inputValue();
  assert.ok(written.includes(`${server.url}/element.js`), 'the address of this copy');
  await text.fill(written.replace('i-saw-a-saw', 'pronoun'));
  await frame.locator('attention-playground[preset=pronoun]').waitFor();
  await until('ten words', () => frame.locator('attention-playground').evaluate((board) => board.ready?.then(() => board.getTensor('weights').shape[2] === 10)));
  await area.getByRole('button', {name: 'Start again'}).click();
  await frame.locator('attention-playground[preset=i-saw-a-saw]').waitFor();
  assert.equal(await text.inputValue(), written);
  await page.context().close();
});

/** What a recipe shows: the HTML of each of its results. */
const resultsOf = (html) => Array.from(html.matchAll(/<iframe [^>]*\bdata-live="([^"]*)"/g), ([, code]) => decoded(code));
/** What the result of a recipe must do, in its page. */
const shows = {
  'recipe-sphinx.html': async (frame) => assert.deepEqual(await frame.locator('attention-playground').evaluate((board) => [board.show, board.lock, board.offsetHeight]), ['q,k,weights', 'heads', 320]),
  'recipe-svelte.html': async (frame) => {
    assert.equal(await frame.locator('body > p').textContent(), 'Drag a number of Q or K.');
    await frame.locator('attention-playground').evaluate((board) => board.set('temperature', 2));
    await until('what the handler says', async () => await frame.locator('body > p').textContent() === 'temperature: 1 became 2.');
  },
  'recipe-bundlers.html': async (frame) => until('the link', async () => (await frame.locator('a').getAttribute('href'))?.startsWith(`${server.url}/#`)),
  'recipe-a-course-pages-chats-and-forums.html': async (frame) => {
    await frame.locator('a', {hasText: 'lesson=query'}).click();
    // Not asked of the frame itself, which is on its way to another page.
    await until('the lesson', () => frame.owner().page().frames().some((one) => one.url().endsWith('?lesson=query')));
    await frame.frameLocator('iframe').locator('attention-playground').waitFor();
  },
};
test('each recipe shows what its reader gets', async () => {
  const recipes = pages.filter(({name}) => name.startsWith('recipe-')), page = await browser.newPage({viewport: {width: 1440, height: 900}});
  assert.ok(recipes.length >= 18, `${recipes.length} recipes`);
  for (const {name, html} of recipes) {
    const results = resultsOf(html);
    assert.ok(results.length > 0, `${name} shows no result`);
    for (const one of results) assert.match(one, /<attention-playground [^>]*preset="i-saw-a-saw"|<iframe [^>]*src="https:\/\/example\.org\/playground\/[^"]*preset=i-saw-a-saw|createElement\("attention-playground"\)/, name);
  }
  for (const [name, look] of Object.entries(shows)) {
    await page.goto(`${server.url}/docs/${name}`);
    await page.keyboard.press('Shift');  // a reader is there, so nothing waits
    await page.locator('iframe[data-live]').scrollIntoViewIfNeeded();
    const frame = page.frameLocator('iframe[data-live]'), board = name.includes('a-course') ? frame.frameLocator('iframe') : frame;
    await board.locator('attention-playground').waitFor();
    await until('the board', () => board.locator('attention-playground').evaluate((element) => element.ready?.then(() => true)));
    await look(frame);
  }
  await page.context().close();
});

test('the result of each recipe draws', async () => {
  const drawn = new Set(blocks('html').map(({code}) => code));  // above, by themselves
  for (const {name, html} of pages.filter((one) => one.name.startsWith('recipe-'))) for (const code of resultsOf(html)) if (!drawn.has(code)) await opened(code, name);
});

// ---------------------------------------------------------------- the command line

/** The files that commands of the documentation begin with. */
function makeFiles() {
  writeFileSync(join(place, 'make.py'), `
import numpy
random = numpy.random.default_rng(1)
def rows(*shape): return random.normal(size=shape).astype("float32")
numpy.savez("layer.npz", q=rows(4, 90, 8), k=rows(4, 90, 8), v=rows(4, 90, 8))
numpy.savez("small.npz", q=rows(2, 6, 4), k=rows(2, 6, 4), v=rows(2, 6, 4))
numpy.savez("long.npz", q=rows(4, 100100, 2), k=rows(4, 100100, 2), v=rows(4, 100100, 2))
weights = numpy.exp(rows(6, 2, 5, 5)); numpy.save("attentions.npy", weights / weights.sum(-1, keepdims=True))
`);
  run('python3', ['make.py'], {env: {...process.env, PATH: `/usr/bin:${process.env.PATH}`}});
  run(join(native, 'attn'), ['convert', 'small.npz', 'board.json', '--state']);
  run(join(native, 'attn'), ['convert', 'small.npz', 'tensors.json']);
  copyFileSync(join(SITE, 'lessons/query.json'), join(place, 'my-lesson.json'));
}

test('each command line with attn runs', () => {
  makeFiles();
  const lines = blocks('sh').flatMap(({page, code}) => code.split('\n').map((line) => ({page, line: line.replace(/^build\/native\//, '').replace(/\s+#.*$/, '')}))).filter(({line}) => /^attn /.test(line));
  assert.ok(lines.length >= 18, `${lines.length} lines`);
  for (const {page, line} of lines) {
    // A few steps show as well as 2,000 that the line is right, and 90 tokens as well as 100,000, of which all weights take minutes.
    const short = line.replace('--steps 2000', '--steps 20').replace('long.npz --outputs weights --top', 'layer.npz --outputs weights --top');
    run('bash', ['-c', short], {env: {...process.env, PATH: `${native}:${process.env.PATH}`}});
    assert.ok(page);
  }
});

/** Files for the examples that the programs print, some of other names and sizes than above. */
function makeOthers() {
  writeFileSync(join(place, 'others.py'), `
import numpy
random = numpy.random.default_rng(2)
def rows(*shape): return random.normal(size=shape).astype("float32")
for name in "qkv": numpy.save(name + ".npy", rows(2, 6, 4))
numpy.savez("prefixed.npz", **{"layers.3." + name: rows(2, 6, 4) for name in "qkv"})
weights = numpy.exp(rows(4, 6, 90, 90)); numpy.savez("recording.npz", **{f"layers.{i}.weights": w / w.sum(-1, keepdims=True) for i, w in enumerate(weights)})
`);
  run('python3', ['others.py'], {env: {...process.env, PATH: `/usr/bin:${process.env.PATH}`}});
  run(join(native, 'attn'), ['convert', 'prefixed.npz', 'prefixed.safetensors']);
  run(join(native, 'attn'), ['convert', 'board.json', 'results.npz']);
  copyFileSync(join(SITE, 'lessons/query.json'), join(place, 'query.json'));
}

test('each example that attn prints in its help runs', () => {
  makeOthers();
  const lines = blocks('text').filter(({page}) => page === 'command-line.html').flatMap(({code}) => code.split('\n')).filter((line) => /^attn /.test(line) && !line.includes('[OPTIONS]'));
  assert.ok(lines.length >= 20, `${lines.length} lines`);
  for (const line of lines) {
    const command = line.replace(/ {4,}.*$/, '').replace(/^(.*)model\.safetensors(?= --prefix)/, '$1prefixed.safetensors').replace('long.npz --outputs weights --top', 'layer.npz --outputs weights --top')
      .replace('web/lessons', join(root, 'web/lessons')).replace('--tokens 4096', '--tokens 64').replace(/python3 -i -$/, '/usr/bin/python3 -');
    run('bash', ['-c', command], {env: {...process.env, PATH: `${native}:${process.env.PATH}`}});
  }
});

// ---------------------------------------------------------------- Python and JavaScript

const RUNNER = `
import json, sys, types
import numpy as np
class IFrame:
    def __init__(self, src, width, height): assert src.startswith("https://example.org/playground/embed.html?") and height > 0
display = types.ModuleType("IPython.display"); display.IFrame = IFrame
sys.modules["IPython"] = types.ModuleType("IPython"); sys.modules["IPython.display"] = display
for block in json.load(sys.stdin):
    code = compile(block["code"], block["page"], "exec")
    if not block["runs"]: continue
    rows = lambda *shape: np.random.default_rng(1).normal(size=shape).astype("float32")
    n, d = (10, 4) if block["page"] in ("masks.html", "positions.html") else (4, 3)
    eye = lambda n: np.eye(n, dtype="float32")
    here = {"np": np, "numpy": np, "q": rows(1, n, d), "k": rows(1, n, d), "v": rows(1, n, d), "x": rows(n, d), "w_a": eye(d)[None], "u_a": eye(d)[None], "v_a": np.ones((1, 1, d), "float32"),
            "w_q": eye(d)[None], "w_k": eye(d)[None], "w_v": eye(d)[None], "w_o": eye(d)}
    exec(code, here)
    if block["makes"]: assert np.isfinite(here["output"]).all() and here["output"].shape[-2:] == (n, d), block
`;

test('each block of Python runs, or is one of a README that ./play test models runs', () => {
  const readme = readFileSync(join(root, 'web/python/README.md'), 'utf8');
  const all = blocks('python').filter(({page}) => page !== 'python-reference.html').map((block) => ({...block, makes: /^(scores|masks|positions|weights|mathematics)\./.test(block.page)}));
  const needsModel = ({code}) => /\b(model|recording|board|torch|attention|tokenizer)\b/.test(code) && readme.includes(code);
  const isOfHost = ({page}) => page === 'recipe-sphinx.html';
  const list = all.map((block) => ({...block, runs: !needsModel(block) && !isOfHost(block)}));
  assert.ok(list.filter(({runs}) => runs).length >= 28, `${list.filter(({runs}) => runs).length} blocks`);
  const python = ['python3', '/usr/bin/python3'].find((one) => spawnSync(one, ['-c', 'import numpy']).status === 0);
  run(python, ['-c', RUNNER], {input: JSON.stringify(list), env: {...process.env, PYTHONPATH: join(root, 'web/python'), PYTHONDONTWRITEBYTECODE: '1'}});
});

/** What cannot run here, by page, language and a part of its text, with the test that runs it. */
const ELSEWHERE = [
  {page: 'embed.html', language: 'sh', has: 'npm install', by: 'hosts/vite.test.mjs'},
  {page: 'embed.html', language: 'js', has: 'attention-playground/core', by: 'core/package.test.mjs'},
  {page: 'embed.html', language: 'jsx', has: 'onChange', by: 'hosts/frameworks.test.mjs'},
  {page: 'features.html', language: 'sh', has: './play desktop', by: 'desktop/desktop.test.mjs'},
  {page: 'features.html', language: 'sh', has: 'apt install', by: 'setup/debian.test.mjs'},
  {page: 'index.html', language: 'sh', has: 'npm install', by: 'hosts/vite.test.mjs'},
  {page: 'index.html', language: 'sh', has: './play', by: 'setup/play.test.mjs'},
  {page: 'python.html', language: 'sh', has: 'pip install', by: 'python/pip.test.mjs'},
  {page: 'recipe-bundlers.html', language: 'js', has: 'optimizeDeps', by: 'hosts/vite.test.mjs'},
  {page: 'recipe-bundlers.html', language: 'sh', has: 'esbuild', by: 'hosts/bundlers.test.mjs'},
  {page: 'recipe-docusaurus.html', language: 'jsx', has: '', by: 'hosts/hosts.test.mjs'},
  {page: 'recipe-from-another-origin.html', language: 'html', has: 'integrity', by: 'browser/versions.test.mjs'},
  {page: 'recipe-from-another-origin.html', language: 'html', has: 'standalone.js', by: 'hosts/hosts.test.mjs'},
  {page: 'recipe-myst-and-jupyter-book.html', language: 'md', has: '', by: 'hosts/hosts.test.mjs'},
  {page: 'recipe-myst-and-jupyter-book.html', language: 'yaml', has: '', by: 'hosts/hosts.test.mjs'},
  {page: 'recipe-observable.html', language: 'js', has: 'viewof', by: 'hosts/hosts.test.mjs'},
  {page: 'recipe-quarto.html', language: 'md', has: '', by: 'hosts/hosts.test.mjs'},
  {page: 'recipe-reveal.html', language: 'html', has: 'Reveal', by: 'hosts/hosts.test.mjs'},
  {page: 'recipe-sphinx.html', language: 'rst', has: '', by: 'hosts/hosts.test.mjs'},
  {page: 'recipe-svelte.html', language: 'svelte', has: '', by: 'hosts/frameworks.test.mjs'},
  {page: 'recipe-vue.html', language: 'js', has: 'vue', by: 'hosts/frameworks.test.mjs'},
  {page: 'recipe-vue.html', language: 'vue', has: '', by: 'hosts/frameworks.test.mjs'},
];
const listed = ({page, language, code}) => ELSEWHERE.find((one) => one.page === page && one.language === language && code.includes(one.has));

/** What a block of JavaScript must have brought about, by its page; it runs in a page with a board. */
const did = {
  'embed.html': async (page) => {
    const board = page.locator('attention-playground'), said = [];
    page.on('console', (message) => message.type() === 'log' && said.push(message));
    assert.equal(await board.evaluate((element) => element.get('causal')), true);
    await board.evaluate((element) => element.set('temperature', 2));
    await until('the tensor in the console', async () => said.length > 0 && (await said[0].args()[0].jsonValue()).shape.join() === '2,4,4');
  },
  'recipe-bundlers.html': async (page) => assert.equal(await page.evaluate(() => customElements.get('attention-playground').home), `${server.url}/`),
  'recipe-observable.html': async (page) => assert.equal(await page.evaluate(() => typeof customElements.get('attention-playground')), 'function'),
};
test('each block of JavaScript runs in a page and does what it says', async () => {
  const all = blocks('js').filter((block) => !listed(block));
  assert.deepEqual(all.map(({page}) => page).sort(), Object.keys(did).sort());
  for (const {page, code} of all) {
    const board = '<script type="module">import "attention-playground";</script><attention-playground preset="i-saw-a-saw" style="display:block;height:300px"></attention-playground>';
    await opened(`${board}<script type="module">${code}\nglobalThis.hasRun = true;</script>`, page, async (tab) => {
      await until('the end of it', () => tab.evaluate(() => globalThis.hasRun === true));
      await did[page](tab);
    });
  }
});

test('no block is left out: what is not run here names the test that runs it', () => {
  const own = {html: /<(attention-playground|iframe)\b/, js: /./, sh: /^(build\/native\/)?attn /m, python: /./, ts: /./, text: /./};  // ts: the types, which hosts/frameworks.test.mjs compiles
  const all = blocks('html', 'js', 'jsx', 'sh', 'python', 'ts', 'text', 'md', 'yaml', 'rst', 'svelte', 'vue');
  assert.equal(all.length, pages.flatMap(({html}) => html.match(/<pre [^>]*data-language=/g) ?? []).length, 'languages');
  assert.deepEqual(all.filter((block) => !listed(block) && !own[block.language]?.test(block.code)).map(({page, code}) => `${page}: ${code}`), []);
  for (const one of ELSEWHERE) {
    assert.ok(all.some((block) => listed(block) === one), `${one.page}, ${one.language}: there is no such block any more`);
    assert.ok(existsSync(join(root, 'tests', one.by)), one.by);
  }
});
