// The tutorial page: each statement in its text is true for the board beside it, each number is that of the board, the text controls the
// board and follows it, using only what is available to any author.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {test} from 'node:test';
import {until} from '../until.mjs';
import {Board, SCREENSHOTS, SITE, suite} from './harness.mjs';

const {browser} = suite();
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const STEPS = ['score', 'softmax', 'values', 'matrices', 'projections', 'heads', 'task'];
const read = (name) => readFileSync(`${SITE}/${name}`, 'utf8');

const open = (options = {}) => browser.open('/tutorial.html', options);
/** The board of a section; the page waits for its frames. */
async function step(board, id) {
  await board.page.evaluate((name) => document.getElementById(name).querySelector('attention-playground').scrollIntoView({block: 'center'}), id);
  return new Board(board.page, `#${id} attention-playground`, {complaints: []});
}

/** The checks that do not hold at present. */
const broken = (board, checks) => board.page.evaluate(async ([selector, all]) => {
  const element = document.querySelector(selector), wrong = [];
  for (const check of all) {
    let held = false;
    const stop = element.on(check, () => { held = true; });
    await Promise.resolve().then(() => {});  // a check that holds calls back in a microtask
    await Promise.resolve().then(() => {});
    stop();
    if (!held) wrong.push(JSON.stringify(check));
  }
  return wrong;
}, [board.selector, checks]);

/** The numbers in the text, and those on the board. */
const numbers = (board, id) => board.page.evaluate((name) => {
  const section = document.getElementById(name), element = section.querySelector('attention-playground');
  return [...section.querySelectorAll('[data-number]')].map((node) => {
    const [tensor, head, row, col] = node.dataset.number.split(' '), {data, shape: [, rows, cols]} = element.getTensor(tensor);
    return {place: node.dataset.number, said: node.textContent, is: data[(Number(head) * rows + Number(row)) * cols + Number(col)].toFixed(2).replace('-', '\u2212')};
  });
}, id);

const isSaid = async (board, id) => until(`the text of ${id} to follow`, async () => (await numbers(board, id)).every(({said, is}) => said === is));

test('each number and each claim is what the board says, as it stands in the file and after each press', async () => {
  const board = await open(), written = read('tutorial.html');
  const initial = await board.page.evaluate((html) => {
    const page = new DOMParser().parseFromString(html, 'text/html');
    return Object.fromEntries([...page.querySelectorAll('section')].map((section) => [section.id, [...section.querySelectorAll('[data-number]')].map((node) => node.textContent)]));
  }, written);
  assert.deepEqual(Object.keys(initial), STEPS);
  let claims = 0, presses = 0;
  for (const id of STEPS) {
    const here = await step(board, id), section = board.page.locator(`#${id}`);
    assert.deepEqual((await numbers(board, id)).map(({is}) => is), initial[id], `numbers that stand in the file: ${id}`);
    for (const text of await section.locator('[data-claims]').evaluateAll((nodes) => nodes.map((node) => node.dataset.claims))) {
      const checks = JSON.parse(text);
      assert.deepEqual(await broken(here, checks), [], id);
      claims += checks.length;
    }
    for (const control of await section.locator('[data-then]').all()) {
      const then = JSON.parse(await control.getAttribute('data-then'));
      if (then[0].option === undefined) assert.notDeepEqual(await broken(here, then), [], `not before the press: ${id}`);
      await control.click();
      await until(`what follows from it: ${JSON.stringify(then)}`, async () => (await broken(here, then)).length === 0);
      await isSaid(board, id);
      await here.check();
      await here.call('reset');
      presses++;
    }
  }
  assert.ok(claims >= 28 && presses >= 11, `${claims} claims, ${presses} presses`);
  await board.close();
});

test('what a reader changes is in the text, and what the text says is shown on the board', async () => {
  const board = await open();
  const here = await step(board, 'score');
  await here.drag('k', [0, 1, 1], 50, 0);
  const key = await here.value('k', 0, 1, 1);
  assert.ok(Math.abs(key - 0.5) < 0.02, String(key));
  await isSaid(board, 'score');
  assert.ok((await board.page.locator('#score').textContent()).includes(`2.00 · 2.00 + 2.00 · ${key.toFixed(2)} = ${(4 + 2 * key).toFixed(2)}.`));
  await here.check();

  const softmax = await step(board, 'softmax'), slider = board.page.locator('#temperature');
  await slider.focus();
  await board.page.keyboard.press('End');
  await until('the board to follow the slider', async () => await softmax.get('temperature') === 5);
  await softmax.call('set', 'temperature', 2);
  await until('the slider to follow the board', async () => await slider.inputValue() === '2');
  assert.equal(await board.page.locator('output[for=temperature]').textContent(), '2.00');
  await softmax.check();

  const matrices = await step(board, 'matrices'), causal = board.page.locator('#causal');
  await causal.check();
  assert.equal(await matrices.get('causal'), true);
  await matrices.call('reset');
  await until('the switch to follow', async () => !await causal.isChecked());

  // A ring around the cells that the text mentions.
  const spoken = board.page.locator('#matrices [data-at="weights 0 1 0 4"]');
  await spoken.scrollIntoViewIfNeeded();
  await board.settle();
  await spoken.focus();
  const ring = await board.page.locator('.ring').boundingBox(), first = await matrices.call('locate', 'weights', 0, 1, 0), last = await matrices.call('locate', 'weights', 0, 1, 3);
  assert.ok(Math.abs(ring.x - (first.x - 3)) < 4 && Math.abs(ring.y - (first.y - 3)) < 4 && Math.abs(ring.width - (last.x + last.width - first.x + 6)) < 8, JSON.stringify([ring, first, last]));
  await board.close();
});

test('the task is passed by hand; queries are locked', async () => {
  const board = await open(), here = await step(board, 'task'), verdict = board.page.locator('[data-passed]');
  assert.match(await verdict.textContent(), /^Not there yet/);
  await here.drag('q', [0, 2, 0], 60, 0);
  assert.equal(await here.value('q', 0, 2, 0), 2, 'it is locked');
  await here.drag('v', [0, 1, 1], 90, 0);
  assert.match(await verdict.textContent(), /^Done/);
  await isSaid(board, 'task');
  await here.check();
  await board.close();
});

for (const [name, options] of Object.entries({light: {viewport: {width: 1360, height: 900}}, dark: {viewport: {width: 1360, height: 900}, colorScheme: 'dark'}, phone: {viewport: {width: 390, height: 844}, hasTouch: true}, small: {viewport: {width: 320, height: 640}}})) {
  test(`nothing moves while it loads and is read, nothing is cut, and axe finds nothing wrong: ${name}`, async () => {
    const board = await browser.open('/tutorial.html', {...options, wait: false, bypassCSP: true, seen: true, prepare: (page) => page.addInitScript(() => {
      globalThis.shifts = [];
      new PerformanceObserver((list) => list.getEntries().forEach(({value, hadRecentInput, sources}) =>
        hadRecentInput || globalThis.shifts.push(`${value.toFixed(4)} ${sources.map(({node}) => node?.nodeName ?? '').join()}`))).observe({type: 'layout-shift', buffered: true});
    })});
    for (const id of STEPS) {
      const here = await step(board, id);
      await board.page.evaluate((selector) => document.querySelector(selector).ready.then(() => true), here.selector);
      await board.settle();
      await board.page.screenshot({path: `${SCREENSHOTS}/web-tutorial-${name}-${id}.png`});
      // All matrices are in view, without scrolling in the board.
      const [box, places] = [await board.page.locator(here.selector).boundingBox(), (await here.call('items')).filter((item) => item.name.startsWith('matrix:'))];
      assert.ok(places.length >= (id === 'heads' ? 1 : 2));
      for (const {name: matrix, rect} of places) assert.ok(rect.y >= box.y && rect.y + rect.height <= box.y + box.height + 1 && rect.x + rect.width <= box.x + box.width + 1, `${matrix} of ${id}: ${JSON.stringify([rect, box])}`);
    }
    assert.deepEqual(await board.page.evaluate(() => globalThis.shifts), []);
    assert.ok(await board.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing to the right');
    await board.page.addScriptTag({path: AXE});
    assert.deepEqual(await board.page.evaluate(async () => (await globalThis.axe.run({exclude: ['attention-playground']})).violations.map(({id, nodes}) => `${id}: ${nodes[0].html.slice(0, 200)}`)), []);
    await board.close();
  });
}

test('one graphics context serves all of its boards', async () => {
  const board = await open();
  assert.equal((await board.stats()).contexts, 1);
  await board.close();
});

test('it is made of what any author can use, and says what it does without scripts', async () => {
  const script = read('tutorial.js'), types = readFileSync(new URL('../../web/element.d.ts', import.meta.url), 'utf8'), html = read('tutorial.html');
  assert.doesNotMatch(script, /^\s*import\b|shadowRoot|\bfetch\b/m);
  const called = [...script.matchAll(/\bboard\.(\w+)/g)].map(([, name]) => name), inText = [...html.matchAll(/data-calls='([^']*)'/g)].flatMap(([, calls]) => JSON.parse(calls).map(([name]) => name));
  for (const name of new Set([...called, ...inText])) {
    if (['addEventListener', 'dataset'].includes(name)) continue;
    assert.match(types, new RegExp(`^  (readonly |get )?${name}[(:]`, 'm'), `${name} is of the public interface`);
  }
  assert.ok(inText.includes('setTensor') && called.includes('observe') && called.includes('on'));
  assert.equal([...html.matchAll(/<attention-playground [^>]*><p>[^<]+\.<\/p>/g)].length, STEPS.length, 'each board has words of its author in its place');
});
