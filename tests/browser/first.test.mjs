// The first frame: drawn by the first part of the module before the rest has arrived, and what happens if that never arrives.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {until} from '../until.mjs';
import {noteContexts, start} from './harness.mjs';

let browser;
before(async () => { browser = await start(); });
after(() => browser.stop());

/** Delays *.rest.wasm until release() is called; asked() counts the requests for it. */
function withhold() {
  let release, asked = 0;
  const released = new Promise((resolve) => release = resolve);
  return {
    release: (how = {}) => release(how),
    asked: () => asked,
    prepare: (page) => page.route('**/*.rest.wasm', async (route) => {
      asked++;
      const how = await released;
      await (how.status ? route.fulfill({...how, body: ''}) : route.continue()).catch(() => {});  // the page may have been closed
    }),
  };
}

const isDrawn = (page) => page.evaluate(() => document.querySelector('attention-playground').shadowRoot?.querySelector('canvas')?.style.visibility === '');
const drawn = (page) => until('the first frame', () => isDrawn(page));
const ready = (page) => page.evaluate(() => document.querySelector('attention-playground').ready.then(() => true));

/** Opens a page without the rest; instances() counts the instances of parts of the module. */
async function openEarly(path, rest, options = {}) {
  const board = await browser.open(path, {wait: false, ...options, prepare: async (page) => {
    await rest.prepare(page);
    await page.addInitScript(() => {
      const {instantiate} = WebAssembly;
      globalThis.instances = 0;
      WebAssembly.instantiate = (...values) => instantiate(...values).finally(() => globalThis.instances++);
    });
    await options.prepare?.(page);
  }});
  return Object.assign(board, {instances: () => board.page.evaluate(() => globalThis.instances)});
}

const SIZES = [[640, 440], [390, 844], [320, 320], [777, 555], [1000, 700], [1920, 1080], [1440, 900]];

for (const [colorScheme, other] of [['light', 'dark'], ['dark', 'light']]) {
  for (const deviceScaleFactor of [1, 2]) {
    test(`the first frame needs no rest, at any size: ${colorScheme}, pixel ratio ${deviceScaleFactor}`, async () => {
      const rest = withhold();
      const board = await openEarly('/', rest, {colorScheme, deviceScaleFactor});
      const {page} = board;
      await drawn(page);
      for (const [width, height] of SIZES) {
        await page.setViewportSize({width, height});
        await board.settle();
      }
      await page.emulateMedia({colorScheme: other});
      await board.settle();
      await board.see();
      await page.emulateMedia({colorScheme});
      await board.settle();
      await page.mouse.click(310, 320);
      await page.keyboard.press('ArrowDown');
      await page.mouse.move(1, 1);
      await assert.rejects(board.call('getState'), /not ready/);
      const early = await page.screenshot();
      rest.release();
      await ready(page);
      await board.rest();
      assert.equal(await board.instances(), 2, 'each part once: nothing had to begin anew');
      assert.ok(early.equals(await page.screenshot()), 'the same picture with the rest as without it');
      await board.see(false);
      assert.equal(rest.asked(), 1);
      await board.drag('q', [0, 0, 0], 30, 0);
      await board.check();
      await board.close();
    });
  }
}

test('a small window, and parts that are hidden or locked, need no rest either', async () => {
  const rest = withhold();
  const board = await openEarly('/pages/embed.html', rest, {viewport: {width: 390, height: 844}});
  const {page} = board;
  await drawn(page);
  await page.evaluate(() => {
    for (const [hide, lock] of [['panel', 'heads'], ['header,inspector', 'causal'], ['arcs,heads', 'q,k,v']]) {
      const element = document.createElement('attention-playground');
      Object.assign(element, {hide, lock, className: 'more', loading: 'eager'});
      document.body.append(element);
    }
  });
  await until('all to be drawn', () => page.evaluate(() => [...document.querySelectorAll('attention-playground.more')]
    .every((element) => element.shadowRoot.querySelector('canvas').style.visibility === '')));
  rest.release();
  await page.evaluate(() => Promise.all([...document.querySelectorAll('attention-playground')].map(({ready}) => ready)));
  assert.equal(await board.instances(), 8);
  assert.equal(rest.asked(), 1);
  await board.close();
});

test('a context that is lost before the rest is there is drawn in again', async () => {
  const rest = withhold();
  const board = await openEarly('/', rest, {prepare: noteContexts, seen: true});
  const {page} = board;
  await drawn(page);
  await page.evaluate(() => new Promise((resolve) => {
    const gl = globalThis.contexts.find((one) => !one.isContextLost()), {canvas} = gl, lost = gl.getExtension('WEBGL_lose_context');
    canvas.addEventListener('webglcontextlost', () => requestAnimationFrame(() => lost.restoreContext()), {once: true});
    canvas.addEventListener('webglcontextrestored', resolve, {once: true});
    lost.loseContext();
  }));
  await board.settle();
  rest.release();
  await ready(page);
  assert.equal(await board.instances(), 2);
  await board.drag('q', [0, 0, 0], 30, 0);
  await board.check();
  await board.close();
});

test('an attribute that changes before the rest is there takes effect', async () => {
  const rest = withhold();
  const board = await openEarly('/', rest);
  await drawn(board.page);
  await board.page.evaluate(() => {
    const element = document.querySelector('attention-playground');
    element.preset = 'uniform';
    element.lock = 'heads';
    element.wheel = 'never';
  });
  rest.release();
  await ready(board.page);
  assert.equal((await board.call('getState')).preset, 'uniform');
  await board.check();
  await board.close();
});

test('a call that the first part cannot take costs time and not the board', async () => {
  const rest = withhold();
  const board = await openEarly('/', rest, {async prepare(page) {
    // Simulates a build that lacks what this board needs: undo() is in the rest.
    await page.route('**/element.js', async (route) => {
      const response = await route.fetch();
      await route.fulfill({response, body: (await response.text()).replace(/(this\.#\w+)\.run\(.embed.,[^)]*\)/, '$&, $1.run("undo")')});
    });
  }});
  const {page} = board;
  await until('the rest to be asked for', rest.asked);
  assert.equal(await isDrawn(page), false);
  rest.release();
  await ready(page);
  assert.equal(await isDrawn(page), true);
  assert.equal(await board.instances(), 3, 'it began anew, with both parts');
  await board.drag('q', [0, 0, 0], 30, 0);
  await board.check();
  await board.close();
});

test('a rest that cannot be fetched is said in a sentence', async () => {
  const rest = withhold();
  const board = await openEarly('/', rest, {allow: [/503/]});
  await drawn(board.page);
  const error = board.page.evaluate(() => new Promise((resolve) =>
    document.querySelector('attention-playground').addEventListener('error', ({detail}) => resolve(detail), {once: true})));
  await board.settle();
  rest.release({status: 503});
  const {type, message} = await error;
  assert.equal(type, 'load');
  assert.match(message, /^The playground could not be loaded \(status 503 for playground.*\.rest\.wasm\); please reload the page\.$/);
  assert.equal(await board.page.locator('attention-playground [role=alert]').textContent(), message);
  await assert.rejects(ready(board.page), /503/);
  await board.close();
});

test('one that is disposed of or taken away before the rest is there leaves nothing behind', async () => {
  const rest = withhold();
  const board = await openEarly('/pages/embed.html', rest);
  const {page} = board;
  await drawn(page);
  await page.evaluate(() => {
    for (const name of ['second', 'third']) {
      globalThis[name] = Object.assign(document.createElement('attention-playground'), {loading: 'eager'});
      document.body.append(globalThis[name]);
    }
  });
  await until('all to be drawn', () => page.evaluate(() => [globalThis.second, globalThis.third].every((element) =>
    element.shadowRoot.querySelector('canvas').style.visibility === '')));
  await page.evaluate(() => {
    document.querySelector('attention-playground').dispose();
    globalThis.third.remove();
  });
  await until('the third to be shut down', () => page.evaluate(() => !globalThis.third.shadowRoot.querySelector('canvas')));
  rest.release();
  await page.evaluate(() => globalThis.second.ready.then(() => true));
  await assert.rejects(ready(page), /This playground was disposed of/);
  await page.evaluate(() => {
    document.body.append(globalThis.third);
    return globalThis.third.ready.then(() => true);
  });
  assert.equal(rest.asked(), 1);
  await board.close();
});
