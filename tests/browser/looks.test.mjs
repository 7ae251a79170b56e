// Its look at the sizes of the design: pictures in build/screenshots, none of them empty, nothing cut off, nothing overlapping.
import assert from 'node:assert/strict';
import {writeFileSync} from 'node:fs';
import {test} from 'node:test';
import {readPng} from '../desktop/png.mjs';
import {until} from '../until.mjs';
import {SCREENSHOTS, suite} from './harness.mjs';
import {checkPlaces} from './places.mjs';

const {browser} = suite();

const SIZES = [[1440, 900], [640, 440], [390, 844], [320, 320]];

for (const [width, height] of SIZES) {
  for (const colorScheme of ['light', 'dark']) {
    for (const deviceScaleFactor of [1, 2]) {
      const name = `web-${width}x${height}-${colorScheme}@${deviceScaleFactor}`;
      test(name, async () => {
        const board = await browser.open('/', {viewport: {width, height}, colorScheme, deviceScaleFactor, seen: true});
        await board.settle();
        const png = await board.page.screenshot({path: `${SCREENSHOTS}/${name}.png`});
        assert.ok(await coloursOf(board.page, png) > 200, 'not an empty picture');
        checkPlaces(await board.call('items'), width, height);
        await board.check();
        await board.close();
      });
    }
  }
}

for (const deviceScaleFactor of [1.5, 3]) {
  test(`ratio ${deviceScaleFactor}: the canvas has one pixel for each of the screen`, async () => {
    const board = await browser.open('/', {viewport: {width: 1001, height: 701}, deviceScaleFactor});
    const size = await board.page.evaluate(() => {
      const canvas = document.querySelector('attention-playground').shadowRoot.querySelector('canvas');
      return [canvas.width, canvas.height];
    });
    assert.ok(Math.abs(size[0] - 1001 * deviceScaleFactor) <= 1 && Math.abs(size[1] - 701 * deviceScaleFactor) <= 1, String(size));
    checkPlaces(await board.call('items'), 1001, 701);
    await board.close();
  });
}

test('every width from 320 to 2560', async () => {
  const board = await browser.open('/');
  for (const mode of ['qkv', 'x']) {
    await board.call('set', 'mode', mode);
    for (const [width, height] of [[320, 320], [360, 640], [480, 320], [599, 800], [600, 600], [768, 1024], [1024, 600],
      [1099, 700], [1100, 700], [1280, 720], [1920, 1080], [2560, 1440]]) {
      await board.page.setViewportSize({width, height});
      await board.settle();
      const items = await board.call('items');
      checkPlaces(items, width, height);
      assert.ok(items.find(({name}) => name === 'causal').rect.width > 60, `the switch has its label at ${width}`);  // 36 without
    }
  }
  await board.close();
});

test('many heads and tokens, long labels', async () => {
  const board = await browser.open('/', {seen: true});
  await board.call('set', 'tokens', 12);
  await board.call('set', 'd_k', 4);
  await board.call('set', 'heads', 4);
  await board.call('set', 'labels', Array.from({length: 12}, (_, i) => `Donaudampfschiff${i}`));
  for (const [width, height] of SIZES) {
    await board.page.setViewportSize({width, height});
    await board.settle();
    checkPlaces(await board.call('items'), width, height);
    await board.page.screenshot({path: `${SCREENSHOTS}/web-many-${width}x${height}.png`});
  }
  await board.check();
  await board.close();
});

test('a decoder at step 2: the pictures of the heads have two rows', async () => {
  const board = await browser.open('/', {seen: true});
  const file = `${SCREENSHOTS}/web-decoder.png`;
  /** How many of the four rows of a picture have been drawn. */
  const rowsOf = async (name) => {
    await board.rest();
    writeFileSync(file, await board.page.screenshot());
    const {at} = readPng(file), {x, y, width} = await board.call('locate', name);
    const cell = (width - 12) / 4, panel = at(Math.round(x + 4), Math.round(y + 4)).join();
    return [0, 1, 2, 3].filter((row) => [0, 1, 2, 3].some((col) =>
      at(Math.round(x + 6 + (col + 0.5) * cell), Math.round(y + 6 + (row + 0.5) * cell)).join() !== panel)).length;
  };
  for (const [step, rows] of [[0, 4], [2, 2], [1, 1], [4, 4]]) {
    await board.call('set', 'step', step);
    for (const name of ['head:0', 'head:1', 'head:mean']) assert.equal(await rowsOf(name), rows, `${name} at step ${step}`);
  }
  await board.close();
});

/** The width of a cell of Q on the page. */
const cellOfQ = async (board) => (await board.call('locate', 'q', 0, 0, 0)).width;

/** The named items, except for the message about a key and the tooltip of what the mouse rests on, which temporarily cover others. */
const lasting = async (board) => (await board.call('items')).filter(({name}) => !/^(notice|tip$)/.test(name));

test('an emoji alone stays upright where names are slanted', async () => {
  const board = await browser.open('/', {deviceScaleFactor: 2, seen: true});
  await board.call('set', 'labels', ['🟥', 'a', 'b', 'antidisestablishmentarianism']);
  await board.rest();
  const path = `${SCREENSHOTS}/web-slanted-emoji.png`;
  await board.page.screenshot({path});
  const {at} = readPng(path), {rect} = (await board.call('items')).find(({name}) => name === 'label:above:0'), found = [[], []];
  for (let y = Math.round(2 * (rect.y - 4)); y < 2 * (rect.y + rect.height + 4); y++) {
    for (let x = Math.round(2 * (rect.x - 4)); x < 2 * (rect.x + rect.width + 4); x++) {
      const [red, green, blue] = at(x, y);
      if (red > 140 && green < 120 && blue < 120) found[0].push(x), found[1].push(y);
    }
  }
  const [width, height] = found.map((all) => Math.max(...all) - Math.min(...all) + 1);
  assert.ok(width > 12 && height > 12, `a square of ${width} × ${height} pixels`);
  assert.ok(found[0].length > 0.85 * width * height, `it fills ${(100 * found[0].length / width / height).toFixed()} % of its box`);
  await board.close();
});

test('z and Z, + and −, and 0 zoom the board, and nothing is cut at any zoom', async () => {
  const board = await browser.open('/');
  const usual = await cellOfQ(board);
  await board.page.locator('attention-playground canvas').focus();
  await board.press('Escape');
  await board.rest(0);
  for (const [key, zoom] of [['z', 1.25], ['-', 1], ['Z', 1], ['+', 1.25], ['z', 1.5], ['z', 1.75], ['+', 2], ['z', 2.25], ['z', 2.5], ['z', 2.5],
    ['0', 0]]) {
    await board.press(key);
    await board.rest(0);
    assert.equal(await board.get('zoom'), zoom, key);
    checkPlaces(await lasting(board), 1440, 900);
  }
  assert.equal(await cellOfQ(board), usual);
  await board.close();
});

test('the field over a cell has the size of the board: its words grow with the zoom', async () => {
  const board = await browser.open('/');
  const sizeAt = async (zoom) => {
    await board.call('set', 'zoom', zoom);
    await board.rest(0);
    await board.doubleClick('q', 0, 1, 1);
    const input = board.page.locator('attention-playground input');
    const size = await input.evaluate((element) => [parseFloat(getComputedStyle(element).fontSize), element.scrollWidth - element.clientWidth]);
    assert.equal(size[1], 0, 'the number fits in the field');
    await board.type('-12.25');
    await board.press('Enter');
    await board.until('the field is gone', () => !document.querySelector('attention-playground').shadowRoot.querySelector('input'));
    return size[0];
  };
  const usual = await sizeAt(1);
  assert.equal(await sizeAt(1.5), usual * 1.5);
  await board.check();
  await board.close();
});

for (const [width, height, least] of [[1440, 900, 60], [1920, 1080, 80], [2560, 1440, 110]]) {
  test(`presented at ${width}×${height}, the board fills its window, by key and by mouse`, async () => {
    const board = await browser.open('/', {viewport: {width, height}});
    const usual = await cellOfQ(board);
    const present = async () => {
      await board.rest(0);
      const cell = await cellOfQ(board);
      assert.ok(cell >= least && cell <= 120.5, `cells of ${cell}`);
      const items = await lasting(board);
      checkPlaces(items, width, height);
      assert.deepEqual(items.filter(({name}) => /^(arcs|heads|causal|tokens|slider|thumbnail)/.test(name)), [], 'nothing else');
      const rects = items.filter(({name}) => /^(matrix|label|title|inspector)/.test(name)).map(({rect}) => rect);
      assert.ok(rects.every((r) => r.y >= 0 && r.y + r.height <= height), 'all of it is in view');
      const left = Math.min(...rects.map((r) => r.x)), right = width - Math.max(...rects.map((r) => r.x + r.width));
      assert.ok(Math.abs(left - right) < width * 0.06, `${left} left of it and ${right} right of it`);
    };
    await board.page.locator('attention-playground canvas').focus();
    await board.press('f');
    await present();
    await board.press('Escape');
    await board.rest(0);
    assert.equal(await cellOfQ(board), usual);
    await board.click('present');
    await present();
    for (const [name, tokens] of [['one', 1], ['two', 2], ['twelve', 12], ['many', 25]]) {
      await board.call('set', 'tokens', tokens);
      await board.rest(0);
      const items = await lasting(board);
      checkPlaces(items, width, height);
      const rects = items.filter(({name}) => /^(matrix|inspector)/.test(name)).map(({rect}) => rect);
      assert.ok(rects.length >= 7 && rects.every((r) => r.y >= 0 && r.y + r.height <= height), `${name}: all of it is in view`);
    }
    await board.rest(0);
    await board.click('present');
    await board.rest(0);
    assert.equal(await board.get('present'), false);
    await board.close();
  });
}

/** The number of different colours in a picture. */
const coloursOf = (page, png) => page.evaluate(async (base64) => {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], {type: 'image/png'}));
  const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
  context.drawImage(bitmap, 0, 0);
  const {data} = context.getImageData(0, 0, bitmap.width, bitmap.height);
  return new Set(new Uint32Array(data.buffer)).size;
}, png.toString('base64'));

test('forced colours: ground, words and lines are those that the reader has for all pages', async () => {
  const board = await browser.open('/', {forcedColors: 'active', seen: true});
  const system = () => board.page.evaluate(() => ['Canvas', 'CanvasText'].map((name) => {
    const probe = document.body.appendChild(document.createElement('p'));
    probe.style.setProperty('color', name);
    const color = getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
    probe.remove();
    return color;
  }));
  const pixel = async (x, y) => {
    const path = `${SCREENSHOTS}/web-forced-colors.png`;
    await board.page.screenshot({path});
    return readPng(path).at(x, y);
  };
  await board.settle();
  const [canvas, text] = await system();
  assert.deepEqual(await pixel(240, 700), canvas, 'the ground of the board');
  assert.deepEqual(await pixel(120, 300), canvas, 'of the panel');
  const {x, y, width, height} = await board.call('locate', 'undo');
  assert.deepEqual(await pixel(Math.round(x + width / 2), Math.floor(y)), text, 'the line around a button');
  await board.page.emulateMedia({forcedColors: 'none'});
  await until('the theme to be back', async () => String(await pixel(240, 700)) === '247,247,245');
  await board.close();
});

test('a page that goes from right to left has the same board, and clicks land where they look', async () => {
  const left = await browser.open('/pages/embed.html', {seen: true});
  const right = await browser.open('/pages/embed.html', {prepare: (page) => page.addInitScript(() => addEventListener('DOMContentLoaded', () => { document.documentElement.dir = 'rtl'; })), seen: true});
  const pictures = [];
  for (const board of [left, right]) {
    await board.page.evaluate(() => document.querySelector('attention-playground').scrollIntoView({block: 'center'}));
    await board.rest();
    pictures.push((await board.page.locator('attention-playground').screenshot()).toString('base64'));
  }
  assert.equal(await right.page.evaluate(() => getComputedStyle(document.querySelector('attention-playground')).direction), 'rtl');
  assert.equal(pictures[0], pictures[1]);
  await right.click('q', 0, 1, 1);
  await right.page.keyboard.type('-0.8');
  assert.equal(await right.page.locator('attention-playground input').evaluate((field) => getComputedStyle(field).direction), 'ltr', 'a number has its sign at the left');
  await right.press('Enter');
  assert.ok(Math.abs(await right.value('q', 0, 1, 1) + 0.8) < 1e-6);
  await left.close();
  await right.close();
});
