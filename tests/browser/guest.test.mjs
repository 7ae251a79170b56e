// An embedded board takes no key, no wheel turn, no focus and no request that it was not given, is idle when nothing changes, and says what
// is wrong if it cannot work.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {until} from '../until.mjs';
import {loseContext, noteContexts, start, suite} from './harness.mjs';

const {browser} = suite();

const focused = (page) => page.evaluate(() => document.activeElement.id || document.activeElement.localName);
const scrolled = (page) => page.evaluate(() => scrollY);
const scrolledBeyond = (board, y) => until(`the page to scroll beyond ${y}`, async () => await scrolled(board.page) > y);

test('at most six requests, all of the site itself', async () => {
  const board = await browser.open('/');
  await board.drag('q', [0, 0, 0], 30, 0);
  assert.ok(board.requests.length <= 6, board.requests.join('\n'));
  assert.ok(board.requests.every((url) => url.startsWith(browser.server.url)));
  assert.deepEqual(await board.page.context().cookies(), []);
  await board.close();
});

test('the address names a preset', async () => {
  const board = await browser.open('/?preset=uniform');
  assert.equal((await board.call('getState')).preset, 'uniform');
  await board.close();
});

test('idle is idle: no frame is drawn in three seconds', async () => {
  const board = await browser.open('/');
  await board.drag('q', [0, 0, 0], 30, 0);
  const frames = await board.rest();
  const asked = await board.page.evaluate(async () => {
    const request = globalThis.requestAnimationFrame, began = performance.now();
    let count = 0;
    globalThis.requestAnimationFrame = (callback) => { count++; return request(callback); };
    for (let ticks = 0; ticks < 20 || performance.now() - began < 3000; ticks++) await new Promise((done) => request(done));
    globalThis.requestAnimationFrame = request;
    return count;
  });
  assert.equal(asked, 0, 'none is asked for');
  assert.equal((await board.stats()).frames, frames);
  await board.close();
});

test('hidden or off-screen nothing is drawn', async () => {
  const board = await browser.open('/pages/embed.html', {viewport: {width: 800, height: 600}});
  const frames = await board.rest();
  await board.page.evaluate(() => document.querySelector('attention-playground').set('causal', false));
  assert.equal(await board.rest(), frames, 'off-screen');
  await board.page.evaluate(() => document.querySelector('attention-playground').scrollIntoView());
  await until('a frame in view', async () => (await board.stats()).frames > frames);
  await board.close();
});

test('Tab goes in, and out again; only used keys are taken', async () => {
  const board = await browser.open('/pages/embed.html');
  const {page} = board;
  assert.equal(await focused(page), 'body', 'no focus on load');
  await page.focus('#before');
  await page.keyboard.press('Tab');
  assert.equal(await focused(page), 'attention-playground');
  await page.keyboard.press('Tab');
  assert.equal(await focused(page), 'after');
  await page.keyboard.press('Shift+Tab');
  assert.equal(await focused(page), 'attention-playground');
  const taken = await page.evaluate(() => {
    const canvas = document.querySelector('attention-playground').shadowRoot.querySelector('canvas');
    return Object.fromEntries(['Tab', 'F5', 'F12', 'ContextMenu', 'AudioVolumeUp', 'F1'].map((key) =>
      [key, !canvas.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}))]));
  });
  assert.ok(Object.values(taken).every((used) => !used), JSON.stringify(taken));
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  const before = await scrolled(page);
  await page.keyboard.press('PageDown');
  await scrolledBeyond(board, before);  // with nothing selected, scrolling keys belong to the page
  await board.close();
});

test('keys outside of the board do nothing to it', async () => {
  const board = await browser.open('/pages/embed.html');
  const was = await board.call('getState');
  await board.page.focus('#after');
  await board.press('c', 'ArrowUp', 'Delete', 'Control+z', '5');
  assert.deepEqual(await board.call('getState'), was);
  await board.close();
});

test('the wheel scrolls the page over an unfocused board', async () => {
  const board = await browser.open('/pages/embed.html', {viewport: {width: 800, height: 600}});
  const {page} = board;
  await page.evaluate(() => document.querySelector('attention-playground').scrollIntoView({block: 'center'}));
  const before = await scrolled(page);
  const {x, y, width, height} = await page.evaluate(() => document.querySelector('attention-playground').getBoundingClientRect().toJSON());
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.wheel(0, 200);
  await scrolledBeyond(board, before);
  await board.close();
});

test('a board in the middle of the page is edited where it is', async () => {
  const board = await browser.open('/pages/embed.html', {viewport: {width: 800, height: 600}});
  await board.page.evaluate(() => document.querySelector('attention-playground').scrollIntoView({block: 'center'}));
  await board.settle();
  const before = await scrolled(board.page), was = await board.value('q', 0, 1, 1);
  await board.drag('q', [0, 1, 1], 40, 0);
  assert.ok(Math.abs(await board.value('q', 0, 1, 1) - was - 0.4) < 1e-6);
  assert.equal(await scrolled(board.page), before, 'taking the focus does not scroll the page');
  await board.check();
  await board.close();
});

test('also where the page scales it', async () => {
  const board = await browser.open('/pages/embed.html');
  await board.page.evaluate(() => {
    const element = document.querySelector('attention-playground');
    element.style.transform = 'scale(0.75) translate(40px, 10px)';
    element.scrollIntoView({block: 'center'});
  });
  await board.settle();
  const was = await board.value('q', 0, 1, 1);
  await board.click('q', 0, 1, 1);
  await board.press('ArrowUp');
  assert.ok(Math.abs(await board.value('q', 0, 1, 1) - was - 0.1) < 1e-6);
  await board.close();
});

test('two boards in one page know nothing of each other', async () => {
  const one = await browser.open('/pages/two.html', {viewport: {width: 800, height: 1000}});
  const two = Object.assign(Object.create(one), {selector: '#two'});
  one.selector = '#one';
  const was = await two.call('getState');
  assert.equal(was.preset, 'uniform');
  await one.drag('q', [0, 0, 0], 50, 0);
  assert.deepEqual(await two.call('getState'), was);
  const first = await one.call('getState');
  await two.drag('v', [0, 0, 0], 50, 0);
  assert.deepEqual(await one.call('getState'), first);
  await Promise.all([one.check(), two.check()]);
  assert.equal(one.requests.filter((url) => url.endsWith('.wasm')).length, 2, 'one module of two parts serves both');
  await one.close();
});

test('moved in the page, taken off it, put back, disposed of', async () => {
  const board = await browser.open('/pages/two.html', {viewport: {width: 800, height: 1000}});
  board.selector = '#one';
  await board.drag('q', [0, 0, 0], 50, 0);
  const state = await board.call('getState');
  await board.page.evaluate(async () => {
    document.querySelector('#elsewhere').append(document.querySelector('#one'));
    document.querySelector('#two').remove();  // removed right after it was inserted again
  });
  await board.page.evaluate(async () => {
    globalThis.isOff = (element) => !element.shadowRoot.querySelector('canvas');
    globalThis.off = async (element) => { while (!globalThis.isOff(element)) await new Promise(requestAnimationFrame); };
  });
  assert.deepEqual(await board.call('getState'), state, 'moved');
  await board.page.evaluate(() => {
    globalThis.away = document.querySelector('#one');
    globalThis.away.remove();
    return globalThis.off(globalThis.away);
  });
  assert.equal(await board.page.evaluate(() => {
    try {
      globalThis.away.getState();
      return 'alive';
    } catch (error) {
      return error.message;
    }
  }), 'The playground is not ready; await its `ready` first.');
  await board.page.evaluate(async () => {
    document.body.append(globalThis.away);
    await globalThis.away.ready;
  });
  assert.deepEqual(await board.call('getState'), state, 'put back');
  await board.check();
  await board.call('dispose');
  await assert.rejects(board.call('getState'), /disposed/);
  assert.equal(await board.page.evaluate(() => document.querySelector('#one').shadowRoot.querySelector('canvas')), null);
  await board.close();
});

test('twenty boards come and go: their contexts and memory are given back', async () => {
  const board = await browser.open('/pages/two.html', {viewport: {width: 800, height: 1000}});
  await board.page.evaluate(async () => {
    for (let i = 0; i < 20; i++) {
      const element = document.createElement('attention-playground');
      document.body.append(element);
      await element.ready;
      element.getTensor('weights');
      if (i % 2) element.dispose();
      element.remove();
      while (element.shadowRoot.querySelector('canvas')) await new Promise(requestAnimationFrame);
    }
  });
  board.selector = '#two';
  await board.check();
  await board.close();
});

test('properties set before the element is defined are taken over', async () => {
  const board = await browser.open('/pages/embed.html');
  const preset = await board.page.evaluate(async () => {
    const frame = document.createElement('iframe');
    document.body.append(frame);
    const early = frame.contentDocument.createElement('attention-playground');
    early.preset = 'uniform';
    early.theme = 'dark';
    document.body.append(early);  // adopted from another document, and upgraded here
    customElements.upgrade(early);
    await early.ready;
    return [early.getState().preset, early.getAttribute('theme')];
  });
  assert.deepEqual(preset, ['uniform', 'dark']);
  await board.close();
});

test('a lost graphics context is rebuilt, and the state survives', async () => {
  const board = await browser.open('/', {allow: [/CONTEXT_LOST_WEBGL|GroupMarkerNotSet|GL Driver/], prepare: noteContexts, seen: true});
  const events = await board.listen('error');
  await board.drag('q', [0, 0, 0], 50, 0);
  await board.page.mouse.move(5, 895);
  await board.rest();
  const state = await board.call('getState'), picture = await board.page.screenshot();
  await loseContext(board);
  await until('the loss to be told', async () => (await events()).length > 0);
  const {frames} = await board.stats();
  await board.page.evaluate(() => {
    document.querySelector('attention-playground').set('decimals', 3);
    document.querySelector('attention-playground').set('decimals', 2);
  });
  await until('a frame in the new context', async () => (await board.stats()).frames > frames);
  await board.rest();
  assert.deepEqual(await board.call('getState'), state);
  assert.equal((await events())[0].detail.type, 'contextlost');
  assert.ok(picture.equals(await board.page.screenshot()), 'the same picture as before');
  await board.drag('q', [0, 0, 0], -20, 0);
  await board.check();
  await board.close();
});

test('where nothing can be fetched it says so', async () => {
  const page = await (await browser.browser.newContext()).newPage();
  await page.route('**/*.wasm', (route) => route.fulfill({status: 404, body: ''}));
  await page.goto(`${browser.server.url}/pages/embed.html`);
  const sentence = await page.evaluate(() => document.querySelector('attention-playground').ready.then(() => '', (error) => error.message));
  assert.match(sentence, /could not be loaded.*404.*reload/);
  assert.match(await page.locator('attention-playground [role=alert]').textContent(), /could not be loaded/);
  await page.context().close();
});

test('an engine without SIMD is told what to do, in a sentence', async () => {
  const page = await (await browser.browser.newContext()).newPage();
  await page.addInitScript(() => { WebAssembly.validate = () => false; });
  await page.goto(`${browser.server.url}/pages/embed.html`);
  const error = await page.evaluate(() => document.querySelector('attention-playground').ready.catch(({type, message}) => ({type, message})));
  assert.equal(error.type, 'no-simd');
  assert.match(error.message, /update/);
  await page.context().close();
});

test('an engine without relaxed SIMD gets the other build', async () => {
  const page = await (await browser.browser.newContext()).newPage();
  await page.addInitScript(() => {
    const {validate} = WebAssembly;
    WebAssembly.validate = (bytes) => bytes.length < 40 && validate(bytes);
  });
  await page.goto(`${browser.server.url}/pages/embed.html`);
  const kernel = await page.evaluate(() => document.querySelector('attention-playground').ready.then((element) => element.stats().kernel));
  assert.equal(kernel, 'wasm-simd128');
  await page.context().close();
});

test('with WebGL switched off the board is there as tables, and an error event says why', async () => {
  const without = await start({gpu: ['--disable-gpu', '--disable-3d-apis']});
  const board = await without.open('/', {allow: [/./], prepare: (page) => page.addInitScript(() => {
    addEventListener('error', ({detail}) => { globalThis.said ??= detail; }, true);
  })});
  const error = await board.page.evaluate(() => globalThis.said);
  assert.equal(error.type, 'webgl');
  assert.match(error.message, /WebGL 2 switched off.*as tables/);
  assert.equal((await board.tensor('weights')).data.length, 32);
  await board.close();
  await without.stop();
});

for (const [what, take, wanted] of [
  ['WebGL taken away with its classes, as WebKit does', () => {
    delete globalThis.WebGL2RenderingContext;
    globalThis.hasNoWebGL = true;
  }, /WebGL 2 switched off.*as tables/],
  ['a driver with WebGL 1 alone', () => {}, /has WebGL 1 only.*as tables/],
]) {
  test(`${what}: the board is there as tables, and what is said is true`, async () => {
    const board = await browser.open('/', {prepare: async (page) => {
      await page.addInitScript(() => {
        for (const {prototype} of [HTMLCanvasElement, OffscreenCanvas]) {
          const {getContext} = prototype;
          prototype.getContext = function (type, ...options) { return type === 'webgl2' || globalThis.hasNoWebGL ? null : getContext.call(this, type, ...options); };
        }
        addEventListener('error', ({detail}) => { globalThis.said ??= detail; }, true);
      });
      await page.addInitScript(take);
    }});
    const {type, message} = await board.page.evaluate(() => globalThis.said);
    assert.equal(type, 'webgl');
    assert.match(message, wanted);
    assert.equal((await board.tensor('weights')).data.length, 32);
    await board.close();
  });
}

// ---------------------------------------------------------------- fingers

const PHONE = {viewport: {width: 390, height: 844}, hasTouch: true, isMobile: true};

/** Waits until the board and anything that the browser scrolls have stopped. */
const still = async (board) => {
  for (let last = NaN, now; ; last = now) {
    await board.rest();
    now = await scrolled(board.page);
    if (now === last) return now;
  }
};

test('a finger that holds a number drags it, across and up, each as one step of undo', async () => {
  const board = await browser.open('/', PHONE);
  const cell = ['q', 0, 1, 1];
  const was = await board.value(...cell);
  await board.finger(await board.middle(...cell), 60, 0, {holds: true});
  await until('the number to grow', async () => await board.value(...cell) > was + 0.3);
  const across = await board.value(...cell);
  await board.pause(400);  // so that it is not the second of two taps
  await board.finger(await board.middle(...cell), 0, -60, {holds: true});
  await until('the number to grow again', async () => await board.value(...cell) > across + 0.3);
  await board.call('undo');
  assert.equal(await board.value(...cell), across);
  await board.call('undo');
  assert.equal(await board.value(...cell), was);
  await board.check();
  await board.close();
});

test('a finger that does not rest edits nothing, in any direction, on the page that the board has for itself', async () => {
  const board = await browser.open('/', PHONE);
  const was = await board.call('getState');
  for (const [name, ...cell] of [['q', 0, 1, 1], ['k', 0, 1, 1], ['weights', 0, 2, 1]]) {
    for (const [dx, dy] of [[60, 0], [-60, 5], [0, -60], [3, 60]]) await board.finger(await board.middle(name, ...cell), dx, dy);
  }
  assert.deepEqual(await board.call('getState'), was);
  await board.close();
});

test('a tap selects, two taps open the keypad, and no keyboard of the system', async () => {
  const board = await browser.open('/', PHONE);
  const at = await board.middle('q', 0, 1, 1);
  await Promise.all([board.page.touchscreen.tap(...at), board.page.touchscreen.tap(...at)]);
  const isOpen = async () => (await board.call('items')).some(({name}) => name === 'key:2');
  await until('the keypad', isOpen);
  assert.equal(await board.page.locator('attention-playground input').count(), 0);
  for (const key of ['2', 'point', '5']) {
    await board.page.touchscreen.tap(...await board.middle(`key:${key}`));
    await board.settle();
  }
  assert.equal(await board.value('q', 0, 1, 1), 2.5);
  await board.close();
});

test('a vertical swipe over an unfocused board scrolls the page, and changes no number', async () => {
  const board = await browser.open('/pages/embed.html', PHONE);
  await board.page.evaluate(() => document.querySelector('attention-playground').scrollIntoView({block: 'center'}));
  const before = await still(board), was = await board.call('getState');
  await board.finger(await board.middle('q', 0, 1, 1), 0, -200);
  await scrolledBeyond(board, before + 50);
  assert.deepEqual(await board.call('getState'), was);
  await board.close();
});

test('on the focused board a vertical swipe scrolls the page from a number too; while a finger holds one nothing scrolls', async () => {
  const board = await browser.open('/pages/embed.html', PHONE);
  const centre = async () => {
    await board.page.evaluate(() => document.querySelector('attention-playground').scrollIntoView({block: 'center'}));
    return still(board);
  };
  await centre();
  const cell = ['q', 0, 1, 1];
  await board.page.touchscreen.tap(...await board.middle(...cell));
  await board.pause(400);  // so that the next touch is not the second of two taps
  const was = await board.value(...cell);
  for (let i = 0; i < 9 && await scrolled(board.page) === await centre(); i++) await board.finger(await board.middle(...cell), 0, -160);
  assert.equal(await board.value(...cell), was, 'a swipe edits nothing');
  const before = await centre();
  await board.finger(await board.middle(...cell), 0, -60, {holds: true});
  await until('the number to grow', async () => await board.value(...cell) > was + 0.3);
  assert.equal(await still(board), before);
  await board.close();
});

test('a swipe that scrolls neither focuses, selects nor fires a control, wherever it begins', async () => {
  const board = await browser.open('/pages/embed.html', PHONE);
  const {page} = board;
  const events = await board.listen('select', 'input', 'change', 'error');
  for (const [name, ...cell] of [['q', 0, 1, 1], ['k', 0, 1, 1], ['weights', 0, 2, 1], ['causal']]) {
    await page.evaluate(() => document.querySelector('attention-playground').scrollIntoView({block: 'center'}));
    const before = await still(board);
    await board.finger(await board.middle(name, ...cell), 0, -160);
    await scrolledBeyond(board, before + 50);
    await still(board);
  }
  assert.deepEqual(await events(), []);
  assert.equal(await focused(page), 'body');
  await board.close();
});

test('sideways a finger edits only the number that it has tapped', async () => {
  const board = await browser.open('/pages/embed.html', PHONE);
  const {page} = board;
  await page.evaluate(() => document.querySelector('attention-playground').scrollIntoView({block: 'center'}));
  await still(board);
  const cell = ['q', 0, 1, 1], was = await board.value(...cell);
  await board.finger(await board.middle(...cell), 60, 0);
  assert.equal(await board.value(...cell), was);
  assert.equal(await focused(page), 'body');
  const events = await board.listen('select');
  await page.touchscreen.tap(...await board.middle(...cell));
  await until('the tap to select', async () => (await events()).length > 0);
  assert.equal((await events()).length, 1);
  assert.equal(await focused(page), 'attention-playground');
  await board.pause(400);  // so that the next touch is not the second of two taps
  await board.finger(await board.middle(...cell), 60, 0);
  await until('the number to grow', async () => await board.value(...cell) > was + 0.3);
  await board.close();
});

test('wheel="never" leaves the wheel to the page, also of a focused board', async () => {
  const board = await browser.open('/pages/embed.html', {viewport: {width: 500, height: 500}});
  const {page} = board;
  await page.evaluate(() => {
    const element = document.querySelector('attention-playground');
    element.wheel = 'never';
    element.style.height = '240px';
    element.scrollIntoView({block: 'center'});
  });
  await still(board);
  await board.click('weights', 0, 1, 0);
  const before = await still(board);
  await page.mouse.wheel(0, 120);
  await scrolledBeyond(board, before + 50);
  await board.close();
});
