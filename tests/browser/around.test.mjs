// The page around a board: its colour scheme, zoom and transforms, printing, gestures that belong to the page, and headers of its server.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {brotliCompressSync} from 'node:zlib';
import {until} from '../until.mjs';
import {readPng} from '../desktop/png.mjs';
import {SCREENSHOTS, SITE, suite} from './harness.mjs';

const {browser} = suite({seen: true});
const PAGE = '/pages/embed.html';

/** Opens a page with one board, and scrolls to it. */
async function inPage(options) {
  const board = await browser.open(PAGE, options);
  await board.page.evaluate(() => document.querySelector('attention-playground').scrollIntoView({block: 'center'}));
  await board.rest();
  return board;
}
const style = (board, styles) => board.page.evaluate((all) => Object.assign(document.querySelector('attention-playground').style, all), styles);
const ofPage = (board, styles) => board.page.evaluate((all) => Object.assign(document.documentElement.style, all), styles);

/** Is the background of the board, left of its matrices, dark? */
async function isDark(board) {
  const path = `${SCREENSHOTS}/around.png`;
  await board.page.locator('attention-playground').screenshot({path});
  const [red, green, blue] = readPng(path).at(6, 200);
  return red + green + blue < 3 * 128;
}

test('a board is dark where its page is, whatever the reader’s system prefers', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const board = await inPage({colorScheme});
    assert.equal(await isDark(board), false, 'a page that says nothing is light');
    for (const [scheme, dark] of [['dark', true], ['light', false], ['light dark', colorScheme === 'dark'], ['only dark', true]]) {
      await ofPage(board, {colorScheme: scheme});
      await until(`${scheme} with ${colorScheme}`, async () => await isDark(board) === dark);
    }
    await board.page.evaluate(() => document.querySelector('attention-playground').setAttribute('theme', 'light'));
    await until('its own theme', async () => !await isDark(board));
    await board.close();
  }
});

test('where one page is for both, a board changes with the reader’s system', async () => {
  const board = await inPage({colorScheme: 'light'});
  await ofPage(board, {colorScheme: 'light dark'});
  await board.page.emulateMedia({colorScheme: 'dark'});
  await until('dark', () => isDark(board));
  await board.page.emulateMedia({colorScheme: 'light'});
  await until('light', async () => !await isDark(board));
  await board.close();
});

test('on paper a board is light, and afterwards as it was; also one that is not in view', async () => {
  for (const theme of ['auto', 'dark']) {
    const board = await inPage({colorScheme: 'dark'});
    await ofPage(board, {colorScheme: 'dark'});
    await board.page.evaluate((word) => document.querySelector('attention-playground').setAttribute('theme', word), theme);
    await until('dark', () => isDark(board));
    // What is printed is the picture at the time when the page's own listener is called, which comes after the board's.
    await board.page.evaluate(() => {
      globalThis.printed = [];
      addEventListener('beforeprint', () => {
        const canvas = document.querySelector('attention-playground').shadowRoot.querySelector('canvas'), copy = new OffscreenCanvas(canvas.width, canvas.height), pen = copy.getContext('2d');
        pen.drawImage(canvas, 0, 0);
        globalThis.printed.push(Math.max(...pen.getImageData(6, 200, 1, 1).data.slice(0, 3)));
      });
      scrollTo(0, 0);
    });
    await board.page.pdf();
    assert.ok((await board.page.evaluate(() => globalThis.printed))[0] > 230, `${theme}: ${await board.page.evaluate(() => globalThis.printed)}`);
    await board.page.evaluate(() => document.querySelector('attention-playground').scrollIntoView({block: 'center'}));
    await until('dark again', () => isDark(board));
    await board.close();
  }
});

for (const [what, styles] of [['enlarged', {transform: 'scale(1.5)'}], ['made smaller', {transform: 'scale(0.6)'}], ['enlarged unevenly', {transform: 'scale(1.4, 0.7)'}],
  ['high', {transform: 'scale(0.8, 1.3)'}], ['zoomed', {zoom: '1.5'}]]) {
  test(`${what} by the page, a board is as sharp as the screen, and clicks land where they look`, async () => {
    const board = await inPage({viewport: {width: 1200, height: 900}});
    await style(board, {...styles, transformOrigin: '0 0', maxWidth: 'none', width: '600px', height: '360px'});
    await board.page.evaluate(() => document.querySelector('attention-playground').scrollIntoView({block: 'center'}));
    await board.rest();
    const {x, y, width, height} = await board.page.evaluate(() => document.querySelector('attention-playground').getBoundingClientRect().toJSON());
    await board.page.mouse.move(x + width / 2, y + height / 2);
    const pixels = () => board.page.evaluate(() => {
      const canvas = document.querySelector('attention-playground').shadowRoot.querySelector('canvas');
      return [canvas.width, canvas.height];
    });
    await until('a picture that is sharp', async () => {
      const [across, down] = await pixels();
      return across >= Math.floor(width) && down >= Math.floor(height);
    });
    await board.rest();
    await board.page.screenshot({path: `${SCREENSHOTS}/around-${what.replaceAll(' ', '-')}.png`});
    // locate() says where cells are; the position to click is determined from the picture.
    const was = await board.value('q', 0, 1, 1);
    const cell = await board.call('locate', 'q', 0, 1, 1);
    assert.ok(cell.x > x && cell.y > y && cell.x + cell.width < x + width && cell.y + cell.height < y + height, 'the cell is on the board');
    assert.ok(Math.abs(cell.width / cell.height - width / 600 / (height / 360)) < 0.02, `a cell is stretched as its board is: ${cell.width} × ${cell.height}`);
    await board.page.mouse.click(cell.x + cell.width * 0.9, cell.y + cell.height * 0.9);
    await board.press('ArrowUp');
    assert.ok(Math.abs(await board.value('q', 0, 1, 1) - was - 0.1) < 1e-6);
    await board.close();
  });
}

for (const focused of [false, true]) {
  test(focused ? 'two fingers magnify the board that has the focus, and not the page; a double tap fits it again' : 'two fingers on a board without the focus are the page’s', async () => {
    const board = await inPage({viewport: {width: 390, height: 844}, hasTouch: true, isMobile: true});
    const place = () => board.call('locate', 'matrix:q'), scale = () => board.page.evaluate(() => visualViewport.scale);
    if (focused) await board.page.touchscreen.tap(...await board.middle('q', 0, 0, 0));
    await board.pause(400);  // so that the next touch is not the second of two taps
    const was = await board.tensor('q'), {width} = await place();
    const [x, y] = await board.middle('q', 0, 1, 1), session = await board.page.context().newCDPSession(board.page);
    const touch = (type, ...across) => session.send('Input.dispatchTouchEvent', {type, touchPoints: across.map((dx, id) => ({x: x + dx, y, id}))});
    await touch('touchStart', -20);
    await touch('touchStart', -20, 20);
    for (let apart = 25; apart <= 80; apart += 5) {
      await touch('touchMove', -apart, apart);
      await board.settle();
    }
    await touch('touchEnd');
    if (focused) {
      await until('a larger board', async () => (await place()).width > width * 2);
      assert.equal(await scale(), 1);
      await board.pause(400);
      await board.page.touchscreen.tap(x, y);
      await board.page.touchscreen.tap(x, y);
      await until('the board to fit', async () => Math.abs((await place()).width - width) < 0.5);
      assert.equal(await board.page.locator('attention-playground input').count(), 0, 'no field opens');
    } else {
      await until('a larger page', async () => await scale() > 1.5);
    }
    assert.deepEqual((await board.tensor('q')).data, was.data);
    await board.close();
  });
}

test('what runs before a board comes near is one script of at most 12 KB', async () => {
  const board = await browser.open(PAGE, {wait: false, viewport: {width: 800, height: 200}});
  await board.page.waitForLoadState('networkidle');
  const scripts = board.requests.map((address) => new URL(address).pathname).filter((path) => /\.(js|wasm)$/.test(path));
  assert.deepEqual(scripts, ['/element.js']);
  const bytes = brotliCompressSync(readFileSync(`${SITE}/element.js`)).length;
  assert.ok(bytes <= 12 * 1024, `${bytes} bytes`);
  await board.close();
});

test('a page that is isolated from all others has its boards', async () => {
  const board = await browser.open(PAGE, {prepare: (page) => page.route('**/*', async (route) => {
    const response = await route.fetch();
    await route.fulfill({response, headers: {...response.headers(), 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp'}});
  })});
  assert.equal(await board.page.evaluate(() => crossOriginIsolated), true);
  await board.page.evaluate(() => document.querySelector('attention-playground').scrollIntoView({block: 'center'}));
  await board.rest();
  await board.drag('q', [0, 0, 0], 30, 0);
  await board.check();
  await board.close();
});
