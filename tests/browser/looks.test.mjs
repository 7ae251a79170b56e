// How it looks at the sizes of the design: pictures into build/screenshots, none of them empty, nothing cut, nothing overlapping.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {SCREENSHOTS, start} from './harness.mjs';

let browser;
before(async () => { browser = await start(); });
after(() => browser.stop());

const SIZES = [[1440, 900], [640, 440], [390, 844], [320, 320]];

for (const [width, height] of SIZES) {
  for (const colorScheme of ['light', 'dark']) {
    for (const deviceScaleFactor of [1, 2]) {
      const name = `web-${width}x${height}-${colorScheme}@${deviceScaleFactor}`;
      test(name, async () => {
        const board = await browser.open('/', {viewport: {width, height}, colorScheme, deviceScaleFactor});
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
      checkPlaces(await board.call('items'), width, height);
    }
  }
  await board.close();
});

test('many heads and tokens, long labels', async () => {
  const board = await browser.open('/');
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

/** How many different colours there are in a picture. */
const coloursOf = (page, png) => page.evaluate(async (base64) => {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], {type: 'image/png'}));
  const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
  context.drawImage(bitmap, 0, 0);
  const {data} = context.getImageData(0, 0, bitmap.width, bitmap.height);
  return new Set(new Uint32Array(data.buffer)).size;
}, png.toString('base64'));

const SLACK = 1;  // a pixel of rounding
const isInside = (a, b) => a.x >= b.x - SLACK && a.y >= b.y - SLACK && a.x + a.width <= b.x + b.width + SLACK && a.y + a.height <= b.y + b.height + SLACK;
const doOverlap = (a, b) => Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x) > SLACK &&
  Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y) > SLACK;
/** Names that rise at 45° from their columns: their boxes overlap where the words, a line apart, do not. */
const SLANTED = 18;
const areSlanted = (a, b) => /^label:(above|below):/.test(a.name) && a.name.slice(0, 12) === b.name.slice(0, 12) &&
  Math.max(a.rect.height, b.rect.height) > SLANTED && Math.abs(a.rect.x - b.rect.x) >= SLANTED;
const shown = ({name, rect: {x, y, width, height}}) => `${name} (${[x, y, width, height].map(Math.round)})`;

/** No two named things overlap, but one may lie whole in another; and none is cut by an edge that cannot be scrolled. */
function checkPlaces(items, width, height) {
  const seen = items.filter(({rect}) => rect.y < height && rect.y + rect.height > 0);
  assert.ok(seen.length > 5, 'there is something on the board');
  for (const [i, a] of seen.entries()) {
    assert.ok(a.rect.x >= -SLACK && a.rect.x + a.rect.width <= width + SLACK, `${shown(a)} is cut at the side of ${width}x${height}`);
    for (const b of seen.slice(i + 1)) {
      const fine = !doOverlap(a.rect, b.rect) || areSlanted(a, b) || isInside(a.rect, b.rect) || isInside(b.rect, a.rect);
      assert.ok(fine, `${shown(a)} and ${shown(b)} overlap at ${width}x${height}`);
    }
  }
}
