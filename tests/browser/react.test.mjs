// The React component, with a stub of the parts of React that it uses: what its props become, and that events call the latest callbacks.
// Its types, and the element in a page of React 19, are tested in tests/hosts.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {until} from '../until.mjs';
import {suite} from './harness.mjs';

const {browser} = suite();

/** Renders one component repeatedly into one element. */
const REACT = `
export const version = '18.3.1';
const kept = [], effects = [];
let at = 0, node = null;
export const useRef = (value) => kept[at++] ??= {current: value};
export const useEffect = (effect) => effects.push(effect);
export const forwardRef = (render) => render;
export const createElement = (type, props) => ({type, props});
export function render(component, given, outer) {
  at = 0, effects.length = 0;
  const {type, props: {ref, children, style, ...attributes}} = component(given, outer);
  const isFirst = node === null;
  node ??= document.createElement(type);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) node.setAttribute(name, value);
  Object.assign(node.style, style);
  ref(node);
  if (!isFirst) return () => {};
  document.body.append(node);
  const ends = effects.map((effect) => effect());
  return () => { node.remove(); ref(null); ends.forEach((end) => end()); };
}`;

test('the component for React: properties, events at the newest function, the element as ref', async () => {
  const component = readFileSync(new URL('../../web/react.js', import.meta.url), 'utf8').replace("from 'react'", "from './react.js'").replace('./package.js', '/element.js');
  const prepare = async (page) => {
    for (const [name, body] of [['react', REACT], ['component', component]]) await page.route(`**/pages/${name}.js`, (route) => route.fulfill({contentType: 'text/javascript', body}));
  };
  const board = await browser.open('/pages/two.html', {prepare, viewport: {width: 900, height: 1400}});
  await board.page.evaluate(async () => {
    const [{render}, {AttentionPlayground}] = await Promise.all([import('/pages/react.js'), import('/pages/component.js')]);
    Object.assign(globalThis, {heard: [], own: {current: null}});
    const page = (who) => ({preset: 'uniform', show: ['q', 'k', 'weights'], fit: false, lock: undefined, loading: 'eager', className: 'mine', style: {height: '320px'},
      state: null, onReady: () => globalThis.heard.push([who, 'ready']), onChange: ({detail}) => globalThis.heard.push([who, detail.source])});
    globalThis.take = render(AttentionPlayground, page('first'), globalThis.own);
    globalThis.again = () => render(AttentionPlayground, page('second'), globalThis.own);
  });
  const heard = () => board.page.evaluate(() => globalThis.heard);
  await until('ready', async () => (await heard()).some(([who, what]) => who === 'first' && what === 'ready'));
  assert.deepEqual(await board.page.evaluate(() => Object.fromEntries([...globalThis.own.current.attributes].filter(({name}) => name !== 'style').map(({name, value}) => [name, value]))),
      {preset: 'uniform', show: 'q,k,weights', loading: 'eager', class: 'mine'});
  await board.page.evaluate(() => globalThis.again());
  board.selector = '.mine';
  await board.drag('q', [0, 0, 0], 30, 0);
  const changes = () => heard().then((all) => all.filter(([, source]) => source === 'user'));
  await until('a change', async () => (await changes()).length);
  assert.deepEqual(await changes(), [['second', 'user']], 'only the newest function is called');
  await board.page.evaluate(() => globalThis.take());
  assert.equal(await board.page.evaluate(() => globalThis.own.current), null);
  await board.close();
});
