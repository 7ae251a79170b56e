// Any number of boards on a page: one module, one graphics context, and for each board its own state, undo history and picture.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {until} from '../until.mjs';
import {SCREENSHOTS, noteContexts, suite} from './harness.mjs';

const {browser} = suite({seen: true});
const BOARDS = 24;
const LOST = [/CONTEXT_LOST_WEBGL|Too many active WebGL contexts|GroupMarkerNotSet|GL Driver/];

const alive = (page) => page.evaluate(() => globalThis.contexts.filter((gl) => !gl.isContextLost()).length);
const numbered = (board, i) => Object.assign(Object.create(board), {selector: `#board${i}`});

/** The number of different colours in the middle of a board's picture: 1 if it is empty. */
const colors = (board) => board.page.evaluate((selector) => {
  const {canvas, pen} = ((shown) => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [shown.width, shown.height];
    const pen = canvas.getContext('2d');
    pen.drawImage(shown, 0, 0);
    return {canvas, pen};
  })(document.querySelector(selector).shadowRoot.querySelector('canvas'));
  return new Set(new Uint32Array(pen.getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size;
}, board.selector);

test('twenty-four boards: one compilation, one context, and each has its own numbers and undo', async () => {
  const board = await browser.open('/pages/many.html', {viewport: {width: 800, height: 900}, prepare: noteContexts});
  const {page} = board;
  assert.equal(board.requests.filter((url) => url.endsWith('.wasm')).length, 2, 'one module of two parts serves all');
  assert.equal(await alive(page), 1);
  const heap = await page.evaluate(() => [...document.querySelectorAll('attention-playground')].reduce((sum, element) => sum + element.stats().heapBytes, 0));
  assert.ok(heap <= 170e6, `the boards have ${heap} bytes together`);
  for (let i = 0; i < BOARDS; i++) await numbered(board, i).call('setTensor', 'q', Array.from((await numbered(board, i).tensor('q')).data, (_, k) => i + k / 100));
  for (let i = 0; i < BOARDS; i += 5) {
    const one = numbered(board, i);
    await page.evaluate((selector) => document.querySelector(selector).scrollIntoView({block: 'center'}), one.selector);
    await until(`board ${i} to be seen`, async () => await colors(one) > 20);
    const was = await one.value('q', 0, 1, 1);
    await one.drag('q', [0, 1, 1], 30, 0);
    assert.ok(Math.abs(await one.value('q', 0, 1, 1) - was - 0.3) < 1e-4, `board ${i} is edited by hand`);
    await one.call('undo');
    assert.equal(await one.value('q', 0, 1, 1), was);
    await one.check();
  }
  for (let i = 0; i < BOARDS; i++) assert.ok(Math.abs(await numbered(board, i).value('q', 0, 0, 0) - i) < 1e-6);
  assert.equal(await alive(page), 1);
  assert.equal((await numbered(board, 7).stats()).contexts, 1);
  await page.screenshot({path: `${SCREENSHOTS}/web-many-boards.png`});
  await board.close();
});

test('where only canvases of a document have WebGL 2, as in Safari, each board is drawn, and stays', async () => {
  const board = await browser.open('/pages/many.html', {viewport: {width: 800, height: 900}, prepare: async (page) => {
    await noteContexts(page);
    await page.addInitScript(() => {
      const {getContext} = OffscreenCanvas.prototype;
      OffscreenCanvas.prototype.getContext = function (type, ...options) { return /^webgl/.test(type) ? null : getContext.call(this, type, ...options); };
    });
  }});
  for (const i of [0, 1, 12, BOARDS - 1]) {
    const one = numbered(board, i);
    await board.page.evaluate((selector) => document.querySelector(selector).scrollIntoView({block: 'center'}), one.selector);
    await one.rest();
    assert.ok(await colors(one) > 20, `board ${i} is drawn`);
    const saved = await board.page.evaluate(async (selector) => {
      const image = await createImageBitmap(await document.querySelector(selector).toBlob({format: 'png', what: 'board'}));
      const pen = new OffscreenCanvas(image.width, image.height).getContext('2d');
      pen.drawImage(image, 0, 0);
      return new Set(new Uint32Array(pen.getImageData(0, 0, image.width, image.height).data.buffer)).size;
    }, one.selector);
    assert.ok(saved > 20, `the picture of board ${i} that is saved is not empty`);
    await one.rest();
    assert.ok(await colors(one) > 20, `board ${i} is still there`);
  }
  assert.equal(await alive(board.page), 1);
  await board.close();
});

test('scrolling past many boards draws no frame of those that have one', async () => {
  const board = await browser.open('/pages/many.html', {viewport: {width: 800, height: 900}, seen: false});
  const {page} = board;
  const scroll = async () => {
    for (let y = 0; y < 24 * 480; y += 400) {
      await page.evaluate((top) => scrollTo(0, top), y);
      await board.settle();
    }
  };
  const frames = () => page.evaluate(() => [...document.querySelectorAll('attention-playground')].reduce((sum, element) => sum + element.stats().frames, 0));
  await scroll();
  const once = await frames();
  await scroll();
  const again = await frames() - once;
  assert.ok(again <= 24 * 4, `${again} frames were drawn for 24 boards that came into view again`);
  await board.close();
});

test('sixteen other WebGL canvases on the page do a board no harm', async () => {
  const board = await browser.open('/pages/embed.html', {allow: LOST, prepare: noteContexts, viewport: {width: 800, height: 900}});
  const {page} = board;
  await page.evaluate(() => document.querySelector('attention-playground').scrollIntoView({block: 'center'}));
  await board.drag('q', [0, 1, 1], 30, 0);
  await page.mouse.move(1, 1);
  await board.rest();
  const state = await board.call('getState');
  for (let round = 0; round < 2; round++) {
    await page.evaluate(() => {
      globalThis.others = Array.from({length: 16}, () => {
        const gl = document.createElement('canvas').getContext('webgl2');
        gl.clear(gl.COLOR_BUFFER_BIT);
        gl.flush();
        return gl;
      });
    });
    await until('our context to be taken', () => page.evaluate(() => globalThis.contexts.filter((gl) => !gl.isContextLost()).length <= 16));
    await until('a picture in another one', async () => await colors(board) > 20);
    assert.deepEqual(await board.call('getState'), state);
    const was = await board.value('q', 0, 1, 1), {frames} = await board.stats();
    await board.drag('q', [0, 1, 1], 30, 0);
    assert.ok(Math.abs(await board.value('q', 0, 1, 1) - was - 0.3) < 1e-4);
    assert.ok((await board.stats()).frames > frames);
    assert.ok(await colors(board) > 20);
    await board.call('undo');
    await board.rest();
  }
  assert.deepEqual((await board.call('getState')).tensors, state.tensors);
  await board.check();
  await board.close();
});

test('contexts that are lost at any moment, and boards that come and go meanwhile', async () => {
  const board = await browser.open('/pages/two.html', {allow: LOST, prepare: noteContexts, viewport: {width: 800, height: 1000}});
  const {page} = board;
  const trouble = await page.evaluate(async () => {
    let seed = 7;
    const random = (n) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % n;
    const all = () => [...document.querySelectorAll('attention-playground')];
    const lose = () => globalThis.contexts.at(-1).getExtension('WEBGL_lose_context')?.loseContext();  // null if it is already lost
    const tick = () => new Promise(requestAnimationFrame);
    for (let i = 0; i < 200; i++) {
      const one = all()[random(all().length)];
      const what = random(8);
      if (what === 0) lose();
      if (what === 1 && all().length < 6) document.body.append(document.createElement('attention-playground'));
      if (what === 2 && all().length > 2) one.remove();
      if (what === 3) document.body.append(one);
      if (what === 4) await one.ready.then(() => one.set('causal', random(2) === 0), () => {});
      if (what === 5) await one.ready.then(() => one.locate('q', 0, 0, 0), () => {});
      if (what === 6) await tick();
      if (what === 7) one.style.height = `${300 + random(200)}px`;
    }
    for (const one of all()) await one.ready;
    await tick();
    await tick();
    return all().map((one) => one.stats().contexts).filter((count) => count > 1);
  });
  assert.deepEqual(trouble, []);
  board.selector = 'attention-playground';
  await page.evaluate(() => document.querySelector('attention-playground').scrollIntoView());
  await until('a picture', async () => await colors(board) > 20);
  await board.check();
  await board.close();
});
