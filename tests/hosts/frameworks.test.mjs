// Applications with a framework: the recipes for Svelte 5 and Vue 3 of web/hosts/README.md, built with Vite and used in Chromium; the component
// for React 18 and 19; and strict type checks of all of them.
import assert from 'node:assert/strict';
import {cpSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, describe, test} from 'node:test';
import {Board, launch} from '../browser/harness.mjs';
import {until} from '../until.mjs';
import {blocks, copyModules, fresh, install, installed, isAsShown, load, repository, root, run, start, visit} from './tools.mjs';

let browser;
before(async () => {
  install();
  browser = await launch();
});
after(() => browser?.close());

/** The events by their first names, as the types list them. */
const EVENTS = (() => {
  const types = readFileSync(join(repository, 'web/element.d.ts'), 'utf8'), [, body] = /interface PlaygroundEvents \{([^]*?)\n\}/.exec(types);
  return [...body.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name);
})();
const LESSON = {lesson: 1, id: 'asked', title: 'Asked', steps: [{preset: 'i-saw-a-saw', text: 'Look.', predict: {question: 'Which?', choices: ['I', 'saw'], answer: 0, because: ['Yes.', 'No.']}}]};
const HTML = '<!doctype html><html lang="en"><title>An application</title><link rel="icon" href="data:,"><body><div id="recipe"></div><div id="all" style="width:1200px"></div><script type="module" src="./main.js"></script></body></html>';
/** A handler for each event by its second name, in the syntax of a template. */
const handlers = (written) => EVENTS.map(written).join(' ');
const ATTRIBUTES = 'class="all" fit="" loading="eager" style="display: block"';

const frameworks = {
  Svelte: {
    recipe: () => ({'Recipe.svelte': blocks('Svelte')[0].text}),
    files: {
      'All.svelte': `<script>const note = ({type, detail}) => globalThis.heard.push([type, detail]);</script>
        <attention-playground ${ATTRIBUTES} ${handlers((name) => `onattention-${name}={note}`)}></attention-playground>`,
      'main.js': `import {mount} from 'svelte'; import Recipe from './Recipe.svelte'; import All from './All.svelte'; globalThis.heard = [];
        mount(Recipe, {target: document.querySelector('#recipe')}); mount(All, {target: document.querySelector('#all')});`,
    },
    config: async () => ({plugins: [(await load('@sveltejs/vite-plugin-svelte')).svelte({configFile: false})]}),
  },
  Vue: {
    recipe: () => ({'vite.config.mjs': blocks('Vue')[0].text, 'Recipe.vue': blocks('Vue')[1].text}),
    files: {
      'All.vue': `<script setup>const note = ({type, detail}) => globalThis.heard.push([type, detail]);</script>
        <template><attention-playground ${ATTRIBUTES} ${handlers((name) => `@attention-${name}="note"`)}></attention-playground></template>`,
      'main.js': `import {createApp} from 'vue'; import Recipe from './Recipe.vue'; import All from './All.vue'; globalThis.heard = [];
        createApp(Recipe).mount('#recipe'); createApp(All).mount('#all');`,
    },
    config: async (source) => (await import(join(source, 'vite.config.mjs'))).default,
  },
};

for (const [name, {recipe, files, config}] of Object.entries(frameworks)) {
  test(`${name}: its recipe, and a handler of each event`, async () => {
    const source = fresh(`source-${name.toLowerCase()}`), outDir = fresh(`dist-${name.toLowerCase()}`);
    for (const [file, text] of Object.entries({'index.html': HTML, ...recipe(), ...files})) writeFileSync(join(source, file), text);
    const {build} = await load('vite');
    await build({root: source, logLevel: 'error', configFile: false, build: {outDir, emptyOutDir: true}, ...await config(source)});
    await visit(browser, outDir, 'index.html', async (board, tab) => {
      const shown = (await board.call('items')).map((item) => item.name);
      assert.ok(['q', 'k', 'weights'].every((one) => shown.includes(`matrix:${one}`)) && !shown.includes('matrix:v'));
      await isAsShown(tab, name.toLowerCase(), blocks(name).at(-1), '#recipe attention-playground');
      assert.equal(await tab.locator('#recipe > p').textContent(), 'Drag a number of Q or K.');
      await board.drag('q', [0, 1, 1], 30, 0);
      await until('what the handler says', () => tab.evaluate(() => /^q: [\d.]+ became [\d.]+\.$/.test(document.querySelector('#recipe > p')?.textContent)));

      const all = new Board(tab, '.all');
      await tab.evaluate(() => document.querySelector('.all').ready.then((element) => element.scrollIntoView({block: 'end'})));
      await all.drag('q', [0, 0, 0], 30, 0);
      await all.call('openLesson', LESSON);
      await all.rest();
      await tab.evaluate(() => document.querySelector('.all').scrollIntoView({block: 'start'}));
      await all.click('guide:choice:0');
      await all.call('train', 1);
      await tab.evaluate(() => document.querySelector('.all').setAttribute('state', '{'));
      const heard = () => tab.evaluate(() => globalThis.heard);
      const missing = async () => {
        const types = (await heard()).map(([type]) => type);
        return EVENTS.filter((one) => !types.includes(`attention-${one}`));
      };
      await until('all events', async () => (await missing()).length === 0).catch(async () => assert.deepEqual(await missing(), []));
      const [, edit] = (await heard()).find(([type]) => type === 'attention-change');
      assert.deepEqual([edit.source, edit.name, edit.row], ['user', 'q', 0]);
    }, {selector: '#recipe attention-playground'});
  });
}

// ---------------------------------------------------------------- React

const PAGE = `import React, {useState} from 'react'; import {createRoot} from 'react-dom/client'; import {AttentionPlayground} from 'attention-playground/react';
  globalThis.heard = [];
  function Page() {
    const [isOn, set] = useState(true);
    globalThis.set = set;
    return <AttentionPlayground className="wide" preset="uniform" show={['q', 'k', 'weights']} loading="eager" fit={isOn} hidden={!isOn} title={isOn ? 'A board' : undefined}
      tabIndex={0} role="group" aria-label="A board" aria-hidden={!isOn} data-on={isOn} draggable={!isOn} spellCheck={false} style={{height: 300}}
      onReady={(event) => globalThis.heard.push(event.type)} onChange={({detail}) => detail.source === 'user' && globalThis.heard.push(detail.name)}>Words in its place.</AttentionPlayground>;
  }
  createRoot(document.querySelector('#root')).render(<Page/>);`;

for (const [version, alias] of [['19', {}], ['18', {react: 'react18', 'react-dom': 'react-dom18'}]]) {
  test(`React ${version}: its component sets attributes and hears events`, async () => {
    const {build} = await load('esbuild'), source = fresh(`source-react${version}`), outdir = fresh(`dist-react${version}`);
    writeFileSync(join(source, 'main.jsx'), PAGE);
    writeFileSync(join(outdir, 'index.html'), '<!doctype html><html lang="en"><title>An application</title><link rel="icon" href="data:,"><body><div id="root"></div><script type="module" src="main.js"></script></body></html>');
    await build({absWorkingDir: root, entryPoints: {main: join(source, 'main.jsx')}, bundle: true, splitting: true, format: 'esm', outdir, alias, logLevel: 'error', define: {'process.env.NODE_ENV': '"production"'}});
    copyModules(outdir);
    await visit(browser, outdir, 'index.html', async (board, tab) => {
      const attributes = () => tab.evaluate(() => Object.fromEntries([...document.querySelector('attention-playground').attributes].map(({name, value}) => [name, value])));
      const {style, ...first} = await attributes();
      assert.match(style, /height: \d+px/);
      assert.deepEqual(first, {class: 'wide', preset: 'uniform', show: 'q,k,weights', loading: 'eager', fit: '', title: 'A board', tabindex: '0', role: 'group',
        'aria-label': 'A board', 'aria-hidden': 'false', 'data-on': 'true', draggable: 'false', spellcheck: 'false'});
      await board.drag('q', [0, 1, 1], 30, 0);
      await until('its events', () => tab.evaluate(() => globalThis.heard.join() === 'ready,q'));
      await tab.evaluate(() => globalThis.set(false));
      await until('it is hidden', () => tab.evaluate(() => getComputedStyle(document.querySelector('attention-playground')).display === 'none'));
      const {hidden, fit, draggable, 'aria-hidden': isHidden, 'data-on': isOn} = await attributes();
      assert.deepEqual({hidden, fit, draggable, isHidden, isOn}, {hidden: '', fit: undefined, draggable: 'true', isHidden: 'true', isOn: 'false'});
    });
  });
}

// ---------------------------------------------------------------- types

const STRICT = {strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noEmit: true, jsx: 'react-jsx', module: 'esnext', moduleResolution: 'bundler',
  target: 'es2022', types: []};

/** A project that can see nothing but our package and those given, since our declarations must be right without the others too. */
function project(name, file, packages) {
  const made = fresh(`../hosts-types/${name}`);
  for (const [as, from] of Object.entries({'attention-playground': 'attention-playground', ...packages})) {
    cpSync(join(root, 'node_modules', from), join(made, 'node_modules', as), {recursive: true, filter: (path) => statSync(path).isDirectory() || /\.d\.ts$|package\.json$/.test(path)});
  }
  cpSync(join(root, 'types', file), join(made, file));
  writeFileSync(join(made, 'tsconfig.json'), JSON.stringify({compilerOptions: {...STRICT, skipDefaultLibCheck: true}, include: [file]}));
  return start('node_modules/.bin/tsc', ['-p', made]);
}

const projects = {
  'without a framework': () => project('alone', 'element.ts', {}),
  'the host of a frame': () => project('host', 'host.ts', {}),
  'React 19': () => project('react', 'react.tsx', {react: '@types/react', csstype: 'csstype'}),
  'React 18': () => project('react18', 'react.tsx', {react: '@types/react18', csstype: 'csstype', 'prop-types': '@types/prop-types'}),
};
/** The lines of a template after "What is wrong": each of them must be refused, and no other. */
function wrongLines(file) {
  const lines = readFileSync(join(root, 'types', file), 'utf8').split('\n'), from = lines.findIndex((line) => line.includes('<!-- What is wrong -->'));
  return lines.flatMap((line, i) => i > from && line.includes('<attention-playground') ? [i + 1] : []);
}
const templates = {
  'Page.svelte': {options: {}, command: (config) => ['node_modules/.bin/svelte-check', ['--workspace', 'types', '--tsconfig', config, '--output', 'machine', '--threshold', 'error']],
    line: /ERROR "Page\.svelte" (\d+):/g},
  'Page.vue': {options: {vueCompilerOptions: {strictTemplates: true, dataAttributes: ['data-*']}}, command: (config) => ['node_modules/.bin/vue-tsc', ['-p', `types/${config}`]],
    line: /Page\.vue\((\d+),/g},
};
describe('types', {concurrency: 2}, () => {
  for (const [name, check] of Object.entries(projects)) {
    test(name, async () => assert.deepEqual(await check(), {status: 0, output: ''}));
  }
  for (const [file, {options, command, line}] of Object.entries(templates)) {
    test(`the template of ${file}: what is right is taken, and each wrong line is refused`, async () => {
      const config = `${file}.json`;
      writeFileSync(join(root, 'types', config), JSON.stringify({compilerOptions: {...STRICT, skipLibCheck: true}, include: [file], ...options}));
      const {output} = await start(...command(config)), found = [...output.matchAll(line)].map(([, at]) => Number(at));
      assert.ok(wrongLines(file).length >= 3);
      assert.deepEqual([...new Set(found)], wrongLines(file), output);
    });
  }
});
